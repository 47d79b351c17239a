"""What networks see of a draughts board, and how their outputs name moves."""

import dataclasses
from collections.abc import Callable, Iterator

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32
from typing_extensions import override

from jaxgames.envs.checkers import board
from jaxgames.envs.checkers.board import Position, Word
from jaxgames.envs.checkers.plain_board import SQUARES, squares_ahead
from jaxgames.envs.heads import ActionHead, ArgmaxHead, best_of, highest
from jaxgames.ops import bits
from jaxgames.ops.materialize import materialize


class Signed:
    """The base of encodings that differ between own pieces and the opponent's only by the sign."""

    inputs_first: Callable[[Position], Float32[Array, "size *batch"]]

    def __call__(self, positions: Position) -> Float32[Array, "n size"]:
        """float32[n, size] for n positions."""
        return self.inputs_first(positions).T

    def swap(self, inputs: Float32[Array, "n size"]) -> Float32[Array, "n size"]:
        """The same inputs with the names of the players exchanged."""
        return -inputs


@dataclasses.dataclass(frozen=True)
class Pieces(Signed):
    """The men on the 32 squares, then the kings: own 1, the other's -1, squares in the frame of the player to act."""

    size: int = 64

    def inputs_first(self, positions: Position) -> Float32[Array, "64 *batch"]:
        """The inputs of positions of any batch shape, the inputs first."""
        own, other, kings = (word[None] for word in positions[:3])
        squares = board.PLACE.reshape(-1, *(1,) * positions.own.ndim)
        places = jnp.where(board.white(positions)[None], 11 - squares, squares) & 31

        def signed(kind):
            return bits.has(own & kind, places).astype(jnp.float32) - bits.has(other & kind, places).astype(jnp.float32)

        return jnp.concatenate([signed(~kings), signed(kings)])

    def from_observation(self, observation: Bool[Array, "n 8 8 5"]) -> Float32[Array, "n 64"]:
        """The same from observations."""
        rows, columns = np.divmod(np.arange(32), 4)
        seen = observation[:, rows, 2 * columns + 1 - rows % 2].astype(jnp.float32)
        return jnp.concatenate([seen[..., 0] - seen[..., 2], seen[..., 1] - seen[..., 3]], axis=1)


@dataclasses.dataclass(frozen=True)
class Board64(Signed):
    """The 8 x 8 board, one number for each square: own man 1, own king `king`, the other's negative, else 0.

    Row by row from the side of the player to act, as in the observation; every other square is always empty.
    """

    king: float = 2.0
    size: int = 64

    def inputs_first(self, positions: Position) -> Float32[Array, "64 *batch"]:
        """The inputs of positions of any batch shape, the inputs first."""
        own, other, kings = (word[None] for word in positions[:3])
        each = (64, *(1,) * positions.own.ndim)
        rows, columns = np.indices((8, 8))
        seen = ((18 + 4 * rows - 3 * columns) % 32).reshape(each)
        places = jnp.where(board.white(positions)[None], 11 - seen, seen).astype(jnp.uint32) & 31
        piece = bits.has(own, places).astype(jnp.float32) - bits.has(other, places).astype(jnp.float32)
        piece = piece * jnp.where(bits.has(kings, places), jnp.float32(self.king), jnp.float32(1))
        return jnp.where(((rows + columns) % 2 == 1).reshape(each), piece, jnp.float32(0))


@dataclasses.dataclass(frozen=True)
class OneSquare(Signed):
    """32 inputs that all show the same one square: own piece 1, the other's -1, empty 0.

    A published program had this defect, and its networks evolved nonetheless: a network sees only three different
    inputs, so it is a list of fixed preferences for squares. `square` is numbered as in actions, from the side of the
    player to act; the program's loop never advances its index, so it reads the first one.
    """

    square: int = 0
    size: int = 32

    def inputs_first(self, positions: Position) -> Float32[Array, "32 *batch"]:
        """The inputs of positions of any batch shape, the inputs first."""
        seen = int(board.PLACE[self.square])
        place = jnp.where(board.white(positions), jnp.uint32((11 - seen) % 32), jnp.uint32(seen))
        own, other = (bits.has(word, place).astype(jnp.float32) for word in positions[:2])
        return jnp.broadcast_to((own - other)[None], (self.size, *own.shape))


