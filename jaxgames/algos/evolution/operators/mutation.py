"""Mutations: small random changes of every gene, each made of a hash of the candidate's bits and the gene's number.

No array of random numbers is made: hash and change fuse with whatever the genes are read from and written to. A gene
that a change would make infinite or NaN keeps the value it had.
"""

import dataclasses
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, UInt32

from jaxgames.algos.evolution.noise import normals
from jaxgames.algos.evolution.operators.draws import signed_fractions
from jaxgames.ops import checks
from jaxgames.ops.random_bits import fold_in


class Mutation(Protocol):
    """Changes genomes, each by the stream of random numbers that its bits begin."""

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
        _check(self.rate, "rate")

    def __call__(self, genomes: Float32[Array, "n dimension"], bits: UInt32[Array, " n"]) -> Float32[Array, "n dim"]:
        """The changed genomes."""
        u = signed_fractions(gene_bits(genomes, bits))
        return _changed(genomes, np.float32(self.rate) * (u * u * u) * genomes)


@dataclasses.dataclass(frozen=True)
class Gaussian:
    """x + sigma e with e standard normal, in the sense of `noise.normals`: the number of ones of a hash and the
    next hash between them, which has the mean, the variance and nearly the distribution of a normal number.

    Raises `ValueError` for a sigma that is negative or no number.
    """

    sigma: float = 0.05

    def __post_init__(self) -> None:
        _check(self.sigma, "sigma")

    def __call__(self, genomes: Float32[Array, "n dimension"], bits: UInt32[Array, " n"]) -> Float32[Array, "n dim"]:
        """The changed genomes."""
        return _changed(genomes, np.float32(self.sigma) * normals(gene_bits(genomes, bits)))


def gene_bits(genomes: Float32[Array, "n dimension"], bits: UInt32[Array, " n"]) -> UInt32[Array, "n dimension"]:
    """32 random bits for each gene: number `gene` of the stream that its candidate's bits begin."""
    return fold_in(bits[:, None], jax.lax.iota(jnp.uint32, genomes.shape[1])[None])


def _changed(genomes: Float32[Array, "n dimension"], change: Float32[Array, "n dimension"]) -> Float32[Array, "n dim"]:
    changed = genomes + change
    return jnp.where(jnp.isfinite(changed), changed, genomes)


def _check(size: float, name: str) -> None:
    checks.number(name, size, "a finite number from 0")
    if not 0 <= size < float("inf"):
        raise ValueError(f"{name}={size} of a mutation: expected a finite number from 0")
