"""Each public function and each argument: what is wrong gets one line that says what would be right."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs import core
from jaxgames.ops import checks
from tests.arguments.evolution import EVOLUTION
from tests.arguments.games import GAMES
from tests.arguments.kinds import DICE, GAME, ROLLED, SEED, STATE, STATES
from tests.arguments.mcts import MCTS

ROWS = {**GAMES, **MCTS, **EVOLUTION}


def cases() -> list[Any]:
    """Every function, argument and kind of what is wrong."""
    return [
        pytest.param(name, argument, wrong, id=f"{name}-{argument}")
        for name, row in ROWS.items()
        for argument, wrong in row.wrong.items()
    ]


@pytest.mark.parametrize("name, argument, wrong", cases())
def test_what_is_wrong_gets_one_line(name, argument, wrong):
    row, failed = ROWS[name], []
    for kind, (value, error, line) in wrong.items():
        try:
            row.call(**{**row.right, argument: value})
            failed.append(f"{kind}: taken")
        except Exception as found:
            if type(found) is not error or line not in str(found) or "\n" in str(found):
                failed.append(f"{kind}: {type(found).__name__}: {found}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.tried])
def test_what_is_right_is_taken(name):
    ROWS[name].call(**ROWS[name].right)


@pytest.mark.parametrize("action", [3, np.int8(3), np.int64(3), np.array(3), jnp.uint8(3), jnp.int32(3)])
def test_whole_numbers_of_any_kind_are_actions(action):
    after = GAME.step(STATE, action)
    assert GAME.to_string(after) == "4" and not after.terminated


@pytest.mark.parametrize("action", [-1, 7, 2**32 + 3, np.int64(2**32 + 3), np.uint32(2**32 - 1)])
def test_actions_out_of_range_are_illegal(action):
    assert GAME.step(STATE, action).terminated


def test_batches_and_both_kinds_of_keys_are_right_under_vmap():
    assert jax.vmap(GAME.step)(STATES, np.arange(4)).terminated.shape == (4,)
    for key in (SEED, jax.random.PRNGKey(0), np.zeros(2, np.uint32)):
        assert DICE.step(ROLLED, 0, key).terminated.shape == ()


def test_checks_add_nothing_to_the_program(monkeypatch):
    checked = str(jax.make_jaxpr(GAME.step)(STATE, jnp.int32(3)))
    monkeypatch.setattr(core, "one_state", lambda game, state: state)
    monkeypatch.setattr(checks, "integers", lambda name, value, shape: value)
    assert checked == str(jax.make_jaxpr(GAME.step)(STATE, jnp.int32(3)))


@pytest.mark.parametrize("actions", [7, 128])
def test_a_mask_that_allows_nothing_gives_an_illegal_action(actions):
    masks = np.stack([np.zeros(actions, bool), np.arange(actions) == 5])
    drawn = jaxgames.random_action(SEED, masks)
    assert drawn.tolist() == [-1, 5] and drawn.dtype == np.int32
