"""Evolution of groups that meet each other's best; a generation is a round, in which every group has its turn."""

import dataclasses
import functools

import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.games.fitness import SCORES
from jaxgames.algos.evolution.games.play import Networks, play
from jaxgames.algos.evolution.operators import Multiplicative, best_first
from jaxgames.algos.evolution.strategies.group_ga import GroupGA, GroupState
from jaxgames.recipes.evolution.methods import Keyed, Scores, crossover_of


@dataclasses.dataclass(frozen=True)
class Groups(Keyed):
    """As `Method`: `groups`."""

    algorithm: None = None

    @property
    def champions(self) -> int:
        """As `Method.champions`: the best of each group."""
        return self.config.groups

    @functools.cached_property
    def groups(self) -> GroupGA:
        """The algorithm."""
        config, genomes = self.config, self.config.network.genomes()
        return GroupGA(
            genomes.dimension, self.first, config.groups, config.members, config.keep, iterations=config.turn,
            mutation=Multiplicative(config.rate), crossover=crossover_of(config), schedule=config.schedule,
        )  # fmt: skip

    def games(self, generations: int) -> int:
        """As `Method.games`."""
        return generations * self.groups.games * (2 if self.config.sides == "both" else 1)

    def init(self, key: Key[Array, ""]) -> GroupState:
        """As `Method.init`."""
        return self.groups.init(key)

    def generation(self, state: GroupState) -> tuple[GroupState, Scores]:
        """As `Method.generation`; scores as shares of the most that is possible."""
        config = self.config

        def play_matrix(genomes: Array, opponents: Array, numbers: Int32[Array, " n"], key: Key[Array, ""]) -> Array:
            met = Networks(self.policy, opponents)
            results = play(self.policy, genomes, met, key, numbers, config.sides, config.most_plies)
            return SCORES[config.score](results)

        after, metrics = self.groups.update(state, play_matrix)
        possible = jnp.float32(self.groups.opponents * (2 if config.sides == "both" else 1))
        return after, Scores(jnp.max(metrics.scores) / possible, jnp.mean(metrics.scores[:, 0]) / possible)

    def best(self, state: GroupState) -> Float32[Array, "groups dimension"]:
        """As `Method.best`."""
        order = best_first(state.scores[:, 0])
        return self.groups.champions(state).at[order].get(mode="clip")

    def sample(self, state: GroupState) -> Float32[Array, "sample dimension"]:
        """As `Method.sample`: everyone."""
        return state.genomes.reshape(-1, state.genomes.shape[-1])
