"""A genetic algorithm on one population of any size; a candidate of the next generation is made only when needed."""

import dataclasses
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.evolution import CROSSOVERS
from jaxgames.algos.evolution.operators import (
    Crossover,
    Cubic,
    FitnessWeighted,
    Multiplicative,
    Mutation,
    Selection,
    Truncation,
    best_first,
    candidate_bits,
    offspring,
)
from jaxgames.algos.evolution.ranking import check_scores
from jaxgames.algos.evolution.strategies.population import PopulationConfig
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied
from jaxgames.ops.settings import setting

InitGenomes = Callable[[Key[Array, ""], Int32[Array, " n"]], Float32[Array, "n dimension"]]
"""The genomes that a run begins with, by the candidates' numbers, as `Genomes.init` draws them."""


class NeuroevolutionState(NamedTuple):
    """The genomes that may have children, best first, with their scores (NaN before the first ones are told), and for
    every candidate the rows of its parents.

    With the key and the generation's number this determines the whole generation: `ask` makes any candidate from it.
    """

    pool: Float32[Array, "pool dimension"]
    scores: Float32[Array, " pool"]
    parents: Int32[Array, "population parents"]
    key: Key[Array, ""]
    generation: Int32[Array, ""]


@dataclasses.dataclass(frozen=True)
class Neuroevolution:
    """Selection, crossover and mutation of `population` genomes of `dimension` genes.

    Candidates 0 to `elites` - 1 are the best of the last generation, unchanged; each other one is a child of parents
    that `selection` draws. Only genomes that may have children are stored: with `Truncation` the few best. `ask` makes
    a candidate from them, always the same one, in any block and on any device, so a step needs only the memory of the
    stored genomes of two generations.

    Raises `ValueError` for a population without room for new candidates, or smaller than what `selection` keeps.
    """

    population: int
    dimension: int
    first: InitGenomes
    selection: Selection = Truncation(5)
    mutation: Mutation = Multiplicative(0.2)
    crossover: Crossover | None = None
    elites: int = 1

    def __post_init__(self) -> None:
        checks.native_fields(self)
        for name in ("population", "elites"):
            checks.whole(name, getattr(self, name), None)
        checks.whole("dimension", self.dimension)
        checks.function("first", self.first, "(key, numbers) -> genomes")
        checks.made("selection", self.selection, ("pool",), "a selection, such as Truncation(5)")
        checks.function("mutation", self.mutation, "(genomes, bits) -> genomes")
        pool = self.selection.pool(self.population)
        if not 0 <= self.elites <= min(pool, self.population - 1):
            raise ValueError(
                f"elites={self.elites} of a population of {self.population} that keeps {pool}: "
                f"expected 0 to {min(pool, self.population - 1)}"
            )

    def init(self, key: Key[Array, ""]) -> NeuroevolutionState:
        """The state before the first generation, whose candidates are those of `first`."""
        checks.key(key)
        pool = self.selection.pool(self.population)
        parents = 1 if self.crossover is None else self.crossover.parents
        return NeuroevolutionState(
            pool=self.first(key, jnp.arange(pool, dtype=jnp.int32)),
            scores=jnp.full(pool, jnp.nan, jnp.float32),
            parents=jnp.zeros((self.population, parents), jnp.int32),
            key=copied(key),
            generation=jnp.int32(0),
        )

    def ask(self, state: NeuroevolutionState, numbers: Int32[Array, " b"]) -> Float32[Array, "b dimension"]:
        """The genomes of these candidates, 0 to population - 1."""

        def bred():
            parents = state.parents.at[numbers].get(mode="clip")
            bits = candidate_bits(self._generation_key(state), numbers)
            elite = numbers < self.elites
            return offspring(state.pool, parents, elite, bits, self.mutation, self.crossover)

        return lax.cond(state.generation == 0, lambda: self.first(state.key, numbers), bred)

    def tell(self, state: NeuroevolutionState, scores: Float32[Array, " population"]) -> NeuroevolutionState:
        """The next generation's state, given the scores of this one's candidates; higher is better, NaN is the worst,
        and of equal scores the lower number's is the better. Raises `ValueError` for another number of scores.
        """
        scores = check_scores(scores, self.population)
        best = best_first(scores)[: len(state.pool)]
        after = state._replace(
            pool=self.ask(state, best), scores=scores.at[best].get(mode="clip"), generation=state.generation + 1
        )
        # Numbers beyond the candidates', so that parents are drawn by bits of their own.
        drawn = jnp.arange(state.parents.size, dtype=jnp.int32).reshape(state.parents.shape) + self.population
        parents = self.selection(after.scores, candidate_bits(self._generation_key(after), drawn))
        numbers = jnp.arange(self.population, dtype=jnp.int32)[:, None]
        return after._replace(parents=jnp.where(numbers < self.elites, numbers, parents))

    def champion(self, state: NeuroevolutionState) -> Float32[Array, " dimension"]:
        """The best genome of the last generation: with elites and the same opponents, the best of all so far."""
        return state.pool[0]

    def _generation_key(self, state: NeuroevolutionState) -> Key[Array, ""]:
        return jax.random.fold_in(state.key, state.generation)


@dataclasses.dataclass(frozen=True)
class GeneticConfig(PopulationConfig):
    """Settings of `genetic`: the best of one population have children."""

    name: ClassVar[str] = "genetic"

    elites: int = setting(5, "how many of the best live on as they are", low=0, high=2**24)
    keep: int = setting(
        5, "how many of the best have children, at least elites", low=1, high=2**24, when={"selection": "truncation"}
    )
    rate: float = setting(0.2, "how large mutations are", low=0, high=10)
    mutation: str = setting(
        "uniform",
        "a mutation turns each weight x into x + r x; uniform: r is uniform in [-rate, rate]; cubic: r is the third "
        "power of such a number",
        choices=("uniform", "cubic"),
    )
    selection: str = setting(
        "truncation",
        "who has children; truncation: the best, as many as keep says; weighted: all, in proportion to how far their "
        "score is above the worst",
        choices=("truncation", "weighted"),
    )
    crossover: str = setting("none", "how two parents make a child; none: one parent", choices=CROSSOVERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        kept = self.keep if self.selection == "truncation" else 0
        if max(kept, self.elites + 1) > self.population:
            raise ValueError(f"keep={self.keep}, elites={self.elites} of a population of {self.population}: too many")
        if self.selection == "truncation" and self.keep < self.elites:
            raise ValueError(f"keep={self.keep}: expected as many as elites={self.elites} or more")

    @override
    def algorithm(self, mesh: Mesh | None) -> Neuroevolution:
        genomes = self.network.genomes()
        weighted, cubic = self.selection == "weighted", self.mutation == "cubic"
        selection: Selection = FitnessWeighted() if weighted else Truncation(self.keep)
        mutation = Cubic(self.rate) if cubic else Multiplicative(self.rate)
        crossover = self.crossover_named(self.crossover)
        return Neuroevolution(
            self.population, genomes.dimension, genomes.init, selection, mutation, crossover, self.elites
        )
