"""Hill climbing by play: one network, moved a little towards each mutant that beats it."""

import dataclasses
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.evolution.operators import Gaussian, Mutation, candidate_bits
from jaxgames.ops import checks

BOUNDS = ("clip", "scale")


class Match(Protocol):
    """Plays the champion against a mutant."""

    def __call__(
        self, champion: Float32[Array, " dimension"], mutant: Float32[Array, " dimension"], key: Key[Array, ""], /
    ) -> Float32[Array, "..."]:
        """The points of the mutant: in each game, or their sum."""
        ...


class HillClimbState(NamedTuple):
    """The champion, and how many mutants it has met and how many of them have beaten it."""

    champion: Float32[Array, " dimension"]
    key: Key[Array, ""]
    mutants: Int32[Array, ""]
    wins: Int32[Array, ""]


class HillClimbMetrics(NamedTuple):
    """One match: the points of the mutant in all games, and whether it won."""

    points: Float32[Array, ""]
    won: Bool[Array, ""]


@dataclasses.dataclass(frozen=True)
class HillClimb:
    """Pollack and Blair (1998), "Co-Evolution in the Successful Learning of Backgammon Strategy": the champion plays
    against a mutant of itself, and if that makes more than `margin` points in all games together (NaN is no win),

        champion <- champion + factor * (mutant - champion).

    Only a small step is made, since a mutant may win by luck. Weights begin with zero. The bound `clip` keeps each of
    them in [-limit, limit], those of mutants too; `scale` divides all weights of the champion by the same number when
    one of them is outside (Ebert 2007, section 2.4). Raises `ValueError` for a factor outside (0, 1], a limit that is
    not above 0, and another bound.
    """

    dimension: int
    mutation: Mutation = Gaussian(0.05)
    factor: float = 0.05
    limit: float = 1.0
    margin: float = 0.0
    bound: str = "clip"

    def __post_init__(self) -> None:
        checks.whole("dimension", self.dimension)
        checks.function("mutation", self.mutation, "(genomes, bits) -> genomes")
        for name in ("factor", "limit", "margin"):
            checks.number(name, getattr(self, name), "a number")
        checks.text("bound", self.bound, BOUNDS[0])
        if not 0 < self.factor <= 1:
            raise ValueError(f"factor={self.factor}: expected a number above 0, and at most 1")
        if not self.limit > 0:
            raise ValueError(f"limit={self.limit}: expected a number above 0")
        if self.bound not in BOUNDS:
            raise ValueError(f"bound={self.bound!r}: expected one of {', '.join(BOUNDS)}")

    def init(self, key: Key[Array, ""]) -> HillClimbState:
        """The state before the first match; the champion's weights are zeros."""
        checks.key(key)
        return HillClimbState(jnp.zeros(self.dimension, jnp.float32), key, jnp.int32(0), jnp.int32(0))

    def update(
        self, state: HillClimbState, match: Match, factor: Float32[Array, ""] | None = None
    ) -> tuple[HillClimbState, HillClimbMetrics]:
        """One match with one mutant; `factor` replaces the setting, where it changes on the way."""
        step_size = jnp.float32(self.factor) if factor is None else factor
        key = jax.random.fold_in(state.key, state.mutants)
        mutant = self.mutant(state)
        checks.function("match", match, "(champion, mutant, key) -> points")
        points = checks.floats("the match's points", match(state.champion, mutant, jax.random.fold_in(key, 1)))
        won = jnp.sum(points) > np.float32(self.margin)
        moved = self._bounded(state.champion + step_size * (mutant - state.champion))
        champion = jnp.where(won, moved, state.champion)
        after = HillClimbState(champion, state.key, state.mutants + 1, state.wins + won.astype(jnp.int32))
        return after, HillClimbMetrics(jnp.sum(points), won)

    def mutant(self, state: HillClimbState) -> Float32[Array, " dimension"]:
        """The mutant that the champion meets next."""
        key = jax.random.fold_in(state.key, state.mutants)
        bits = candidate_bits(key, jnp.zeros(1, jnp.int32))
        mutant = self.mutation(state.champion[None], bits)[0]
        return self._bounded(mutant) if self.bound == "clip" else mutant

    def champion(self, state: HillClimbState) -> Float32[Array, " dimension"]:
        """The champion."""
        return state.champion

    def _bounded(self, weights: Float32[Array, " dimension"]) -> Float32[Array, " dimension"]:
        if self.bound == "clip":
            return jnp.clip(weights, -self.limit, self.limit)
        return weights / jnp.maximum(1.0, jnp.max(jnp.abs(weights)) / self.limit)
