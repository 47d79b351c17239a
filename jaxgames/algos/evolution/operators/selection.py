"""Selections: which candidates have children.

Candidates come best first, so a parent is drawn as a rank: 0 is the best.
"""

import dataclasses
from typing import Protocol

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, UInt32

from jaxgames.algos.evolution.operators.draws import below, fractions
from jaxgames.algos.evolution.ranking import ascending
from jaxgames.ops import checks
from jaxgames.ops.random_bits import fold_in


def best_first(scores: Float32[Array, " n"]) -> Int32[Array, " n"]:
    """The candidates' numbers from the best to the worst score; NaN as minus infinity, equal scores by number."""
    return ascending(-jnp.where(jnp.isnan(scores), -jnp.inf, scores))


class Selection(Protocol):
    """Draws parents among the best candidates."""

    def pool(self, population: int) -> int:
        """How many of the best may be drawn at all."""
        ...

    def __call__(self, scores: Float32[Array, " pool"], bits: UInt32[Array, "*shape"], /) -> Int32[Array, "*shape"]:
        """A rank for every 32 random bits, given the scores of the pool, best first."""
        ...


@dataclasses.dataclass(frozen=True)
class Truncation:
    """Only the best `keep` have children, by rank floor(U1 U2 keep) with U1 and U2 uniform in [0, 1): the better, the
    more. The chance of rank r is that of r <= U1 U2 keep < r + 1; the best of 5 has 52 % of the children, the last 2 %.

    Raises `ValueError` for less than 1, and where the population is smaller.
    """

    keep: int

    def __post_init__(self) -> None:
        if checks.whole("keep", self.keep, None) < 1:
            raise ValueError(f"keep={self.keep} of a selection: expected at least 1")

    def pool(self, population: int) -> int:
        """How many of the best may be drawn at all: `keep`. Raises `ValueError` if there are not so many."""
        if self.keep > population:
            raise ValueError(f"keep={self.keep} of a population of {population}: expected at most {population}")
        return self.keep

    def __call__(self, scores: Float32[Array, " pool"], bits: UInt32[Array, "*shape"]) -> Int32[Array, "*shape"]:
        """A rank for every 32 random bits."""
        first, second = fractions(fold_in(bits, 0)), fractions(fold_in(bits, 1))
        return jnp.minimum((first * second * np.float32(self.keep)).astype(jnp.int32), self.keep - 1)


@dataclasses.dataclass(frozen=True)
class Tournament:
    """The best of `size` candidates drawn uniformly, each time with replacement. Raises `ValueError` below 1."""

    size: int = 2

    def __post_init__(self) -> None:
        if checks.whole("size", self.size, None) < 1:
            raise ValueError(f"size={self.size} of a tournament: expected at least 1")

    def pool(self, population: int) -> int:
        """How many of the best may be drawn at all: everyone."""
        return population

    def __call__(self, scores: Float32[Array, " pool"], bits: UInt32[Array, "*shape"]) -> Int32[Array, "*shape"]:
        """A rank for every 32 random bits."""
        best = below(fold_in(bits, 0), len(scores))
        for number in range(1, self.size):
            best = jnp.minimum(best, below(fold_in(bits, number), len(scores)))
        return best.astype(jnp.int32)


@dataclasses.dataclass(frozen=True)
class FitnessWeighted:
    """Chances in proportion to score - `zero`; a candidate whose score is not above `zero` has none.

    Without a `zero` it is the lowest score of the generation, so negative scores need no care and the worst has no
    children. NaN and minus infinity have no chance, and do not count as the lowest; scores are cut off at 1e30. Where
    nobody has a chance, all have the same. Chances below 2^-32 are none.
    """

    zero: float | None = None

    def pool(self, population: int) -> int:
        """How many of the best may be drawn at all: everyone."""
        return population

    def __call__(self, scores: Float32[Array, " pool"], bits: UInt32[Array, "*shape"]) -> Int32[Array, "*shape"]:
        """A rank for every 32 random bits."""
        known = scores > -jnp.inf
        cut = jnp.clip(scores, -1e30, 1e30)
        zero = jnp.min(jnp.where(known, cut, jnp.inf)) if self.zero is None else jnp.float32(self.zero)
        weights = jnp.where(known, jnp.maximum(cut - zero, 0.0), 0.0)
        weights = jnp.where(jnp.max(weights) > 0.0, weights, 1.0)
        # Parts of 2^32 as whole numbers, whose sums are exact. A little less than all of it, against rounding.
        most = np.float32(2.0**32 * (1 - 2.0**-12))
        ends = jnp.cumsum((weights / jnp.sum(weights) * most).astype(jnp.uint32), dtype=jnp.uint32)
        drawn = below(fold_in(bits, 0), ends[-1])
        return jnp.searchsorted(ends, drawn.ravel(), side="right").astype(jnp.int32).reshape(bits.shape)
