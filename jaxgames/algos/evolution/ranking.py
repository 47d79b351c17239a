"""Ranks of scores, and weights computed from scores of any scale. A higher score is better, and NaN is the worst."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, UInt32

from jaxgames.ops import checks


def check_scores(scores: Any, count: int, columns: int | None = None) -> Float32[Array, "n ..."]:
    """One score for each candidate, float32[n], or a row of so many numbers, float32[n, columns].

    Raises `TypeError` or `ValueError` for anything else.
    """
    shape = (count,) if columns is None else (count, columns)
    what = "one score" if columns is None else f"{columns} numbers"
    expected = f"expected {what} for each candidate, float32{list(shape)}"
    if not checks.is_array(scores):
        raise TypeError(f"scores {checks.describe(scores)}: {expected}")
    if scores.shape != shape or not jnp.issubdtype(scores.dtype, jnp.floating):
        raise ValueError(f"scores {checks.describe(scores)}: {expected}")
    return jnp.asarray(scores, jnp.float32)


def ascending(scores: Float32[Array, " n"]) -> Int32[Array, " n"]:
    """The candidates' numbers from the worst to the best score; NaN as minus infinity, equal scores by number.

    A radix sort: each pass sorts words that hold some bits of the score, lowest bits first, above the candidate's
    number. Sorting pairs takes ten times as long as sorting words.
    """
    number_bits = max(1, (scores.size - 1).bit_length())
    digit = 32 - number_bits
    places = jax.lax.iota(jnp.uint32, scores.size)
    keys = _ordered_words(scores)
    order = places.astype(jnp.int32)
    for low in range(0, 32, digit):
        bits = (keys[order] >> np.uint32(low)) << np.uint32(number_bits)
        sorted_words = jax.lax.sort(bits | places, is_stable=False)
        order = order[(sorted_words & np.uint32(2**number_bits - 1)).astype(jnp.int32)]
    return order


def ranks(scores: Float32[Array, " n"], among: Float32[Array, " m"] | None = None) -> Float32[Array, " n"]:
    """How many of `among` (None: of the scores themselves) are worse, equal scores sharing the mean of their ranks.

    So 0 is the worst of m, and m - 1 the best. Words are sorted without their candidates, and each score is found
    by bisection: running maxima along a million sorted scores would take minutes to compile for a TPU.
    """
    words = _ordered_words(scores)
    in_order = jax.lax.sort(words if among is None else _ordered_words(among), is_stable=False)
    # A CPU is fastest with a loop; on a GPU each round of it would be kernels, and all rounds at once are one.
    places = jax.lax.platform_dependent(words, in_order, cpu=_places, default=partial(_places, unroll=True))
    return places.astype(jnp.float32) * 0.5


def _places(words: UInt32[Array, " n"], in_order: UInt32[Array, " m"], unroll: bool = False) -> Int32[Array, " n"]:
    """Twice the mean place of each word in the sorted words, from 0: the mean of the first and last equal one."""
    most = np.int32(in_order.size)
    bits = in_order.size.bit_length()

    def halve(done: Int32[Array, ""], counts: tuple[Array, Array]) -> tuple[Array, Array]:
        """Adds a bit to the numbers of smaller words and of words that are not larger, where there are so many."""
        smaller, no_larger = counts
        step = np.int32(1) << (np.int32(bits - 1) - done)
        for_smaller, for_no_larger = smaller + step, no_larger + step
        is_smaller = in_order[jnp.minimum(for_smaller, most) - 1] < words
        is_no_larger = in_order[jnp.minimum(for_no_larger, most) - 1] <= words
        return (
            jnp.where((for_smaller <= most) & is_smaller, for_smaller, smaller),
            jnp.where((for_no_larger <= most) & is_no_larger, for_no_larger, no_larger),
        )

    none = jnp.zeros(words.shape, jnp.int32)
    smaller, no_larger = jax.lax.fori_loop(0, bits, halve, (none, none), unroll=unroll)
    return smaller + no_larger - 1


def centered_ranks(scores: Float32[Array, " n"], among: Float32[Array, " m"] | None = None) -> Float32[Array, " n"]:
    """Ranks among `among` (None: the scores) from -1/2, the worst, to 1/2, of sum 0 where all are ranked.

    Salimans et al. 2017, section 2.1; Wierstra et al. 2014. Equal scores share the mean of their ranks, so that
    candidates as good as each other count the same.
    """
    count = scores.size if among is None else among.size
    return ranks(scores, among) * np.float32(1 / max(1, count - 1)) - 0.5


def raw(scores: Float32[Array, " n"], among: Float32[Array, " m"] | None = None) -> Float32[Array, " n"]:
    """The scores themselves; in place of NaN and infinities the lowest and the highest finite score of `among`.

    None: of the scores.
    """
    among = scores if among is None else among
    finite = jnp.isfinite(among)
    lowest = jnp.min(jnp.where(finite, among, jnp.inf))
    highest = jnp.max(jnp.where(finite, among, -jnp.inf))
    in_place = jnp.where(scores == jnp.inf, highest, lowest)
    return jnp.where(jnp.any(finite), jnp.where(jnp.isfinite(scores), scores, in_place), 0.0)


SHAPINGS: Mapping[str, Callable[[Float32[Array, " n"], Float32[Array, " m"] | None], Float32[Array, " n"]]] = {
    "centered_ranks": centered_ranks,
    "raw": raw,
}
"""Ways to shape scores among all, by name."""


def _ordered_words(scores: Float32[Array, " n"]) -> UInt32[Array, " n"]:
    """Words in the order of the scores; -0 as 0, NaN as minus infinity."""
    scores = jnp.asarray(scores, jnp.float32)
    scores = jnp.where(jnp.isnan(scores), -jnp.inf, jnp.where(scores == 0.0, 0.0, scores))
    bits = jax.lax.bitcast_convert_type(scores, jnp.uint32)
    return jnp.where(bits >> 31 != 0, ~bits, bits | np.uint32(1 << 31))
