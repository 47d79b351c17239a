"""Operators of genetic algorithms: mutation, crossover, selection, and the three together."""

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Integer, Key, UInt32

from jaxgames.algos.evolution.noise import normals
from jaxgames.algos.evolution.ranking import ascending
from jaxgames.ops import checks
from jaxgames.ops.random_bits import fold_in, random_bits


def fractions(bits: UInt32[Array, "..."]) -> Float32[Array, "..."]:
    """Uniform numbers from 0 to below 1, of 24 bits."""
    return (bits >> 8).astype(jnp.int32).astype(jnp.float32) * np.float32(2**-24)


def signed_fractions(bits: UInt32[Array, "..."]) -> Float32[Array, "..."]:
    """Uniform numbers from -1 to 1: the bits read as signed ones, of mean -2^-32."""
    return jax.lax.bitcast_convert_type(bits, jnp.int32).astype(jnp.float32) * np.float32(2**-31)


def below(bits: UInt32[Array, "..."], number: Integer[Array, ""] | int) -> UInt32[Array, "..."]:
    """Whole numbers from 0 to `number` - 1, for any number below 2^32: the high word of their product.

    Their probabilities differ by at most a share of `number` / 2^32.
    """
    high, low = bits >> 16, bits & np.uint32(0xFFFF)
    number = jnp.asarray(number, jnp.uint32)
    number_high, number_low = number >> 16, number & np.uint32(0xFFFF)
    middle = high * number_low + ((low * number_low) >> 16)
    return high * number_high + (middle >> 16) + ((low * number_high + (middle & np.uint32(0xFFFF))) >> 16)


class Mutation(Protocol):
    """Changes genomes, each by the stream of random numbers that starts at its bits."""

    def __call__(self, genomes: Float32[Array, "n dimension"], bits: UInt32[Array, " n"], /) -> Float32[Array, "n dim"]:
        """The changed genomes."""
        ...


@dataclasses.dataclass(frozen=True)
class Multiplicative:
    """x + r x with r uniform in [-rate, rate]: the larger a weight, the more it changes.

    No weight changes its sign (for a rate up to 1), and zeros stay zeros. Raises `ValueError` for a rate that is
    negative or no number.
    """

    rate: float = 0.2

    def __post_init__(self) -> None:
        checks.native_fields(self)
        _check(self.rate, "rate")

    def __call__(self, genomes: Float32[Array, "n dimension"], bits: UInt32[Array, " n"]) -> Float32[Array, "n dim"]:
        """The changed genomes."""
        return _changed(genomes, np.float32(self.rate) * signed_fractions(gene_bits(genomes, bits)) * genomes)


@dataclasses.dataclass(frozen=True)
class Cubic:
    """x + rate u^3 x with u uniform in [-1, 1]: mostly small changes and seldom large ones, of mean 0 and a standard
    deviation of rate |x| / sqrt(7).

    Raises `ValueError` for a rate that is negative or no number.
    """

    rate: float = 1.0

    def __post_init__(self) -> None:
        checks.native_fields(self)
        _check(self.rate, "rate")

    def __call__(self, genomes: Float32[Array, "n dimension"], bits: UInt32[Array, " n"]) -> Float32[Array, "n dim"]:
        """The changed genomes."""
        u = signed_fractions(gene_bits(genomes, bits))
        return _changed(genomes, np.float32(self.rate) * (u * u * u) * genomes)


@dataclasses.dataclass(frozen=True)
class Gaussian:
    """x + sigma e with e nearly standard normal, as in `noise.normals`: the number of ones of a hash, with the
    next hash to fill the gaps; it has the mean, the variance and nearly the distribution of a normal number.

    Raises `ValueError` for a sigma that is negative or no number.
    """

    sigma: float = 0.05

    def __post_init__(self) -> None:
        checks.native_fields(self)
        _check(self.sigma, "sigma")

    def __call__(self, genomes: Float32[Array, "n dimension"], bits: UInt32[Array, " n"]) -> Float32[Array, "n dim"]:
        """The changed genomes."""
        return _changed(genomes, np.float32(self.sigma) * normals(gene_bits(genomes, bits)))


