"""A fifth game, written in one file as docs/games/your-own.md shows it: its rules, and what it gets from the core.

tests/docs/test_docs.py runs the Python of that page, `check_game` included.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pyspiel
import pytest

import jaxgames
from jaxgames.algos.td import make_config, make_learner
from jaxgames.envs import registry, rollout
from tests.envs.othello import PASS, Othello

GAMES, STEPS = 128, 66
QUICKLY = {"xla_backend_optimization_level": "0"}  # compiled so, as each program runs once


@pytest.fixture(scope="module", autouse=True)
def registered():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.GAMES, Othello.id, Othello)
        yield


# --8<-- [start:rules]
@pytest.fixture(scope="module")
def played():
    """Random games: the last states; for every step the states before it, masks, views, and actions."""
    game = jaxgames.make("othello")

    def play(key):
        states = jax.vmap(game.init)(jax.random.split(key, GAMES))
        last, moves = rollout(game, states, key, STEPS)
        return last, moves.states, moves.states.legal_action_mask, moves.states.observation, moves.actions

    return jax.device_get(jax.jit(play, compiler_options=QUICKLY)(jax.random.key(0)))


def test_rules_are_those_of_openspiel(played):
    """Legal actions, who is to act, what is seen, the end and the result, in random games."""
    last, before, masks, views, actions = played
    plies = passes = draws = 0
    for game in range(GAMES):
        theirs, first = pyspiel.load_game("othello").new_initial_state(), before.current_player[0, game]
        for step in range(STEPS):
            assert before.terminated[step, game] == theirs.is_terminal()
            if theirs.is_terminal():
                break
            assert before.current_player[step, game] == first ^ theirs.current_player()
            np.testing.assert_array_equal(np.flatnonzero(masks[step, game]), theirs.legal_actions())
            disks = np.reshape(theirs.observation_tensor(theirs.current_player()), (3, 8, 8))
            np.testing.assert_array_equal(views[step, game], disks.transpose(1, 2, 0)[..., 1:])
            action = int(actions[step, game])
            plies, passes = plies + 1, passes + (action == PASS)
            theirs.apply_action(action)
        assert theirs.is_terminal() and last.terminated[game]
        rewards = np.zeros((STEPS + 1, 2))
        rewards[:-1], rewards[-1] = before.rewards[:, game], last.rewards[game]
        assert rewards.sum(0)[[first, 1 - first]].tolist() == theirs.returns()
        draws += theirs.returns() == [0, 0]
    assert plies > 7000 and passes > 10 and draws > 0, (plies, passes, draws)


# --8<-- [end:rules]


def test_a_game_may_end_while_squares_are_empty():
    game, theirs = jaxgames.make("othello"), pyspiel.load_game("othello").new_initial_state()
    state, step = game.init(jax.random.key(0)), jax.jit(game.step, compiler_options=QUICKLY)
    for name in "e6 f4 e3 f6 g5 d6 e7 f5 c5".split():
        assert not state.terminated and not theirs.is_terminal()
        action = game.string_to_action(state, name)
        first, state = state.current_player, step(state, action)
        theirs.apply_action(action)
    assert state.terminated and theirs.is_terminal() and theirs.returns() == [1, -1] and state.rewards[first] == 1
    assert game.from_string(game.to_string(state)).terminated


def test_symmetric_positions_have_symmetric_moves(played):
    game, (_, before, masks, views, _) = jaxgames.make("othello"), played
    assert len(game.symmetries) == 8
    look = jax.jit(lambda state: (state.legal_action_mask, state.observation))
    for step, symmetry in enumerate(game.symmetries, 20):
        text = game.to_string(jax.tree.map(lambda x, step=step: x[step, 0], before))
        turned = game.from_string("".join(text[square] for square in symmetry.actions[:64]) + text[64:])
        mask, view = look(turned)
        np.testing.assert_array_equal(mask, masks[step, 0][symmetry.actions])
        np.testing.assert_array_equal(view, symmetry.observe(views[step, 0]))


def test_positions_and_actions_are_read_and_written():
    game = jaxgames.make("othello")
    assert game == Othello() and "othello" in jaxgames.available_games()
    start = "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27
    state = game.from_string(f"{start} X")
    names = [game.action_to_string(state, int(action)) for action in np.flatnonzero(state.legal_action_mask)]
    assert names == ["d3", "c4", "f5", "e6"]
    state = game.step(state, game.string_to_action(state, "d3"))
    assert game.to_string(state) == f"{start[:19]}X{start[20:27]}XX{start[29:]} O"
    for text, place in ((f"{start}", 65), (f"{start} x", 65), (f"{start[:10]}x{start[11:]} X", 11), ("-" * 9, 10)):
        with pytest.raises(ValueError, match=f"at character {place};"):
            game.from_string(text)
    with pytest.raises(ValueError, match="'i9' is no action"):
        game.string_to_action(state, "i9")
    drawing = game.from_string(f"{start} O").to_svg("dark")
    assert drawing.count("<circle") == 4


def test_a_learner_takes_it_as_it_is():
    learner = make_learner(
        make_config(game="othello", encoding="observation", hidden=(4,), outputs=2, method="n_step", batch=4, plies=4)
    )
    state = learner.init(jax.random.key(0))
    after, metrics = jax.jit(learner.update, compiler_options=QUICKLY)(state, jax.random.key(1))
    assert metrics.plies == 16 and metrics.positions > 0
    changed = jax.tree.map(lambda old, new: bool(jnp.any(old != new)), state.params, after.params)
    assert any(jax.tree.leaves(changed))
