"""Ways to evolve, by the name of a setting's `method`: each is pure functions over one state."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.evaluate import Algorithm, population_mesh
from jaxgames.algos.evolution.games.policies import Policy
from jaxgames.algos.evolution.operators import Crossover, Segments, whole_layers
from jaxgames.recipes.evolution.config import EvolutionConfig

Fitness = Callable[[Array, Array, Array], Array]


class Scores(NamedTuple):
    """What the candidates of one generation scored."""

    best: Float32[Array, "..."]
    mean: Float32[Array, "..."]


class Method(Protocol):
    """One way to evolve, as a setting describes it: a hashable value."""

    @property
    def config(self) -> EvolutionConfig:
        """The setting."""
        ...

    @property
    def policy(self) -> Policy:
        """How the networks play."""
        ...

    @property
    def champions(self) -> int:
        """How many networks are shown and kept."""
        ...

    @property
    def algorithm(self) -> Algorithm | None:
        """What asks and tells, if that is how it works."""
        ...

    def games(self, generations: int) -> int:
        """Games that are played in the first so many generations."""
        ...

    def init(self, key: Key[Array, ""]) -> Any:
        """The state before the first generation."""
        ...

    def generation(self, state: Any) -> tuple[Any, Scores]:
        """One generation."""
        ...

    def best(self, state: Any) -> Float32[Array, "champions dimension"]:
        """The champions, the best one first."""
        ...

    def sample(self, state: Any) -> Float32[Array, "sample dimension"]:
        """Some networks of the population, all of them if they are few."""
        ...


@functools.partial(jax.jit, static_argnums=(0, 2), donate_argnums=1)
def advance(method: Method, state: Any, generations: int) -> tuple[Any, Scores]:
    """So many generations, and the scores of each."""
    return jax.lax.scan(lambda state, _: method.generation(state), state, length=generations)


@functools.partial(jax.jit, static_argnums=0)
def seen(method: Method, state: Any) -> tuple[Float32[Array, "champions dimension"], Float32[Array, ""]]:
    """The champions, and the diversity: how far weights are spread over the population, as a share of their size.

    That is the root of the mean variance of the weights, divided by the root of their mean square.
    """
    sample = method.sample(state)
    spread = jnp.mean(jnp.var(sample, axis=0))
    return method.best(state), jnp.sqrt(spread / jnp.maximum(jnp.mean(sample**2), jnp.finfo(jnp.float32).tiny))


def mesh_of(devices: int) -> Mesh | None:
    """The mesh over so many devices; None for one."""
    return None if devices == 1 else population_mesh(devices)


def make_method(config: EvolutionConfig, devices: int, fitnesses: Mapping[str, Any]) -> Method:
    """The method of a setting. `fitnesses` are those by names that opponents may have besides players.

    Raises `ValueError` for opponents that are not known.
    """
    from jaxgames.recipes.evolution.climb import Climb
    from jaxgames.recipes.evolution.groups import Groups
    from jaxgames.recipes.evolution.search import Search

    if config.method == "groups":
        return Groups(config)
    if config.method == "hill_climb":
        return Climb(config)
    return Search(config, devices, tuple(sorted(fitnesses.items())))


def crossover_of(config: EvolutionConfig) -> Crossover | None:
    """The crossover of a setting; None where children have one parent."""
    slices = config.network.genomes().layer_slices
    return {"none": None, "segments": Segments(), "layers": whole_layers(slices)}[config.crossover]


@dataclasses.dataclass(frozen=True)
class Keyed:
    """What of a method its setting decides alone."""

    config: EvolutionConfig

    @functools.cached_property
    def policy(self) -> Policy:
        """As `Method.policy`."""
        return self.config.network.policy()

    def first(self, key: Key[Array, ""], numbers: Int32[Array, " n"]) -> Float32[Array, "n dimension"]:
        """The first weights of networks."""
        return self.config.network.genomes().init(key, numbers)
