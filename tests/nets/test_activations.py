"""Activation functions against plain NumPy formulas in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.nets import ACTIVATIONS, OUTPUT_ACTIVATIONS, activation, output_activation

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
