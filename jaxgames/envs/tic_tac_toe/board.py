"""Positions of tic-tac-toe: as words, what it takes to win, and as nine cells, which notation and drawings use."""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
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


def from_plain(cells: Sequence[int]) -> Position:
    """The position of nine cells, row by row: 0 empty, 1 who began, 2 the other."""
    mover = 1 + sum(map(bool, cells)) % 2
    word = sum(1 << (index + 16 * (owner != mover)) for index, owner in enumerate(cells) if owner)
    return Position(jnp.asarray(np.uint32(word)))


def to_plain(position: Position) -> list[int]:
    """As read by `from_plain`."""
    word = int(position.cells)
    mover = 1 + word.bit_count() % 2
    return [mover * (word >> cell & 1) + (3 - mover) * (word >> (cell + 16) & 1) for cell in range(9)]
