"""Random words by a hash of their numbers: a few operations a word, where a key of its own costs more than a move."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, UInt32


def random_bits(key: Key[Array, ""], shape: tuple[int, ...]) -> UInt32[Array, "..."]:
    """Uniformly random words, each a hash of the key's words and its own number; both kinds of keys.

    For the choice of moves, not for cryptography. The hash is `lowbias32` (Wellons, "Prospecting for Hash Functions",
    2018), once with each word of the key: words of one key are a permutation of their numbers, hence all different.
    """
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    word = jax.lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    for part in range(key.size):
        word = _hash(word + key[part] * np.uint32(0x9E3779B9))
    return word


def _hash(word: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """A permutation of all words in which each bit depends on every other one."""
    word = (word ^ (word >> 16)) * np.uint32(0x21F0AAAD)
    word = (word ^ (word >> 15)) * np.uint32(0x735A2D97)
    return word ^ (word >> 15)


def fold_in(words: UInt32[Array, "..."], number: UInt32[Array, "..."] | int) -> UInt32[Array, "..."]:
    """Word `number` of the random stream that each word begins: the way to a word for each game, ply and purpose."""
    return _hash(words + jnp.asarray(number, jnp.uint32) * np.uint32(0x9E3779B9))
