"""Evolution of one population that asks for candidates and is told their scores, whatever strategy makes them."""

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.evaluate import Algorithm, evaluate
from jaxgames.algos.evolution.games.fitness import ByPlay, HallOfFame
from jaxgames.algos.evolution.games.play import FixedPlayer, Networks, RandomMoves
from jaxgames.algos.evolution.memory import MemoryPlan
from jaxgames.algos.evolution.operators import Cubic, FitnessWeighted, Multiplicative, Selection, Truncation
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.evosax import Evosax, number_types
from jaxgames.algos.evolution.strategies.neuroevolution import InitGenomes, Neuroevolution
from jaxgames.algos.evolution.strategies.open_es import OpenES
from jaxgames.players import make as make_player
from jaxgames.recipes.evolution.strategy import (
    CROSSOVERS,
    BaseMethod,
    EvolutionConfig,
    Scores,
    choice,
    crossover_named,
    mesh_of,
    number,
)

SAMPLE = 64
SIGMA = 0.05
"""The usual standard deviation of the first noise of evosax's strategies; their own, 1, suits far larger weights."""
_OPPONENT = re.compile(r"([^*+]+)\*(\d+)")


class OpponentSpec(NamedTuple):
    """Opponents of one kind: a player's spec, `others` or `hall`, and how many."""

    name: str
    number: int


@dataclasses.dataclass(frozen=True)
class PopulationConfig(EvolutionConfig):
    """Settings of strategies that judge one population in each generation."""

    population: int = number(200, 2, 2**24)
    opponents: str = "random*32"
    """Whom candidates meet: players, `others` of the population, or `hall`, former champions: `random*32+hall*16`.

    Others are drawn anew in each generation; as many as the population are everyone, oneself included.
    """
    hall_every: int = number(10, 1, 10**6)
    """The champion joins the hall of fame after so many generations."""
    common: bool = True
    """Candidates meet the same openings, dice and random moves."""
    block: int = number(256, 1, 2**20)
    """So many candidates are played at once."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.opponent_specs

    @property
    def most_devices(self) -> int:
        """As `EvolutionConfig.most_devices`."""
        return self.population

    @property
    def opponent_specs(self) -> tuple[OpponentSpec, ...]:
        """The opponents."""
        found = []
        for part in self.opponents.split("+"):
            match = _OPPONENT.fullmatch(part)
            if not match or not 0 < int(match[2]) < 10**6:
                raise ValueError(f"opponents={self.opponents!r}: expected players and numbers, as in random*32+hall*16")
            found.append(OpponentSpec(match[1], int(match[2])))
        return tuple(found)

    def algorithm(self, dimension: int, first: InitGenomes, mesh: Mesh | None) -> Algorithm:
        """What asks for candidates of so many genes, and is told their scores.

        Args:
          first: the first weights of networks.
          mesh: the devices that the population is split over.
        """
        raise NotImplementedError

    def start(self, algorithm: Any, key: Key[Array, ""], first: Callable[[Array], Array]) -> Any:
        """The algorithm's state before the first generation; `first` are the first weights of networks, by number."""
        return algorithm.start(key, first(jnp.zeros(1, jnp.int32))[0])

    def method(self, devices: int = 1, fitnesses: Mapping[str, Any] | None = None) -> "PopulationMethod":
        """As `EvolutionConfig.method`."""
        return PopulationMethod(self, devices, tuple(sorted((fitnesses or {}).items())))


