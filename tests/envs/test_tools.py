"""Tools around games: rollouts with resets, limits of steps, random actions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs import Cells, Game
from jaxgames.envs.core import action_from_bits
from jaxgames.envs.rollout import Transition, random_action, rollout
from tests.algos.small_games import Nim

GAMES = ["tic_tac_toe", "backgammon"]


@pytest.fixture(scope="module", params=GAMES)
def played(request):
    """Batches of games stepped together with auto_reset, and what came before each reset."""
    game = jaxgames.make(request.param)
    step = jax.vmap(jaxgames.auto_reset(game.step, game.init, with_final=True))

    def play(states, key):
        action_key, step_key = jax.random.split(key)
        actions = random_action(action_key, states.legal_action_mask)
        after, final = step(states, actions, jax.random.split(step_key, 16))
        return after, (states, after, final, states.legal_action_mask, after.legal_action_mask, final.observation)

    @jax.jit
    def run(states):
        return jax.lax.scan(play, states, jax.random.split(jax.random.key(1), 400))[1]

    return game, jax.device_get(run(jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 16))))


def test_auto_reset_begins_a_new_game_and_keeps_the_end(played):
    game, (_, after, final, _, mask, observation) = played
    ended = final.terminated
    assert ended.any() and not ended.all()
    assert (after.terminated == ended).all() and (after.rewards == final.rewards).all()
    assert (np.abs(final.rewards[ended]).sum(axis=-1) > 0).any()
    assert (after._step_count[ended] == 0).all() and (final._step_count[ended] > 0).all()
    for new, old in zip(jax.tree.leaves(after._position), jax.tree.leaves(final._position), strict=True):
        assert (new[~ended] == old[~ended]).all()
    # The new game's mask, not that of an ended state: in backgammon hardly any of 156 actions is legal.
    assert mask[ended].all() == (game.id == "tic_tac_toe")
    # The final observation is that of the position that ended the game.
    assert (observation[ended] != after.observation[ended]).any()


def test_auto_reset_never_loses_a_game_to_its_own_reset(played):
    game, (before, _, final, mask, _, _) = played
    # All actions were legal, so nobody lost by an illegal one: in tic-tac-toe games have 5 to 9 actions.
    if game.id == "tic_tac_toe":
        lengths = final._step_count[final.terminated]
        assert lengths.min() >= 5 and lengths.max() == 9
    else:
        assert final._step_count[final.terminated].min() > 16
    assert mask.any(axis=-1).all() and (before._step_count >= 0).all()


def test_auto_reset_needs_a_key():
    game = jaxgames.make("tic_tac_toe")
    with pytest.raises(ValueError, match="state, action, key"):
        jaxgames.auto_reset(game.step, game.init)(game.init(jax.random.key(0)), jnp.int32(0))


def test_time_limit_truncates_games_of_any_batch():
    game = jaxgames.make("tic_tac_toe")
    step = jax.jit(jaxgames.time_limit(jax.vmap(game.step), 6))
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 2))
    for actions in ([0, 0], [3, 1], [1, 2], [4, 4], [2, 3]):
        states = step(states, jnp.asarray(actions, jnp.int32))
    assert states.terminated.tolist() == [True, False] and not states.truncated.any()
    after = step(states, jnp.asarray([8, 5], jnp.int32))
    assert after.terminated.tolist() == [True, False] and after.truncated.tolist() == [False, True]
    assert not after.rewards.any() and after.legal_action_mask.all()
    with pytest.raises(ValueError, match="max_steps 0: expected a whole number from 1 on"):
        jaxgames.time_limit(game.step, 0)


def test_rollout_with_new_games_keeps_what_it_is_told_to():
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 256))

    def keep(transition: Transition):
        return transition.states.observation, transition.states.legal_action_mask, transition, transition.ended

    run = jax.jit(lambda states, key: rollout(game, states, key, 40, auto_reset=True, keep=keep))
    last, (observation, mask, transitions, ended) = run(states, jax.random.key(1))
    assert observation.shape == (40, 256, 3, 3, 2) and mask.shape == (40, 256, 9)
    assert (observation == transitions.states.observation).all()
    assert (mask == transitions.states.legal_action_mask).all()
    assert (ended == transitions.after.terminated).all() and (transitions.rewards == transitions.after.rewards).all()
    following = jax.tree.map(lambda x, y: jnp.concatenate([x[1:], y[None]]), transitions.states, last)
    assert not following.terminated.any() and (following._step_count[ended] == 0).all()
    assert (following._position.cells[~ended] == transitions.after._position.cells[~ended]).all()
    new = following.current_player[ended]
    assert 0.4 < new.mean() < 0.6  # both players begin
    won, lost = (transitions.rewards[ended].max(axis=-1) == 1), transitions.rewards[ended].sum(axis=-1)
    assert not lost.any() and 0.8 < won.mean() < 0.95  # by random play 87.3 % of games are won


def test_rollout_in_parts_is_the_rollouts_of_the_parts():
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 12))
    run = jax.jit(lambda states, key: rollout(game, states, key, 9, auto_reset=True, games_at_once=4))
    last, moves = run(states, jax.random.key(1))
    assert moves.actions.shape == (9, 12) and moves.states.observation.shape == (9, 12, 3, 3, 2)
    alone = jax.jit(lambda states, key: rollout(game, states, key, 9, auto_reset=True))
    for part, key in enumerate(jax.random.split(jax.random.key(1), 3)):
        own = slice(4 * part, 4 * part + 4)
        wanted_last, wanted = alone(jax.tree.map(lambda x, own=own: x[own], states), key)
        found = jax.tree.map(lambda x, own=own: x[own], last), jax.tree.map(lambda x, own=own: x[:, own], moves)
        jax.tree.map(np.testing.assert_array_equal, found, (wanted_last, wanted))
    with pytest.raises(ValueError, match="games_at_once 5 must divide the batch of 12"):
        rollout(game, states, jax.random.key(1), 9, games_at_once=5)


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (jaxgames.make("tic_tac_toe"), "XOX/OOX/XXO"),
        (jaxgames.make("connect_four", rows=2, cols=2, connect=3), "1122"),
        (jaxgames.make("checkers"), "B:W5:B"),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
def test_random_actions_of_ended_games_are_actions(game, text):
    """Nothing is legal by the rules, but the mask of an ended game is all true, and what is drawn is in range."""
    state = game.from_string(text)
    assert state.terminated and state.legal_action_mask.all() and not game.legal(state._position).any()
    states = jax.tree.map(lambda x: jnp.broadcast_to(x, (64, *x.shape)), state)
    actions = random_action(jax.random.key(0), states)
    assert (actions >= 0).all() and (actions < game.num_actions).all()


@pytest.mark.parametrize("actions", [9, 20, 40])
def test_where_nothing_is_allowed_an_action_of_the_game_is_drawn(actions):
    assert action_from_bits(jnp.uint32(2**31), jnp.zeros(actions, bool)) < actions


@pytest.mark.parametrize("game_id", GAMES)
def test_a_batch_may_have_no_games(game_id):
    """Whatever takes a batch takes an empty one. Only shapes are looked at: nothing is compiled."""
    game = jaxgames.make(game_id)

    def value(positions):
        return jnp.zeros(len(jax.tree.leaves(positions)[0]))

    def all_of_it(key):
        states = jax.vmap(game.init)(jax.random.split(key, 0))
        positions, observation, mask = states._position, states.observation, states.legal_action_mask
        read = [encoding for encoding in game.encodings.values() if hasattr(encoding, "from_observation")]
        return (
            [random_action(key, given) for given in (states, mask)],
            [rollout(game, states, key, 2, auto_reset=bool(size), games_at_once=size) for size in (None, 2)],
            [encoding(positions) for encoding in game.encodings.values()],
            [encoding.from_observation(observation) for encoding in read],
            [symmetry.observe(observation) for symmetry in game.symmetries],
            [game.best_turn(positions, value), game.top_turns(positions, value, 3)],
            game.random_turn(positions, jnp.zeros(0, jnp.uint32)),
            game.turn_actions(positions, positions, states.terminated, positions),
            rollout(game, jax.vmap(game.init)(jax.random.split(key, 4)), key, 0, games_at_once=2)[1],
        )

    assert all(0 in leaf.shape for leaf in jax.tree.leaves(jax.eval_shape(all_of_it, jax.random.key(0))))


def test_states_say_what_they_are():
    game = jaxgames.make("connect_four")
    begun = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 2))
    states = jax.jit(jax.vmap(game.step))(begun, jnp.array([3, 4]))
    assert states.game is game and states.step_count.tolist() == [1, 1] and states.step_count.dtype == jnp.int32
    again = game.state(states._position)
    assert again.current_player.tolist() == [0, 0] and again.legal_action_mask.shape == (2, 7)


def test_a_game_that_is_not_whole_says_what_is_missing():
    """Which method of which class; notebooks show its states as text."""

    class Half(Game):
        id, num_actions, observation_shape = "half", 2, (2,)

    half = Half()
    position = jnp.zeros(2, bool)
    state = jaxgames.make("tic_tac_toe").from_string("X../.../...").replace(_position=position, _game=half)
    for method, arguments in {
        "init_position": (jax.random.key(0),),
        "legal": (position,),
        "play": (position, jnp.int32(0)),
        "observe_position": (position, jnp.bool_(True)),
        "parse": ("x",),
        "unparse": (position,),
        "draw_board": (position, "light"),
    }.items():
        with pytest.raises(NotImplementedError, match=f"half: Half defines no `{method}`; see `Game.{method}`"):
            getattr(half, method)(*arguments)
    assert state._repr_svg_() is None
    assert jaxgames.make("tic_tac_toe").from_string("X../.../...")._repr_svg_().startswith("<svg")


def test_cells_need_a_board():
    with pytest.raises(ValueError, match=r"nim is observed as \[13\]: expected \[rows, columns, planes\]"):
        _ = Cells(Nim()).size
