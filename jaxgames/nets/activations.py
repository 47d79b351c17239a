"""The activation functions of the rebuilt systems, by name."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

Activation = Callable[[jax.Array], jax.Array]


def sigmoid(x: jax.Array) -> jax.Array:
    """1 / (1 + exp(-x)), in (0, 1): TD-Gammon's hidden and output units (Tesauro 1992)."""
    return jax.nn.sigmoid(x)


def tanh(x: jax.Array) -> jax.Array:
    """Hyperbolic tangent, in (-1, 1)."""
    return jnp.tanh(x)


def softsign(x: jax.Array) -> jax.Array:
    """x / (1 + |x|), in (-1, 1)."""
    return x / (1 + jnp.abs(x))


def softsign_unit(x: jax.Array) -> jax.Array:
    """0.5 x / (1 + |x|) + 0.5, in (0, 1): the modified softsign of the evolved tic-tac-toe networks."""
    return 0.5 * x / (1 + jnp.abs(x)) + 0.5


def bipolar_sigmoid(x: jax.Array) -> jax.Array:
    """2 / (1 + exp(-x)) - 1, in (-1, 1): the tic-tac-toe self-play networks."""
    return jnp.tanh(0.5 * x)  # the same function; the written form loses all digits near 0 and overflows far from it


def relu(x: jax.Array) -> jax.Array:
    """max(x, 0)."""
    return jax.nn.relu(x)


def identity(x: jax.Array) -> jax.Array:
    """x itself: linear outputs."""
    return x


def softmax(x: jax.Array) -> jax.Array:
    """exp(x_i) / sum_j exp(x_j) over the last axis. Output layers only."""
    return jax.nn.softmax(x, axis=-1)


ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    "softsign": softsign,
    "softsign_unit": softsign_unit,
    "bipolar_sigmoid": bipolar_sigmoid,
    "relu": relu,
    "identity": identity,
}

# Softmax couples the units of a layer, so it is a choice for the last one only.
OUTPUT_ACTIVATIONS: dict[str, Activation] = {**ACTIVATIONS, "softmax": softmax}


def activation(name: str) -> Activation:
    """The elementwise activation function `name`. Raises ValueError for an unknown name."""
    return _look_up(name, ACTIVATIONS, "activation")


def output_activation(name: str) -> Activation:
    """The activation function `name` of an output layer, softmax included. Raises ValueError for an unknown name."""
    return _look_up(name, OUTPUT_ACTIVATIONS, "output activation")


def _look_up(name: str, table: dict[str, Activation], kind: str) -> Activation:
    if name not in table:
        raise ValueError(f"unknown {kind} {name!r}; available: {', '.join(table)}")
    return table[name]
