"""Draughts boards as words: the 32 squares in an order that makes every step a rotation.

The square in row `r` and column `c` of the 8 x 8 board is bit `(18 + 4 r - 3 c) mod 32`. The four directions are then
rotations by 7, 1, 31 and 25 bits from every square alike, and jumps are two of them (the "rotated board" of Jonathan
Kreuzer's checkers engine and of Aart Bik's perft program). Boards are absolute: row 0 holds squares 1-4.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, UInt32

from jaxgames.envs.checkers.plain_board import (
    DIRECTIONS,
    SQUARES,
    Board,
    king_row,
    row_and_column,
    sign_of,
    square_at,
)
from jaxgames.ops.materialize import materialize

Word = UInt32[Array, "..."]

PLACE = np.array(
    [(18 + 4 * row - 3 * column) % 32 for row, column in map(row_and_column, range(1, SQUARES + 1))], np.uint32
)
"""The bit of square i + 1. Turned by 180 degrees, bit i becomes bit 11 - i."""

TURNS = (7, 1, 31, 25)
"""How far a step in each direction of Black's rotates the board; White's direction d is Black's direction 3 - d."""

_QUIET = 8
_JUMPING = 0x40


def _word(squares: list[int]) -> np.uint32:
    return np.uint32(sum(1 << int(PLACE[square - 1]) for square in squares))


def _with_neighbour(down: int, across: int) -> np.uint32:
    places = [(square, row_and_column(square)) for square in range(1, SQUARES + 1)]
    return _word([square for square, (row, column) in places if square_at(row + down, column + across)])


INSIDE = tuple(_with_neighbour(*direction) for direction in DIRECTIONS)
"""The squares from which a step in each direction of Black's stays on the board."""

KING_ROWS = tuple(_word(list(king_row(white))) for white in (False, True))
START = tuple(_word(list(squares)) for squares in (range(1, 13), range(21, 33)))
"""Black's and White's men at the start."""


class Position(NamedTuple):
    """The pieces of the player to act, those of the other, the kings among them, and the rest in one word.

    `status`: bit 0 White is to move; bits 1..5 the place of the piece that must go on jumping, bit 6 whether there is
    one; from bit 8 on the single moves since the last capture.
    """

    own: Word
    opponent: Word
    kings: Word
    status: Word


class LegalMoves(NamedTuple):
    """The pieces that may move in each direction of Black's: by jumps if there are any, otherwise by steps."""

    sources: tuple[Word, Word, Word, Word]
    jumps: Bool[Array, "..."]


def turn_board(word: Word, turned: Bool[Array, "..."]) -> Word:
    """The squares on the board turned by 180 degrees if `turned`: the bits are reversed, then rotated."""
    back = word
    for width, low in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        back = ((back >> width) & low) | ((back & low) << width)
    return jnp.where(turned, rotate(back, 28), word)


def rotate(word: Word, by: int | Word) -> Word:
    """The word rotated to the left by 1..31 bits."""
    return (word << by) | (word >> (32 - by))


def white(position: Position) -> Bool[Array, "..."]:
    """Whether White is to move."""
    return (position.status & 1) != 0


def jumper(position: Position) -> Word:
    """The piece that must go on jumping, as a set."""
    jumping = (position.status & _JUMPING) != 0
    return jnp.where(jumping, jnp.uint32(1) << ((position.status >> 1) & 31), jnp.uint32(0))


def quiet(position: Position) -> Word:
    """The single moves since the last capture."""
    return position.status >> _QUIET


def status(white: Bool[Array, "..."], jumper: Word, quiet: Word) -> Word:
    """The last word of a position; `jumper` is 64 + the place of the piece that must go on jumping, or 0."""
    return white.astype(jnp.uint32) | (jumper << 1 & 0x3E) | (jumper & _JUMPING) | (quiet << _QUIET)


def steps(pieces: Word, kings: Word, empty: Word, is_white: Bool[Array, "..."]) -> list[Word]:
    """Those of one side's pieces that can step in each direction."""
    return [can & room for can, room in zip(_can_go(pieces, kings, is_white), _origins(empty), strict=True)]


def jumps(pieces: Word, kings: Word, other: Word, empty: Word, is_white: Bool[Array, "..."]) -> list[Word]:
    """Those of one side's pieces that can jump in each direction over one of the other's."""
    targets = [_origin(other & room, d) for d, room in enumerate(_origins(empty))]
    return [can & target for can, target in zip(_can_go(pieces, kings, is_white), targets, strict=True)]


def moves(position: Position) -> LegalMoves:
    """The pieces of the player to act that may move now."""
    own, other, kings, is_white = position.own, position.opponent, position.kings, white(position)
    empty, only = ~(own | other), jumper(position)
    jumping = jumps(jnp.where(only != 0, only, own), kings, other, empty, is_white)
    forced = materialize((jumping[0] | jumping[1] | jumping[2] | jumping[3]) != 0, position.status)
    stepping = steps(own, kings, empty, is_white)
    a, b, c, d = (jnp.where(forced, jump, step) for jump, step in zip(jumping, stepping, strict=True))
    return LegalMoves((a, b, c, d), forced)


def can_move(own: Word, other: Word, kings: Word, is_white: Bool[Array, "..."]) -> Bool[Array, "..."]:
    """Whether a side has any move."""
    empty = ~(own | other)
    a, b, c, d = steps(own, kings, empty, is_white)
    e, f, g, h = jumps(own, kings, other, empty, is_white)
    return (a | b | c | d | e | f | g | h) != 0


def _can_go(pieces: Word, kings: Word, is_white: Bool[Array, "..."]) -> tuple[Word, Word, Word, Word]:
    """The pieces that may go in each direction at all: kings in all of them, men in two."""
    crowned, none = pieces & kings, jnp.uint32(0)
    men = pieces ^ crowned
    down, up = crowned | jnp.where(is_white, none, men), crowned | jnp.where(is_white, men, none)
    return down, down, up, up


def _origins(squares: Word) -> list[Word]:
    """The squares from which a step leads to one of `squares`, for each direction."""
    return [_origin(squares, direction) for direction in range(4)]


def _origin(squares: Word, direction: int) -> Word:
    return rotate(squares, 32 - TURNS[direction]) & INSIDE[direction]


def from_plain(plain: Board) -> Position:
    """The position of a plain board."""
    sign = sign_of(plain.white_to_move)
    squares = np.array(plain.squares)
    status = int(plain.white_to_move) | plain.quiet << 8
    if plain.jumper:
        status |= 64 | int(PLACE[plain.jumper - 1]) << 1
    own, opponent, kings = (
        jnp.asarray(_word((np.flatnonzero(chosen) + 1).tolist()))
        for chosen in (squares * sign > 0, squares * sign < 0, abs(squares) == 2)
    )
    return Position(own, opponent, kings, jnp.asarray(np.uint32(status)))


def to_plain(position: Position) -> Board:
    """As read by `from_plain`."""
    status = int(position.status)
    own, opponent, kings = (np.asarray(word) >> PLACE & 1 for word in position[:3])
    values = (own.astype(int) - opponent.astype(int)) * (1 + kings.astype(int)) * sign_of(bool(status & 1))
    jumper = int(np.flatnonzero((status >> 1 & 31) == PLACE)[0]) + 1 if status & 64 else 0
    return Board(tuple(values.tolist()), bool(status & 1), jumper, status >> 8)