def gene_bits(genomes: Float32[Array, "n dimension"], bits: UInt32[Array, " n"]) -> UInt32[Array, "n dimension"]:
    """32 random bits for each gene: number `gene` of the stream that starts at its candidate's bits."""
    return fold_in(bits[:, None], jax.lax.iota(jnp.uint32, genomes.shape[1])[None])


def _changed(genomes: Float32[Array, "n dimension"], change: Float32[Array, "n dimension"]) -> Float32[Array, "n dim"]:
    changed = genomes + change
    return jnp.where(jnp.isfinite(changed), changed, genomes)


def _check(size: float, name: str) -> None:
    if not 0 <= checks.number(name, size, "a finite number from 0") <= checks.MOST_FLOAT32:
        raise ValueError(f"{name}={size} of a mutation: expected a finite number from 0")


Parents = Sequence[Float32[Array, "n dimension"]]
CROSSING = 2**32 - 1
"""The number that a crossover folds into a candidate's bits; numbers from 0 on are for the genes."""


class Crossover(Protocol):
    """Makes n children of n times `parents` genomes; each child is drawn by its random bits."""

    @property
    def parents(self) -> int:
        """How many parents a child has."""
        ...

    def __call__(self, genomes: Parents, bits: UInt32[Array, " n"], /) -> Float32[Array, "n dimension"]:
        """The children of the first parents genomes[0], the second ones genomes[1], and so on."""
        ...


@dataclasses.dataclass(frozen=True)
class Segments:
    """The chromosome is cut at `cuts` places, drawn uniformly, and the parents take turns in giving the pieces.

    With one cut and two parents a child is the beginning of the first and the end of the second; with two cuts, a
    segment of the first is exchanged. Cuts may coincide; then there are fewer pieces. Raises `ValueError` for fewer
    than two parents and for too few cuts for all of them.
    """

    parents: int = 2
    cuts: int = 2

    def __post_init__(self) -> None:
        checks.native_fields(self)
        for name in ("parents", "cuts"):
            checks.whole(name, getattr(self, name), None)
        if self.parents < 2:
            raise ValueError(f"parents={self.parents} of a crossover: expected at least 2")
        if self.cuts < self.parents - 1:
            raise ValueError(f"cuts={self.cuts} are too few for {self.parents} parents: expected {self.parents - 1}")

    def __call__(self, genomes: Parents, bits: UInt32[Array, " n"]) -> Float32[Array, "n dimension"]:
        """The children."""
        dimension = genomes[0].shape[1]
        genes = jax.lax.iota(jnp.uint32, dimension)[None]
        passed = jnp.zeros((1, 1), jnp.int32)
        for cut in range(self.cuts):
            place = 1 + below(fold_in(bits, cut), max(1, dimension - 1))
            passed = passed + (genes >= place[:, None]).astype(jnp.int32)
        return _taken(genomes, passed % self.parents)


@dataclasses.dataclass(frozen=True)
class WholeLayers:
    """Each layer of a child is that of one of its parents, drawn uniformly.

    `sizes` are the numbers of genes of the layers, one after the other. Raises `ValueError` for less than two parents,
    layers without genes, and genomes of another dimension.
    """

    sizes: tuple[int, ...]
    parents: int = 2

    def __post_init__(self) -> None:
        checks.native_fields(self)
        checks.whole("parents", self.parents, None)
        if self.parents < 2:
            raise ValueError(f"parents={self.parents} of a crossover: expected at least 2")
        for size in self.sizes:
            checks.whole("size", size, None)
        if not self.sizes or min(self.sizes) < 1:
            raise ValueError(f"sizes {self.sizes} of the layers: expected one or more positive whole numbers")

    def __call__(self, genomes: Parents, bits: UInt32[Array, " n"]) -> Float32[Array, "n dimension"]:
        """The children."""
        dimension = genomes[0].shape[1]
        if sum(self.sizes) != dimension:
            raise ValueError(f"layers of {sum(self.sizes)} genes do not make up genomes of {dimension}")
        layer = np.repeat(np.arange(len(self.sizes), dtype=np.uint32), self.sizes)
        drawn = below(fold_in(bits[:, None], jnp.asarray(layer)[None]), self.parents)
        return _taken(genomes, drawn.astype(jnp.int32))