_AHEAD = [[squares_ahead(square, direction, white=False) for direction in range(4)] for square in range(1, SQUARES + 1)]
_COMES_TO = np.zeros((2, 4 * SQUARES, SQUARES), np.float32)
"""Of a step and of a jump: whether an action leads to a square."""
for _square, _ways in enumerate(_AHEAD):
    for _direction, _there in enumerate(_ways):
        for _jump, _to in enumerate(_there):
            if _to:
                _COMES_TO[_jump, 4 * _square + _direction, _to - 1] = 1
_BITS = [np.uint32(1 << int(place)) for place in board.PLACE]


@dataclasses.dataclass(frozen=True)
class SquaresHead(ActionHead):
    """32 outputs for the square that a piece leaves, and 32 for the square that it goes to.

    Squares are numbered as in actions, row by row from the side of the player to act. With `strict` the highest of the
    first 32 outputs and the highest of the last 32 name the move, which may be illegal. Otherwise the legal move with
    the highest sum of its two outputs is played. A move is one action, a step or one jump: if the piece goes on
    jumping the network is asked again.
    """

    size: int = 2 * SQUARES

    @override
    def targets(self, policy: Float32[Array, "n 128"], positions: Position) -> Float32[Array, "n 64"]:
        return _squares_of(policy, positions)

    @override
    def __call__(
        self, outputs: Float32[Array, "n 64 g"], positions: Position, strict: bool = False
    ) -> tuple[Int32[Array, "n g"], Bool[Array, "n g"]]:
        movable, jumping = _movable(positions)
        if strict:
            source, target = highest(outputs[:, :SQUARES]), highest(outputs[:, SQUARES:])
            return _named(source, target, movable, jumping, positions)

        def sum_of(square: int, direction: int) -> Float32[Array, "n g"]:
            near, far = (outputs[:, SQUARES + there - 1] for there in _AHEAD[square][direction])
            if not _AHEAD[square][direction][1]:  # no jump leads off the board
                return outputs[:, square] + near
            return outputs[:, square] + jnp.where(jumping, far, near)

        return _best(movable, sum_of, positions)


@dataclasses.dataclass(frozen=True)
class TargetHead(ActionHead):
    """32 outputs for the square that a piece goes to, and 32 for the piece that goes there: first one, then the other.

    The highest of the first 32 outputs names the square: with `strict` among all squares, and the move is illegal if no
    piece may go there; otherwise among those where a legal move ends. Of the pieces that may go there, the one with the
    highest of the last 32 outputs moves. Among equal outputs the square with the lowest number wins. Squares and jumps
    are those of `SquaresHead`. Source: Adamczyk, Brinkmann and Ward, Checkers-Simulation, 2018, section 4.2.
    """

    size: int = 2 * SQUARES

    @override
    def targets(self, policy: Float32[Array, "n 128"], positions: Position) -> Float32[Array, "n 64"]:
        return jnp.roll(_squares_of(policy, positions), SQUARES, axis=1)

    @override
    def __call__(
        self, outputs: Float32[Array, "n 64 g"], positions: Position, strict: bool = False
    ) -> tuple[Int32[Array, "n g"], Bool[Array, "n g"]]:
        movable, jumping = _movable(positions)

        def gone(word: Word, turn: int) -> Word:
            return jnp.where(jumping, board.rotate(word, 2 * turn % 32), board.rotate(word, turn))

        if strict:
            target = highest(outputs[:, :SQUARES])
        else:
            ends = [gone(pieces, turn) for pieces, turn in zip(movable, board.TURNS, strict=True)]
            target = _best_square(outputs[:, :SQUARES], ends[0] | ends[1] | ends[2] | ends[3], positions)
        place = jnp.uint32(1) << _place(target)
        able = [pieces & gone(place, 32 - turn) for pieces, turn in zip(movable, board.TURNS, strict=True)]
        able = [materialize(pieces, positions.status) for pieces in able]
        sources = able[0] | able[1] | able[2] | able[3]
        source = _best_square(outputs[:, SQUARES:], sources, positions)
        ways = [bits.has(pieces, _place(source)) for pieces in able]
        direction = jnp.where(ways[1], 1, jnp.where(ways[2], 2, jnp.where(ways[3], jnp.int32(3), 0)))
        return materialize(4 * source + direction, positions.status), materialize(sources != 0, positions.status)


