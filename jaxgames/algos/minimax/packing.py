"""Positions of any game as rows of words: what a search keeps in its stacks and tables."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, UInt32

from jaxgames.envs.core import Game

Words = list[UInt32[Array, " lanes"]]


class Packing:
    """How positions of a game are written as words, one 32-bit word for each element of each array.

    Raises `ValueError` if a position has arrays of 64 bits, or random keys.
    """

    def __init__(self, game: Game):
        single = jax.eval_shape(game.init_position, jax.random.key(0))
        self._leaves, self._structure = jax.tree.flatten(single)
        for leaf in self._leaves:
            if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.extended) or leaf.dtype.itemsize > 4:
                raise ValueError(f"positions of {game.id} hold arrays of {leaf.dtype}; expected at most 32 bits")
        self.sizes = [math.prod(leaf.shape) for leaf in self._leaves]
        self.words = sum(self.sizes)

    def pack(self, positions: Any) -> Words:
        """The words of a batch of positions, each an array of its own."""
        words = []
        for leaf, size in zip(jax.tree.leaves(positions), self.sizes, strict=True):
            flat = _to_words(leaf.reshape(len(leaf), size))
            words += [flat[:, place] for place in range(size)] if leaf.ndim > 1 else [_to_words(leaf)]
        return words

    def unpack(self, words: Words) -> Any:
        """The positions that these words were made of."""
        leaves, start = [], 0
        for leaf, size in zip(self._leaves, self.sizes, strict=True):
            part = words[start : start + size]
            start += size
            flat = jnp.stack(part, axis=1).reshape(-1, *leaf.shape) if leaf.shape else part[0]
            leaves.append(_from_words(flat, leaf.dtype))
        return jax.tree.unflatten(self._structure, leaves)


def _to_words(values: Array) -> UInt32[Array, "..."]:
    if values.dtype.itemsize == 4:
        return lax.bitcast_convert_type(values, jnp.uint32)
    if jnp.issubdtype(values.dtype, jnp.floating):
        return lax.bitcast_convert_type(values.astype(jnp.float32), jnp.uint32)
    return values.astype(jnp.int32).astype(jnp.uint32)


def _from_words(words: UInt32[Array, "..."], dtype: Any) -> Array:
    if jnp.dtype(dtype).itemsize == 4:
        return lax.bitcast_convert_type(words, dtype)
    if jnp.issubdtype(dtype, jnp.floating):
        return lax.bitcast_convert_type(words, jnp.float32).astype(dtype)
    return words.astype(dtype) if dtype != jnp.bool_ else words != 0
