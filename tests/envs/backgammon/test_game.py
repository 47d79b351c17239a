"""Single steps of backgammon: masks, dice, the end of a game, what the player sees."""

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.backgammon import ROLLS, Backgammon, board, list_plays, make_position
from jaxgames.envs.backgammon.board import from_plain, to_plain
from jaxgames.envs.rollout import rollout
from tests.envs.backgammon import reference
from tests.envs.backgammon.boards import (
    as_bytes,
    gnubg_rows,
    left_of,
    masks,
    play_actions,
    random_boards,
    rule_book_actions,
)
from tests.envs.backgammon.reference import START

GAME = Backgammon()
STARTED = jax.jit(jax.vmap(GAME.init))
step = jax.jit(GAME.step)


@pytest.fixture(scope="module")
def openings():
    """The first states of 8,192 games."""
    return jax.device_get(STARTED(jax.random.split(jax.random.key(0), 8192)))


@pytest.fixture(scope="module")
def games():
    """4 random games side by side: states before each of 600 actions, the actions, the states after them."""
    states = jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(1), 4))
    _, moves = jax.jit(rollout, static_argnums=(0, 3))(GAME, states, jax.random.key(2), 600)
    return jax.device_get((moves.states, moves.actions, moves.after))


def side(**checkers):
    return [checkers.get(f"p{point}", 0) for point in range(1, 26)]


# Masks


def test_masks_of_gnubg_positions(data_dir):
    boards, rolls, _ = gnubg_rows(data_dir)
    dice = [left_of(roll) for roll in rolls]
    for both, left, mask in zip(boards[:600], dice, masks(boards[:600], dice[:600]), strict=False):
        assert set(np.flatnonzero(mask)) == rule_book_actions(both, left)


def test_masks_of_made_up_positions_with_any_dice_left():
    rng = np.random.default_rng(1)
    boards = random_boards(rng, 1500)
    dice = [left_of(ROLLS[number]) for number in rng.integers(0, 21, len(boards))]
    dice = [left[: rng.integers(1, len(left) + 1)] for left in dice]
    for both, left, mask in zip(boards, dice, masks(boards, dice), strict=True):
        assert set(np.flatnonzero(mask)) == rule_book_actions(both, left)


# Chance


def test_the_opening_roll_is_no_double_and_otherwise_uniform(openings):
    words, counts = np.unique(openings._position.dice, return_counts=True)
    expected = {sum(1 << 4 * (die - 1) for die in roll) for roll in ROLLS if roll[0] != roll[1]}
    assert set(words.tolist()) == expected
    assert ((counts - 8192 / 15) ** 2 / (8192 / 15)).sum() < 36.1  # chi-squared, 14 degrees of freedom, p = 0.001


def test_either_player_begins(openings):
    assert abs(openings.current_player.mean() - 0.5) < 3.3 * 0.5 / 8192**0.5


def test_every_game_starts_from_the_same_board(openings):
    for own in (openings._position.own, openings._position.opponent):
        assert (board.to_counts(own) == np.array(START)[None, :]).all()


def test_rolls_have_their_probabilities():
    words = jnp.arange(0, 2**32, 2**16, dtype=jnp.uint32)
    counts = np.bincount(GAME.draw_outcome(words), minlength=21)
    expected = [2**16 / 36 * (1 if high == low else 2) for high, low in ROLLS]
    assert np.abs(counts - expected).max() <= 1


def test_outcomes_are_the_rolls():
    waiting = from_plain(START, START, None)
    for number, roll in enumerate(ROLLS):
        assert to_plain(GAME.chance(waiting, jnp.int32(number)))[2] == left_of(roll)


