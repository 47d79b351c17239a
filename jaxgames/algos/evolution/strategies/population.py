"""One population, by any algorithm with `ask` for candidates and `tell` for their scores.

Candidates may meet former champions: those of a hall of fame, or of a league, in which the strongest play more
games.
"""

import dataclasses
import functools
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.candidates import as_rows
from jaxgames.algos.evolution.evaluate import Algorithm, MemoryPlan, evaluate, platform_of, usual_block
from jaxgames.algos.evolution.evolution import Evolution, OpponentSpec, ScoredConfig, Scores, Strategy, mesh_of
from jaxgames.algos.evolution.fitness import check_measure, is_mean, measured, won
from jaxgames.algos.evolution.play import Networks
from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.ops import checks
from jaxgames.ops.pytrees import select
from jaxgames.ops.settings import own, setting
from jaxgames.runs import Archive, Fronts

RECENT = 10
"""A win rate is the mean over the games with a member; after so many meetings the newest one counts 1/10."""


class HallOfFame(NamedTuple):
    """Former champions, float32[size, dimension], in a ring: each new one takes the place of the oldest."""

    genomes: Float32[Array, "size dimension"]
    joined: Int32[Array, ""]

    @classmethod
    def of(cls, genomes: Float32[Array, "size dimension"]) -> "HallOfFame":
        """A hall that begins with these genomes."""
        return cls(genomes, jnp.int32(0))

    def with_champion(self, genome: Float32[Array, " dimension"]) -> "HallOfFame":
        """The hall after this champion joined."""
        place = jnp.arange(len(self.genomes), dtype=jnp.int32) == self.joined % len(self.genomes)
        return HallOfFame(jnp.where(place[:, None], genome[None], self.genomes), self.joined + 1)


class League(NamedTuple):
    """Former champions; those that are hardest to beat are met most often: prioritised fictitious self-play.

    A member that is beaten in a share p of the games is drawn in proportion to (1 - p)^2. A new member counts as
    unbeaten. When the league is full, a new one replaces the member that is beaten most often, among equals the
    first. Source: Vinyals et al. (2019), "Grandmaster level in StarCraft II using multi-agent reinforcement learning",
    Methods, "Prioritized fictitious self-play".
    """

    genomes: Float32[Array, "size dimension"]
    win_rates: Float32[Array, " size"]
    """The share of games, a draw being half a win, that candidates have lately won against each."""
    met: Int32[Array, " size"]
    """How often each was met; -1 where nobody has joined yet."""

    @classmethod
    def of(cls, genomes: Float32[Array, "n dimension"], size: int) -> "League":
        """A league with room for so many, which begins with these genomes.

        Raises `ValueError` where there is no room for them.
        """
        count = len(genomes)
        size = checks.whole("size", size, max(1, count))
        places = jnp.arange(size, dtype=jnp.int32)
        rows = jnp.pad(genomes, ((0, size - count), (0, 0)))
        return cls(rows, jnp.zeros(size, jnp.float32), jnp.where(places < count, jnp.int32(0), -1))

    @property
    def weights(self) -> Float32[Array, " size"]:
        """(1 - p)^2 of each member; 0 where nobody has joined yet."""
        return jnp.where(self.met < 0, 0.0, jnp.square(1.0 - self.win_rates))

    def draw(self, key: Key[Array, ""], count: int) -> Int32[Array, " count"]:
        """The places of `count` different members, drawn one after the other in proportion to the weights of those
        that are left; members of weight 0 only if there are no others, and empty places only if there are no
        members left.

        By the largest of log(weight) + Gumbel noise: Efraimidis and Spirakis (2006), "Weighted random sampling with a
        reservoir". Raises `ValueError` for more than there are places.
        """
        checks.key(key)
        count = checks.whole("count", count, 1, len(self.genomes))
        noise = jax.random.gumbel(key, self.win_rates.shape, jnp.float32)
        least = np.float32(1e-12)  # far below the weight of a member that is beaten in 9,999 of 10,000 games
        keys = jnp.where(self.met < 0, -jnp.inf, jnp.log(jnp.maximum(self.weights, least)) + noise)
        return jax.lax.top_k(keys, count)[1].astype(jnp.int32)

    def after_games(self, places: Int32[Array, " count"], win_rates: Float32[Array, " count"]) -> "League":
        """The league after games with the members at these different places, given the share that candidates won;
        empty places stay empty.
        """
        joined = self.met[places] >= 0
        met = self.met.at[places].add(joined.astype(jnp.int32))
        share = jnp.where(joined, 1.0 / jnp.clip(met[places], 1, RECENT).astype(jnp.float32), 0.0)
        before = self.win_rates[places]
        after = self.win_rates.at[places].set(before + share * (win_rates - before))
        return self._replace(win_rates=after, met=met)

    def with_champion(self, genome: Float32[Array, " dimension"]) -> "League":
        """The league after this champion joined: at the first free place, or that of the member beaten most often."""
        chosen = jnp.argmax(jnp.where(self.met < 0, jnp.inf, self.win_rates)).astype(jnp.int32)
        place = jnp.arange(len(self.genomes), dtype=jnp.int32) == chosen
        return League(
            jnp.where(place[:, None], genome[None], self.genomes),
            jnp.where(place, 0.0, self.win_rates),
            jnp.where(place, 0, self.met),
        )


