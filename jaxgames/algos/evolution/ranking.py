"""Ranks of scores, and weights made of scores of any scale. A higher score is better, and NaN is the worst."""

from collections.abc import Callable, Mapping
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

    A radix sort: each pass sorts words of some bits of the score, lowest bits first, above the candidate's number.
    Sorting pairs takes ten times as long as sorting words.
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


def ranks(scores: Float32[Array, " n"]) -> Float32[Array, " n"]:
    """How many candidates are worse, equal scores sharing the mean of their ranks: 0 (worst) to n - 1."""
    order = ascending(scores)
    in_order = _ordered_words(scores)[order]
    places = jax.lax.iota(jnp.int32, scores.size)
    differs = in_order[1:] != in_order[:-1]
    end = jnp.ones(1, bool)
    first = jax.lax.cummax(jnp.where(jnp.concatenate([end, differs]), places, 0))
    last = jax.lax.cummin(jnp.where(jnp.concatenate([differs, end]), places, scores.size), reverse=True)
    shared = (first + last).astype(jnp.float32) * 0.5
    return jnp.zeros(scores.size, jnp.float32).at[order].set(shared, unique_indices=True)


def centered_ranks(scores: Float32[Array, " n"]) -> Float32[Array, " n"]:
    """Ranks from -1/2 (worst) to 1/2 (best), of sum 0 (Salimans et al. 2017, section 2.1; Wierstra et al. 2014).

    Equal scores share the mean of their ranks, so that candidates as good as each other count the same.
    """
    return ranks(scores) * np.float32(1 / max(1, scores.size - 1)) - 0.5


def raw(scores: Float32[Array, " n"]) -> Float32[Array, " n"]:
    """The scores themselves; in place of NaN and infinities the lowest and the highest finite score."""
    finite = jnp.isfinite(scores)
    lowest = jnp.min(jnp.where(finite, scores, jnp.inf))
    highest = jnp.max(jnp.where(finite, scores, -jnp.inf))
    in_place = jnp.where(scores == jnp.inf, highest, lowest)
    return jnp.where(jnp.any(finite), jnp.where(finite, scores, in_place), 0.0)


SHAPINGS: Mapping[str, Callable[[Float32[Array, " n"]], Float32[Array, " n"]]] = {
    "centered_ranks": centered_ranks,
    "raw": raw,
}
"""Ways to shape scores, by name."""


def _ordered_words(scores: Float32[Array, " n"]) -> UInt32[Array, " n"]:
    """Words in the order of the scores; -0 as 0, NaN as minus infinity."""
    scores = jnp.where(jnp.isnan(scores), -jnp.inf, jnp.where(scores == 0.0, 0.0, scores))
    bits = jax.lax.bitcast_convert_type(scores, jnp.uint32)
    return jnp.where(bits >> 31 != 0, ~bits, bits | np.uint32(1 << 31))
