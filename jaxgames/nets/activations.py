"""The activation functions of the rebuilt systems, by name."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from jaxgames.ops import checks

Activation = Callable[[jax.Array], jax.Array]

ACTIVATIONS: dict[str, Activation] = {
    # 1 / (1 + exp(-x)), in (0, 1): TD-Gammon's hidden and output units (Tesauro 1992).
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
    "softsign": lambda x: x / (1 + jnp.abs(x)),
    # In (0, 1): the evolved tic-tac-toe networks.
    "softsign_unit": lambda x: 0.5 * x / (1 + jnp.abs(x)) + 0.5,
    # 2 / (1 + exp(-x)) - 1, in (-1, 1). That form of the same function loses all digits near 0 and overflows far from
    # it. AForge's function of that name has alpha = 2 as its usual value, and is tanh.
    "bipolar_sigmoid": lambda x: jnp.tanh(0.5 * x),
    "relu": jax.nn.relu,
    "identity": lambda x: x,
}

# Softmax couples the units of a layer, so it is a choice for the last one only.
OUTPUT_ACTIVATIONS: dict[str, Activation] = {**ACTIVATIONS, "softmax": lambda x: jax.nn.softmax(x, axis=-1)}


def activation(name: str) -> Activation:
    """The elementwise activation function `name`. Raises ValueError for an unknown name."""
    return _look_up(name, ACTIVATIONS, "activation")


def output_activation(name: str) -> Activation:
    """The activation function `name` of an output layer, softmax included. Raises ValueError for an unknown name."""
    return _look_up(name, OUTPUT_ACTIVATIONS, "output activation")


def _look_up(name: str, table: dict[str, Activation], kind: str) -> Activation:
    checks.text(kind, name, "softsign")
    if name not in table:
        raise ValueError(f"unknown {kind} {name!r}; available: {', '.join(table)}")
    return table[name]