@dataclasses.dataclass(frozen=True)
class ActionsHead(ArgmaxHead):
    """As `ArgmaxHead`, but without the mask of 128 actions: it takes an eighth of the time."""

    @override
    def __call__(
        self, outputs: Float32[Array, "n 128 g"], positions: Position, strict: bool = False
    ) -> tuple[Int32[Array, "n g"], Bool[Array, "n g"]]:
        if strict:
            return super().__call__(outputs, positions, strict)
        return _best(_movable(positions)[0], lambda square, direction: outputs[:, 4 * square + direction], positions)


def _squares_of(policy: Float32[Array, "n 128"], positions: Position) -> Float32[Array, "n 64"]:
    """The probability of each square as the one that a piece leaves, then as the one that it goes to."""
    jumping = board.moves(positions).jumps
    leaves = policy.reshape(len(policy), SQUARES, 4).sum(axis=2)
    near, far = (policy @ jnp.asarray(_COMES_TO[jump]) for jump in (0, 1))
    return jnp.concatenate([leaves, jnp.where(jumping[:, None], far, near)], axis=1)


def _movable(positions: Position) -> tuple[list[Word], Bool[Array, "n g"]]:
    """The pieces that may move in each of the mover's directions, as the mover sees the board, and whether by jumps."""
    moves, white = board.moves(positions), board.white(positions)
    turned = [jnp.where(white, moves.sources[3 - direction], moves.sources[direction]) for direction in range(4)]
    movable = [materialize(board.turn_board(word, white), positions.status) for word in turned]
    return movable, materialize(moves.jumps, positions.status)


def _best(
    movable: list[Word], value: Callable[[int, int], Float32[Array, "n g"]], positions: Position
) -> tuple[Int32[Array, "n g"], Bool[Array, "n g"]]:
    """The legal action of the highest `value(square, direction)`."""

    def choices() -> Iterator[tuple[int, Float32[Array, "n g"], Bool[Array, "n g"]]]:
        for square in range(SQUARES):
            for direction in range(4):
                if _AHEAD[square][direction][0]:
                    legal = (movable[direction] & _BITS[square]) != 0
                    yield 4 * square + direction, value(square, direction), legal

    actions = materialize(best_of(choices()), positions.status)
    return actions, jnp.ones(actions.shape, bool)


def _best_square(values: Float32[Array, "n 32 g"], allowed: Word, positions: Position) -> Int32[Array, "n g"]:
    """The square with the highest value of those in the set `allowed`."""
    choices = ((square, values[:, square], (allowed & _BITS[square]) != 0) for square in range(SQUARES))
    return materialize(best_of(choices), positions.status)


def _named(
    source: Int32[Array, "n g"],
    target: Int32[Array, "n g"],
    movable: list[Word],
    jumping: Bool[Array, "n g"],
    positions: Position,
) -> tuple[Int32[Array, "n g"], Bool[Array, "n g"]]:
    """The action from one square to another, and whether it is legal."""
    (row, column), (to_row, to_column) = (_row_and_column(square) for square in (source, target))
    down, across = to_row - row, to_column - column
    length = jnp.where(jumping, jnp.int32(2), 1)
    direction = jnp.where(down < 0, jnp.int32(2), 0) + jnp.where(across > 0, jnp.int32(1), 0)
    place = _place(source)
    there = jnp.zeros(source.shape, bool)
    for number, pieces in enumerate(movable):
        there = there | ((direction == number) & bits.has(pieces, place))
    legal = there & (jnp.abs(down) == length) & (jnp.abs(across) == length)
    return materialize(4 * source + direction, positions.status), materialize(legal, positions.status)


def _place(square: Int32[Array, "n g"]) -> Word:
    """The bit of a square, as the mover sees the board."""
    row, column = _row_and_column(square)
    return (18 + 4 * row - 3 * column).astype(jnp.uint32) & 31


def _row_and_column(square: Int32[Array, "n g"]) -> tuple[Int32[Array, "n g"], Int32[Array, "n g"]]:
    row = square >> 2
    return row, 2 * (square & 3) + 1 - (row & 1)
