"""What the documentation of version 0.1.0 showed still works, and says what to write in its place."""

import dataclasses
import importlib
import sys

import jax
import jax.numpy as jnp
import pytest

import jaxgames
from jaxgames.envs import backgammon
from jaxgames.envs.core import Game, Outcome
from jaxgames.envs.heads import heads_of
from tests.players.dash import Dash

OLD_NAMES = {"opening": "init_position", "view": "observe_position", "mark": "amaf_key", "readings": "heads"}


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_games_that_define_the_old_name(old, new):
    """A user's game of version 0.1.0: the warning names the new method, and points at the game's own file."""
    own = vars(Dash).get(new) or property(lambda self: {"own": 1})
    with pytest.warns(DeprecationWarning, match=f"Mine.{old} is deprecated: use {new}") as caught:
        mine = dataclasses.dataclass(frozen=True)(type("Mine", (Dash,), {old: own}))
    assert [warning.filename for warning in caught] == [__file__]
    assert vars(mine)[new] is own
    if new == "heads":
        assert heads_of(mine())["own"] == 1 and set(heads_of(mine())) == {"highest", "own"}


def test_a_whole_game_of_old_names():
    with pytest.warns(DeprecationWarning, match="Old.(opening|view) is deprecated"):

        class Old(Dash):
            opening = Dash.init_position

            def view(self, position, acting):
                return Dash.observe_position(self, position, acting)

    jaxgames.check_game(Old())


def test_a_game_of_both_names_is_not_warned():
    class Both(Dash):
        init_position = Dash.init_position
        opening = None

    assert Both.init_position is Dash.init_position


def test_what_is_read_by_an_old_name():
    game = jaxgames.make("checkers")
    with pytest.warns(DeprecationWarning, match="heads_of"):
        assert game.readings == heads_of(game)
    passes = jnp.bool_(True)
    with pytest.warns(DeprecationWarning, match="use turn_passes"):
        assert Outcome(None, passes, passes, jnp.float32(0)).switch is passes
    with pytest.warns(DeprecationWarning, match="use make_position"):
        assert backgammon.position([0] * 5 + [2] + [0] * 19, [1] + [0] * 24, (3, 1)).terminated.shape == ()
    assert not hasattr(Game, "opening")
    assert jax.eval_shape(game.init, jax.random.key(0)).terminated.shape == ()


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("envs.bits", "ops.bits", "popcount"),
        ("envs.cells", "envs.encodings", "Cells"),
        ("envs.legal_turns", "envs.turns.best", "best_of_legal"),
        ("envs.perft", "envs.testing.perft", "perft"),
    ],
)
def test_modules_that_moved(old, new, name):
    sys.modules.pop(f"jaxgames.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"jaxgames.{old} is deprecated: use jaxgames.{new}") as caught:
        module = importlib.import_module(f"jaxgames.{old}")
    assert len(caught) == 1
    assert getattr(module, name) is getattr(importlib.import_module(f"jaxgames.{new}"), name)
