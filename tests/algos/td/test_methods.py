"""Learning a game that is nothing but its rules: no chance, no encoding, no fast turns."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import make_config, make_learner
from tests.algos.small_games import Heap

UPDATES = 300
# In the quick tier the other methods meet their references in `test_learner.py`, and each of their settings is changed
# in `tests/settings`.
METHODS = ["n_step", *(pytest.param(method, marks=pytest.mark.slow) for method in ("exact", "monte_carlo"))]


@pytest.mark.parametrize("method", METHODS)
def test_nim_is_learned(method):
    """Heaps of 4 and 8 are lost for the player to act, and whoever can leaves one of them."""
    config = make_config(
        game="nim", encoding="observation", hidden=(16,), outputs=2, method=method, batch=32, plies=8,
        step_size=0.02, schedule="constant",
    )  # fmt: skip
    learner = make_learner(config)
    state = learner.init(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), UPDATES)
    state, metrics = jax.jit(lambda state, keys: jax.lax.scan(learner.update, state, keys))(state, keys)
    wins = learner.network.predict(state.params, Heap(jnp.int32([3, 4, 7, 8])), jnp.zeros(4, jnp.int32))[:, 0]
    assert (wins[jnp.array([1, 3])] < 0.2).all() and wins[0] > 0.8, wins
    heaps = np.array([heap for heap in range(1, 13) if heap % 4], np.int32)
    outcome, worth = learner.network.game.best_turn(Heap(jnp.asarray(heaps)), learner.network.value(state.params))
    assert (outcome.position.left == heaps // 4 * 4).all() and (worth > 0.6).all()
    assert state.updates == UPDATES and metrics.games.sum() > 1000
    loss = np.asarray(metrics.squared_error) / np.maximum(metrics.positions, 1)
    assert loss[-50:].mean() < 0.2 * loss[:10].mean()


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_of_learning_counts(method):
    """The same games begin, and after two updates the weights are others."""
    config = make_config(
        game="nim", encoding="observation", hidden=(3,), outputs=2, method=method, batch=4, plies=6,
        optimizer="sgd", step_size=0.1, schedule="constant",
    )  # fmt: skip

    def weights(**changes):
        learner = make_learner(config.replace(**changes))
        state, update = learner.init(jax.random.key(0)), jax.jit(learner.update)
        before = state.params
        for number in range(2):
            state, _ = update(state, jax.random.key(number))
        changed = jax.tree.map(lambda a, b: np.asarray(a - b).ravel(), state.params, before)
        return np.concatenate(jax.tree.leaves(changed))

    usual = weights()
    assert abs(usual).max() > 0.01
    tiny = weights(step_size=1e-9)
    assert abs(tiny).max() < 1e-6
    for changes in (
        {"optimizer": "adam"},
        {"step_size": 0.05},
        {"epsilon": 0.5},
        {"schedule": "exponential", "updates": 2, "last_step_size": 0.01},
        {"schedule": "cosine", "updates": 2, "last_step_size": 0.01},
    ):
        assert abs(weights(**changes) - usual).max() > 1e-3, changes
    if method == "monte_carlo":
        assert "lambda_" not in config.declarations()
    else:
        assert abs(weights(lambda_=0.0) - usual).max() > 1e-4


@pytest.mark.parametrize("method", ["n_step", "sequential_td"])
def test_a_state_that_is_donated_leaves_the_caller_the_weights_that_it_began_with(method, monkeypatch):
    learner = make_learner(make_config(method, game="tic_tac_toe", hidden=(2,), outputs=2))
    if method == "n_step":  # its games are not asked for here, as they would be compiled
        monkeypatch.setattr(type(learner), "begin", lambda self, params, key: params)
    params = jax.jit(learner.network.init)(jax.random.key(0))
    state = learner.init(jax.random.key(1), params)
    jax.jit(lambda state: jax.tree.map(lambda x: x + 1, state), donate_argnums=0)(state)
    assert jax.tree.all(jax.tree.map(lambda x: not x.is_deleted(), params))
