"""Activation functions and initial weights: by name, and as they should be."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.nets import ACTIVATIONS, INITIALIZERS, OUTPUT_ACTIVATIONS, activation, initializer, output_activation

FORMULAS = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "softsign_unit": lambda x: 0.5 * x / (1 + np.abs(x)) + 0.5,
    "bipolar_sigmoid": lambda x: 2 / (1 + np.exp(-x)) - 1,
    "relu": lambda x: np.maximum(x, 0),
    "identity": lambda x: x,
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
}


def test_every_activation_has_a_formula():
    assert set(OUTPUT_ACTIVATIONS) == set(FORMULAS) and set(ACTIVATIONS) == set(FORMULAS) - {"softmax"}


@pytest.mark.parametrize("name", FORMULAS)
def test_values_and_dtype(name):
    x = np.concatenate([np.linspace(-30, 30, 241), [1e-6, -1e-6, 80, -80]]).astype(np.float32).reshape(5, 49)
    y = jax.jit(output_activation(name))(x)
    assert y.dtype == jnp.float32
    np.testing.assert_allclose(y, FORMULAS[name](x.astype(np.float64)), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_are_finite_far_from_zero(name):
    gradient = jax.vmap(jax.grad(activation(name)))(np.array([-1e4, -100, 0, 100, 1e4], np.float32))
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("look_up", [activation, output_activation])
def test_unknown_names(look_up):
    with pytest.raises(ValueError, match="activation 'gelu'; available: sigmoid, tanh, softsign, softsign_unit"):
        look_up("gelu")


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
