"""MAP-Elites: an archive of networks that play differently, with the best network of each way to play."""

import dataclasses
from collections.abc import Collection
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.fitness import MEASURES
from jaxgames.algos.evolution.operators import Crossover, IsoLine, below, candidate_bits
from jaxgames.algos.evolution.ranking import check_scores
from jaxgames.algos.evolution.strategies.neuroevolution import InitGenomes
from jaxgames.algos.evolution.strategies.population import PopulationConfig
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied
from jaxgames.ops.settings import own, setting
from jaxgames.runs import Archive

MOST_CELLS = 2**20


class MapElitesState(NamedTuple):
    """The elites, a row for each cell, with their scores (minus infinity where a cell is empty) and descriptors."""

    genomes: Float32[Array, "cells dimension"]
    scores: Float32[Array, " cells"]
    descriptors: Float32[Array, "cells axes"]
    key: Key[Array, ""]
    generation: Int32[Array, ""]


@dataclasses.dataclass(frozen=True)
class MapElites:
    """Mouret and Clune (2015), "Illuminating search spaces by mapping elites": the range of each descriptor, from `low`
    to `high`, is divided into `cells` parts, and every cell keeps the candidate with the best score of those whose
    descriptors fall into it; a descriptor outside the range belongs to the cell at its end.

    The first generation is drawn by `first`, as is each later one while the archive is empty; then `population`
    candidates are children of elites, drawn with equal chances, by `variation`. A fitness gives each candidate's score
    and descriptors, float32[b, 1 + axes]. To enter a cell a new candidate must be better than the elite; among new ones
    with equal scores the first enters.

    Raises `ValueError` for ranges that are none, and for more than 1,048,576 cells.
    """

    population: int
    dimension: int
    first: InitGenomes
    low: tuple[float, ...]
    high: tuple[float, ...]
    cells: int = 16
    variation: Crossover = IsoLine()

    def __post_init__(self) -> None:
        checks.native_fields(self)
        for name in ("population", "dimension", "cells"):
            checks.whole(name, getattr(self, name))
        checks.function("first", self.first, "(key, numbers) -> genomes")
        checks.made("variation", self.variation, ("parents",), "a crossover, such as IsoLine()")
        if not len(self.low) == len(self.high) > 0 or not all(map(_is_range, self.low, self.high)):
            raise ValueError(f"low={self.low}, high={self.high}: expected a range for each descriptor, such as (0, 1)")
        if self.cells**self.axes > MOST_CELLS:
            raise ValueError(f"cells={self.cells} to the power of {self.axes}: expected at most {MOST_CELLS:,} in all")

    @property
    def axes(self) -> int:
        """The number of descriptors."""
        return len(self.low)

    @property
    def columns(self) -> int:
        """How many numbers a fitness gives for each candidate: its score and its descriptors."""
        return 1 + self.axes

    @property
    def working_bytes(self) -> int:
        """What `tell` needs besides the old and the new state: the candidates that are the best of their cells."""
        return 4 * self.cells**self.axes * self.dimension

    def init(self, key: Key[Array, ""]) -> MapElitesState:
        """The state before the first generation: all cells are empty."""
        checks.key(key)
        size = self.cells**self.axes
        return MapElitesState(
            jnp.zeros((size, self.dimension), jnp.float32),
            jnp.full(size, -jnp.inf, jnp.float32),
            jnp.zeros((size, self.axes), jnp.float32),
            copied(key),
            jnp.int32(0),
        )

    def ask(self, state: MapElitesState, numbers: Int32[Array, " b"]) -> Float32[Array, "b dimension"]:
        """The genomes of these candidates, 0 to population - 1."""
        ends = jnp.cumsum(self.filled(state).astype(jnp.int32), dtype=jnp.int32)

        def bred() -> Float32[Array, "b dimension"]:
            key = jax.random.fold_in(state.key, state.generation)
            parents = []
            for parent in range(self.variation.parents):  # by numbers beyond the candidates'
                drawn = below(candidate_bits(key, numbers + (parent + 1) * self.population), ends[-1])
                parents.append(state.genomes[jnp.searchsorted(ends, drawn.astype(jnp.int32), side="right")])
            return self.variation(parents, candidate_bits(key, numbers))

        def drawn_anew() -> Float32[Array, "b dimension"]:
            later = jax.random.fold_in(state.key, state.generation)
            return self.first(jnp.where(state.generation == 0, jax.random.clone(state.key), later), numbers)

        return lax.cond(ends[-1] == 0, drawn_anew, bred)

    def tell(self, state: MapElitesState, scores: Float32[Array, "population columns"]) -> MapElitesState:
        """The next generation's state, given the score and the descriptors of each candidate; one with a NaN among
        them does not enter. Raises `ValueError` for numbers of another shape.
        """
        scores = check_scores(scores, self.population, self.columns)
        winners, enters = self._winners(state, scores[:, 0], scores[:, 1:])
        after = _entered(state, enters, self.ask(state, winners), scores[winners])
        return after._replace(generation=state.generation + 1)

    def add(
        self,
        state: MapElitesState,
        genomes: Float32[Array, "n dimension"],
        scores: Float32[Array, " n"],
        descriptors: Float32[Array, "n axes"],
    ) -> MapElitesState:
        """The state after given genomes have entered, if they are the best of their cells, by the same rule as `tell`.

        Raises `ValueError` for arrays of other shapes.
        """
        count = len(checks.array("genomes", genomes, jnp.floating, (None, self.dimension)))
        scores = check_scores(scores, count)
        checks.array("descriptors", descriptors, jnp.floating, (count, self.axes))
        genomes, descriptors = (jnp.asarray(numbers, jnp.float32) for numbers in (genomes, descriptors))
        winners, enters = self._winners(state, scores, descriptors)
        told = jnp.concatenate([scores[:, None], descriptors], axis=1)
        return _entered(state, enters, genomes[winners], told[winners])

    def champion(self, state: MapElitesState) -> Float32[Array, " dimension"]:
        """The elite with the best score."""
        return state.genomes[jnp.argmax(state.scores)]

    def filled(self, state: MapElitesState) -> Bool[Array, " cells"]:
        """Which cells have an elite."""
        return state.scores > -jnp.inf

    def metrics(self, state: MapElitesState) -> dict[str, Float32[Array, ""]]:
        """The number of elites, and the sum of their scores (the QD score)."""
        filled = self.filled(state)
        return {
            "filled_cells": jnp.sum(filled.astype(jnp.float32)),
            "qd_score": jnp.sum(jnp.where(filled, state.scores, 0.0)),
        }

    def places(self, descriptors: Float32[Array, "n axes"]) -> Int32[Array, " n"]:
        """The cells of such descriptors: row after row, where the last descriptor changes fastest."""
        low, high = (jnp.asarray(numbers, jnp.float32) for numbers in (self.low, self.high))
        parts = jnp.float32(self.cells) * (descriptors - low[None]) / (high - low)[None]
        each = jnp.clip(jnp.floor(parts), 0, self.cells - 1).astype(jnp.int32)
        place = each[:, 0]
        for axis in range(1, self.axes):
            place = place * self.cells + each[:, axis]
        return place

    def _winners(
        self, state: MapElitesState, scores: Float32[Array, " n"], descriptors: Float32[Array, "n axes"]
    ) -> tuple[Int32[Array, " cells"], Bool[Array, " cells"]]:
        """The best candidate of each cell, and whether it enters: sorted by cell, score and number, it is the first."""
        size, count = len(state.scores), len(scores)
        known = ~(jnp.isnan(scores) | jnp.any(jnp.isnan(descriptors), axis=1))
        places = self.places(jnp.where(known[:, None], descriptors, 0.0))
        worst_last = -jnp.where(known, scores, -jnp.inf)
        numbers = lax.iota(jnp.int32, count)
        places, worst_last, numbers = lax.sort((places, worst_last, numbers), num_keys=2, is_stable=True)
        each = lax.iota(jnp.int32, size)
        begins = jnp.minimum(jnp.searchsorted(places, each), count - 1)
        return numbers[begins], (places[begins] == each) & (-worst_last[begins] > state.scores)