SAMPLE = 64
FORMER = ("hall", "league")
"""Opponents that are former champions."""
_OPPONENT = re.compile(r"([^*+]+)\*(\d+)")
_OF_PIECES = {"material": "material", "pieces": "piece_count", "captures": "piece_count"}
"""Measures that are always 0 in games whose rules lack the method named here."""


@dataclasses.dataclass(frozen=True)
class PopulationConfig(ScoredConfig):
    """Settings of strategies that judge one population in each generation."""

    population: int = setting(200, "candidates of a generation", low=2, high=2**24)
    opponents: str = setting(
        "random*32",
        "whom candidates meet, and how many of each, such as random*32+hall*16. Players by their names; others: "
        "candidates of the same generation, drawn anew each time (as many as the population: everyone, also oneself); "
        "hall: the last champions; league: former champions, most often those that are seldom beaten",
    )
    hall_every: int = setting(
        10, "after how many generations the champion joins the hall of fame and the league", low=1, high=10**6
    )
    league_size: int = setting(
        256,
        "how many former champions the league holds; when it is full, the one beaten most often leaves",
        low=1,
        high=2**20,
    )
    common: bool = setting(True, "whether candidates meet the same openings, dice and random moves")
    block: int | None = setting(
        None, "how many candidates play at once; none: as many as suit the device", low=1, high=2**20
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        met, usual = [one.name for one in self.opponent_specs], own(PopulationConfig)
        if self.champion_every is None and self.hall_every != usual["hall_every"].default:
            raise ValueError(f"hall_every={self.hall_every} has no effect without opponents such as hall*16")
        if "league" not in met and self.league_size != usual["league_size"].default:
            raise ValueError(f"league_size={self.league_size} has no effect without opponents such as league*16")
        if self.league_size < self.number_of("league"):
            raise ValueError(f"league_size={self.league_size}: expected at least the league*{self.number_of('league')}")
        for name in FORMER:
            if met.count(name) > 1:
                raise ValueError(f"opponents={self.opponents!r}: expected {name} once, with all that are met")

    @property
    @override
    def most_devices(self) -> int:
        return self.population

    @property
    @override
    def opponent_specs(self) -> tuple[OpponentSpec, ...]:
        specs = []
        for part in self.opponents.split("+"):
            match = _OPPONENT.fullmatch(part)
            if not match or not 0 < int(match[2]) < 10**6:
                raise ValueError(f"opponents={self.opponents!r}: expected players and numbers, as in random*32+hall*16")
            specs.append(OpponentSpec(match[1], int(match[2])))
        return tuple(specs)

    def number_of(self, name: str) -> int:
        """How many opponents of this name a candidate meets."""
        return sum(one.number for one in self.opponent_specs if one.name == name)

    @property
    @override
    def champion_every(self) -> int | None:
        return self.hall_every if any(one.name in FORMER for one in self.opponent_specs) else None

    @override
    def check_measures(self, without: Collection[str] = ()) -> None:
        game = type(make(self.network.game))
        for name in (name.removeprefix("-") for name in self.measures):
            check_measure(name)
            rule = _OF_PIECES.get(name, "init_position")
            if getattr(game, rule) is getattr(Game, rule):
                raise ValueError(f"{name} is always 0 in {self.network.game}, which takes no pieces")
        for one in self.opponent_specs if self.measures else ():
            if one.name in without:
                raise ValueError(f"opponents={one.name}*{one.number}: {self.name} needs games, and these play none")

    @override
    def games(self, generations: int, without: tuple[str, ...] = ()) -> int:
        met = sum(one.number for one in self.opponent_specs if one.name not in without)
        return generations * self.population * met * self.games_per_opponent

    @override
    def strategy(self, mesh: Mesh | None) -> "Population":
        return Population(self, self.algorithm(mesh), mesh)

    def algorithm(self, mesh: Mesh | None) -> Algorithm:
        """The algorithm with `ask` and `tell`; `mesh` are the devices over which candidates are split."""
        raise NotImplementedError

    def archive(self, state: Any) -> Archive | Fronts | None:
        """What a picture of an algorithm's state shows, if there is anything."""
        return None

    def candidates_at_once(self, algorithm: Algorithm, mesh: Mesh | None) -> int:
        """The candidates of a block of each device."""
        if self.block is not None:
            return self.block
        state, numbers = jax.eval_shape(algorithm.init, jax.random.key(0)), jax.ShapeDtypeStruct((1,), jnp.int32)
        games = sum(one.number for one in self.opponent_specs) * self.games_per_opponent
        asked = jax.eval_shape(algorithm.ask, state, numbers)
        players = {one.name for one in self.opponent_specs} - {*FORMER, "others", "random"}
        networks = sum(one.number for one in self.opponent_specs if one.name in (*FORMER, "others"))
        opponents = None if players else 4 * networks * algorithm.dimension
        return usual_block(asked, games, platform_of(mesh), mesh is None, opponents)

    @override
    def check_memory(self, devices: int) -> None:
        self.memory_plan(devices).check(less=self._smaller_leagues(devices))

    def _smaller_leagues(self, devices: int) -> Iterator[tuple[str, MemoryPlan]]:
        """Settings that a message proposes: leagues of a half, of a quarter, ... down to all that are met."""
        size, least = self.league_size, self.number_of("league")
        while least and size > least:
            size = max(least, size // 2)
            yield f"league_size={size}", self.replace(league_size=size).memory_plan(devices)

    def memory_plan(self, devices: int) -> MemoryPlan:
        """What decides how much memory a training on so many devices takes."""
        mesh, key = mesh_of(devices), jax.random.key(0)
        population = self.strategy(mesh)
        state = jax.eval_shape(population.init, key)
        memories = jax.process_count() if jax.default_backend() == "cpu" else devices
        return MemoryPlan(
            population.algorithm,
            self.candidates_at_once(self.algorithm(None), mesh),
            devices=max(1, devices // memories),
            memories=memories,
            games=sum(one.number for one in self.opponent_specs) * self.games_per_opponent,
            game_bytes=64 + 12 * max(max(shape) for shape in self.network.genomes().shapes),
            opponents=(state.hall, state.league, jax.eval_shape(population.networks_met, state, key)),
        )


class PopulationState(NamedTuple):
    """The algorithm's state, and the former champions, if they are met."""

    algorithm: Any
    hall: HallOfFame
    key: Key[Array, ""]
    league: League | None = None


class _WithNetworks(NamedTuple):
    """An algorithm whose candidates come with the networks that they meet: data that is the same on all devices must
    be part of the state.
    """

    algorithm: Algorithm
    population: int
    columns: int | None

    def ask(self, state: Any, numbers: Int32[Array, " b"]) -> tuple[Array, Array]:
        """The candidates, and the networks."""
        return self.algorithm.ask(state[0], numbers), state[1]


@dataclasses.dataclass(frozen=True, eq=False)
class Population(Strategy):
    """The candidates of an algorithm, which meet players, others of their generation, and former champions."""

    config: PopulationConfig
    algorithm: Any
    """An `Algorithm`; one that does not draw its own first candidates begins with the network's: `begin(key, first)`,
    with the first weights by number.
    """
    mesh: Mesh | None

    @override
    def init(self, key: Key[Array, ""]) -> PopulationState:
        own, first, drawn = (jax.random.fold_in(key, number) for number in range(3))
        init = self.config.network.genomes().init
        if hasattr(self.algorithm, "begin"):
            state = self.algorithm.begin(own, functools.partial(init, first))
        else:  # it draws its first weights itself
            state = self.algorithm.init(own)
        former, members = (jnp.arange(self.config.number_of(name), dtype=jnp.int32) for name in FORMER)
        hall, league = HallOfFame.of(init(drawn, former)), None
        if len(members):
            league = League.of(init(jax.random.fold_in(key, 3), members), self.config.league_size)
        return PopulationState(state, hall, drawn, league)

    @override
    def generation(self, state: PopulationState, evolution: Evolution) -> tuple[PopulationState, Scores]:
        config, number = self.config, state.algorithm.generation
        key = jax.random.fold_in(state.key, number)

        def judged(asked: Any, numbers: Int32[Array, " b"], key: Key[Array, ""]) -> Float32[Array, "b ..."]:
            genomes, met = asked
            if evolution.watch is not None:
                jax.debug.callback(functools.partial(evolution.watch, len(numbers)))
            judges, scores, won_games, played = self._judges(evolution, met), [], [], []
            whole = {name for name in config.measures if not is_mean(name) and len(judges) > 1}
            for place, (judge, count) in enumerate(judges):
                own = jax.random.fold_in(key, place)
                if whole or (place == 0 and members):
                    results = judge.results(genomes, numbers, own)
                    score = judge.of_results(results)
                    played.append(results)
                if place == 0 and members:
                    won_games = [judge.by_opponent(won(results))[:, self._first_of_league :][:, :members]]
                elif not whole:
                    score = judge(genomes, numbers, own)
                scores.append(score * jnp.float32(count))
            total = sum(scores[1:], scores[0]) * jnp.float32(1 / sum(count for _, count in judges))
            if whole:
                every = jax.tree.map(lambda *parts: jnp.concatenate(parts, axis=1), *played)
                for column, name in enumerate(config.measures, 1):
                    total = total.at[:, column].set(measured(every, name)) if name in whole else total
            return jnp.concatenate([total.reshape(len(numbers), -1), *won_games], axis=1) if won_games else total

        members, own_columns = config.number_of("league"), getattr(self.algorithm, "columns", None)
        columns = (own_columns or 1) + members if members else own_columns
        fitness: Any = judged
        asking: Any = _WithNetworks(self.algorithm, config.population, columns)
        met = self.networks_met(state, key)
        block = config.candidates_at_once(self.algorithm, self.mesh)
        told = evaluate(fitness, asking, (state.algorithm, met), key, block, self.mesh)
        scores, league = told, state.league
        if league is not None:
            scores = told[:, :own_columns] if own_columns else told[:, 0]
            league = league.after_games(self._league_places(league, key), jnp.mean(told[:, -members:], axis=0))
        algorithm = self.algorithm.tell(state.algorithm, scores)
        champion: Any = self.algorithm.champion(algorithm) if config.champion_every else None
        joins = number % config.hall_every == 0
        hall = state.hall
        if len(hall.genomes):
            hall = select(joins, hall.with_champion(champion), hall)
        if league is not None:
            league = select(joins, league.with_champion(champion), league)
        first = scores if scores.ndim == 1 else scores[:, 0]
        after = PopulationState(algorithm, hall, state.key, league)
        return after, Scores(jnp.max(first), jnp.mean(first), champion=champion)

    @override
    def best_networks(self, state: PopulationState) -> Float32[Array, "1 dimension"]:
        champion: Array = self.algorithm.champion(state.algorithm)
        return champion[None]

    @override
    def sample(self, state: PopulationState) -> Float32[Array, "sample dimension"]:
        numbers = jnp.arange(min(SAMPLE, self.config.population), dtype=jnp.int32)
        return as_rows(self.algorithm.ask(state.algorithm, numbers))

    @override
    def metrics(self, state: PopulationState) -> dict[str, Float32[Array, ""]]:
        metrics = self.algorithm.metrics(state.algorithm) if hasattr(self.algorithm, "metrics") else {}
        if state.league is not None:
            met = (state.league.met > 0).astype(jnp.float32)
            won_against = jnp.sum(met * state.league.win_rates) / jnp.maximum(jnp.sum(met), 1)
            metrics = metrics | {"won_against_league": won_against}
        return metrics

    @override
    def archive(self, state: PopulationState) -> Archive | Fronts | None:
        return self.config.archive(state.algorithm)

    def networks_met(self, state: PopulationState, key: Key[Array, ""]) -> Float32[Array, "met dimension"]:
        """The networks that candidates meet in this generation: former champions, and others of the population."""
        networks = [jnp.zeros((0, self.algorithm.dimension), jnp.float32)]
        for place, one in enumerate(self.config.opponent_specs):
            if one.name == "hall":
                networks.append(state.hall.genomes)
            if one.name == "league" and state.league is not None:
                networks.append(state.league.genomes[self._league_places(state.league, key)])
            if one.name == "others":
                own = self._own_key(key, place)
                numbers = jax.random.randint(own, (one.number,), 0, self.config.population, jnp.int32)
                if one.number == self.config.population:
                    numbers = jnp.arange(one.number, dtype=jnp.int32)
                networks.append(as_rows(self.algorithm.ask(state.algorithm, numbers)))
        return jnp.concatenate(networks)

    def _league_places(self, league: League, key: Key[Array, ""]) -> Int32[Array, " met"]:
        """The members that are met in a generation with this key."""
        place = next(place for place, one in enumerate(self.config.opponent_specs) if one.name == "league")
        return league.draw(self._own_key(key, place), self.config.number_of("league"))

    def _own_key(self, key: Key[Array, ""], place: int) -> Key[Array, ""]:
        """The key by which opponents of a kind are drawn; those of its games are the first ones."""
        return jax.random.fold_in(key, len(self.config.opponent_specs) + place)

    @property
    def _first_of_league(self) -> int:
        """The place of the league's first member among the networks that are met."""
        names = [one.name for one in self.config.opponent_specs]
        before = self.config.opponent_specs[: names.index("league")]
        return sum(one.number for one in before if one.name in (*FORMER, "others"))

    def _judges(self, evolution: Evolution, networks: Float32[Array, "met dimension"]) -> list[tuple[Any, int]]:
        """The fitness by games with each kind of opponents, and how many they are; all networks are one kind."""
        common, judges = self.config.common, []
        if len(networks):
            met = Networks(evolution.policy, networks)
            judges.append((evolution.by_play(met, common), len(networks)))
        players = (one for one in self.config.opponent_specs if one.name not in (*FORMER, "others"))
        return judges + [(evolution.judge(one, common), one.number) for one in players]
