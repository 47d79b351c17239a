"""AlphaZero on two devices: each plays its games, and both make the same steps."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.alphazero import AlphaZeroConfig, make_learner
from jaxgames.algos.alphazero.parallel import place
from jaxgames.nets import NetworkSpec

GAME = jaxgames.make("tic_tac_toe")
CONFIG = AlphaZeroConfig(
    NetworkSpec(hidden=(8,)), batch=8, plies=8, simulations=4, buffer_plies=16, steps=2, minibatch=16, opening_plies=0
)


def parts(tree, device: int):
    """What one of the two devices holds."""
    return jax.tree.map(lambda x: np.asarray(x.addressable_shards[device].data), tree)


def test_each_device_plays_its_games_and_both_learn_the_same():
    parallel = place(make_learner(GAME, CONFIG), 2)
    start = parallel.begin(jax.random.key(0))
    update = jax.jit(parallel.update)
    first, metrics = update(start, jax.random.key(1))
    alone = make_learner(GAME, dataclasses.replace(CONFIG, batch=4, minibatch=8))
    alone_update, games = jax.jit(alone.update), 0
    for device in range(2):
        share, one = alone_update(parts(start, device), jax.random.fold_in(jax.random.key(1), device))
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, atol=1e-3),
            parts(first.buffer, device),
            jax.tree.map(np.asarray, share.buffer),
        )
        games += int(one["games"])
    assert games > 0 and int(metrics["games"]) == games
    second, _ = update(first, jax.random.key(2))
    for name in ("params", "mean_params", "optimizer", "updates"):
        jax.tree.map(np.testing.assert_array_equal, *(parts(getattr(second, name), device) for device in range(2)))
    moved = jax.tree.map(lambda a, b: np.abs(a - b).max(), parts(second.params, 0), parts(start.params, 0))
    assert max(jax.tree.leaves(moved)) > 1e-4


def test_sizes_that_cannot_be_split():
    with pytest.raises(ValueError, match="minibatch=15 cannot be split over 2 devices evenly"):
        place(make_learner(GAME, dataclasses.replace(CONFIG, minibatch=15)), 2)
