"""Hill climbing by play, for networks that value positions; a generation is one mutant."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Key

from jaxgames.algos.evolution.games.duel import duel
from jaxgames.algos.evolution.operators import Gaussian
from jaxgames.algos.evolution.strategies.hill_climb import HillClimb, HillClimbState
from jaxgames.algos.td.step_sizes import GAMES_BETWEEN_TESTS, STEP_SIZES, Tests, first_tests
from jaxgames.players.generic import evolved
from jaxgames.recipes.evolution.strategy import BaseMethod, EvolutionConfig, Scores, choice, number
from jaxgames.recipes.strength import after_test


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
    schedule: str = choice("constant", "tested")
    """`tested`: `factor` is 0.25 .. 0.001, lowered when the champion stops getting better; one is kept every 1,000
    games.
    """
    bound: str = choice("clip", "scale")
    """How weights are kept in [-1, 1]: each of them, or all divided by the same number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network.plays == "outputs":
            raise ValueError("hill_climb needs networks that value positions: plays=afterstate or outcomes")
        if self.duel % 2:
            raise ValueError(f"duel={self.duel} games: expected an even number, since they come in pairs")
        if self.schedule == "tested" and GAMES_BETWEEN_TESTS % self.duel:
            raise ValueError(f"duel={self.duel} games: expected a divisor of 1,000, after which there is a test")

    def method(self, devices: int = 1, fitnesses: Mapping[str, Any] | None = None) -> "Climb":
        """As `EvolutionConfig.method`."""
        return Climb(self)


class TestedClimbState(NamedTuple):
    """A climb, and the tests that decide its step size."""

    climb: HillClimbState
    tests: Tests


@dataclasses.dataclass(frozen=True)
class Climb(BaseMethod):
    """As `BaseMethod`: `hill_climb`."""

    config: HillClimbConfig

    @functools.cached_property
    def climb(self) -> HillClimb:
        """The algorithm."""
        config = self.config
        dimension = config.network.genomes().dimension
        return HillClimb(dimension, Gaussian(config.sigma), config.factor, bound=config.bound)

    @property
    def _is_tested(self) -> bool:
        return self.config.schedule == "tested"

    @property
    def generations_per_line(self) -> int | None:
        """As `BaseMethod.generations_per_line`: the mutants between two tests."""
        return GAMES_BETWEEN_TESTS // self.config.duel if self._is_tested else None

    def games(self, generations: int) -> int:
        """As `BaseMethod.games`."""
        return generations * self.config.duel

    def init(self, key: Key[Array, ""]) -> HillClimbState | TestedClimbState:
        """As `BaseMethod.init`: the champion's weights are zeros."""
        state = self.climb.init(key)
        return TestedClimbState(state, first_tests(state.champion)) if self._is_tested else state

    def generation(self, state: Any) -> tuple[Any, Scores]:
        """As `BaseMethod.generation`; the best score is 1 if the mutant has won, the mean its points per game."""
        if not self._is_tested:
            return self._meet(state, None)
        climb, scores = self._meet(state.climb, jnp.asarray(STEP_SIZES, jnp.float32)[state.tests.place])
        return state._replace(climb=climb), scores

    def after_block(self, state: Any) -> Any:
        """As `BaseMethod.after_block`: the champion meets the one 25,000 games younger."""
        champion = evolved("champion", state.climb.champion, self.config.network)
        return state._replace(tests=after_test(state.tests, champion))

    def _meet(self, state: HillClimbState, factor: Float32[Array, ""] | None) -> tuple[HillClimbState, Scores]:
        """A match with a mutant."""
        config, network = self.config, self.config.network

        def match(champion: Array, mutant: Array, key: Key[Array, ""]) -> Float32[Array, " games"]:
            pairs, game = config.duel // 2, self.policy.game
            return duel(game, network.value, mutant, champion, key, pairs, config.most_plies).points

        state, metrics = self.climb.update(state, match, factor)
        return state, Scores(metrics.won.astype(jnp.float32), metrics.points * np.float32(1 / config.duel))

    def best(self, state: Any) -> Float32[Array, "1 dimension"]:
        """As `BaseMethod.best`."""
        return (state.climb if self._is_tested else state).champion[None]

    def sample(self, state: Any) -> Float32[Array, "2 dimension"]:
        """As `BaseMethod.sample`: the champion and its next mutant."""
        state = state.climb if self._is_tested else state
        return jnp.stack([state.champion, self.climb.mutant(state)])
