"""Subsets as numbers: each way to choose some squares from a set has a number from 0 on.

The combinatorial number system (Knuth, The Art of Computer Programming 4A, section 7.2.1.3): the subset of the places
p1 < p2 < ... has the number C(p1, 1) + C(p2, 2) + ...
"""

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32

from jaxgames.ops.bits import Word, below, bit, bottom_index, nth_set, popcount

MOST = 10
"""The most elements of a subset: C(32, 10) is 64,512,240."""

_CHOOSE = np.array([[math.comb(n, k) for k in range(MOST + 1)] for n in range(33)], np.int32)


def count(squares: Int32[Array, "..."], chosen: Int32[Array, "..."]) -> Int32[Array, "..."]:
    """How many subsets of `chosen` elements, at most `MOST`, a set of `squares` elements has."""
    return jnp.asarray(_CHOOSE)[squares, chosen]


def number_of(subset: Word, squares: Word, most: int) -> Int32[Array, "..."]:
    """The number of a subset of `squares` that has at most `most` elements."""
    number = jnp.zeros(subset.shape, jnp.int32)
    for size in range(1, most + 1):
        place = popcount(squares & below(bottom_index(subset)))
        number = number + jnp.where(subset != 0, count(place, jnp.int32(size)), 0)
        subset = subset & (subset - jnp.uint32(1))
    return number


def subset_of(number: Int32[Array, "..."], chosen: Int32[Array, "..."], squares: Word, most: int) -> Word:
    """The subset of `squares` that has `chosen` elements, at most `most`, and this number."""
    subset = jnp.zeros(number.shape, jnp.uint32)
    for size in range(most, 0, -1):
        # The greatest place p with C(p, size) <= number: so many of C(1, size), C(2, size) ... are not too large.
        smaller = number[..., None] >= _CHOOSE[1:, size].reshape((1,) * number.ndim + (-1,))
        place = jnp.sum(smaller, axis=-1, dtype=jnp.int32)
        wanted = size <= chosen
        subset = subset | jnp.where(wanted, bit(nth_set(squares, place.astype(jnp.uint32))), jnp.uint32(0))
        number = jnp.where(wanted, number - count(place, jnp.int32(size)), number)
    return subset
