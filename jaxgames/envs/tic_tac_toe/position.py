"""A position of tic-tac-toe, and what it takes to win."""

from typing import NamedTuple

from jaxtyping import Array, Bool, UInt32

FULL = 0x1FF
class Position(NamedTuple):
    """Both players' cells: bits 0..8 those of the player to act, row by row, and bits 16..24 those of the other."""

    cells: UInt32[Array, "..."]


def has_line(cells: UInt32[Array, "..."]) -> Bool[Array, "..."]:
    """Whether one player's cells hold a row, a column or a diagonal."""
    rows = cells & (cells >> 1) & (cells >> 2) & 0o111
    columns = cells & (cells >> 3) & (cells >> 6) & 0o7
    return ((rows | columns) != 0) | ((cells & 0o421) == 0o421) | ((cells & 0o124) == 0o124)


def free(position: Position) -> UInt32[Array, "..."]:
    """The empty cells."""
    return ~(position.cells | (position.cells >> 16)) & FULL
