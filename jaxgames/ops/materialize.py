"""Values that XLA:CPU computes once, though several results use them.

XLA:CPU fuses an operation into each of its users. A value that ten arrays use is computed ten times, and for an
observation of 84 elements 84 times more. `jax.lax.optimization_barrier` does not change that. But XLA never repeats a
division, as divisions are expensive. So `materialize` divides by a 1 that XLA does not know to be 1: the value stays
the same, and XLA computes and stores it once. LLVM, which runs after XLA, sees the 1 and drops the division.

A GPU also has fewer kernels this way. But for an array of another shape it repeats even a division; only a barrier
stops it. A TPU cannot divide whole numbers: its compiler turns a division into a long program, and takes up to four
times as long. There `materialize` does nothing, which does not cause more operations.
"""

import functools
import operator

import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Int32


def materialize(value: Array, like: Array, barrier: bool = False) -> Array:
    """The same value, computed once and stored; on a TPU just the same value.

    Gradients do not pass: on CPUs and GPUs that of a float32 is silently 0, as it is stored as bits. So use it only
    for values that need no gradient.

    Args:
        value: bool, float32 or whole numbers, of any shape.
        like: Whole numbers that the program gets as an input and does not compute, such as a part of its state. They
            have the shape of `value`, one that broadcasts to it, or that of the first axes of `value`.
        barrier: Whether a GPU stores it by a barrier, for a value from which an array of another shape is computed.
    """

    def as_it_is(value: Array, like: Array) -> Array:
        return value

    def behind_barrier(value: Array, like: Array) -> Array:
        return lax.optimization_barrier(value)

    elsewhere = behind_barrier if barrier else _stored
    return lax.platform_dependent(value, like, cpu=_stored, tpu=as_it_is, default=elsewhere)


def _stored(value: Array, like: Array) -> Array:
    if like.ndim and like.ndim < value.ndim and like.shape == value.shape[: like.ndim]:
        like = like.reshape(*like.shape, *(1,) * (value.ndim - like.ndim))
    like = jnp.broadcast_to(like, value.shape)
    if value.dtype == bool:
        return _divide(value.astype(jnp.uint32), like) != 0
    if value.dtype == jnp.float32:  # as bits: XLA turns a division of floats by one shared number into a product
        return lax.bitcast_convert_type(_divide(lax.bitcast_convert_type(value, jnp.uint32), like), jnp.float32)
    return _divide(value, like)


def order_after(value: Int32[Array, ""], arrays: list[Array]) -> Int32[Array, ""]:
    """The same number, which XLA can compute only after these arrays.

    Use it as the index of a write into a buffer from which the arrays were read: XLA then knows that the reads come
    first, and writes in place. Otherwise XLA copies the whole buffer before the write, however large it is.
    """
    some = functools.reduce(operator.or_, [jnp.max(array).astype(jnp.int32) for array in arrays])
    return _divide(value, some)


def branchless(flags: Bool[Array, "..."]) -> Bool[Array, "..."]:
    """The same flags, in a form that XLA:CPU vectorises.

    For the logarithm of a mask, as in `jax.random.categorical`, LLVM makes a branch for each flag, which is twice as
    slow. It makes no branch for a minimum of two numbers.
    """
    return jnp.minimum(flags.astype(jnp.uint32) * 3, 1) != 0


def _divide(value: Array, like: Array) -> Array:
    return lax.div(value, _opaque_one(like, value.dtype))


def _opaque_one(like: Array, dtype: DTypeLike) -> Array:
    """1 for each whole number of `like`, which XLA cannot know to be 1."""
    return ((like | 1) != 0).astype(dtype)
