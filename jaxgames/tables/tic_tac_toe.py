"""Keys of all positions of tic-tac-toe."""

import dataclasses
from typing import ClassVar

from jaxtyping import Array, UInt32

from jaxgames.envs.tic_tac_toe.board import FULL, Position
from jaxgames.envs.tic_tac_toe.game import TicTacToe


@dataclasses.dataclass(frozen=True)
class TicTacToeIndex:
    """A key is the cells of the player to move, and then those of the other."""

    bits: ClassVar[int] = 18
    game: TicTacToe = TicTacToe()

    def key(self, positions: Position) -> UInt32[Array, "..."]:
        """As of `WholeIndex`."""
        return (positions.cells & FULL) | (positions.cells >> 16 << 9)

    def position(self, keys: UInt32[Array, "..."]) -> Position:
        """As of `WholeIndex`."""
        return Position((keys & FULL) | (keys >> 9 << 16))
