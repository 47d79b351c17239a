"""One population that is asked for candidates and told their scores, by any algorithm that does that."""

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.candidates import as_rows
from jaxgames.algos.evolution.evaluate import Algorithm, evaluate, platform_of, usual_block
from jaxgames.algos.evolution.evolution import Evolution, OpponentSpec, ScoredConfig, Scores, Strategy, mesh_of
from jaxgames.algos.evolution.fitness import HallOfFame
from jaxgames.algos.evolution.memory import MemoryPlan
from jaxgames.algos.evolution.play import Networks
from jaxgames.ops.settings import own, setting

SAMPLE = 64
_OPPONENT = re.compile(r"([^*+]+)\*(\d+)")


@dataclasses.dataclass(frozen=True)
class PopulationConfig(ScoredConfig):
    """Settings of strategies that judge one population in each generation."""

    population: int = setting(200, "candidates of a generation", low=2, high=2**24)
    opponents: str = setting(
        "random*32",
        "whom candidates meet: players, others of the population, drawn anew in each generation (as many as the "
        "population are everyone, oneself included), or hall, former champions: random*32+hall*16",
    )
    hall_every: int = setting(10, "the champion joins the hall of fame after so many generations", low=1, high=10**6)
    common: bool = setting(True, "whether candidates meet the same openings, dice and random moves")
    block: int | None = setting(
        None, "so many candidates are played at once; none: as many as suit the device", low=1, high=2**20
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        met = [one.name for one in self.opponent_specs]
        if "hall" not in met and self.hall_every != own(PopulationConfig)["hall_every"].default:
            raise ValueError(f"hall_every={self.hall_every} has no effect without opponents such as hall*16")

    @property
    @override
    def most_devices(self) -> int:
        return self.population

    @property
    @override
    def opponent_specs(self) -> tuple[OpponentSpec, ...]:
        found = []
        for part in self.opponents.split("+"):
            match = _OPPONENT.fullmatch(part)
            if not match or not 0 < int(match[2]) < 10**6:
                raise ValueError(f"opponents={self.opponents!r}: expected players and numbers, as in random*32+hall*16")
            found.append(OpponentSpec(match[1], int(match[2])))
        return tuple(found)

    @override
    def games(self, generations: int, without: tuple[str, ...] = ()) -> int:
        met = sum(one.number for one in self.opponent_specs if one.name not in without)
        return generations * self.population * met * self.games_per_opponent

    @override
    def strategy(self, mesh: Mesh | None) -> "Population":
        return Population(self, self.algorithm(mesh), mesh)

    def algorithm(self, mesh: Mesh | None) -> Algorithm:
        """What asks for candidates, and is told their scores; `mesh` are the devices that they are split over."""
        raise NotImplementedError

    def candidates_at_once(self, algorithm: Algorithm, platform: str) -> int:
        """The candidates of a block, on a kind of device."""
        if self.block is not None:
            return self.block
        state, numbers = jax.eval_shape(algorithm.init, jax.random.key(0)), jax.ShapeDtypeStruct((1,), jnp.int32)
        games = sum(one.number for one in self.opponent_specs) * self.games_per_opponent
        return usual_block(jax.eval_shape(algorithm.ask, state, numbers), games, platform)

    @override
    def check_memory(self, devices: int) -> None:
        mesh = mesh_of(devices)
        memories = jax.process_count() if jax.default_backend() == "cpu" else devices
        MemoryPlan(
            self.algorithm(mesh),
            self.candidates_at_once(self.algorithm(None), platform_of(mesh)),
            devices=max(1, devices // memories),
            memories=memories,
            games=sum(one.number for one in self.opponent_specs) * self.games_per_opponent,
            game_bytes=64 + 12 * max(max(shape) for shape in self.network.genomes().shapes),
        ).check()


class PopulationState(NamedTuple):
    """The algorithm's state, and the former champions, if they are met."""

    algorithm: Any
    hall: HallOfFame
    key: Key[Array, ""]


class _WithNetworks(NamedTuple):
    """An algorithm whose candidates come with the networks that they meet: what is the same on all devices has to come
    with the state.
    """

    algorithm: Algorithm
    population: int

    def ask(self, state: Any, numbers: Int32[Array, " b"]) -> tuple[Array, Array]:
        """The candidates, and the networks."""
        return self.algorithm.ask(state[0], numbers), state[1]


@dataclasses.dataclass(frozen=True, eq=False)
class Population(Strategy):
    """The candidates of an algorithm, which meet players, others of their generation, and former champions."""

    config: PopulationConfig
    algorithm: Any
    """An `Algorithm` that can begin with networks: `begin(key, first)`, with the first weights by number."""
    mesh: Mesh | None

    @override
    def init(self, key: Key[Array, ""]) -> PopulationState:
        own, first, drawn = (jax.random.fold_in(key, number) for number in range(3))
        init = self.config.network.genomes().init
        state = self.algorithm.begin(own, functools.partial(init, first))
        former = sum(one.number for one in self.config.opponent_specs if one.name == "hall")
        return PopulationState(state, HallOfFame.of(init(drawn, jnp.arange(former, dtype=jnp.int32))), drawn)

    @override
    def generation(self, state: PopulationState, evolution: Evolution) -> tuple[PopulationState, Scores]:
        config, number = self.config, state.algorithm.generation
        key = jax.random.fold_in(state.key, number)

        def judged(asked: Any, numbers: Int32[Array, " b"], key: Key[Array, ""]) -> Float32[Array, " b"]:
            genomes, met = asked
            if evolution.watch is not None:
                jax.debug.callback(functools.partial(evolution.watch, len(numbers)))
            judges = self._judges(evolution, met)
            scores = [
                judge(genomes, numbers, jax.random.fold_in(key, place)) * jnp.float32(count)
                for place, (judge, count) in enumerate(judges)
            ]
            return sum(scores[1:], scores[0]) * jnp.float32(1 / sum(count for _, count in judges))

        fitness: Any = judged
        asking: Any = _WithNetworks(self.algorithm, config.population)
        met = self.networks_met(state, key)
        block = config.candidates_at_once(self.algorithm, platform_of(self.mesh))
        scores = evaluate(fitness, asking, (state.algorithm, met), key, block, self.mesh)
        algorithm = self.algorithm.tell(state.algorithm, scores)
        hall = state.hall
        if len(hall.genomes):
            joined = hall.with_champion(self.algorithm.champion(algorithm))
            joins = number % config.hall_every == 0
            hall = jax.tree.map(lambda new, old: jnp.where(joins, new, old), joined, hall)
        return PopulationState(algorithm, hall, state.key), Scores(jnp.max(scores), jnp.mean(scores))

    @override
    def best_networks(self, state: PopulationState) -> Float32[Array, "1 dimension"]:
        champion: Array = self.algorithm.champion(state.algorithm)
        return champion[None]

    @override
    def sample(self, state: PopulationState) -> Float32[Array, "sample dimension"]:
        numbers = jnp.arange(min(SAMPLE, self.config.population), dtype=jnp.int32)
        return as_rows(self.algorithm.ask(state.algorithm, numbers))

    def networks_met(self, state: PopulationState, key: Key[Array, ""]) -> Float32[Array, "met dimension"]:
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
                found.append(as_rows(self.algorithm.ask(state.algorithm, numbers)))
        return jnp.concatenate(found)

    def _judges(
        self, evolution: Evolution, networks: Float32[Array, "met dimension"]
    ) -> list[tuple[Callable[[Array, Array, Array], Array], int]]:
        """The fitness that opponents of each kind are, and how many they are; all networks are of one kind."""
        common, found = self.config.common, []
        if len(networks):
            met = Networks(evolution.policy, networks)
            found.append((evolution.by_play(met, common), len(networks)))
        players = (one for one in self.config.opponent_specs if one.name not in ("hall", "others"))
        return found + [(evolution.judge(one, common), one.number) for one in players]
