"""Exact scores of Connect Four positions and of their moves, on any board.

A score is k > 0 if the player to move wins with the k-th last of its stones that fit on the board (the last is number
1), 0 for a draw, k < 0 if the other one wins so: the convention of Pons, "Solving Connect 4" (2015-2019).
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.envs.connect_four import board
from jaxgames.envs.connect_four.board import Position
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.tables.connect_four.search import NullWindowSearch, SolvedScores
from jaxgames.tables.connect_four.threats import Threats

LANES = {"cpu": 32}
MANY_LANES = 4096
"""Of devices that are not listed in `LANES`."""


ENTRIES_OF_ONE = 1 << 22
"""Of the transposition table where one position is all there is to solve."""


class MoveScores(NamedTuple):
    """The score of each column for the player to move; `legal` says which of them are moves; `nodes` were searched."""

    scores: Int32[Array, "batch cols"]
    legal: Bool[Array, "batch cols"]
    nodes: UInt32[Array, ""]


@dataclasses.dataclass(frozen=True)
class Solver:
    """Solves batches of positions of one board; hashable, and made for `jit`.

    Args:
      game: the board.
      lanes: positions searched at once, by default what suits the device.
      entries: of the transposition table, of 12 bytes each on the board of 6 x 7.

    Raises `ValueError` for sizes that are no powers of 2.
    """

    game: ConnectFour
    lanes: int | None = None
    entries: int = 1 << 20

    def __post_init__(self) -> None:
        for name, value in (("lanes", self._lanes), ("entries", self.entries)):
            if value < 1 or value & (value - 1):
                raise ValueError(f"{name}={value}: expected a power of 2")

    def __call__(self, positions: Position, where: Bool[Array, " batch"] | None = None) -> SolvedScores:
        """The exact scores of positions; where the game is over, what that is worth to the player who would move.

        `where` says which positions are to be solved; other scores mean nothing.
        """
        taken = board.either(*positions)
        lanes = min(self._lanes, 1 << (len(taken[0]) - 1).bit_length())
        own = positions.own
        if where is not None:  # other positions get one that costs no search: all stones are the other player's
            own = tuple(jnp.where(where, word, jnp.uint32(0)) for word in own)
            inside = Threats(self.game).inside
            taken = tuple(jnp.where(where, word, full) for word, full in zip(taken, inside, strict=True))
        return NullWindowSearch(self.game, lanes, max(lanes, self.entries))(own, taken)

    def moves(self, positions: Position) -> MoveScores:
        """The exact score of every column; where the game is over no column is a move."""
        rules, columns = Threats(self.game), jnp.arange(self.game.cols, dtype=jnp.uint32)[None]
        taken = board.either(*positions)
        stone = rules.stone(tuple(word[:, None] for word in taken), columns)  # [batch, cols]
        legal = ~board.is_empty(stone) & ~rules.has_line(positions.opponent)[:, None]
        after = Position(
            tuple(jnp.broadcast_to(word[:, None], legal.shape).ravel() for word in positions.opponent),
            tuple((word[:, None] | new).ravel() for word, new in zip(positions.own, stone, strict=True)),
        )
        solved = self(after, legal.ravel())
        return MoveScores(-solved.scores.reshape(legal.shape), legal, solved.nodes)

    @property
    def _lanes(self) -> int:
        return self.lanes or LANES.get(jax.default_backend(), MANY_LANES)
