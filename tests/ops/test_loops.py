"""Loops over many lanes: what `lax.while_loop` gives, and no single kernel on one core."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxgames
from jaxgames.algos import evolution, mcts
from jaxgames.nets import MLP
from jaxgames.ops import loops

TIC_TAC_TOE = jaxgames.make("tic_tac_toe")


def is_wide(function, *arguments):
    """Whether a program has such a loop: one that counts its rounds by a scatter."""
    return re.search(r"u32\[2\] = scatter-add\[", str(jax.make_jaxpr(function)(*arguments))) is not None


def more(carry):
    number, lanes = carry
    return (number < 5) & jnp.any(lanes < 100)


def step(carry):
    number, lanes = carry
    return number + 1, lanes * 3 + number


@pytest.mark.parametrize("lanes", [1, loops.MANY - 1, loops.MANY])
def test_the_same_is_calculated(lanes):
    start = jnp.int32(0), jnp.arange(lanes, dtype=jnp.int32) % 7
    ours = jax.jit(lambda carry: loops.while_loop(lanes, more, step, carry))
    plain = jax.jit(lambda carry: lax.while_loop(more, step, carry))
    for found, expected in zip(ours(start), plain(start), strict=True):
        np.testing.assert_array_equal(found, expected)
    text = ours.lower(start).compile().as_text()
    assert " while(" in text
    if lanes >= loops.MANY:  # a small one may be a kernel, a large one never is
        assert "xla_cpu_small_call" not in text


def test_only_cpus_count_by_scatter():
    start = jnp.int32(0), jnp.zeros(loops.MANY, jnp.int32)
    traced = jax.jit(lambda carry: loops.while_loop(loops.MANY, more, step, carry)).trace(start)
    scatters = {name: "scatter" in traced.lower(lowering_platforms=(name,)).as_text() for name in ("cpu", "tpu")}
    assert scatters == {"cpu": True, "tpu": False}


@pytest.mark.parametrize(("lanes", "wide"), [(loops.MANY - 1, False), (loops.MANY, True)])
def test_lanes_go_down_their_trees_in_such_a_loop(lanes, wide):
    states = jax.jit(jax.vmap(TIC_TAC_TOE.init))(jax.random.split(jax.random.key(0), lanes))
    search = functools.partial(mcts.search, TIC_TAC_TOE, num_simulations=4)
    assert is_wide(lambda states, key: search(states, key).actions, states, jax.random.key(0)) == wide


@pytest.mark.parametrize("sides", ["both", "first"])
@pytest.mark.parametrize(("games", "wide"), [(2, False), (loops.MANY // 4, True)])
def test_games_of_candidates_are_played_in_such_a_loop(games, sides, wide):
    genomes = evolution.Genomes(MLP((9,)), 9)
    fitness = evolution.ByPlay(
        evolution.Outputs(TIC_TAC_TOE, genomes, "cells"), evolution.RandomMoves(games), sides=sides
    )
    candidates = jnp.zeros((4, genomes.dimension), jnp.float32), jnp.arange(4, dtype=jnp.int32)
    assert is_wide(fitness, *candidates, jax.random.key(0)) == wide
