"""What JAX does not promise: it stands in one module, and each piece can be missing."""

import importlib
import re
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.envs.turns import expand
from jaxgames.ops import clock, jax_internals

PACKAGE = Path(jaxgames.__file__).parent
INTERNAL = re.compile(r"jax\.(_src|extend|experimental|interpreters|lib)\b|from jax import (extend|experimental|lib)\b")


def test_nothing_else_names_them():
    for path in PACKAGE.rglob("*.py"):
        if path.name != "jax_internals.py":
            assert not INTERNAL.search(path.read_text("utf-8")), path


PIECES = {"jax.extend.core": "Literal", "jax.experimental.xla_metadata": "set_xla_metadata"}
PIECES |= {"jax.experimental": "io_callback"}


@pytest.fixture(params=PIECES)
def missing(request, monkeypatch):
    """A release of JAX in which one of these modules has not what is taken from it."""
    monkeypatch.delattr(sys.modules[request.param], PIECES[request.param])
    importlib.reload(jax_internals)
    yield request.param
    monkeypatch.undo()
    importlib.reload(jax_internals)


def test_each_can_be_missing(missing):
    assert jax_internals.has_programs() == (missing != "jax.experimental.xla_metadata")
    assert (jax_internals.io_callback is None) == (missing == "jax.experimental")
    with jax_internals.marked(jaxgames_step="true"):
        assert jax.jit(lambda x: x + 1)(jnp.float32(1)) == 2
    found = jax.jit(lambda x: jax_internals.call_host(lambda x: x + 1, jax.ShapeDtypeStruct((), jnp.float32), x))
    assert found(np.float32(2)) == 3
    program = jax.make_jaxpr(lambda x: True)(1)
    assert jax_internals.is_true(program) == (missing != "jax.extend.core")


def test_searches_and_turns_without_them(monkeypatch):
    """The results are the same; only the way is longer."""
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 3))

    def visits():
        jax.clear_caches()
        return np.asarray(mcts.search(game, states, jax.random.key(1), 12).visits)

    expected = visits()
    monkeypatch.setattr(jax_internals, "jaxpr_as_fun", None)
    mcts.kernel._works.cache_clear()
    np.testing.assert_array_equal(visits(), expected)
    mcts.kernel._works.cache_clear()
    monkeypatch.setattr(jax_internals, "Literal", None)
    expand.single_actions.cache_clear()
    assert not expand.single_actions(game)
    expand.single_actions.cache_clear()
    monkeypatch.setattr(jax_internals, "io_callback", None)
    first = clock.microseconds(jnp.zeros(1, jnp.int32))
    assert clock.microseconds(jnp.zeros(1, jnp.int32)) >= first