@dataclasses.dataclass(frozen=True)
class IsoLine:
    """The first parent, moved by a little noise and along the line to the second one: x + iso e + line u (y - x), with
    a standard normal number e for each gene and u for each child.

    If good networks lie close together, children stay among them. No further mutation is needed. Source: Vassiliades
    and Mouret (2018), "Discovering the Elite Hypervolume by Leveraging Interspecies Correlation", equation 4. Raises
    `ValueError` for a negative or non-finite number.
    """

    iso: float = 0.05
    line: float = 0.2
    parents: ClassVar[int] = 2

    def __post_init__(self) -> None:
        checks.native_fields(self)
        for name in ("iso", "line"):
            _check(getattr(self, name), name)

    def __call__(self, genomes: Parents, bits: UInt32[Array, " n"]) -> Float32[Array, "n dimension"]:
        """The children."""
        one, other = genomes
        along = np.float32(self.line) * normals(fold_in(bits, CROSSING))[:, None]
        return _changed(one, np.float32(self.iso) * normals(gene_bits(one, bits)) + along * (other - one))


def whole_layers(slices: Sequence[slice], parents: int = 2) -> WholeLayers:
    """`WholeLayers` by the parts of the chromosome that the layers are, as `Genomes.layer_slices`."""
    return WholeLayers(tuple(part.stop - part.start for part in slices), parents)


def _taken(genomes: Parents, which: Int32[Array, "n dimension"]) -> Float32[Array, "n dimension"]:
    """For each gene, that of the parent with the number in `which`."""
    child = genomes[0]
    for number, parent in enumerate(genomes[1:], start=1):
        child = jnp.where(which == number, parent, child)
    return child


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
    """Only the best `keep` have children, by rank floor(U1 U2 keep) with U1 and U2 uniform in [0, 1): better ones have
    more. Rank r has the probability of r <= U1 U2 keep < r + 1; the best of 5 has 52 % of the children, the last 2 %.

    Raises `ValueError` for less than 1, and if the population is smaller.
    """

    keep: int

    def __post_init__(self) -> None:
        checks.native_fields(self)
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
        checks.native_fields(self)
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
    """Probabilities proportional to score - `zero`; 0 for a candidate whose score is not above `zero`.

    By default `zero` is the lowest score of the generation, so negative scores need no care and the worst has no
    children. NaN and minus infinity have probability 0, and do not count as the lowest; scores are clipped at 1e30. If
    nobody has a chance, all have the same. Probabilities below 2^-32 become 0. Raises `ValueError` for a `zero` beyond
    1e30.
    """

    zero: float | None = None

    def __post_init__(self) -> None:
        checks.native_fields(self)
        if self.zero is not None:
            checks.number("zero", self.zero, "a number from -1e30 to 1e30, or None", lambda zero: abs(zero) <= 1e30)

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


def offspring(
    pool: Float32[Array, "k dimension"],
    parents: Int32[Array, "n parents"],
    elite: Bool[Array, " n"],
    bits: UInt32[Array, " n"],
    mutation: Mutation,
    crossover: Crossover | None = None,
) -> Float32[Array, "n dimension"]:
    """The children of the rows `parents` of `pool`, each by its random `bits`, by `crossover` and then `mutation`.

    The `elite` is its first parent unchanged.

    All of it is elementwise except the reading of rows, so XLA makes one loop of it.
    """
    rows = [pool.at[parents[:, i]].get(mode="clip") for i in range(parents.shape[1])]
    child = rows[0] if crossover is None else crossover(rows, fold_in(bits, CROSSING))
    return jnp.where(elite[:, None], rows[0], mutation(child, bits))


def candidate_bits(key: Key[Array, ""], numbers: Int32[Array, "..."]) -> UInt32[Array, "..."]:
    """32 random bits for each number, which depend on the key and the number only."""
    first, second = random_bits(key, (2,))
    return fold_in(fold_in(numbers.astype(jnp.uint32), first), second)


__all__ = [
    "Crossover",
    "Cubic",
    "FitnessWeighted",
    "Gaussian",
    "IsoLine",
    "Multiplicative",
    "Mutation",
    "Segments",
    "Selection",
    "Tournament",
    "Truncation",
    "WholeLayers",
    "best_first",
    "candidate_bits",
    "offspring",
    "whole_layers",
]
