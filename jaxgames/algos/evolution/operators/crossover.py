"""Crossovers: a child takes each gene from one of its parents, in pieces that stay together."""

import dataclasses
from collections.abc import Sequence
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, UInt32

from jaxgames.algos.evolution.operators.draws import below
from jaxgames.ops import checks
from jaxgames.ops.random_bits import fold_in

Parents = Sequence[Float32[Array, "n dimension"]]


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

    With one cut and two parents a child is the beginning of the first and the end of the second; with two, a segment
    of the first is exchanged. Cuts may fall together, and are then less. Raises `ValueError` for less than two parents
    and for too few cuts for all of them.
    """

    parents: int = 2
    cuts: int = 2

    def __post_init__(self) -> None:
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


def whole_layers(slices: Sequence[slice], parents: int = 2) -> WholeLayers:
    """`WholeLayers` by the parts of the chromosome that the layers are, as `Genomes.layer_slices`."""
    return WholeLayers(tuple(part.stop - part.start for part in slices), parents)


def _taken(genomes: Parents, which: Int32[Array, "n dimension"]) -> Float32[Array, "n dimension"]:
    """The genes of the parents whose numbers stand in `which`."""
    child = genomes[0]
    for number, parent in enumerate(genomes[1:], start=1):
        child = jnp.where(which == number, parent, child)
    return child
