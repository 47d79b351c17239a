"""The base of all strategies: shared settings, the games that judge networks, and generations.

A strategy is one file of `strategies`: the algorithm, its settings, a subclass of `EvolutionConfig`, and a line in
`strategies.STRATEGIES`.
"""

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.candidates import as_rows
from jaxgames.algos.evolution.duel import duel
from jaxgames.algos.evolution.evaluate import platform_of, population_mesh
from jaxgames.algos.evolution.fitness import DETAILED, SCORES, ByPlay
from jaxgames.algos.evolution.operators import Crossover, Segments, whole_layers
from jaxgames.algos.evolution.play import FixedPlayer, Networks, Opponents, RandomMoves, play
from jaxgames.algos.evolution.policies import Policy
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.envs.core import Game
from jaxgames.ops import checks
from jaxgames.ops.settings import Settings, group, setting
from jaxgames.runs import Archive, Fronts

CROSSOVERS = ("none", "segments", "layers")


class Scores(NamedTuple):
    """The scores of one generation's candidates, and the networks to save after it, if any; `champion` for strategies
    that keep their former champions.
    """

    best: Float32[Array, "..."]
    mean: Float32[Array, "..."]
    networks: Float32[Array, "... networks dimension"] | None = None
    champion: Float32[Array, "... dimension"] | None = None


class Strategy(ABC):
    """A way to evolve networks: pure functions of one state, a pytree."""

    @abstractmethod
    def init(self, key: Key[Array, ""]) -> Any:
        """The state before the first generation."""

    def init_from(self, key: Key[Array, ""], networks: Float32[Array, "n dimension"]) -> Any:
        """The state before the first generation, if it begins with existing networks.

        Raises `ValueError` for a strategy that cannot, and for a wrong number of networks.
        """
        raise ValueError("the strategy begins with random weights, not with networks of a file")

    @abstractmethod
    def generation(self, state: Any, evolution: "Evolution") -> tuple[Any, Scores]:
        """One generation, by the games of `evolution`."""

    @abstractmethod
    def best_networks(self, state: Any) -> Float32[Array, "champions dimension"]:
        """The champions, the best one first."""

    @abstractmethod
    def sample(self, state: Any) -> Float32[Array, "sample dimension"]:
        """Some networks of the population, all of them if they are few."""

    def metrics(self, state: Any) -> dict[str, Float32[Array, ""]]:
        """Further metrics for the lines and the diagram, by name."""
        return {}

    def archive(self, state: Any) -> Archive | Fronts | None:
        """The networks of a state that a picture shows, for strategies that look for many networks."""
        return None


class OpponentSpec(NamedTuple):
    """Opponents of one kind: a player's spec, `others`, `hall` or `league`, and how many."""

    name: str
    number: int


@dataclasses.dataclass(frozen=True)
class EvolutionConfig(Settings):
    """The settings that all strategies share. Raises `ValueError` for values that make no sense."""

    of = "evolution"
    name: ClassVar[str] = ""
    """The strategy's name, as in `--set strategy=NAME`."""
    unit: ClassVar[str] = "generations"
    """What a generation is called."""

    network: NetworkConfig = group(NetworkConfig)
    generations: int = setting(
        1_000, "how many there are in the whole training; with groups, the rounds", low=1, high=10**9
    )
    most_plies: int = setting(1_000, "a game is stopped after this many plies", low=1, high=10**6)

    @property
    def most_devices(self) -> int:
        """How many devices can share the work; 1 for strategies whose population cannot be split."""
        return 1

    @property
    def champions(self) -> int:
        """How many networks are shown and kept."""
        return 1

    @property
    def opponent_specs(self) -> tuple[OpponentSpec, ...]:
        """Whom candidates meet besides each other, for strategies that can choose."""
        return ()

    @property
    def champion_every(self) -> int | None:
        """After how many generations the champion is kept, by generations 0, n, 2n, ...; None if none is."""
        return None

    @property
    def generations_per_line(self) -> int | None:
        """After how many generations the step size is tested; None if it is not."""
        return None

    def strategy(self, mesh: Mesh | None) -> Strategy:
        """How this setting evolves, on the devices of a mesh (None: one)."""
        raise NotImplementedError

    def games(self, generations: int, without: tuple[str, ...] = ()) -> int:
        """Games in the first so many generations; opponents `without` do not count."""
        raise NotImplementedError

    def check_measures(self, without: Collection[str] = ()) -> None:
        """Raises `ValueError` for measures that the game or the opponents cannot give; opponents `without`
        play no games.
        """

    def check_memory(self, devices: int) -> None:
        """Raises `ValueError` if the training does not fit into this machine's memory; a strategy with only a few
        networks always fits.
        """

    def crossover_named(self, name: str) -> Crossover | None:
        """One of `CROSSOVERS` for such networks; None if children have one parent."""
        slices = self.network.genomes().layer_slices
        return {"none": None, "segments": Segments(), "layers": whole_layers(slices)}[name]


@dataclasses.dataclass(frozen=True)
class ScoredConfig(EvolutionConfig):
    """The settings of strategies whose candidates are scored by games with opponents."""

    score: str = setting("wins", "what a candidate's games are worth", choices=SCORES)
    sides: str = setting(
        "both",
        "both: two games with each opponent, one on each side; alternate: one game, moving first and second in turns",
        choices=("both", "alternate"),
    )

    @property
    def games_per_opponent(self) -> int:
        """Games of a candidate with each opponent."""
        return 2 if self.sides == "both" else 1

    @property
    def measures(self) -> tuple[str, ...]:
        """What is measured of a candidate's games besides the score, by name; after a minus less of it is better."""
        return ()


