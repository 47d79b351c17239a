"""Hill climbing by play, for networks that value positions; a generation is one mutant."""

import dataclasses
import functools

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Key

from jaxgames.algos.evolution.games.duel import duel
from jaxgames.algos.evolution.operators import Gaussian
from jaxgames.algos.evolution.strategies.hill_climb import HillClimb, HillClimbState
from jaxgames.recipes.evolution.methods import Keyed, Scores


@dataclasses.dataclass(frozen=True)
class Climb(Keyed):
    """As `Method`: `hill_climb`. Raises `ValueError` for networks that value no positions, and odd numbers of games."""

    champions: int = 1
    algorithm: None = None

    def __post_init__(self) -> None:
        if self.config.network.plays == "outputs":
            raise ValueError("hill_climb needs networks that value positions: plays=afterstate or outcomes")
        if self.config.duel % 2:
            raise ValueError(f"duel={self.config.duel} games: expected an even number, since they come in pairs")

    @functools.cached_property
    def climb(self) -> HillClimb:
        """The algorithm."""
        config = self.config
        return HillClimb(config.network.genomes().dimension, Gaussian(config.sigma), config.factor)

    def games(self, generations: int) -> int:
        """As `Method.games`."""
        return generations * self.config.duel

    def init(self, key: Key[Array, ""]) -> HillClimbState:
        """As `Method.init`: the champion's weights are zeros."""
        return self.climb.init(key)

    def generation(self, state: HillClimbState) -> tuple[HillClimbState, Scores]:
        """As `Method.generation`; the best score is 1 if the mutant has won, the mean its points per game."""
        config, network = self.config, self.config.network

        def match(champion: Array, mutant: Array, key: Key[Array, ""]) -> Float32[Array, " games"]:
            pairs, game = config.duel // 2, self.policy.game
            return duel(game, network.value, mutant, champion, key, pairs, config.most_plies).points

        state, metrics = self.climb.update(state, match)
        return state, Scores(metrics.won.astype(jnp.float32), metrics.points * np.float32(1 / config.duel))

    def best(self, state: HillClimbState) -> Float32[Array, "1 dimension"]:
        """As `Method.best`."""
        return state.champion[None]

    def sample(self, state: HillClimbState) -> Float32[Array, "2 dimension"]:
        """As `Method.sample`: the champion and its next mutant."""
        return jnp.stack([state.champion, self.climb.mutant(state)])