@dataclasses.dataclass(frozen=True)
class GeneticConfig(PopulationConfig):
    """Settings of `genetic`: the best of one population have children."""

    name: ClassVar[str] = "genetic"

    elites: int = number(5, 0, 2**24)
    """So many of the best live on as they are."""
    keep: int = number(5, 1, 2**24)
    """So many of the best have children."""
    rate: float = number(0.2, 0, 10)
    """How large mutations are."""
    mutation: str = choice("uniform", "cubic")
    """x + r x for each weight x, with r uniform in [-rate, rate], or `cubic`: the third power of such a number."""
    selection: str = choice("truncation", "weighted")
    """Who has children: the best `keep`, or `weighted` all, in proportion to their score above the worst."""
    crossover: str = choice(*CROSSOVERS)
    """How children of two parents are made."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if max(self.keep, self.elites + 1) > self.population:
            raise ValueError(f"keep={self.keep}, elites={self.elites} of a population of {self.population}: too many")

    def algorithm(self, dimension: int, first: InitGenomes, mesh: Mesh | None) -> Neuroevolution:
        """As `PopulationConfig.algorithm`."""
        weighted, cubic = self.selection == "weighted", self.mutation == "cubic"
        selection: Selection = FitnessWeighted() if weighted else Truncation(max(self.keep, self.elites))
        mutation = Cubic(self.rate) if cubic else Multiplicative(self.rate)
        crossover = crossover_named(self.crossover, self.network)
        return Neuroevolution(self.population, dimension, first, selection, mutation, crossover, self.elites)

    def start(self, algorithm: Any, key: Key[Array, ""], first: Callable[[Array], Array]) -> Any:
        """As `PopulationConfig.start`; the algorithm draws its first weights itself."""
        return algorithm.init(key)


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
        """As `PopulationConfig.start`; a strategy without a mean begins with a whole population of networks."""
        if algorithm.moves_a_mean:
            return super().start(algorithm, key, first)
        return algorithm.start(key, first(jnp.arange(self.population, dtype=jnp.int32)))


class PopulationState(NamedTuple):
    """The algorithm's state, and the former champions, if they are met."""

    algorithm: Any
    hall: HallOfFame
    key: Key[Array, ""]


@dataclasses.dataclass(frozen=True)
class WithOpponents:
    """An algorithm whose candidates come with the networks that they meet: what is the same on all devices has to come
    with the state.
    """

    algorithm: Algorithm

    @property
    def population(self) -> int:
        """As `Algorithm.population`."""
        return self.algorithm.population

    def ask(self, state: Any, numbers: Int32[Array, " b"]) -> tuple[Array, Array]:
        """The candidates, and the networks."""
        return self.algorithm.ask(state[0], numbers), state[1]


