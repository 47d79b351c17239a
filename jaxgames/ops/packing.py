"""Batches of pytrees as one array of words, for loops on a GPU or TPU.

A loop copies and writes each of its arrays in a separate kernel, however small the array is, and starting a kernel
takes longer than the work. One array of words needs only one of each. On a CPU separate arrays are as fast, and
simpler.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, UInt32

Carry = TypeVar("Carry")
Given = TypeVar("Given")
Kept = TypeVar("Kept")


def scan(step: Callable[[Carry, Given], tuple[Carry, Kept]], carry: Carry, given: Given) -> tuple[Carry, Kept]:
    """`lax.scan(step, carry, given)` of a batch; on a GPU or TPU carry and results are words.

    The batch is the first axis of all arrays that are carried or kept. `step` is traced once.
    """
    step = jax.jit(step, inline=True)

    def in_words(carry: Any, given: Any) -> tuple[Any, Any]:
        def words_after(words: Array, one: Any) -> tuple[Array, Array]:
            after, kept = step(unpack(words, carry), one)
            return pack(after), pack(kept)

        first = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), given)
        last, kept = lax.scan(words_after, pack(carry), given)
        return unpack(last, carry), unpack(kept, jax.eval_shape(step, carry, first)[1])

    result: tuple[Carry, Kept] = lax.platform_dependent(
        carry, given, cpu=lambda carry, given: lax.scan(step, carry, given), default=in_words
    )
    return result


def pack(tree: Any) -> UInt32[Array, "words batch"]:
    """All arrays of a batch: its bits, in words of 32; numbers of fewer bits take a word each.

    The batch is the last axis, so that neighbours in memory belong to neighbours in the batch, and TPUs pad nothing.
    Raises `TypeError` for complex numbers, which have no such form.
    """
    return jnp.concatenate([_words(leaf) for leaf in jax.tree.leaves(tree)])


def unpack(words: UInt32[Array, "*more words batch"], like: Any) -> Any:
    """The arrays that `pack` got, given their shapes and dtypes; with further axes in front, if there are any."""
    leaves, structure = jax.tree.flatten(like)
    counts = [_width(leaf) for leaf in leaves]
    parts = jnp.split(words, [sum(counts[: end + 1]) for end in range(len(counts) - 1)], axis=-2)
    return jax.tree.unflatten(structure, [_array(part, leaf) for part, leaf in zip(parts, leaves, strict=True)])


def _words(array: Array) -> UInt32[Array, "words batch"]:
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise TypeError(f"a batch of {array.dtype}: expected bool, whole numbers, floats or keys")
    if array.dtype != bool:
        array = lax.bitcast_convert_type(array, _unsigned(array.dtype))
    return jnp.moveaxis(array.reshape(len(array), math.prod(array.shape[1:])), 0, -1).astype(jnp.uint32)


def _array(words: UInt32[Array, "*more words batch"], like: Any) -> Array:
    if jnp.issubdtype(like.dtype, jax.dtypes.prng_key):
        data = jax.eval_shape(jax.random.key_data, like)
        return jax.random.wrap_key_data(_array(words, data), impl=jax.random.key_impl(like))
    rows = jnp.moveaxis(words, -1, -2)
    if like.dtype == bool:
        return (rows != 0).reshape(*rows.shape[:-1], *like.shape[1:])
    small = _unsigned(like.dtype)
    shape = (*rows.shape[:-1], *like.shape[1:], *((2,) if like.dtype.itemsize == 8 else ()))
    return lax.bitcast_convert_type(rows.astype(small).reshape(shape), like.dtype)


def _unsigned(dtype: Any) -> Any:
    """Whole numbers of as many bits, at most 32: a number of 64 bits is two of them."""
    return {1: jnp.uint8, 2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint32}[jnp.dtype(dtype).itemsize]


def _width(like: Any) -> int:
    """Words for each of a batch."""
    if jnp.issubdtype(like.dtype, jax.dtypes.prng_key):
        return _width(jax.eval_shape(jax.random.key_data, like))
    return math.prod(like.shape[1:]) * (2 if like.dtype.itemsize == 8 else 1)