def mesh_of(devices: int) -> Mesh | None:
    """The mesh over so many devices; None for one CPU."""
    mesh = population_mesh(devices)
    return None if devices == 1 and platform_of(mesh) == "cpu" else mesh


@dataclasses.dataclass(frozen=True)
class Evolution:
    """A setting on so many devices: its strategy, and the games by which networks are judged.

    A hashable value: equal ones share compiled programs. Raises `ValueError` for unknown opponents.
    """

    config: EvolutionConfig
    devices: int = 1
    player_of: Callable[[str, Game], Any] | None = None
    """Makes a player by its name, as `jaxgames.players.make`; needed if candidates meet players."""
    fitnesses: tuple[tuple[str, Callable], ...] = ()
    """Further kinds of opponents besides players, by name: `fitness(policy, count, genomes, numbers, key)`."""
    watch: Callable[[int], None] | None = None
    """Called by the device while it computes, with the number of candidates whose games begin."""

    def __post_init__(self) -> None:
        for name, _ in self.config.opponent_specs:
            if name not in ("hall", "league", "others", "random", *dict(self.fitnesses)):
                self._player(name)
        self.config.check_measures(tuple(dict(self.fitnesses)))

    @functools.cached_property
    def strategy(self) -> Strategy:
        """The strategy."""
        return self.config.strategy(self.mesh)

    @functools.cached_property
    def policy(self) -> Policy:
        """How the networks play."""
        return self.config.network.policy()

    @property
    def mesh(self) -> Mesh | None:
        """The devices."""
        return mesh_of(self.devices)

    def games(self, generations: int) -> int:
        """Games that are played in the first so many generations."""
        return self.config.games(generations, tuple(dict(self.fitnesses)))

    def matrix(
        self,
        genomes: Float32[Array, "n dimension"],
        opponents: Float32[Array, "k dimension"],
        numbers: Int32[Array, " n"],
        key: Key[Array, ""],
    ) -> Float32[Array, "n k"]:
        """The scores of n networks against k others, those of both sides added up."""
        config, met = self.scored, Networks(self.policy, opponents)
        details = DETAILED.get(config.score, ())
        results = play(self.policy, genomes, met, key, numbers, config.sides, config.most_plies, details)
        return jnp.sum(SCORES[config.score](results).reshape(len(genomes), -1, met.count), axis=1)

    def duel(
        self, one: Float32[Array, " dimension"], other: Float32[Array, " dimension"], key: Key[Array, ""], pairs: int
    ) -> Float32[Array, " games"]:
        """The points of one network against another in pairs of games, for networks that value positions."""
        config, game = self.config, self.policy.game
        return duel(game, config.network.value, one, other, key, pairs, config.most_plies).points

    def judge(self, spec: OpponentSpec, common: bool) -> Callable[[Array, Array, Array], Array]:
        """The fitness by games against players of one kind, or another fitness with this name."""
        if spec.name in dict(self.fitnesses):
            named = functools.partial(dict(self.fitnesses)[spec.name], self.policy, spec.number)
            return lambda candidates, numbers, key: named(as_rows(candidates), numbers, key)
        if spec.name == "random":
            return self.by_play(RandomMoves(spec.number), common)
        player = self._player(spec.name)
        return self.by_play(FixedPlayer(player.turn, player.params, spec.number), common)

    def by_play(self, opponents: Opponents, common: bool) -> ByPlay:
        """The fitness by games with these opponents; with `common` candidates meet the same luck."""
        config = self.scored
        return ByPlay(self.policy, opponents, config.score, config.sides, common, config.most_plies, config.measures)

    @property
    def scored(self) -> ScoredConfig:
        """The setting of a strategy that scores candidates by games; `TypeError` for another one."""
        return checks.kind("config", self.config, ScoredConfig)

    def _player(self, name: str) -> Any:
        if self.player_of is None:
            raise ValueError(f"opponent {name!r}: give `player_of`, such as jaxgames.players.make")
        return self.player_of(name, self.policy.game)


@functools.partial(jax.jit, static_argnums=(0, 2), donate_argnums=1)
def advance(evolution: Evolution, state: Any, generations: int) -> tuple[Any, Scores]:
    """So many generations, and the scores of each."""
    return jax.lax.scan(lambda state, _: evolution.strategy.generation(state, evolution), state, length=generations)


@functools.partial(jax.jit, static_argnums=0)
def summarize(
    evolution: Evolution, state: Any
) -> tuple[Float32[Array, "champions dimension"], Float32[Array, ""], dict[str, Float32[Array, ""]]]:
    """The champions, the diversity: how far weights are spread over the population, as a share of their size, and the
    strategy's own metrics.

    The diversity is the root of the mean variance of the weights, divided by the root of their mean square.
    """
    sample = evolution.strategy.sample(state)
    spread = jnp.mean(jnp.var(sample, axis=0))
    best = evolution.strategy.best_networks(state)
    diversity = jnp.sqrt(spread / jnp.maximum(jnp.mean(sample**2), jnp.finfo(jnp.float32).tiny))
    return best, diversity, evolution.strategy.metrics(state)
