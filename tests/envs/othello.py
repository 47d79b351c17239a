"""Othello, as an example of a game of one's own: the rules of one position, and what people read and see of it."""

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int8, Int32

from jaxgames.envs import Cells, Game, Outcome, of_grid, square_grid
from jaxgames.envs.svg import Picture, document, element, text, theme_named

PASS = 64
NAMES = [f"{column}{row}" for row in range(1, 9) for column in "abcdefgh"] + ["pass"]
DIRECTIONS = np.array([(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if (row, column) != (0, 0)])


def _rays() -> np.ndarray:
    """int32[64, 8, 7]: the squares one meets from each square in each direction, then 64 for what is off the board."""
    starts = np.stack(np.divmod(np.arange(64), 8), axis=1)
    met = starts[:, None, None] + DIRECTIONS[:, None] * np.arange(1, 8)[:, None]
    return np.where(((met >= 0) & (met < 8)).all(axis=-1), met @ [8, 1], 64).astype(np.int32)


RAYS = _rays()


class Board(NamedTuple):
    """64 squares, row by row from a1: 1 for a disk of the player to act, -1 for one of the other player, 0 for none."""

    squares: Int8[Array, "64"]
    black: Bool[Array, ""]
    """Whether the player to act has the black disks; black begins."""


def flipped(board: Board, square: Int32[Array, ""]) -> Bool[Array, "8 7"]:
    """Which of the squares `RAYS[square]` are taken over by a disk on `square`: runs of the other player's disks that
    end at a disk of one's own.
    """
    line = jnp.append(board.squares, jnp.int8(0))[jnp.asarray(RAYS)[square]]
    run = jnp.cumprod(line == -1, axis=1, dtype=jnp.int8)
    end = jnp.sum(run, axis=1, dtype=jnp.int32)  # 7 if the run never ends; then its last square is no disk of one's own
    closed = line[jnp.arange(8, dtype=jnp.int32), jnp.minimum(end, 6)] == 1
    return (run == 1) & closed[:, None]


def moves(board: Board) -> Bool[Array, "64"]:
    """The squares where the player to act may put a disk: empty ones from where it takes over something."""
    takes = jax.vmap(lambda square: flipped(board, square).any())(jnp.arange(64, dtype=jnp.int32))
    return (board.squares == 0) & takes


def other_side(board: Board) -> Board:
    """The same disks as the other player sees them."""
    return Board(-board.squares, ~board.black)


@dataclasses.dataclass(frozen=True)
class Othello(Game[Board]):
    """Othello on 8 x 8 squares. Who has no move passes; when neither has one, the player with more disks wins."""

    id: ClassVar[str] = "othello"
    num_actions: ClassVar[int] = 65
    observation_shape: ClassVar[tuple[int, ...]] = (8, 8, 2)

    def init_position(self, key):
        """Two disks of each player in the middle, crosswise; black is to act."""
        return self.parse("-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27 + " X")

    def legal(self, position):
        """Any square that takes over something; the pass where there is none."""
        squares = moves(position)
        return jnp.append(squares, ~squares.any())

    def play(self, position, action):
        """Put a disk, take over others, and the other player is to act."""
        square = jnp.minimum(action, 63)
        taken = jnp.where(flipped(position, square), jnp.asarray(RAYS)[square], 64)
        squares = position.squares.at[taken.ravel()].set(jnp.int8(1), mode="drop").at[square].set(jnp.int8(1))
        squares = jnp.where(action == PASS, position.squares, squares)
        after = Board(squares, position.black)
        result = jnp.sign(jnp.sum(squares, dtype=jnp.int32)).astype(jnp.float32)
        return Outcome(other_side(after), jnp.bool_(True), self.ended(after), result)

    def ended(self, position):
        """Whether neither player has a move; asked of positions that are set up, too."""
        return ~moves(position).any() & ~moves(other_side(position)).any()

    def observe_position(self, position, acting):
        """bool[8, 8, 2]: the player's own disks, and those of the other one."""
        squares = jnp.where(acting, position.squares, -position.squares).reshape(8, 8)
        return jnp.stack([squares == 1, squares == -1], axis=-1)

    # For learners: other inputs than the observation, and what changes nothing in the rules.

    @property
    def encodings(self):
        """64 numbers: 1 for an own disk, -1 for the other player's, 0 for none."""
        return {"cells": Cells(self)}

    @property
    def symmetries(self):
        """Four rotations and four mirrors; the pass stays the pass."""
        return tuple(of_grid(name, grid, np.append(grid, PASS), planes=2) for name, grid in square_grid(8).items())

    # For people: notation, names of actions, drawings.

    def parse(self, text):
        """64 characters row by row, X black, O white and - empty, then a space and who is to act: X or O."""
        wrong = [i for i, character in enumerate(text[:64]) if character not in "XO-"]
        if wrong or len(text) != 66 or text[64] != " " or text[65] not in "XO":
            where = wrong[0] if wrong else min(len(text), 64)
            raise ValueError(f"{text!r} is no position at character {where + 1}; 64 of X, O, - and then ' X' or ' O'")
        own, other = text[65], "XO".replace(text[65], "")
        squares = [{own: 1, other: -1, "-": 0}[character] for character in text[:64]]
        return Board(jnp.array(squares, jnp.int8), jnp.bool_(own == "X"))

    def unparse(self, position):
        """As `parse` reads it."""
        own, other = "XO" if position.black else "OX"
        return "".join({1: own, -1: other, 0: "-"}[int(disk)] for disk in position.squares) + f" {own}"

    def action_to_string(self, state, action):
        """The square, from a1 in the upper left corner to h8, or `pass`."""
        return NAMES[action]

    def string_to_action(self, state, text):
        """The action named `text`."""
        if text not in NAMES:
            raise ValueError(f"{text!r} is no action; a1 to h8, or pass")
        return NAMES.index(text)

    def draw_board(self, position, theme, player=0):
        """The board, 8 squares of 40 units a side, with its coordinates."""
        colors = theme_named(theme)
        elements = [element("rect", x=24, y=24, width=320, height=320, fill=colors.field)]
        for i in range(9):
            line = {"stroke": colors.frame, "stroke_width": 1}
            elements.append(element("line", x1=24, x2=344, y1=24 + 40 * i, y2=24 + 40 * i, **line))
            elements.append(element("line", x1=24 + 40 * i, x2=24 + 40 * i, y1=24, y2=344, **line))
        for i in range(8):
            elements.append(text(44 + 40 * i, 12, "abcdefgh"[i], 14, colors.faint))
            elements.append(text(12, 44 + 40 * i, str(i + 1), 14, colors.faint))
        for square, disk in enumerate(np.asarray(position.squares).tolist()):
            if disk:
                piece = colors.pieces[(disk == 1) == bool(position.black)]
                x, y = 44 + 40 * (square % 8), 44 + 40 * (square // 8)
                elements.append(element("circle", cx=x, cy=y, r=16, fill=piece.fill, stroke=piece.edge))
        return document(Picture(356, 356, elements, self.unparse(position)), theme)


GAMES = [Othello]
