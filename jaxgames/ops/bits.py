"""Sets as bits of uint32 words: the operations on boards that the games share.

All are elementwise: they work at any batch shape, XLA fuses them, and they need neither gather nor scatter.
"""

import functools
import operator
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.ops import checks

Word = UInt32[jax.Array, "..."]


def bit(index: Word) -> Word:
    """The word with only bit `index` set; 0 for an index of 32 or more."""
    return jnp.uint32(1) << index


def below(index: Word) -> Word:
    """The word with bits 0 .. `index` - 1 set."""
    return (jnp.uint32(1) << index) - jnp.uint32(1)


def has(words: Word, index: Word) -> jax.Array:
    """Whether bit `index` is set."""
    return ((words >> index) & jnp.uint32(1)) != 0


def popcount(words: Word) -> Int32[jax.Array, "..."]:
    """How many bits are set, as int32."""
    return lax.population_count(words).astype(jnp.int32)


def highest(words: Word) -> Word:
    """Only the highest set bit; 0 for 0."""
    return jnp.where(words == 0, jnp.uint32(0), jnp.uint32(1 << 31) >> lax.clz(words))


def top_index(words: Word) -> Word:
    """Index of the highest set bit. For 0 the result is a large number, not an index."""
    return jnp.uint32(31) - lax.clz(words)


def bottom_index(words: Word) -> Word:
    """Index of the lowest set bit. For 0 the result is a large number, not an index."""
    return top_index(words & (~words + jnp.uint32(1)))


def union(words: Word, axis: int = -1) -> Word:
    """Bitwise or along one axis."""
    return lax.reduce(words, jnp.uint32(0), lax.bitwise_or, (axis % words.ndim,))


def nth_set(words: Word, rank: Word) -> Word:
    """Index of the set bit that has `rank` set bits below it; rank 0 is the lowest set bit.

    Only meaningful where `rank` is below the number of set bits. The word is halved five times.
    """
    index = jnp.zeros_like(words)
    for width in (16, 8, 4, 2, 1):
        # How many bits are set in the lower half of what is left. If not enough, the bit is in the upper half.
        low = lax.population_count((words >> index) & jnp.uint32((1 << width) - 1))
        skip = rank >= low
        rank = jnp.where(skip, rank - low, rank)
        index = jnp.where(skip, index + jnp.uint32(width), index)
    return index


def unpack(sets: Sequence[Word | tuple[Word, ...]], places: np.ndarray) -> Bool[Array, " elements"]:
    """Sets as flags: element `i * len(sets) + k` says whether set k holds bit `places[i]`.

    A set is one word or several; places beyond it are false. Each element takes one `and` for each word, in one flat
    row, a form that XLA:CPU vectorises, unlike most others.
    """
    parts = []
    for number, words in enumerate(sets):
        own = np.arange(len(sets)) == number
        for index, word in enumerate(words if isinstance(words, tuple) else (words,)):
            bit_of = np.where(places // 32 == index, np.uint32(1) << (places % 32).astype(np.uint32), np.uint32(0))
            parts.append(word & np.where(own, bit_of[:, None], np.uint32(0)).ravel())
    return functools.reduce(operator.or_, parts) != 0


def unpack_first(words: tuple[Word, ...], places: np.ndarray) -> Bool[Array, "places ..."]:
    """One set as flags at the given places, with the places first.

    This form serves many networks at once: each flag is an array over the positions.
    """
    parts = []
    for index, word in enumerate(words):
        bit_of = np.where(places // 32 == index, np.uint32(1) << (places % 32).astype(np.uint32), np.uint32(0))
        parts.append(word[None] & jnp.asarray(bit_of).reshape(-1, *(1,) * word.ndim))
    return functools.reduce(operator.or_, parts) != 0


def pack(flags: Bool[Array, "... n"]) -> UInt32[Array, "... words"]:
    """Flags as sets: bit i of word k is flag 32 k + i."""
    width = min(flags.shape[-1], 32)
    rows = jnp.pad(flags, [(0, 0)] * (flags.ndim - 1) + [(0, -flags.shape[-1] % width)])
    rows = rows.reshape(*flags.shape[:-1], rows.shape[-1] // width, width)
    return jnp.sum(jnp.where(rows, bit(jnp.arange(width, dtype=jnp.uint32)), jnp.uint32(0)), axis=-1, dtype=jnp.uint32)


def bounded(random: Word, number: Word | int) -> Word:
    """A number from 0 to `number` - 1 drawn by 32 random bits: the high word of their product, without a division.

    For `number` up to 65,536. Probabilities differ by at most a share of `number` / 2^32. Raises `ValueError`
    for bits of another width.
    """
    checks.bits(random)
    return ((random >> 16) * number + (((random & 0xFFFF) * number) >> 16)) >> 16


def choose_set(flags: Sequence[Bool[Array, "..."]], random: Word) -> Word:
    """The index of a flag that is set, drawn uniformly by 32 random bits; each flag is an array of its own."""
    units = [flag.astype(jnp.uint32) for flag in flags]
    rank = bounded(random, sum(units[1:], units[0]))
    number, seen = jnp.zeros_like(rank), jnp.zeros_like(rank)
    for unit in units[:-1]:
        seen = seen + unit
        number = number + (seen <= rank).astype(jnp.uint32)
    return number
