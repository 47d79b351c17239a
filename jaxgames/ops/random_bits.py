"""Random bits by a hash of their index: a few operations for 32 bits; splitting a key costs more than a move."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Integer, Key, UInt32

from jaxgames.ops import checks


def random_bits(key: Key[Array, ""], shape: tuple[int, ...]) -> UInt32[Array, "..."]:
    """Uniformly random 32 bits for each element, a hash of the key and of the element's index; both kinds of keys.

    For the choice of moves, not for cryptography. The hash is `lowbias32` (Wellons, "Prospecting for Hash Functions",
    2018), applied once with each word of the key. It is a permutation, so the elements of one key are all different.
    The first one of `jax.random.key(0)` is 0.
    """
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    bits = jax.lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    for part in range(key.size):
        bits = _hash(bits + key[part] * np.uint32(0x9E3779B9))
    return bits


def fold_in(bits: UInt32[Array, "..."], data: Integer[Array, "..."] | int) -> UInt32[Array, "..."]:
    """Other random bits, made from these and a number, as `jax.random.fold_in` makes keys.

    This is how each game, ply and purpose gets its own bits. Raises `ValueError` for bits of another width.
    """
    checks.bits(bits)
    return _hash(bits + jnp.asarray(data, jnp.uint32) * np.uint32(0x9E3779B9))


def _hash(word: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """A permutation of all words in which each bit depends on every other one."""
    word = (word ^ (word >> 16)) * np.uint32(0x21F0AAAD)
    word = (word ^ (word >> 15)) * np.uint32(0x735A2D97)
    return word ^ (word >> 15)
