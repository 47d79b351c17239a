"""Tables inside of jitted programs: what positions are worth, looked up."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Float64, Int16, Int32

from jaxgames.envs.backgammon.board import Position, to_counts
from jaxgames.tables.bearoff import BearOffs
from jaxgames.tables.retrograde import LOSS, WIN, Index, Values

FAR = 4096
"""More turns than any way to the end takes. A win is worth 1, less one part of so many for each turn that it takes."""


class TableScores(NamedTuple):
    """A table as arrays. `score`: `FAR` less the turns to a win, negative for losses, 0 for draws.

    `first`: where each slice begins.
    """

    score: Int16[Array, " positions"]
    first: Int32[Array, " slices"]


@dataclasses.dataclass(frozen=True)
class Lookup:
    """Values of positions by a table; hashable, the table is an argument."""

    index: Index

    def scores(self, values_of: Callable[[int], Values]) -> TableScores:
        """The arrays of a table, from the values of each slice by its index."""
        sizes = [part.size for part in self.index.slices]
        first = np.concatenate([[0], np.cumsum(sizes)])
        score = np.zeros(first[-1], np.int16)
        for number, start in enumerate(first[:-1]):
            values = values_of(number)
            sign = (values.value == WIN).astype(np.int16) - (values.value == LOSS)
            score[start : start + sizes[number]] = sign * (FAR - np.asarray(values.turns))
        return TableScores(jnp.asarray(score), jnp.asarray(first[:-1], jnp.int32))

    def covers(self, positions: Any) -> Bool[Array, " batch"]:
        """Where the table knows the best turn."""
        return self.index.covers(positions)

    def worth(self, scores: TableScores, positions: Any, actions: int | None = None) -> Float32[Array, " batch"]:
        """The worth of positions that the table covers to the player to act, from -1 to 1.

        Where a turn is under way it is that of the best way to go on, of so many actions at most.
        """
        actions = self.index.longest_turn - 1 if actions is None else actions
        part, number = self.index.locate(positions)
        between = part >= 0
        score = scores.score[jnp.where(between, scores.first[part] + number, 0)].astype(jnp.float32) / FAR
        if not actions:
            return score
        rest = self.index.game.best_turn(positions, lambda after: self.worth(scores, after, actions - 1))[1]
        return jnp.where(between, score, rest)


@dataclasses.dataclass(frozen=True)
class BearOffLookup:
    """Values of backgammon when both sides bear off, by the chance to be off first: nobody loses a gammon any more."""

    offs: BearOffs

    def scores(self, win: Float64[np.ndarray, "positions positions"]) -> Float32[Array, " pairs"]:
        """The points per game of the player to roll, from the chances that `two_sided` finds."""
        return jnp.asarray((2 * win - 1).ravel(), jnp.float32)

    def covers(self, positions: Position) -> Bool[Array, " batch"]:
        """Where both sides have few checkers, all at home."""
        own, other = self._numbers(positions)
        return (own >= 0) & (other >= 0)

    def worth(self, scores: Float32[Array, " pairs"], positions: Position) -> Float32[Array, " batch"]:
        """The points per game of the player to roll in positions that the table covers, from -1 to 1."""
        own, other = self._numbers(positions)
        return scores[jnp.maximum(own, 0) * self.offs.size + jnp.maximum(other, 0)]

    def _numbers(self, positions: Position) -> tuple[Array, Array]:
        return self.offs.number(to_counts(positions.own)), self.offs.number(to_counts(positions.opponent))