def test_a_position_that_awaits_a_roll():
    state = GAME.from_string("4HPwATDgc/ABMA", current_player=1)
    assert np.flatnonzero(state.legal_action_mask).tolist() == [0]
    rolled = step(state, jnp.int32(0), jax.random.key(0))
    assert rolled.current_player == 1 and not rolled.terminated
    assert to_plain(rolled._position)[:2] == to_plain(state._position)[:2]
    assert to_plain(rolled._position)[2] is not None
    resolved = GAME.resolve(state, ROLLS.index((3, 1)))
    assert GAME.to_string(resolved) == "4HPwATDgc/ABMA:31"
    assert GAME.to_string(GAME.resolve(resolved, 0)) == "4HPwATDgc/ABMA:31"
    for end in ("terminated", "truncated"):  # games that have ended await nothing
        ended = state.replace(**{end: jnp.bool_(True)})
        assert GAME.to_string(GAME.resolve(ended, ROLLS.index((3, 1)))) == "4HPwATDgc/ABMA"


# The end


def fifteen(rng, places):
    """15 checkers somewhere on these places."""
    return np.bincount(rng.choice(places, 15), minlength=25)


def test_results_count_gammons_and_backgammons():
    """The last checker is borne off by a 1 while the opponent has been anywhere, on the bar, and with checkers off."""
    rng = np.random.default_rng(2)
    places = [range(18), range(23), [*range(18), 24]]
    opponents = [fifteen(rng, places[number % 3]) for number in range(600)] + list(random_boards(rng, 600)[:, 0])
    boards = np.zeros((1200, 2, 25), np.int32)
    boards[:, 0, 0] = 1
    boards[:, 1] = opponents
    boards[:, 1, 23] = 0  # where the mover's last checker is
    played = play_actions(boards, [(1,)] * 1200, np.full((1200, 1), (26 - 1) * 6))
    expected = [reference.result((0,) * 25, tuple(other)) for other in boards[:, 1]]
    assert played.over.all() and played.legal.all()
    assert np.bincount(expected, minlength=4)[1:].min() > 100
    assert (played.reward == expected).all()


def test_the_winner_gets_what_the_loser_pays():
    state = make_position(side(p1=1), side(p24=0, p25=1, p1=14), (4, 2), current_player=1)
    ended = step(state, jnp.int32((26 - 1) * 6 + 3), jax.random.key(0))
    assert ended.terminated and ended.rewards.tolist() == [-3.0, 3.0]


# Whole games


def sides_of(states):
    """Checkers of the player to act and of the other one, [..., 2, 25]."""
    return np.stack([board.to_counts(states._position.own), board.to_counts(states._position.opponent)], axis=-2)


def test_games_end_and_no_checker_is_lost(games):
    before, actions, after = games
    assert after.terminated[-1].all()
    old, new = sides_of(before), sides_of(after)
    switched = (before.current_player != after.current_player)[..., None, None]
    new = np.where(switched, new[..., ::-1, :], new)
    off = old.sum(axis=-1) - new.sum(axis=-1)
    pips = ((old - new) * np.arange(1, 26)).sum(axis=-1)
    die, idle = actions % 6 + 1, before.terminated | (actions == 0)
    assert (old >= 0).all() and not (old[..., 0, :24] * old[..., 1, 23::-1]).any()
    assert set(np.unique(off[..., 0])) == {0, 1} and not off[..., 1].any()
    assert np.where(idle, pips[..., 0] == 0, (pips[..., 0] == die) | (off[..., 0] == 1) & (pips[..., 0] < die)).all()
    assert ((pips[..., 1] <= 0) & (pips[..., 1] > -25)).all()  # at most one checker is hit


def test_rewards_come_once(games):
    before, _, after = games
    assert (after.rewards.sum(axis=-1) == 0).all()
    assert (np.abs(after.rewards).sum(axis=0)[:, 0] >= 1).all()
    assert ((after.rewards != 0).any(axis=-1) == (after.terminated & ~before.terminated)).all()


