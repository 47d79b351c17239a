"""OpenAI's evolution strategy."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import jax.numpy as jnp
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Key

from jaxgames.algos.evolution.strategies.neuroevolution import InitGenomes
from jaxgames.algos.evolution.strategies.open_es import OpenES
from jaxgames.recipes.evolution.population import PopulationConfig
from jaxgames.recipes.evolution.strategy import number


@dataclasses.dataclass(frozen=True)
class OpenESConfig(PopulationConfig):
    """Settings of `open_es`: the gradient of the mean score of noisy copies of one network."""

    name: ClassVar[str] = "open_es"

    sigma: float = number(0.05, 0, 10)
    """The standard deviation of the noise on each weight."""
    step_size: float = number(0.01, 0, 10)
    """The first step size (Adam)."""
    last_step_size: float = number(0.001, 0, 10)
    """The step size at the end, falling exponentially."""
    weight_decay: float = number(0.0, 0, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population % 2:
            raise ValueError(f"population={self.population}: expected an even number, since noise comes in pairs")

    def algorithm(self, dimension: int, first: InitGenomes, mesh: Mesh | None) -> OpenES:
        """As `PopulationConfig.algorithm`."""
        decay = optax.exponential_decay(
            self.step_size, self.generations, self.last_step_size / max(self.step_size, 1e-30)
        )
        return OpenES(
            self.population, dimension, sigma=self.sigma, optimizer=optax.adam(decay), weight_decay=self.weight_decay,
            mesh=mesh,
        )  # fmt: skip

    def start(self, algorithm: Any, key: Key[Array, ""], first: Callable[[Array], Array]) -> Any:
        """As `PopulationConfig.start`, at the first weights of one network."""
        return algorithm.start(key, first(jnp.zeros(1, jnp.int32))[0])
