"""Trying legal actions only finds the same turns as trying all actions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.core import Game
from jaxgames.envs.rollout import rollout
from jaxgames.envs.turns import best as turns


def by_words(positions):
    """A value with many ties: a few bits of the position."""
    word = sum(jnp.sum(x.reshape(len(x), -1), axis=1, dtype=jnp.uint32) for x in jax.tree.leaves(positions))
    return ((word ^ (word >> 7)) % 5).astype(jnp.float32) / 4 - 0.5


def sometimes_nan(positions):
    value = by_words(positions)
    return jnp.where(value == 0, jnp.nan, value)


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "checkers", "backgammon"])
def test_worths_are_float32_where_values_are_wider(game_id):
    """With x64 on. Only dtypes are looked at: nothing is compiled."""
    game = jaxgames.make(game_id)

    def worths(key):
        positions = jax.vmap(game.init)(jax.random.split(key, 12))._position
        return game.best_turn(positions, wide)[1], game.top_turns(positions, wide, 2).worth

    def wide(positions):
        return jnp.zeros(len(jax.tree.leaves(positions)[0]), jnp.float64)

    with jax.enable_x64(True):
        assert {worth.dtype for worth in jax.eval_shape(worths, jax.random.key(0))} == {jnp.dtype("float32")}


@pytest.mark.parametrize(("game_id", "steps"), [("checkers", 60), ("tic_tac_toe", 7)])
def test_the_same_turns_as_by_all_actions(game_id, steps):
    """In more positions than a pass holds, some with many legal actions, some over; NaN counts least."""
    game = jaxgames.make(game_id)

    @jax.jit
    def both(key):
        states = jax.vmap(game.init)(jax.random.split(key, 48))
        states, seen = rollout(game, states, key, steps, keep=lambda transition: transition.states._position)
        positions = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[5::7], seen)
        return [
            (Game.best_turn(game, positions, value), turns.best_of_legal(game, positions, value))
            for value in (by_words, sometimes_nan)
        ], jax.vmap(game.legal)(positions)

    results, legal = both(jax.random.key(0))
    for wanted, found in results:
        jax.tree.map(np.testing.assert_array_equal, found, wanted)
    assert len(legal) * turns.USUAL < legal.sum() and legal.sum(axis=1).max() >= 8
    assert (game_id == "checkers") == bool((~results[0][0][0].turn_passes).any())
    assert not np.array_equal(results[0][0][1], results[1][0][1])
