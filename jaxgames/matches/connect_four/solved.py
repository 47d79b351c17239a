"""Solved positions of Connect Four, read from files."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from jaxgames.envs.connect_four import ConnectFour, notation
from jaxgames.ops import json_text

ILLEGAL = -99
REPOSITORY = Path(__file__).parents[3] / "tests" / "data" / "connect_four"
"""The folder of the solved positions that come with the repository, not with an installed package."""
PONS_BOARD = (6, 7)
CONNECT = 4


class Solved(NamedTuple):
    """A position with its exact score for the player to act: k > 0 if it can win with the k-th last of its stones that
    fit on the board, k < 0 if the other one can, else 0. `moves` are the same of each column, `ILLEGAL` where it is
    full; None if they are not known.
    """

    board: Int[np.ndarray, "rows cols"]
    score: int
    moves: tuple[int, ...] | None = None


def read(path: str | Path, limit: int | None = None) -> list[Solved]:
    """The solved positions in a file, or the first `limit` of them. Two formats, known by how a line begins.

    JSON: `{"board": [...], "score": 2, "move score": [...]}`, with the board's squares row by row from the top, 0 free,
    1 of the player who began, 2 of the other one. The number of columns is that of the move scores, -99 where one is
    full. Or the columns played from the empty board of 6 x 7 on, and the score: `4453 -1` (Pons' test sets).

    Raises `ValueError` that names the line and what is wrong with it.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"cannot take {limit} positions; expected 1 or more")
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; expected a file of solved positions") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text; expected a file of solved positions, unpacked") from None
    found: list[Solved] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or len(found) == limit:
            continue
        try:
            solved = _from_json(line) if line.lstrip().startswith("{") else _from_moves(line)
            if found and solved.board.shape != found[0].board.shape:
                sizes = [" x ".join(map(str, one.board.shape)) for one in (solved, found[0])]
                raise ValueError(f"a board of {sizes[0]}; expected {sizes[1]} as in the lines before")
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        found.append(solved)
    if not found:
        raise ValueError(f"{path} holds no positions; expected lines such as: 4453 -1")
    return found


def board_of(positions: Sequence[Solved]) -> ConnectFour:
    """The game on the board of solved positions."""
    rows, cols = positions[0].board.shape
    return ConnectFour(rows=rows, cols=cols, connect=CONNECT)


def _from_json(line: str) -> Solved:
    try:
        content = json_text.loads(line)
    except ValueError:
        raise ValueError("no complete JSON object") from None
    for name in ("board", "score", "move score"):
        if name not in content:
            raise ValueError(f'no {name!r}; expected {{"board": [...], "score": 2, "move score": [...]}}')
    squares, best, moves = (content[name] for name in ("board", "score", "move score"))
    for name, numbers in (("board", squares), ("score", [best]), ("move score", moves)):
        if not isinstance(numbers, list) or not numbers or not all(type(number) is int for number in numbers):
            raise ValueError(f"{name!r} is {content[name]!r}; expected whole numbers")
    cols = len(moves)
    rows, rest = divmod(len(squares), cols)
    if rest:
        raise ValueError(f"{len(squares)} squares and {cols} move scores; expected as many scores as columns")
    ConnectFour(rows=rows, cols=cols)  # a size that there is
    board = notation.check_board(np.array(squares).reshape(rows, cols))
    _going_on(board)
    for column, (top, score) in enumerate(zip(board[0], moves, strict=True)):
        if (top != 0) != (score == ILLEGAL):
            state = "full" if top else "not full"
            raise ValueError(f"column {column + 1} is {state}, but its move score is {score}")
    if best != max(moves):
        raise ValueError(f"the score is {best}, that of the best move {max(moves)}")
    return Solved(board.astype(np.int8), best, tuple(moves))


def _from_moves(line: str) -> Solved:
    fields = line.split()
    if len(fields) != 2:
        raise ValueError(f"{line.strip()[:60]!r}: expected moves and a score, such as: 4453 -1")
    board = notation.parse(fields[0], *PONS_BOARD, CONNECT)
    _going_on(board)
    left = board.size - np.count_nonzero(board)
    least, most = -(left // 2), (left + 1) // 2
    number = fields[1]
    if not (number.lstrip("-").isdecimal() and number.count("-") <= 1 and least <= int(number) <= most):
        raise ValueError(f"score {number!r}: expected a whole number from {least} to {most}")
    return Solved(board, int(number))


def _going_on(board: np.ndarray) -> None:
    if board.all() or notation.winning_cells(board, CONNECT):
        raise ValueError("the game is over there; expected a position with a move to play")
