"""What a strategy of evolution is: its settings, a dataclass of their own, and its method, pure functions of one state.

A new strategy is a class of settings, with the method that it needs, and a line in `registry.STRATEGIES`.
"""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self, get_type_hints

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.evaluate import population_mesh
from jaxgames.algos.evolution.games.policies import Policy
from jaxgames.algos.evolution.operators import Crossover, Segments, whole_layers
from jaxgames.algos.evolution.saved import NetworkConfig

CROSSOVERS = ("none", "segments", "layers")


def number(default: float, low: float, high: float) -> Any:
    """A setting from `low` to `high`."""
    return dataclasses.field(default=default, metadata={"range": (low, high)})


def choice(*names: str) -> Any:
    """A setting that is one of these names, the first of them if nothing is said."""
    return dataclasses.field(default=names[0], metadata={"choices": names})


@dataclasses.dataclass(frozen=True)
class EvolutionConfig:
    """The settings that all strategies share. Raises `ValueError` for values that make no sense."""

    name: ClassVar[str] = ""
    """The strategy's name, as in `--set strategy=NAME`."""
    unit: ClassVar[str] = "generations"
    """What a generation is called."""

    network: NetworkConfig
    generations: int = number(1_000, 1, 10**9)
    """Of the whole training; for `groups` iterations of each group."""
    score: str = choice("wins", "points", "material", "pieces", "legality")
    """What a candidate's games are worth."""
    sides: str = choice("both", "alternate")
    """`both`: two games with each opponent; `alternate`: one, begun in turns."""
    most_plies: int = number(1_000, 1, 10**6)
    """A game is stopped after so many."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if "choices" in field.metadata and value not in field.metadata["choices"]:
                raise ValueError(f"{field.name}={value!r}: expected one of {', '.join(field.metadata['choices'])}")
            if "range" in field.metadata:
                low, high = field.metadata["range"]
                if not low <= value <= high:
                    raise ValueError(f"{field.name}={value}: expected a number from {low} to {high:,}")

    @property
    def strategy(self) -> str:
        """The strategy's name."""
        return self.name

    @property
    def most_devices(self) -> int:
        """How many devices can share the work; 1 for strategies whose population cannot be split."""
        return 1

    @classmethod
    def setting_types(cls, strategy: str) -> dict[str, Any]:
        """The types of the settings of a strategy of this kind, by name; those of the network apart."""
        types = get_type_hints(cls)
        return {field.name: types[field.name] for field in dataclasses.fields(cls) if field.name != "network"}

    @classmethod
    def of(cls, strategy: str, network: NetworkConfig, settings: Mapping[str, Any]) -> Self:
        """The setting with these values."""
        return cls(network, **settings)

    def values(self) -> dict[str, Any]:
        """The settings as numbers and texts, ready for JSON; those of the network apart."""
        return {name: getattr(self, name) for name in self.setting_types(self.strategy)}

    def method(self, devices: int = 1, fitnesses: Mapping[str, Any] | None = None) -> "BaseMethod":
        """How this setting evolves, on so many devices.

        Args:
          fitnesses: by name, those that opponents may have besides players.

        Raises `ValueError` for opponents that are not known.
        """
        raise NotImplementedError


class Scores(NamedTuple):
    """What the candidates of one generation scored, and the networks that are worth writing down after it, if any."""

    best: Float32[Array, "..."]
    mean: Float32[Array, "..."]
    networks: Float32[Array, "... networks dimension"] | None = None


@dataclasses.dataclass(frozen=True)
class BaseMethod:
    """One way to evolve, as a setting describes it: pure functions of one state. A hashable value."""

    config: Any
    """The setting, an `EvolutionConfig`."""

    @property
    def champions(self) -> int:
        """How many networks are shown and kept."""
        return 1

    @functools.cached_property
    def policy(self) -> Policy:
        """How the networks play."""
        policy: Policy = self.config.network.policy()
        return policy

    def first(self, key: Key[Array, ""], numbers: Int32[Array, " n"]) -> Float32[Array, "n dimension"]:
        """The first weights of networks."""
        weights: Array = self.config.network.genomes().init(key, numbers)
        return weights

    def check_memory(self, devices: int) -> None:
        """Raises `ValueError` if the training on so many devices does not fit into this machine's memory; the few
        networks of a method that keeps no population always fit.
        """

    def games(self, generations: int) -> int:
        """Games that are played in the first so many generations."""
        raise NotImplementedError

    def init(self, key: Key[Array, ""]) -> Any:
        """The state before the first generation."""
        raise NotImplementedError

    def init_from(self, key: Key[Array, ""], networks: Float32[Array, "n dimension"]) -> Any:
        """The state before the first generation, where it begins with networks that are there already.

        Raises `ValueError` for a method that cannot, and for a number of networks that it cannot begin with.
        """
        raise ValueError(f"{self.config.strategy} begins with random weights, not with networks of a file")

    def generation(self, state: Any) -> tuple[Any, Scores]:
        """One generation."""
        raise NotImplementedError

    @property
    def generations_per_line(self) -> int | None:
        """After how many generations something is done between them (`after_block`); None if nothing is."""
        return None

    def after_block(self, state: Any) -> Any:
        """The state after `generations_per_line` generations."""
        return state

    def best(self, state: Any) -> Float32[Array, "champions dimension"]:
        """The champions, the best one first."""
        raise NotImplementedError

    def sample(self, state: Any) -> Float32[Array, "sample dimension"]:
        """Some networks of the population, all of them if they are few."""
        raise NotImplementedError


@functools.partial(jax.jit, static_argnums=(0, 2), donate_argnums=1)
def advance(method: BaseMethod, state: Any, generations: int) -> tuple[Any, Scores]:
    """So many generations, and the scores of each."""
    return jax.lax.scan(lambda state, _: method.generation(state), state, length=generations)


@functools.partial(jax.jit, static_argnums=0)
def summarize(method: BaseMethod, state: Any) -> tuple[Float32[Array, "champions dimension"], Float32[Array, ""]]:
    """The champions, and the diversity: how far weights are spread over the population, as a share of their size.

    That is the root of the mean variance of the weights, divided by the root of their mean square.
    """
    sample = method.sample(state)
    spread = jnp.mean(jnp.var(sample, axis=0))
    return method.best(state), jnp.sqrt(spread / jnp.maximum(jnp.mean(sample**2), jnp.finfo(jnp.float32).tiny))


def mesh_of(devices: int) -> Mesh | None:
    """The mesh over so many devices; None for one."""
    return None if devices == 1 else population_mesh(devices)


def crossover_named(name: str, network: NetworkConfig) -> Crossover | None:
    """One of `CROSSOVERS` for such networks; None where children have one parent."""
    slices = network.genomes().layer_slices
    return {"none": None, "segments": Segments(), "layers": whole_layers(slices)}[name]
