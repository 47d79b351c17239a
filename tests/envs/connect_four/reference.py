"""Connect X by its rules, slowly: lists of rows, every line of cells looked at, nothing remembered between moves.

A board is a list of rows, the top one first: 0 free, 1 a stone of the player who began, 2 of the other. The lines serve
for tic-tac-toe too: there they are `lines(3, 3, 3)`.
"""

from functools import cache

import numpy as np


@cache
def lines(rows, cols, connect):
    """Every straight row of `connect` cells `(row, column)`: across, down, and along both diagonals."""
    found = []
    for row in range(rows):
        for column in range(cols):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = tuple((row + step * down, column + step * right) for step in range(connect))
                if all(0 <= r < rows and 0 <= c < cols for r, c in line):
                    found.append(line)
    return found


def empty(rows, cols):
    return [[0] * cols for _ in range(rows)]


def winners(board, connect):
    """The players, 1 and 2, who have a line."""
    colours = ({board[row][column] for row, column in line} for line in lines(len(board), len(board[0]), connect))
    return {colour for (colour,) in (found for found in colours if len(found) == 1) if colour}


def is_full(board):
    return all(all(row) for row in board)


def to_move(board):
    """1 or 2: whose turn it is by the number of stones."""
    return 1 + sum(stone != 0 for row in board for stone in row) % 2


def legal_columns(board, connect):
    """Columns with room for a stone, none once the game is over."""
    if winners(board, connect):
        return []
    return [column for column in range(len(board[0])) if board[0][column] == 0]


def drop(board, column):
    """The board after a stone of the player to move has fallen into a column."""
    after = [list(row) for row in board]
    lowest = max(row for row in range(len(board)) if board[row][column] == 0)
    after[lowest][column] = to_move(board)
    return after


def result(board, connect):
    """None while the game goes on, else what it is worth for the player who began: 1, -1, or 0 for a draw."""
    won = winners(board, connect)
    if won:
        return 1 if won == {1} else -1
    return 0 if is_full(board) else None


def play(columns, rows, cols):
    """The board after these moves (columns from 0), whatever happened on the way."""
    board = empty(rows, cols)
    for column in columns:
        board = drop(board, column)
    return board


def random_game(rng, rows, cols, connect):
    """Uniformly random play to the end; `rng` is a `random.Random`. The columns from 0."""
    board, moves = empty(rows, cols), []
    while legal := legal_columns(board, connect):
        moves.append(rng.choice(legal))
        board = drop(board, moves[-1])
    return moves


def as_array(board):
    """int8[rows, cols], row 0 at the top."""
    return np.array(board, np.int8)


def moves_of(text):
    """The columns, from 0, of a move string; the tenth column is `a`."""
    return [int(character, 11) - 1 for character in text]
