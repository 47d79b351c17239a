"""Values that XLA computes once, though many things are made of them.

XLA:CPU fuses every operation into each of its users. What ten arrays are made of is then computed ten times, and for an
observation of 84 elements 84 times more; `jax.lax.optimization_barrier` does not change that. What XLA does not repeat
is an expensive operation, and a division by a number that it does not know is one of those. So divide by a one that
XLA does not know to be one: the value is as it was, but XLA stores it. The compiler behind XLA does know, and drops the
division itself.
"""

import functools
import operator

import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float32, Int32, UInt32


def _one(like: Array, dtype: DTypeLike) -> Array:
    """1 for each element of an array of whole numbers."""
    return ((like | 1) != 0).astype(dtype)


def word(value: UInt32[Array, "..."], like: Array) -> UInt32[Array, "..."]:
    """A word, computed once. `like` is any array of whole numbers that the program is given and does not compute."""
    return lax.div(value, _one(like, jnp.uint32))


def index(value: Int32[Array, "..."], like: Array) -> Int32[Array, "..."]:
    """A whole number, computed once."""
    return lax.div(value, _one(like, jnp.int32))


def flag(value: Bool[Array, "..."], like: Array) -> Bool[Array, "..."]:
    """A flag, computed once."""
    return word(value.astype(jnp.uint32), like) != 0


def branchless(flags: Bool[Array, "..."]) -> Bool[Array, "..."]:
    """The same flags, so that what is computed of them is vector code.

    Where somebody takes the logarithm of a mask, as for `jax.random.categorical`, the compiler makes a branch for each
    flag, which is twice as slow. It makes none of the smaller of two numbers.
    """
    return jnp.minimum(flags.astype(jnp.uint32) * 3, 1) != 0


def number(value: Float32[Array, "..."], like: Array) -> Float32[Array, "..."]:
    """A number, computed once. As a word: XLA would multiply by the inverse of a one that many numbers share."""
    return lax.bitcast_convert_type(word(lax.bitcast_convert_type(value, jnp.uint32), like), jnp.float32)


def after(value: Int32[Array, ""], arrays: list[Array]) -> Int32[Array, ""]:
    """A number that XLA knows only after these arrays.

    What is written to a place of this number is then written after all that the arrays were read from has been read, so
    that it may be written there. If XLA does not know that, it makes a copy first, however large.
    """
    some = functools.reduce(operator.or_, [jnp.max(array).astype(jnp.int32) for array in arrays])
    return lax.div(value, _one(some, jnp.int32))


def array(value: Array, like: Array) -> Array:
    """An array of any kind, computed once; `like` has as many rows."""
    return each(value, like.reshape(-1, *(1,) * (value.ndim - 1)))


def each(value: Array, like: Array) -> Array:
    """An array of any kind, computed once; `like` is of its shape, or broadcast to it."""
    like = jnp.broadcast_to(like, value.shape)
    if value.dtype == bool:
        return flag(value, like)
    return number(value, like) if value.dtype == jnp.float32 else lax.div(value, _one(like, value.dtype))
