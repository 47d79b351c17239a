"""Between positions as words and the plain `Board`, which notation, drawings and people use."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from jaxgames.envs.checkers.board import PLACE, Position
from jaxgames.envs.checkers.plain_board import Board, sign_of


def from_plain(plain: Board) -> Position:
    """The position of a plain board."""
    sign = sign_of(plain.white_to_move)
    squares = np.array(plain.squares)
    status = int(plain.white_to_move) | plain.quiet << 8
    if plain.jumper:
        status |= 64 | int(PLACE[plain.jumper - 1]) << 1
    own, opponent, kings = (_word(chosen) for chosen in (squares * sign > 0, squares * sign < 0, abs(squares) == 2))
    return Position(own, opponent, kings, jnp.asarray(np.uint32(status)))


def to_plain(position: Position) -> Board:
    """As read by `from_plain`."""
    status = int(position.status)
    own, opponent, kings = (np.asarray(word) >> PLACE & 1 for word in position[:3])
    values = (own.astype(int) - opponent.astype(int)) * (1 + kings.astype(int)) * sign_of(bool(status & 1))
    jumper = int(np.flatnonzero((status >> 1 & 31) == PLACE)[0]) + 1 if status & 64 else 0
    return Board(tuple(values.tolist()), bool(status & 1), jumper, status >> 8)


def _word(chosen: np.ndarray) -> UInt32[Array, ""]:
    return jnp.asarray(np.uint32(sum(1 << int(place) for place in PLACE[chosen])))
