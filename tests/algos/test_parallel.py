"""Learning on two devices: each plays its games, and both make the sum of their steps."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.alphazero import AlphaZeroConfig
from jaxgames.algos.alphazero import make_learner as alphazero_learner
from jaxgames.algos.parallel import Parallel, devices_for, place
from jaxgames.algos.td import make_config, make_learner
from jaxgames.nets import NetworkSpec


def config_of(method, **changes):
    common = {"game": "dash", "encoding": "track", "hidden": (5,), "batch": 4, "plies": 6, "optimizer": "sgd"}
    return make_config(method, **common | {"schedule": "constant", "step_size": 0.1} | changes)


CONFIG = config_of("n_step")


def parts(tree, device: int):
    """What one of the two devices holds."""
    return jax.tree.map(lambda x: np.asarray(x.addressable_shards[device].data), tree)


@pytest.mark.parametrize("method", ["n_step", "exact"])
def test_the_step_is_the_sum_of_both(method):
    """One step: with exact TD a single ply, which learns if one was played before."""
    config = config_of(method, plies=1 if method == "exact" else 6)
    parallel = place(make_learner(config), 2)
    update = jax.jit(parallel.update)
    start = jax.jit(parallel.init)(jax.random.key(0))
    for number in range(2):
        start, _ = update(start, jax.random.key(5 + number))
    key = jax.random.key(9)
    state, metrics = update(start, key)

    alone = make_learner(config.replace(batch=2))
    alone_update = jax.jit(alone.update)
    changes, counted = [], []
    for device in range(2):
        share, one = alone_update(parts(start, device), jax.random.fold_in(key, device))
        before, after = jax.tree.map(np.asarray, (parts(start, device).params, share.params))
        changes.append(jax.tree.map(np.subtract, after, before))
        counted.append(one)
        for field in alone.per_game:
            jax.tree.map(
                lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), parts(getattr(state, field), device),
                jax.tree.map(np.asarray, getattr(share, field)),
            )  # fmt: skip
    for field in metrics._fields:
        np.testing.assert_allclose(getattr(metrics, field), sum(getattr(one, field) for one in counted), rtol=1e-5)
    wanted = jax.tree.map(lambda p, a, b: p + a + b, parts(start, 0).params, *changes)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), parts(state, 0).params, wanted)
    assert max(abs(change).max() for change in jax.tree.leaves(changes[1])) > 1e-3
    for field in ("params", "optimizer", "factor", "updates"):
        jax.tree.map(np.testing.assert_array_equal, *(parts(getattr(state, field), device) for device in range(2)))


def test_expected_learns_from_the_positions_of_both():
    """Each device plays and keeps its own games; a step is the sum of both gradients, each of half a minibatch."""
    config = config_of("expected", outputs=6, replay=48, minibatch=8, steps=1, average=0.5)
    parallel = place(make_learner(config), 2)
    update, start, key = jax.jit(parallel.update), parallel.init(jax.random.key(0)), jax.random.key(9)
    start, _ = update(start, jax.random.key(8))
    state, metrics = update(start, key)

    alone = make_learner(config.replace(batch=2, minibatch=4))
    alone_update = jax.jit(alone.update)
    shares, counted = zip(
        *(alone_update(parts(start, device), jax.random.fold_in(key, device)) for device in range(2)), strict=True
    )
    for device, share in enumerate(shares):
        here, wanted = parts(state, device), jax.tree.map(np.asarray, share)
        jax.tree.map(np.testing.assert_array_equal, here.games, wanted.games)
        for field in ("positions", "weight", "number"):
            found = getattr(here.replay, field)
            jax.tree.map(np.testing.assert_array_equal, found, getattr(wanted.replay, field))
        np.testing.assert_allclose(here.replay.targets, wanted.replay.targets, atol=1e-6)
    for field in metrics._fields:
        np.testing.assert_allclose(getattr(metrics, field), sum(getattr(one, field) for one in counted), rtol=1e-5)
    # Half of each one's step, as its gradient is the mean of half as many positions.
    before = parts(start, 0).weights
    weights = jax.tree.map(
        lambda w, a, b: w + (np.asarray(a) - w + np.asarray(b) - w) / 2, before, *(s.weights for s in shares)
    )
    average = jax.tree.map(lambda a, w: (a + w) / 2, parts(start, 0).params, weights)
    for found, wanted in ((state.weights, weights), (state.params, average)):
        for device in range(2):
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), parts(found, device), wanted)
    moved = jax.tree.map(lambda a, b: abs(a - b).max(), weights, before)
    assert min(jax.tree.leaves(moved)) > 1e-4


@pytest.mark.slow  # 11 seconds, most of them of the compiler; the other methods are split in the quick tier
def test_backgammon_whole_games():
    """Loops whose length differs from device to device."""
    config = config_of("monte_carlo", game="short_backgammon", encoding="tesauro", plies=30, optimizer="adam")
    parallel = place(make_learner(config), 2)
    start = parallel.init(jax.random.key(0))
    state, metrics = jax.jit(parallel.update)(start, jax.random.key(1))
    assert metrics.games == 4 and metrics.truncated == 0 and metrics.positions > 4
    jax.tree.map(np.testing.assert_array_equal, parts(state.params, 0), parts(state.params, 1))
    moved = jax.tree.map(lambda a, b: float(jnp.abs(a - b).max()), state.params, start.params)
    assert min(jax.tree.leaves(moved)) > 1e-3


def test_batches_that_cannot_be_split():
    with pytest.raises(ValueError, match="^batch=3 cannot be split over 2 devices evenly$"):
        place(make_learner(CONFIG.replace(batch=3)), 2)


def test_minibatches_that_cannot_be_split():
    config = config_of("expected", outputs=6, minibatch=3)
    with pytest.raises(ValueError, match="^minibatch=3 cannot be split over 2 devices evenly$"):
        place(make_learner(config), 2)


def test_one_device_and_too_many():
    learner = make_learner(CONFIG)
    assert place(learner, 1) is learner and isinstance(place(learner, 2), Parallel)
    state = learner.init(jax.random.key(0))
    assert learner.place(state) is state
    with pytest.raises(ValueError, match="^this runs on 3 devices, but 2 are here; use a machine with as many$"):
        place(learner, 3)


def test_each_device_gets_128_games_or_more():
    assert [devices_for(batch) for batch in (128, 255, 256, 257, 512)] == [1, 1, 2, 1, 2]


TIC_TAC_TOE = jaxgames.make("tic_tac_toe")
ALPHAZERO = AlphaZeroConfig(
    NetworkSpec(hidden=(8,)), batch=8, plies=8, simulations=4, buffer_plies=16, steps=2, minibatch=16, opening_plies=0
)


def test_each_device_plays_its_games_and_both_learn_the_same():
    parallel = place(alphazero_learner(TIC_TAC_TOE, ALPHAZERO), 2)
    start = parallel.init(jax.random.key(0))
    update = jax.jit(parallel.update)
    first, metrics = update(start, jax.random.key(1))
    alone = alphazero_learner(TIC_TAC_TOE, dataclasses.replace(ALPHAZERO, batch=4, minibatch=8))
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
        place(alphazero_learner(TIC_TAC_TOE, dataclasses.replace(ALPHAZERO, minibatch=15)), 2)
