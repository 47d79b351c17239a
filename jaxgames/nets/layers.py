"""The parts of layers by name: activation functions, and initial weights and biases.

Initial ones with an optional size: "uniform", "uniform:0.1", "zeros", ...
"""

from collections.abc import Callable
from typing import Any, NamedTuple

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


InitFunction = Callable[..., jax.Array]  # (key, shape, dtype) -> array


class Initializer(NamedTuple):
    """How a layer starts: `weights` and `biases` are functions (key, shape, dtype) -> array."""

    weights: InitFunction
    biases: InitFunction


def uniform(scale: float = 0.25) -> Initializer:
    """Weights and biases uniform in [-scale, scale).

    TD-Gammon's papers and Sutton and Bonde's TD/backprop program only say "small random values"; 0.25, for biases
    too, is what GNU Backgammon starts from (lib/neuralnet.c, NeuralNetCreate).
    """

    def draw(key: jax.Array, shape: tuple[int, ...], dtype: Any = jnp.float32) -> jax.Array:
        return jax.random.uniform(key, shape, dtype, -scale, scale)

    return Initializer(draw, draw)


def zeros() -> Initializer:
    """All weights and biases zero."""
    return Initializer(jax.nn.initializers.zeros, jax.nn.initializers.zeros)


def lecun_normal(gain: float = 1.0) -> Initializer:
    """Weights truncated normal with variance gain / fan_in, biases zero (LeCun et al. 1998)."""
    scaling = jax.nn.initializers.variance_scaling(gain, "fan_in", "truncated_normal")
    return Initializer(scaling, jax.nn.initializers.zeros)


def glorot_uniform(gain: float = 1.0) -> Initializer:
    """Weights uniform with variance 2 gain / (fan_in + fan_out), biases zero (Glorot and Bengio 2010)."""
    scaling = jax.nn.initializers.variance_scaling(gain, "fan_avg", "uniform")
    return Initializer(scaling, jax.nn.initializers.zeros)


INITIALIZERS: dict[str, Callable[..., Initializer]] = {
    "uniform": uniform,
    "zeros": zeros,
    "lecun_normal": lecun_normal,
    "glorot_uniform": glorot_uniform,
}


def initializer(spec: str) -> Initializer:
    """The initialisation named by `spec`: a name of INITIALIZERS, or `name:number` where it has a parameter.

    Raises ValueError for an unknown name and for a number that is no positive number.
    """
    checks.text("initializer", spec, "uniform")
    name, colon, number = spec.partition(":")
    if name not in INITIALIZERS:
        raise ValueError(f"unknown initializer {name!r}; available: {', '.join(INITIALIZERS)}")
    if not colon:
        return INITIALIZERS[name]()
    if name == "zeros":
        raise ValueError(f"initializer {spec!r}: 'zeros' takes no number")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise ValueError(f"initializer {spec!r}: expected a positive number after the colon, as in '{name}:0.5'")
    return INITIALIZERS[name](value)
