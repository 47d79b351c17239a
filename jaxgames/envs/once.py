"""Values that XLA computes once, though many things are made of them.

XLA:CPU fuses every operation into each of its users. What ten arrays are made of is then computed ten times, and for an
observation of 84 elements 84 times more; `jax.lax.optimization_barrier` does not change that. What XLA does not repeat
is an expensive operation, and a float division is one of those. Dividing by a one that XLA does not know to be one
leaves the value as it is, and makes XLA store it. The compiler behind XLA does know, and drops the division itself.
"""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, UInt32


def _one(like: Array) -> Float32[Array, "..."]:
    """1.0 for each element of an array of whole numbers."""
    return ((like | 1) != 0).astype(jnp.float32)


def flag(value: Bool[Array, "..."], like: Array) -> Bool[Array, "..."]:
    """A flag, computed once. `like` is any array of whole numbers that a program is given (not computes)."""
    return value.astype(jnp.float32) / _one(like) != 0


def number(value: Float32[Array, "..."], like: Array) -> Float32[Array, "..."]:
    """A number, computed once."""
    return value / _one(like)


def index(value: Int32[Array, "..."], like: Array) -> Int32[Array, "..."]:
    """A whole number below 2^24, computed once."""
    return (value.astype(jnp.float32) / _one(like)).astype(value.dtype)


def word(value: UInt32[Array, "..."], like: Array) -> UInt32[Array, "..."]:
    """A word, computed once: by its halves, as floats hold 24 bits."""
    return index(value & 0xFFFF, like) | (index(value >> 16, like) << 16)