@dataclasses.dataclass(frozen=True)
class PopulationMethod(BaseMethod):
    """As `BaseMethod`: all strategies that judge one population."""

    config: PopulationConfig
    devices: int = 1
    fitnesses: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for one in self.config.opponent_specs:
            if one.name not in ("hall", "others", *dict(self.fitnesses)):
                make_player(one.name, self.policy.game)

    @functools.cached_property
    def algorithm(self) -> Algorithm:
        """What asks and tells."""
        return self.config.algorithm(self.config.network.genomes().dimension, self.first, mesh_of(self.devices))

    def games(self, generations: int) -> int:
        """As `BaseMethod.games`."""
        sides = 2 if self.config.sides == "both" else 1
        met = sum(one.number for one in self.config.opponent_specs if one.name not in dict(self.fitnesses))
        return generations * self.config.population * met * sides

    def check_memory(self, devices: int) -> None:
        """As `BaseMethod.check_memory`."""
        widest = max(max(shape) for shape in self.config.network.genomes().shapes)
        memories = jax.process_count() if jax.default_backend() == "cpu" else devices
        MemoryPlan(
            self.algorithm,
            self.config.block,
            devices=max(1, devices // memories),
            memories=memories,
            games=sum(one.number for one in self.config.opponent_specs) * (2 if self.config.sides == "both" else 1),
            game_bytes=64 + 12 * widest,
        ).check()

    def init(self, key: Key[Array, ""]) -> PopulationState:
        """As `BaseMethod.init`."""
        own, first, drawn = (jax.random.fold_in(key, number) for number in range(3))
        state = self.config.start(self.algorithm, own, functools.partial(self.first, first))
        former = sum(one.number for one in self.config.opponent_specs if one.name == "hall")
        return PopulationState(state, HallOfFame.of(self.first(drawn, jnp.arange(former, dtype=jnp.int32))), drawn)

    def generation(self, state: PopulationState) -> tuple[PopulationState, Scores]:
        """As `BaseMethod.generation`."""
        config, number = self.config, state.algorithm.generation
        key = jax.random.fold_in(state.key, number)
        met = self._networks(state, key)

        def judged(asked: Any, numbers: Int32[Array, " b"], key: Key[Array, ""]) -> Float32[Array, " b"]:
            genomes, met = asked
            judges = self._judges(met)
            scores = [
                judge(genomes, numbers, jax.random.fold_in(key, place)) * jnp.float32(count)
                for place, (judge, count) in enumerate(judges)
            ]
            return sum(scores[1:], scores[0]) * jnp.float32(1 / sum(count for _, count in judges))

        fitness: Any = judged
        asking: Any = WithOpponents(self.algorithm)
        scores = evaluate(fitness, asking, (state.algorithm, met), key, config.block, mesh_of(self.devices))
        algorithm = self.algorithm.tell(state.algorithm, scores)
        hall = state.hall
        if len(hall.genomes):
            joined = hall.with_champion(self.algorithm.champion(algorithm))
            joins = number % config.hall_every == 0
            hall = jax.tree.map(lambda new, old: jnp.where(joins, new, old), joined, hall)
        return PopulationState(algorithm, hall, state.key), Scores(jnp.max(scores), jnp.mean(scores))

    def best(self, state: PopulationState) -> Float32[Array, "1 dimension"]:
        """As `BaseMethod.best`."""
        return self.algorithm.champion(state.algorithm)[None]

    def sample(self, state: PopulationState) -> Float32[Array, "sample dimension"]:
        """As `BaseMethod.sample`."""
        numbers = jnp.arange(min(SAMPLE, self.config.population), dtype=jnp.int32)
        return self.algorithm.ask(state.algorithm, numbers)

    def _networks(self, state: PopulationState, key: Key[Array, ""]) -> Float32[Array, "met dimension"]:
        """The networks that candidates meet in this generation: former champions, and others of the population."""
        found = [jnp.zeros((0, self.algorithm.dimension), jnp.float32)]
        for place, one in enumerate(self.config.opponent_specs):
            if one.name == "hall":
                found.append(state.hall.genomes)
            if one.name == "others":
                own = jax.random.fold_in(key, len(self.config.opponent_specs) + place)
                numbers = jax.random.randint(own, (one.number,), 0, self.config.population, jnp.int32)
                if one.number == self.config.population:
                    numbers = jnp.arange(one.number, dtype=jnp.int32)
                found.append(self.algorithm.ask(state.algorithm, numbers))
        return jnp.concatenate(found)

    def _judges(self, networks: Float32[Array, "met dimension"]) -> list[tuple[Any, int]]:
        """The fitness that opponents of each kind are, and how many they are; all networks are of one kind."""
        found: list[tuple[Any, int]] = []
        if len(networks):
            found.append((self._by_play(Networks(self.policy, networks)), len(networks)))
        for one in self.config.opponent_specs:
            if one.name in ("hall", "others"):
                continue
            if one.name in dict(self.fitnesses):
                judge = functools.partial(dict(self.fitnesses)[one.name], self.policy, one.number)
                found.append((judge, one.number))
            elif one.name == "random":
                found.append((self._by_play(RandomMoves(one.number)), one.number))
            else:
                player = make_player(one.name, self.policy.game)
                found.append((self._by_play(FixedPlayer(player.turn, player.params, one.number)), one.number))
        return found

    def _by_play(self, opponents: Any) -> ByPlay:
        config = self.config
        return ByPlay(self.policy, opponents, config.score, config.sides, config.common, config.most_plies)