def _entered(
    state: MapElitesState,
    enters: Bool[Array, " cells"],
    genomes: Float32[Array, "cells dimension"],
    told: Float32[Array, "cells columns"],
) -> MapElitesState:
    """The state after these candidates, one for each cell, have entered or not."""
    return state._replace(
        genomes=jnp.where(enters[:, None], genomes, state.genomes),
        scores=jnp.where(enters, told[:, 0], state.scores),
        descriptors=jnp.where(enters[:, None], told[:, 1:], state.descriptors),
    )


def _is_range(low: float, high: float) -> bool:
    """Whether these are the ends of a range in float32, too."""
    with np.errstate(all="ignore"):
        size = np.float32(high) - np.float32(low)
    return bool(checks.LEAST_FLOAT32 <= size <= checks.MOST_FLOAT32)


@dataclasses.dataclass(frozen=True)
class MapElitesConfig(PopulationConfig):
    """Settings of `map_elites`: the best network of each way to play."""

    name: ClassVar[str] = "map_elites"

    descriptors: str = setting(
        "length+spread",
        "what tells ways to play apart: one or two of length, spread (of the lengths), draws, captures and the scores",
    )
    low: tuple[float, ...] = setting((), "where the archive begins, a number for each descriptor; empty: as usual")
    high: tuple[float, ...] = setting((), "where the archive ends, a number for each descriptor; empty: as usual")
    cells: int = setting(16, "into how many parts the range of each descriptor is cut", low=2, high=1024)
    sigma: float = setting(0.05, "the standard deviation of the noise on each weight of a child", low=0, high=10)
    line: float = setting(0.2, "how far a child goes along the line to a second parent", low=0, high=10)

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.measures
        if not 1 <= len(names) <= 2 or len({*names}) < len(names):
            raise ValueError(f"descriptors={self.descriptors}: expected one or two different ones, as in length+spread")
        for name in ("low", "high"):
            count = len(getattr(self, name))
            if count not in (0, len(names)):
                raise ValueError(f"{name} has {count} numbers: expected {len(names)}, one for each descriptor")

    @property
    @override
    def measures(self) -> tuple[str, ...]:
        return tuple(self.descriptors.split("+"))

    @override
    def check_measures(self, without: Collection[str] = ()) -> None:
        super().check_measures(without)
        _ = self.ranges

    @property
    def ranges(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Where the archive begins and ends. Raises `ValueError` where that is not known, or no range."""
        low, high = list(self.low), list(self.high)
        if not (low and high):
            usual = [self._usual(name) for name in self.measures]
            low, high = low or [ends[0] for ends in usual], high or [ends[1] for ends in usual]
        for name, one, other in zip(self.measures, low, high, strict=True):
            if not _is_range(one, other):
                raise ValueError(f"low={one:g}, high={other:g} of {name}: expected low below high")
        return tuple(low), tuple(high)

    def _usual(self, name: str) -> tuple[float, float]:
        unlimited = self.most_plies == own(PopulationConfig)["most_plies"].default
        if name == "wins":
            return 0.0, 1.0
        if name not in MEASURES or (unlimited and "plies" in MEASURES[name].details):
            hint = " (or most_plies, the longest game)" if name in MEASURES else ""
            raise ValueError(f"{name} has no usual range here: give low and high{hint}")
        return MEASURES[name].usual(self.most_plies)

    @override
    def algorithm(self, mesh: Mesh | None) -> MapElites:
        genomes, (low, high) = self.network.genomes(), self.ranges
        variation = IsoLine(self.sigma, self.line)
        return MapElites(self.population, genomes.dimension, genomes.init, low, high, self.cells, variation)

    @override
    def archive(self, state: MapElitesState) -> Archive:
        scores = np.asarray(state.scores).reshape((self.cells,) * len(self.measures))
        return Archive(self.score, self.measures, *self.ranges, scores)
