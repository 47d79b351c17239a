"""Between positions as words and as nine cells, which notation, drawings and people use."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from jaxgames.envs.tic_tac_toe.position import Position


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
