"""Games played by our rules, played again by OpenSpiel's: legal actions, who moves, when it ends, and the result.

OpenSpiel's draughts are drawn after 40 single moves without a capture, whatever the last of them has done: also if it
leaves the other player without a move.
"""

import warnings
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs import random_action, rollout
from jaxgames.interop.openspiel import action_numbers
from jaxgames.ops.random_bits import random_bits
from tests.oracles import oracle


class Played(NamedTuple):
    """What was seen before each action, [steps, games], and what the action led to."""

    legal: np.ndarray  # [steps, games, actions]
    mover: np.ndarray  # 0: who began the game
    over: np.ndarray
    result: np.ndarray  # [steps, games, 2], whoever began first


def half_with_style(key, states):
    """Random actions; in the second half of the games each game has an order of preference of its own, with a little
    chance. Such games are lopsided: pieces run ahead alone, block each other, stay at home until the end.
    """
    games, actions = states.legal_action_mask.shape
    taste = (random_bits(jax.random.key(7), (games, actions)) >> 1) + (random_bits(key, (games, actions)) >> 4)
    preferred = jnp.argmax(jnp.where(states.legal_action_mask, taste, 0), axis=-1).astype(jnp.int32)
    return jnp.where(jnp.arange(games) < games // 2, random_action(key, states), preferred)


def play(game, games, steps):
    """Actions [steps, games] of games that follow each other, and `Played`."""

    def keep(transition):
        before, after = transition.states, transition.after
        seen = Played(before.legal_action_mask, before.current_player, after.terminated, after.rewards)
        return transition.actions, before._step_count, seen

    @jax.jit
    def run(key):
        states = jax.vmap(game.init)(jax.random.split(key, games))
        return rollout(game, states, key, steps, half_with_style, auto_reset=True, keep=keep)[1]

    actions, count, played = jax.device_get(run(jax.random.key(0)))
    began = np.zeros((steps, games), np.int32)
    for step in range(steps):
        began[step] = np.where(count[step] == 0, played.mover[step], began[step - 1])
    turned = np.where(began[..., None] == 0, played.result, played.result[..., ::-1])
    return actions, played._replace(mover=(played.mover != began).astype(np.int32), result=turned)


def replay(game, actions, ours_of, num_actions):
    """The same games in OpenSpiel. `ours_of[mover, action]` is our number of each of its actions."""
    legal = np.zeros((*actions.shape, num_actions), bool)
    mover, over = np.zeros(actions.shape, np.int32), np.zeros(actions.shape, bool)
    result = np.zeros((*actions.shape, 2), np.float32)
    rows, columns, numbers = [], [], []
    names = ours_of.tolist()
    for index in range(actions.shape[1]):
        state = game.new_initial_state()
        for step, action in enumerate(actions[:, index].tolist()):
            player = state.current_player()
            theirs = state.legal_actions()
            ours = [names[player][number] for number in theirs]
            assert action in ours, f"OpenSpiel does not allow action {action} of {ours} in\n{state}"
            assert len(set(ours)) == len(ours)
            rows += [step] * len(ours)
            columns += [index] * len(ours)
            numbers += ours
            mover[step, index] = player
            state.apply_action(theirs[ours.index(action)])
            if state.is_terminal():
                over[step, index], result[step, index] = True, state.returns()
                state = game.new_initial_state()
    legal[rows, columns, numbers] = True
    return Played(legal, mover, over, result)


@pytest.fixture(scope="module")
def openspiel():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever an extension module says when it is imported
        return oracle("pyspiel")


GAMES = {
    "tic_tac_toe": (jaxgames.make("tic_tac_toe"), lambda game: np.tile(np.arange(9), (2, 1))),
    "connect_four": (jaxgames.make("connect_four"), lambda game: np.tile(np.arange(7), (2, 1))),
    "checkers": (jaxgames.make("checkers", draw_after=40), action_numbers),
}


@pytest.mark.parametrize("name", GAMES)
def test_games(openspiel, name):
    """200,000 actions."""
    ours, numbers = GAMES[name]
    theirs = openspiel.load_game(name)
    actions, played = play(ours, games=1000, steps=200)
    again = replay(theirs, actions, numbers(theirs), ours.num_actions)
    for field in Played._fields:
        differ = np.argwhere(getattr(played, field) != getattr(again, field))
        assert not len(differ), f"{field} differs {len(differ)} times, first after {differ[0]}"
    for part in np.split(np.arange(1000), 2):
        results = [tuple(result) for result in played.result[:, part][played.over[:, part]]]
        assert {(1, -1), (-1, 1)} <= set(results) and len(results) > 1000


# fmt: off
BLOCKED_BY_THE_FORTIETH = [
    40, 33, 57, 20, 37, 37, 33, 57, 17, 40, 53, 24, 53, 21, 49, 44, 44, 56, 4, 25, 61, 4, 8, 41, 29, 20, 76, 1, 12, 68,
    25, 36, 60, 73, 20, 49, 28, 88, 8, 17, 57, 33, 69, 12, 104, 29, 0, 44, 17, 61, 123, 76, 107, 105, 28, 126, 44, 107,
    95, 95, 76, 78, 93, 62, 108, 41, 127, 62, 40, 41, 61, 61, 110, 78, 57, 62, 93, 43, 76, 31, 108, 12, 127, 30, 92, 8,
    73, 24, 108, 39, 93, 26,
]
# fmt: on


def test_a_draw_comes_before_a_block(openspiel):
    """The fortieth quiet move in a row leaves the other player without a move: a draw, in OpenSpiel and here.

    Once in 40 million random actions.
    """
    game, theirs = GAMES["checkers"][0], openspiel.load_game("checkers")
    again = replay(theirs, np.array(BLOCKED_BY_THE_FORTIETH)[:, None], action_numbers(theirs), 128)
    assert again.over[-1, 0] and not again.over[:-1].any() and not again.result.any()
    state = game.init(jax.random.key(0))
    step = jax.jit(game.step)
    for action in BLOCKED_BY_THE_FORTIETH:
        assert not state.terminated
        state = step(state, action)
    assert state.terminated and not state.rewards.any()
    later = jaxgames.make("checkers", draw_after=41)
    assert later.from_string(game.to_string(state)).terminated  # as nothing can move
