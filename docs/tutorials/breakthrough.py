"""Breakthrough on 5 x 5 squares: whoever first reaches the far row, or captures everything, wins."""

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxgames.envs import Game, Outcome

SIZE = 5
FILES = "abcde"


class Board(NamedTuple):
    squares: Array  # int8[5, 5], row 0 nearest to the player to act: 1 own piece, -1 the other player's
    white: Array  # whether the player to act is White, who begins: for people who look at the board


@dataclasses.dataclass(frozen=True)
class Breakthrough(Game[Board]):
    """Action `(5 row + column) 3 + d` moves a piece one row forward, to the left (d = 0), straight or to the right."""

    id = "breakthrough"
    num_actions = SIZE * SIZE * 3
    observation_shape = (SIZE, SIZE, 2)

    def init_position(self, key):
        rows = jnp.array([1, 1, 0, -1, -1], jnp.int8)
        return Board(jnp.tile(rows[:, None], (1, SIZE)), jnp.bool_(True))

    def legal(self, board):
        ahead = jnp.pad(board.squares, ((0, 1), (1, 1)), constant_values=1)[1:]  # beyond the board all is taken
        targets = jnp.stack([ahead[:, :-2], ahead[:, 1:-1], ahead[:, 2:]], axis=-1)
        free = (targets == 0) | ((targets == -1) & jnp.array([[[True, False, True]]]))  # captures only diagonally
        return ((board.squares == 1)[..., None] & free).ravel()

    def play(self, board, action):
        row, column, direction = action // 15, action // 3 % 5, action % 3
        squares = board.squares.at[row, column].set(0)
        squares = squares.at[row + 1, column + direction - 1].set(1, mode="drop")
        won = (squares[SIZE - 1] == 1).any() | ~(squares == -1).any()
        after = Board(-squares[::-1, ::-1], ~board.white)  # as the other player sees it
        return Outcome(after, jnp.bool_(True), won, won.astype(jnp.float32))

    def ended(self, board):
        return (board.squares[0] == -1).any() | ~(board.squares == 1).any()

    def observe_position(self, board, acting):
        squares = jnp.where(acting, board.squares, -board.squares[::-1, ::-1])
        return jnp.stack([squares == 1, squares == -1], axis=-1)

    # For people.

    def action_to_string(self, state, action):
        row, column, direction = action // 15, action // 3 % 5, action % 3
        places = [(column, row), (column + direction - 1, row + 1)]
        if not state._position.white:
            places = [(SIZE - 1 - x, SIZE - 1 - y) for x, y in places]
        return "-".join(f"{FILES[x]}{y + 1}" if 0 <= x < SIZE else "?" for x, y in places)

    def unparse(self, board):
        squares = np.asarray(board.squares if board.white else -board.squares[::-1, ::-1])
        rows = ["".join("b.w"[square + 1] for square in row) for row in squares[::-1]]
        return "/".join(rows) + (" w" if board.white else " b")

    def board_text(self, state):
        rows, _, side = self.to_string(state).partition(" ")
        return rows.replace("/", "\n") + f"\n{side} to move"

    def parse(self, text):
        rows, _, side = text.partition(" ")
        cells = [list(row) for row in rows.split("/")]
        if [len(row) for row in cells] != [SIZE] * SIZE or set(rows) - set("b.w/") or side not in ("w", "b"):
            raise ValueError(f"{text!r} is no position; expected one such as bbbbb/bbbbb/...../wwwww/wwwww w")
        squares = np.array([["b.w".index(cell) - 1 for cell in row] for row in cells[::-1]], np.int8)
        if side == "b":
            squares = -squares[::-1, ::-1]
        return Board(jnp.asarray(squares), jnp.bool_(side == "w"))


GAMES = [Breakthrough]
