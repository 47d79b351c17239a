"""Evolution of groups that meet each other's best; a generation is a round, in which every group has its turn."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.games.fitness import DETAILED, SCORES
from jaxgames.algos.evolution.games.play import Networks, play
from jaxgames.algos.evolution.operators import Multiplicative, best_first
from jaxgames.algos.evolution.strategies.group_ga import GroupGA, GroupState
from jaxgames.recipes.evolution.strategy import (
    CROSSOVERS,
    BaseMethod,
    EvolutionConfig,
    Scores,
    choice,
    crossover_named,
    number,
)


@dataclasses.dataclass(frozen=True)
class GroupsConfig(EvolutionConfig):
    """Settings of `groups`: groups of networks that meet each other's best."""

    name: ClassVar[str] = "groups"
    unit: ClassVar[str] = "rounds"

    groups: int = number(20, 2, 10_000)
    members: int = number(10, 2, 10_000)
    keep: int = number(5, 1, 2**24)
    """So many of the best have children."""
    rate: float = number(0.2, 0, 10)
    """A mutation is x + r x with r uniform in [-rate, rate] for each weight x."""
    turn: int = number(100, 1, 10**6)
    """Iterations of a group, while all others stay as they are: what is new is scored, and the worst are replaced."""
    schedule: str = choice("sequential", "parallel")
    """`sequential`: one group after the other; `parallel`: all at once, against the best at the turn's beginning."""
    crossover: str = choice(*CROSSOVERS)
    """How children of two parents are made."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep >= self.members:
            raise ValueError(f"keep={self.keep} of groups of {self.members}: expected less")

    def method(self, devices: int = 1, fitnesses: Mapping[str, Any] | None = None) -> "Groups":
        """As `EvolutionConfig.method`."""
        return Groups(self)


@dataclasses.dataclass(frozen=True)
class Groups(BaseMethod):
    """As `BaseMethod`: `groups`."""

    config: GroupsConfig

    @property
    def champions(self) -> int:
        """As `BaseMethod.champions`: the best of each group."""
        return self.config.groups

    @functools.cached_property
    def groups(self) -> GroupGA:
        """The algorithm."""
        config, genomes = self.config, self.config.network.genomes()
        return GroupGA(
            genomes.dimension, self.first, config.groups, config.members, config.keep, iterations=config.turn,
            mutation=Multiplicative(config.rate), crossover=crossover_named(config.crossover, config.network),
            schedule=config.schedule,
        )  # fmt: skip

    def games(self, generations: int) -> int:
        """As `BaseMethod.games`."""
        return generations * self.groups.games * (2 if self.config.sides == "both" else 1)

    def init(self, key: Key[Array, ""]) -> GroupState:
        """As `BaseMethod.init`."""
        return self.groups.init(key)

    def init_from(self, key: Key[Array, ""], networks: Float32[Array, "n dimension"]) -> GroupState:
        """As `BaseMethod.init_from`: all members of a group are one network; there is one for each, or for all."""
        groups, members = self.config.groups, self.config.members
        if len(networks) not in (1, groups):
            raise ValueError(f"{len(networks)} networks; expected one, or {groups} for as many groups (--set groups=N)")
        state = self.init(key)
        return state._replace(genomes=jnp.broadcast_to(networks[:, None], (groups, members, networks.shape[1])))

    def generation(self, state: GroupState) -> tuple[GroupState, Scores]:
        """As `BaseMethod.generation`; scores as shares of the most that is possible."""
        config = self.config

        def play_matrix(genomes: Array, opponents: Array, numbers: Int32[Array, " n"], key: Key[Array, ""]) -> Array:
            met = Networks(self.policy, opponents)
            details = DETAILED.get(config.score, ())
            results = play(self.policy, genomes, met, key, numbers, config.sides, config.most_plies, details)
            scores = SCORES[config.score](results)
            return jnp.sum(scores.reshape(len(genomes), -1, met.count), axis=1)  # one of each opponent, of both sides

        after, metrics = self.groups.update(state, play_matrix)
        possible = jnp.float32(self.groups.opponents * (2 if config.sides == "both" else 1))
        best = metrics.scores[:, 0] / possible
        return after, Scores(jnp.max(best), jnp.mean(best), self.groups.champions(after))

    def best(self, state: GroupState) -> Float32[Array, "groups dimension"]:
        """As `BaseMethod.best`."""
        order = best_first(state.scores[:, 0])
        return self.groups.champions(state).at[order].get(mode="clip")

    def sample(self, state: GroupState) -> Float32[Array, "sample dimension"]:
        """As `BaseMethod.sample`: everyone."""
        return state.genomes.reshape(-1, state.genomes.shape[-1])
