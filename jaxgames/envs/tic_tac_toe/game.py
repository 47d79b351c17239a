"""Tic-tac-toe: positions as words, what it takes to win, and the rules."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32, Key, UInt32
from typing_extensions import override

from jaxgames.envs.checks import one_state
from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.encodings import Cells, Stones
from jaxgames.envs.svg import document
from jaxgames.envs.symmetry import Symmetry, of_grid, square_grid
from jaxgames.envs.tic_tac_toe import drawing, notation
from jaxgames.ops import bits, checks

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


@dataclasses.dataclass(frozen=True)
class TicTacToe(Game[Position]):
    """Tic-tac-toe: three in a row.

    - Observation: bool[3, 3, 2], by row and column: own cells, the other's.
    - Action: int32 from 0 to 8, an empty cell, row by row from the top left.
    - Reward: float32[2], one number for each player id: 1 and -1 for a row, a column or a diagonal, 0 for a draw.
    - End: a line, or a full board.
    - State: `Position`, one uint32 with the cells of both players.

    Lines that run:

        game = jaxgames.make("tic_tac_toe")
        state = game.init(jax.random.key(0))
        state = game.step(state, 4)
        assert state.observation.shape == (3, 3, 2) and not state.legal_action_mask[4]
        assert game.to_string(state) == ".../.X./..."
    """

    id: ClassVar[str] = "tic_tac_toe"
    num_actions: ClassVar[int] = 9
    observation_shape: ClassVar[tuple[int, ...]] = (3, 3, 2)

    @property
    @override
    def encodings(self) -> Mapping[str, Any]:
        """One number for each cell: 0 or 0.01 for an empty one; the tenth says whose turn it is."""
        return {"cells": Cells(self), "cells_0.01": Cells(self, 0.01), "cells_side": Cells(self, 0.01, side=True)}

    @property
    @override
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Four rotations and four mirrors."""
        return tuple(of_grid(name, grid, grid.ravel(), 2) for name, grid in square_grid(3).items())

    @override
    def init_position(self, key: Key[Array, ""]) -> Position:
        """The empty board."""
        return Position(jnp.uint32(0))

    @override
    def ended(self, position: Position) -> Bool[Array, ""]:
        """Whether the board is full or holds a line of the player who moved last."""
        return (free(position) == 0) | has_line(position.cells >> 16)

    @override
    def legal(self, position: Position) -> Bool[Array, "9"]:
        """bool[9]: the empty cells."""
        return bits.unpack([free(position)], np.arange(9))

    @override
    def is_legal(self, position: Position, action: Int32[Array, ""]) -> Bool[Array, ""]:
        return (action >= 0) & (action < 9) & bits.has(free(position), action.astype(jnp.uint32) & 15)

    @override
    def play(self, position: Position, action: Int32[Array, ""]) -> Outcome[Position]:
        """One cell taken: +1 for a line."""
        cells = position.cells | bits.bit(action.astype(jnp.uint32) & 15)
        wins = has_line(cells & FULL)
        turned = Position((cells << 16) | (cells >> 16))
        return Outcome(turned, jnp.bool_(True), wins | (free(turned) == 0), wins.astype(jnp.float32))

    @override
    def observe_position(self, position: Position, acting: Bool[Array, ""]) -> Bool[Array, "3 3 2"]:
        """Own cells and the other's, seen by the player to act or by the other one."""
        cells, turned = position.cells, position.cells >> 16
        own, other = jnp.where(acting, cells, turned), jnp.where(acting, turned, cells)
        return bits.unpack([own, other], np.arange(9)).reshape(3, 3, 2)

    def stones(self, position: Position) -> Stones:
        """Own cells, the other's, and where they are."""
        return Stones((position.cells,), (position.cells >> 16,), np.arange(9))

    @override
    def parse(self, text: str) -> Position:
        """Three rows, `XO./.../..X`, X being the player who began; `ValueError` that points at what is wrong."""
        return from_plain(notation.parse(text))

    @override
    def unparse(self, position: Position) -> str:
        return notation.unparse(to_plain(position))

    @override
    def draw_board(self, position: Position, theme: str, player: int = 0) -> str:
        return document(drawing.board_picture(to_plain(position), theme, player), theme)

    @override
    def board_text(self, state: State) -> str:
        return drawing.board_text(to_plain(one_state(self, state)._position))

    @override
    def action_to_string(self, state: State, action: int) -> str:
        """The number of the cell, `1` to `9`."""
        return notation.action_name(to_plain(one_state(self, state)._position), checks.whole("action", action, None))

    @override
    def string_to_action(self, state: State, text: str) -> int:
        """The action with this name; raises `ValueError` if the cell is taken or there is none."""
        return notation.parse_action(to_plain(one_state(self, state)._position), checks.text("action", text))