def test_init_and_step_are_traced_once():
    traces = {"init": 0, "step": 0}

    def traced(name, function):
        def call(*arguments):
            traces[name] += 1
            return function(*arguments)

        return jax.jit(call)

    init, step = traced("init", GAME.init), traced("step", jaxgames.make("backgammon").step)
    for seed in range(3):
        state = init(jax.random.key(seed))
        for number in range(5):
            state = step(state, jnp.int32(number), jax.random.key(number))
        step(make_position(START, START, (6, 6)), jnp.int32(0), jax.random.key(0))
        step(jaxgames.make("backgammon").from_string("4HPwATDgc/ABMA:31"), jnp.int32(0), jax.random.key(0))
    assert traces == {"init": 1, "step": 1}


# Properties of any position


@st.composite
def states(draw):
    """A state of one of the random games, ended or not."""
    return draw(st.integers(0, 599)), draw(st.integers(0, 3))


@hypothesis.given(states(), st.integers(-1, 160), st.integers(0, 2**31))
def test_a_batch_plays_as_its_states_do(games, where, action, seed):
    before = games[0]
    state = jax.tree.map(lambda x: x[where], before)
    action = int(np.flatnonzero(state.legal_action_mask)[seed % state.legal_action_mask.sum()]) if seed % 2 else action
    single = step(state, jnp.int32(action), jax.random.key(seed))
    row = jax.tree.map(lambda x: x[where[0]], before)
    keys = jax.random.split(jax.random.key(seed + 1), 4).at[where[1]].set(jax.random.key(seed))
    batch = many_steps(row, jnp.full(4, action, jnp.int32), keys)
    for one, many in zip(jax.tree.leaves(single), jax.tree.leaves(batch), strict=True):
        assert (one == many[where[1]]).all()


many_steps = jax.jit(jax.vmap(GAME.step))


@hypothesis.given(states())
def test_states_and_actions_are_written_and_read_back(games, where):
    state = jax.tree.map(lambda x: x[where], games[0])
    if state.terminated:
        return
    text = GAME.to_string(state)
    again = GAME.from_string(text, int(state.current_player))
    assert jax.tree.all(jax.tree.map(lambda x, y: (x == y).all(), state._position, again._position))
    names = {}
    for action in np.flatnonzero(state.legal_action_mask):
        names[GAME.action_to_string(state, int(action))] = action
        assert GAME.string_to_action(state, GAME.action_to_string(state, int(action))) == action
    assert len(names) == state.legal_action_mask.sum()


@hypothesis.given(st.integers(0, 2**31), st.sampled_from(ROLLS))
@hypothesis.settings(max_examples=30)
def test_checkers_are_conserved_by_every_play(seed, roll):
    both = random_boards(np.random.default_rng(seed), 1)[0]
    state = make_position(*both, roll)
    found = list_plays(state)
    assert (found.mover.sum(axis=1) <= both[0].sum()).all()
    assert (found.opponent.sum(axis=1) == both[1].sum()).all()
    assert (found.mover >= 0).all() and (found.opponent >= 0).all()
    assert not (found.mover[:, :24] * found.opponent[:, 23::-1]).any()
    assert len(set(as_bytes(np.stack([found.mover, found.opponent], axis=1)))) == len(found.actions)
    assert all(GAME.turn_to_string(state, actions) for actions in found.actions[:3])


# What the player sees


def test_observation_of_the_start():
    state = make_position(START, START, (3, 1))
    points = [2, 0, 0, 0, 0, -5, 0, -3, 0, 0, 0, 5, -5, 0, 0, 0, 3, 0, 5, 0, 0, 0, 0, -2]
    assert state.observation.tolist() == points + [0, 0, 0, 0] + [1, 0, 1, 0, 0, 0]
    assert GAME.observe(state, 0).tolist() == state.observation.tolist()
    assert GAME.observe(state, 1).tolist() == points + [0, 0, 0, 0] + [0] * 6


def test_observation_of_bar_off_and_a_double():
    state = make_position(side(p25=2, p6=10), side(p25=1, p3=13), (4, 4))
    expected = [0] * 24
    expected[24 - 6], expected[24 - 22] = 10, -13
    assert state.observation.tolist() == expected + [2, -1, 3, -1] + [0, 0, 0, 4, 0, 0]
