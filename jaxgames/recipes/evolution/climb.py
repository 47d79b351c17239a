"""Hill climbing by play, for networks that value positions; a generation is one mutant."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Key

from jaxgames.algos.evolution.games.duel import duel
from jaxgames.algos.evolution.operators import Gaussian
from jaxgames.algos.evolution.strategies.hill_climb import HillClimb, HillClimbState
from jaxgames.recipes.evolution.strategy import BaseMethod, EvolutionConfig, Scores, number


@dataclasses.dataclass(frozen=True)
class HillClimbConfig(EvolutionConfig):
    """Settings of `hill_climb`: one champion against a mutant."""

    name: ClassVar[str] = "hill_climb"

    sigma: float = number(0.05, 0, 10)
    """The standard deviation of the noise on each weight."""
    factor: float = number(0.05, 0, 1)
    """How far the champion moves towards a mutant that wins."""
    duel: int = number(4, 1, 10**6)
    """Games of champion and mutant, in pairs with the same dice."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network.plays == "outputs":
            raise ValueError("hill_climb needs networks that value positions: plays=afterstate or outcomes")
        if self.duel % 2:
            raise ValueError(f"duel={self.duel} games: expected an even number, since they come in pairs")

    def method(self, devices: int = 1, fitnesses: Mapping[str, Any] | None = None) -> "Climb":
        """As `EvolutionConfig.method`."""
        return Climb(self)


@dataclasses.dataclass(frozen=True)
class Climb(BaseMethod):
    """As `BaseMethod`: `hill_climb`."""

    config: HillClimbConfig

    @functools.cached_property
    def climb(self) -> HillClimb:
        """The algorithm."""
        config = self.config
        return HillClimb(config.network.genomes().dimension, Gaussian(config.sigma), config.factor)

    def games(self, generations: int) -> int:
        """As `BaseMethod.games`."""
        return generations * self.config.duel

    def init(self, key: Key[Array, ""]) -> HillClimbState:
        """As `BaseMethod.init`: the champion's weights are zeros."""
        return self.climb.init(key)

    def generation(self, state: HillClimbState) -> tuple[HillClimbState, Scores]:
        """As `BaseMethod.generation`; the best score is 1 if the mutant has won, the mean its points per game."""
        config, network = self.config, self.config.network

        def match(champion: Array, mutant: Array, key: Key[Array, ""]) -> Float32[Array, " games"]:
            pairs, game = config.duel // 2, self.policy.game
            return duel(game, network.value, mutant, champion, key, pairs, config.most_plies).points

        state, metrics = self.climb.update(state, match)
        return state, Scores(metrics.won.astype(jnp.float32), metrics.points * np.float32(1 / config.duel))

    def best(self, state: HillClimbState) -> Float32[Array, "1 dimension"]:
        """As `BaseMethod.best`."""
        return state.champion[None]

    def sample(self, state: HillClimbState) -> Float32[Array, "2 dimension"]:
        """As `BaseMethod.sample`: the champion and its next mutant."""
        return jnp.stack([state.champion, self.climb.mutant(state)])
