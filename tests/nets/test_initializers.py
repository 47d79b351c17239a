"""Initial weights: ranges and moments against their definitions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.nets import INITIALIZERS, initializer

FAN_IN, FAN_OUT = 300, 200

# name -> (standard deviation of the weights, bound of the weights, bound of the biases)
EXPECTED = {
    "uniform": (0.25 / 3**0.5, 0.25, 0.25),
    "uniform:2": (2 / 3**0.5, 2, 2),
    "zeros": (0, 0, 0),
    "lecun_normal": (FAN_IN**-0.5, 2.28 * FAN_IN**-0.5, 0),  # cut at two standard deviations before rescaling
    "lecun_normal:4": (2 * FAN_IN**-0.5, 4.56 * FAN_IN**-0.5, 0),
    "glorot_uniform": ((2 / 500) ** 0.5, (6 / 500) ** 0.5, 0),
    "glorot_uniform:0.25": (0.5 * (2 / 500) ** 0.5, 0.5 * (6 / 500) ** 0.5, 0),
}


def test_every_initializer_is_expected():
    assert {spec.partition(":")[0] for spec in EXPECTED} == set(INITIALIZERS)


@pytest.mark.parametrize("spec", EXPECTED)
def test_moments_and_bounds(spec):
    deviation, weight_bound, bias_bound = EXPECTED[spec]
    start = initializer(spec)
    weights = start.weights(jax.random.key(0), (FAN_IN, FAN_OUT), jnp.float32)
    biases = start.biases(jax.random.key(1), (FAN_OUT,), jnp.float32)
    assert weights.dtype == biases.dtype == jnp.float32
    assert weights.shape == (FAN_IN, FAN_OUT) and biases.shape == (FAN_OUT,)
    np.testing.assert_allclose(np.std(weights), deviation, rtol=0.02)
    assert abs(np.mean(weights)) <= 0.02 * deviation
    assert 0.98 * weight_bound <= np.abs(weights).max() <= weight_bound
    assert 0.9 * bias_bound <= np.abs(biases).max() <= bias_bound


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("normal", "unknown initializer 'normal'; available: uniform, zeros, lecun_normal, glorot_uniform"),
        ("uniform:", "positive number after the colon, as in 'uniform:0.5'"),
        ("uniform:x", "positive number"),
        ("uniform:-1", "positive number"),
        ("uniform:inf", "positive number"),
        ("zeros:1", "takes no number"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(ValueError, match=message):
        initializer(spec)
