"""A genetic algorithm on one population."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from jax.sharding import Mesh
from jaxtyping import Array, Key

from jaxgames.algos.evolution.operators import Multiplicative, Truncation
from jaxgames.algos.evolution.strategies.neuroevolution import InitGenomes, Neuroevolution
from jaxgames.recipes.evolution.population import PopulationConfig
from jaxgames.recipes.evolution.strategy import CROSSOVERS, choice, crossover_named, number


@dataclasses.dataclass(frozen=True)
class GeneticConfig(PopulationConfig):
    """Settings of `genetic`: the best of one population have children."""

    name: ClassVar[str] = "genetic"

    elites: int = number(5, 0, 2**24)
    """So many of the best live on as they are."""
    keep: int = number(5, 1, 2**24)
    """So many of the best have children."""
    rate: float = number(0.2, 0, 10)
    """A mutation is x + r x with r uniform in [-rate, rate] for each weight x."""
    crossover: str = choice(*CROSSOVERS)
    """How children of two parents are made."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if max(self.keep, self.elites + 1) > self.population:
            raise ValueError(f"keep={self.keep}, elites={self.elites} of a population of {self.population}: too many")

    def algorithm(self, dimension: int, first: InitGenomes, mesh: Mesh | None) -> Neuroevolution:
        """As `PopulationConfig.algorithm`."""
        return Neuroevolution(
            self.population, dimension, first, Truncation(max(self.keep, self.elites)), Multiplicative(self.rate),
            crossover_named(self.crossover, self.network), self.elites,
        )  # fmt: skip

    def start(self, algorithm: Any, key: Key[Array, ""], first: Callable[[Array], Array]) -> Any:
        """As `PopulationConfig.start`; the algorithm draws its first weights itself."""
        return algorithm.init(key)
