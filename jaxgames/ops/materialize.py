"""Values that XLA:CPU computes once, though many things are made of them.

XLA:CPU fuses every operation into each of its users, so what ten arrays are made of is computed ten times, and for an
observation of 84 elements 84 times more. `jax.lax.optimization_barrier` does not change that. But XLA never repeats a
division by a number that it does not know, as divisions are expensive. So `materialize` divides by an opaque 1: the
value stays as it was, and XLA stores it once. LLVM, which comes after XLA, sees the 1 and drops the division.
"""

import functools
import operator

import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Int32


def materialize(value: Array, like: Array) -> Array:
    """The same value (bool, float32 or whole numbers, any shape), computed once and stored.

    `like` holds whole numbers that the program is given and does not compute, such as a part of its state. Its shape is
    that of `value`, or one that broadcasts to it, or that of the first axes of `value`.
    """
    if like.ndim and like.ndim < value.ndim and like.shape == value.shape[: like.ndim]:
        like = like.reshape(*like.shape, *(1,) * (value.ndim - like.ndim))
    like = jnp.broadcast_to(like, value.shape)
    if value.dtype == bool:
        return _divided(value.astype(jnp.uint32), like) != 0
    if value.dtype == jnp.float32:  # as bits: XLA would multiply by the inverse of a 1 that many numbers share
        return lax.bitcast_convert_type(_divided(lax.bitcast_convert_type(value, jnp.uint32), like), jnp.float32)
    return _divided(value, like)


def order_after(value: Int32[Array, ""], arrays: list[Array]) -> Int32[Array, ""]:
    """The same number, which XLA knows only after these arrays.

    What is written to a place of this number is written after all that the arrays were read from has been read, so XLA
    may write it there. Without this XLA copies what was read first, however large it is.
    """
    some = functools.reduce(operator.or_, [jnp.max(array).astype(jnp.int32) for array in arrays])
    return _divided(value, some)


def branchless(flags: Bool[Array, "..."]) -> Bool[Array, "..."]:
    """The same flags, so that XLA:CPU makes vector code of what is computed of them.

    Where somebody takes the logarithm of a mask, as `jax.random.categorical` does, LLVM makes a branch for each flag,
    which is twice as slow. It makes no branch for the smaller of two numbers.
    """
    return jnp.minimum(flags.astype(jnp.uint32) * 3, 1) != 0


def _divided(value: Array, like: Array) -> Array:
    return lax.div(value, _opaque_one(like, value.dtype))


def _opaque_one(like: Array, dtype: DTypeLike) -> Array:
    """1 for each whole number of `like`, which XLA cannot know to be 1."""
    return ((like | 1) != 0).astype(dtype)
