"""Games stepped together with pgx: what the player sees, who acts, when it ends; and where pgx leaves the rules."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.backgammon import make_position
from jaxgames.envs.backgammon.board import to_plain
from jaxgames.envs.backgammon.notation import step_of
from jaxgames.envs.rollout import random_action
from tests.envs.backgammon.boards import masks, rule_book_actions
from tests.oracles import oracle

GAMES, STEPS = 64, 1500


@pytest.fixture
def pgx():
    """The rules of pgx's backgammon, under the lax promotion that they need."""
    with warnings.catch_warnings(), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        warnings.simplefilter("ignore")
        yield oracle("pgx.backgammon")


@pytest.fixture(scope="module")
def together():
    """Random games: at every step both states before it, and the results of all games."""
    with warnings.catch_warnings(), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        warnings.simplefilter("ignore")  # what another package warns of is no failure of ours
        pgx = oracle("pgx")
        env, game = pgx.make("backgammon"), jaxgames.make("backgammon")

        def outcome(theirs):
            high, low = jnp.max(theirs._dice), jnp.min(theirs._dice)
            return high * (high + 1) // 2 + low  # the number of the roll in ROLLS; pgx counts pips from 0

        def start(key):
            theirs = env.init(key)
            ours = game.from_string("4HPwATDgc/ABMA").replace(current_player=theirs.current_player)
            return game.resolve(ours, outcome(theirs)), theirs

        def both_step(ours, theirs, key):
            action = random_action(key, ours.legal_action_mask)
            theirs_next = env.step(theirs, action, key)
            ours_next = game.resolve(game.apply(ours, action), outcome(theirs_next))
            seen = (ours, ours.observation, ours.legal_action_mask, theirs)
            return (ours_next, theirs_next), seen

        def play(key):
            states = jax.vmap(start)(jax.random.split(key, GAMES))
            keys = jax.random.split(jax.random.key(1), (STEPS, GAMES))
            return jax.lax.scan(lambda states, key: jax.vmap(both_step)(*states, key), states, keys)

        return jax.device_get(jax.jit(play)(jax.random.key(0)))


def test_observations_and_players(together):
    ours, observation, _, theirs = together[1]
    running = ~ours.terminated
    assert (ours.terminated == theirs.terminated).all()
    assert running.sum() > 10_000
    assert (observation[running] == theirs.observation[running]).all()
    assert observation.dtype == theirs.observation.dtype
    assert (ours.current_player == theirs.current_player).all()


def test_masks(together):
    """pgx allows all that we allow, several names for the pass, and more: its masks look at one die at a time."""
    ours, _, mask, theirs = together[1]
    running = ~ours.terminated
    assert (mask <= theirs.legal_action_mask)[running].all()
    passes = mask[..., 0] & running
    assert (theirs.legal_action_mask[passes].sum(axis=-1) == 6).all()
    more = running & ~passes & (mask != theirs.legal_action_mask).any(axis=-1)
    assert 0 < more.sum() < 0.02 * running.sum()


def test_masks_that_differ_follow_the_rule_book(together):
    ours, _, mask, theirs = together[1]
    more = ~ours.terminated & ~mask[..., 0] & (mask != theirs.legal_action_mask).any(axis=-1)
    for index in zip(*np.nonzero(more), strict=True):
        mover, opponent, dice = to_plain(jax.tree.map(lambda x, i=index: x[i], ours)._position)
        assert set(np.flatnonzero(mask[index])) == rule_book_actions((mover, opponent), dice)


def test_results(together):
    """The same points, but that pgx takes a backgammon for a gammon if the loser is on the bar and not at home."""
    (ours, theirs), (before, _, _, theirs_before) = together
    assert ours.terminated.all() and theirs.terminated.all()
    ended = np.concatenate([before.terminated[1:], ours.terminated[None]]) & ~before.terminated
    assert (ended.sum(axis=0) == 1).all()
    points = np.concatenate([before.rewards[1:], ours.rewards[None]])[ended]
    expected = np.concatenate([theirs_before.rewards[1:], theirs.rewards[None]])[ended]
    same = (points == expected).all(axis=-1)
    assert same.sum() > 50
    assert (np.abs(points[~same]) == 3).all() and (np.abs(expected[~same]) == 2).all()


def side(**checkers):
    return [checkers.get(f"p{point}", 0) for point in range(1, 26)]


def theirs_of(mover, opponent):
    """The 28 numbers of a board in pgx."""
    points = np.array(mover[:24])[::-1] - np.array(opponent[:24])
    return jnp.asarray([*points, mover[24], -opponent[24], 15 - sum(mover), sum(opponent) - 15], jnp.int32)


def test_pgx_lets_a_player_waste_a_die(pgx):
    """10/4 is held, so 2/1 would leave no 6, while 10/9/3 plays both dice, as the rules ask."""
    mover, opponent, dice = side(p10=1, p2=1), side(p21=2), (6, 1)
    ours = np.flatnonzero(masks(np.array([[mover, opponent]]), [dice]))
    mask = jax.jit(pgx._legal_action_mask)(theirs_of(mover, opponent), jnp.array([5, 0, -1, -1], jnp.int32))
    theirs = np.flatnonzero(mask)
    assert [step_of(action) for action in ours] == [(10, 1)]
    assert [step_of(action) for action in theirs] == [(10, 1), (2, 1)]


def test_pgx_takes_a_checker_on_the_bar_for_a_gammon(pgx):
    mover, opponent = side(p1=1), side(p25=1, p1=14)
    action = (26 - 1) * 6 + 1
    ended = jax.jit(jaxgames.make("backgammon").apply)(make_position(mover, opponent, (2, 1)), action)
    board = jax.jit(pgx._move)(theirs_of(mover, opponent), jnp.int32(action))
    assert ended.rewards.tolist() == [3.0, -3.0]
    assert pgx._calc_win_score(board) == 2
