"""The strategies of evosax (`pip install evosax`), by their names there."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Key

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.evosax import Evosax, number_types
from jaxgames.algos.evolution.strategies.neuroevolution import InitGenomes
from jaxgames.recipes.evolution.population import PopulationConfig

SIGMA = 0.05
"""The usual standard deviation of the first noise; evosax's own, 1, is that of far larger weights."""


@dataclasses.dataclass(frozen=True)
class EvosaxConfig(PopulationConfig):
    """Settings of a strategy of evosax: beside those of all populations its own numbers, see `number_types`."""

    evosax: str = "CMA_ES"
    numbers: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in self.numbers:
            if not math.isfinite(value) or (name == "sigma" and not 0 < value <= 10):
                raise ValueError(f"{name}={value}: expected a finite number{' above 0' if name == 'sigma' else ''}")

    @property
    def strategy(self) -> str:
        """The strategy's name."""
        return self.evosax

    @classmethod
    def setting_types(cls, strategy: str) -> dict[str, Any]:
        """As `EvolutionConfig.setting_types`."""
        return PopulationConfig.setting_types(strategy) | number_types(strategy)

    @classmethod
    def of(cls, strategy: str, network: NetworkConfig, settings: Mapping[str, Any]) -> Self:
        """As `EvolutionConfig.of`."""
        shared = {name: value for name, value in settings.items() if name in PopulationConfig.setting_types(strategy)}
        numbers = {name: SIGMA for name in number_types(strategy) if name == "sigma"}
        numbers |= {name: value for name, value in settings.items() if name not in shared}
        return cls(network, **shared, evosax=strategy, numbers=tuple(sorted(numbers.items())))

    def values(self) -> dict[str, Any]:
        """As `EvolutionConfig.values`."""
        return {name: getattr(self, name) for name in PopulationConfig.setting_types("")} | dict(self.numbers)

    def algorithm(self, dimension: int, first: InitGenomes, mesh: Mesh | None) -> Evosax:
        """As `PopulationConfig.algorithm`."""
        return Evosax(self.evosax, self.population, dimension, dict(self.numbers))

    def start(self, algorithm: Any, key: Key[Array, ""], first: Callable[[Array], Array]) -> Any:
        """As `PopulationConfig.start`: the mean, or the whole population, has the first weights of networks."""
        if algorithm.moves_a_mean:
            return algorithm.start(key, first(jnp.zeros(1, jnp.int32))[0])
        return algorithm.start(key, first(jnp.arange(self.population, dtype=jnp.int32)))
