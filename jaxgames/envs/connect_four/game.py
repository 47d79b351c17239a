"""Connect Four and all of Connect X: any board from 2 x 2 to 10 x 10, any length of line from 3 to 8."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32, Key, UInt32
from typing_extensions import override

from jaxgames.envs.checks import one_state
from jaxgames.envs.connect_four import board, drawing, notation
from jaxgames.envs.connect_four.board import Position, Words, from_plain, to_plain
from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.encodings import Cells, Marks, Stones
from jaxgames.envs.svg import document
from jaxgames.envs.symmetry import Symmetry, of_grid
from jaxgames.ops import bits, checks
from jaxgames.ops.materialize import materialize


@dataclasses.dataclass(frozen=True)
class ConnectFour(Game[Position]):
    """Connect X: `connect` stones in a line, on any board from 2 x 2 to 10 x 10. Connect Four is 6 x 7 x 4.

    - Observation: bool[rows, cols, 2], row 0 on top: own stones, the other's.
    - Action: int32 from 0 to cols - 1, a column that is not full.
    - Reward: float32[2], one number for each player id: 1 and -1 for a line, 0 for a draw.
    - End: a line in any direction, or a full board.
    - State: `Position`, the stones of both players as sets of bits, uint32 words, two of each at 6 x 7.

    Lines that run:

        game = jaxgames.make("connect_four")
        state = game.init(jax.random.key(0))
        state = game.step(state, 3)
        assert state.observation.shape == (6, 7, 2) and state.legal_action_mask.all()
        assert game.to_string(state) == "4"

    Raises `ValueError` for sizes out of range.
    """

    id: ClassVar[str] = "connect_four"
    rows: int = 6
    cols: int = 7
    connect: int = 4

    def __post_init__(self) -> None:
        for name, low, high in (("rows", 2, 10), ("cols", 2, 10), ("connect", 3, 8)):
            value = getattr(self, name)
            if isinstance(value, np.integer):
                object.__setattr__(self, name, value := int(value))
            if type(value) is not int or not low <= value <= high:
                raise ValueError(f"{name}={value!r}: expected a whole number from {low} to {high}")

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        """The number of columns."""
        return self.cols

    @property
    def observation_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Rows, columns, players."""
        return self.rows, self.cols, 2

    @property
    @override
    def encodings(self) -> Mapping[str, Any]:
        """One number for each square: own and other stones; `marks`: those of who began, and of the other."""
        cells = {"cells": Cells(self), "cells_0.01": Cells(self, 0.01), "cells_side": Cells(self, 0.01, side=True)}
        marks = {"marks": Marks(self), "marks_12": Marks(self, 2.0), "marks_planes": Marks(self, planes=True)}
        return {**cells, **marks}

    @property
    @override
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The board and its mirror image."""
        squares, columns = np.arange(self.rows * self.cols).reshape(self.rows, self.cols), np.arange(self.cols)
        return of_grid("identity", squares, columns, 2), of_grid("mirror", squares[:, ::-1], columns[::-1], 2)

    @override
    def init_position(self, key: Key[Array, ""]) -> Position:
        """The empty board."""
        empty = tuple(jnp.zeros((), jnp.uint32) for _ in range(self._words))
        return Position(empty, empty)

    @override
    def ended(self, position: Position) -> Bool[Array, ""]:
        """Whether the board is full or the player who moved last has a line."""
        return self._wins(position.opponent) | board.is_empty(self._landings(position))

    @override
    def legal(self, position: Position) -> Bool[Array, " cols"]:
        """bool[cols]: the columns that are not full."""
        free = tuple(~word for word in board.either(*position))
        return bits.unpack([free], np.arange(self.cols) * (self.rows + 1) + self.rows - 1)

    @override
    def is_legal(self, position: Position, action: Int32[Array, ""]) -> Bool[Array, ""]:
        return (action >= 0) & (action < self.cols) & ~board.is_empty(self._stone(position, action))

    @override
    def moves(self, position: Position) -> tuple[UInt32[Array, ""], ...]:
        """The columns that are not full, from the middle outwards: first those that win, then those by which the
        opponent would win, then the rest.
        """
        landings = self._landings(position)
        steps = (1, self.rows, self.rows + 1, self.rows + 2)
        wins, blocks = (board.both(landings, board.completing(x, steps, self.connect)) for x in position)
        won, blocked, free = (self._columns(squares) for squares in (wins, blocks, landings))
        blocked = blocked & ~won
        return won, blocked, free & ~won & ~blocked

    @override
    def action_of_move(self, position: Position, move: UInt32[Array, ""]) -> Int32[Array, ""]:
        """The column."""
        columns = sum(column << 4 * place for place, column in enumerate(self._from_the_middle))
        low, high = (jnp.uint32(columns >> 32 * word & 0xFFFFFFFF) for word in range(2))
        place = move & 31
        return (jnp.where(place < 8, low, high) >> (4 * (place & 7)) & 15).astype(jnp.int32)

    @override
    def amaf_key(self, position: Position, action: Int32[Array, ""]) -> UInt32[Array, " words"]:
        """The square where the stone comes to rest."""
        return jnp.stack(self._stone(position, action))

    @override
    def play(self, position: Position, action: Int32[Array, ""]) -> Outcome[Position]:
        """A stone dropped into a column: +1 for a line."""
        own = board.either(position.own, self._stone(position, action))
        wins = materialize(self._wins(own), position.own[0])
        after = Position(position.opponent, own)
        return Outcome(after, jnp.bool_(True), wins | self._is_full(after), wins.astype(jnp.float32))

    @override
    def observe_position(self, position: Position, acting: Bool[Array, ""]) -> Bool[Array, "rows cols 2"]:
        """Own stones and the other's, seen by the player to act or by the other one."""
        own = tuple(jnp.where(acting, x, y) for x, y in zip(*position, strict=True))
        other = tuple(jnp.where(acting, y, x) for x, y in zip(*position, strict=True))
        return bits.unpack([own, other], self._squares).reshape(self.rows, self.cols, 2)

    def stones(self, position: Position) -> Stones:
        """Own stones, the other's, and where the squares are, row by row from the top."""
        return Stones(*position, self._squares)

    @override
    def parse(self, text: str) -> Position:
        """The columns of all moves from the empty board on, `4453`; `ValueError` that points at what is wrong."""
        return from_plain(notation.parse(text, self.rows, self.cols, self.connect))

    @override
    def unparse(self, position: Position) -> str:
        """Moves that lead to the position, not always those that were played, but always the same ones."""
        return notation.unparse(to_plain(position, self.rows, self.cols), self.connect)

    @override
    def draw_board(self, position: Position, theme: str, player: int = 0) -> str:
        plain = to_plain(position, self.rows, self.cols)
        return document(drawing.board_picture(plain, self.connect, theme, player), theme)

    @override
    def board_text(self, state: State) -> str:
        return drawing.board_text(to_plain(one_state(self, state)._position, self.rows, self.cols))

    @override
    def action_to_string(self, state: State, action: int) -> str:
        """The number of the column, from 1 on."""
        one_state(self, state)
        return notation.action_name(checks.whole("action", action, None), self.cols)

    @override
    def string_to_action(self, state: State, text: str) -> int:
        """The action with this name; raises `ValueError` if the column is full or there is none."""
        return notation.parse_action(
            to_plain(one_state(self, state)._position, self.rows, self.cols), checks.text("action", text)
        )

    @property
    def _squares(self) -> np.ndarray:
        column, row = np.arange(self.cols), np.arange(self.rows)[::-1, None]
        return (column * (self.rows + 1) + row).ravel()

    @property
    def _from_the_middle(self) -> list[int]:
        return sorted(range(self.cols), key=lambda column: abs(2 * column - self.cols + 1))

    def _columns(self, squares: Words) -> UInt32[Array, "..."]:
        """The columns that have any of these squares, the one in the middle as bit 0."""
        columns = jnp.uint32(0)
        for place, column in enumerate(self._from_the_middle):
            inside = board.words_of(((1 << self.rows) - 1) << column * (self.rows + 1), self._words)
            columns = columns | ((~board.is_empty(board.both(squares, inside))).astype(jnp.uint32) << place)
        return columns

    @property
    def _words(self) -> int:
        return -(-(self.rows + 1) * self.cols // 32)

    def _row(self, row: int) -> int:
        """All squares of a row, as a Python integer of bits."""
        return sum(1 << column * (self.rows + 1) + row for column in range(self.cols))

    def _wins(self, stones: Words) -> Bool[Array, "..."]:
        return board.has_line(stones, (1, self.rows, self.rows + 1, self.rows + 2), self.connect)

    def _is_full(self, position: Position) -> Bool[Array, "..."]:
        top = board.words_of(self._row(self.rows - 1), self._words)
        taken = board.either(*position)
        return board.is_empty(board.both(tuple(~word for word in taken), top))

    def _landings(self, position: Position) -> Words:
        """The lowest empty square of each column that is not full."""
        taken = board.either(*position)
        above = board.either(board.shift_up(taken, 1), board.words_of(self._row(0), self._words))
        inside = board.words_of(sum(self._row(row) for row in range(self.rows)), self._words)
        return tuple(word & ~stone & square for word, stone, square in zip(above, taken, inside, strict=True))

    def _stone(self, position: Position, action: Int32[Array, "..."]) -> Words:
        """The square where a stone in this column lands; none if the column is full or does not exist."""
        height = self.rows + 1
        column = board.run(height, action.astype(jnp.uint32) * height, self._words)
        return board.both(self._landings(position), column)
