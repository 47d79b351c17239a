"""The two forms of the policy over the legal actions."""

import jax
import numpy as np

from jaxgames.algos.mcts import kernel
from jaxgames.algos.mcts.init import FEW_ACTIONS, masked_softmax


def softmax(logits, legal, elsewhere, monkeypatch):
    """As a CPU computes it, or as other devices do."""
    monkeypatch.setattr(kernel, "by_device", lambda *given: given[elsewhere](*given[2:]))
    # A function of its own: jit would remember the other way of the same one.
    return np.asarray(jax.jit(lambda *given: masked_softmax(*given))(logits, legal))


def test_other_devices_compute_the_same(monkeypatch):
    for actions in (7, FEW_ACTIONS, FEW_ACTIONS + 1):
        rng = np.random.default_rng(actions)
        logits, legal = (3 * rng.normal(size=(64, actions))).astype(np.float32), rng.random((64, actions)) < 0.6
        logits[:4] = np.array([np.inf, -np.inf, np.nan, 0.0])[:, None]  # nothing finite to go by
        legal[:4], legal[4] = np.arange(actions) < 3, False
        logits[5] += 200  # more than the exponential of a float32 can be taken of
        cpu, other = (softmax(logits, legal, elsewhere, monkeypatch) for elsewhere in (False, True))
        expected = np.exp(np.where(legal, logits, -np.inf)[5:].astype(np.float64))
        expected /= np.maximum(expected.sum(axis=1, keepdims=True), 1e-30)
        for found in (cpu, other):
            np.testing.assert_allclose(found[:4, :3], 1 / 3, rtol=1e-6)
            assert not found[4].any() and not found[:4, 3:].any()
            np.testing.assert_allclose(found[5:], expected, rtol=1e-5, atol=1e-7)
