"""Between positions as words and as boards of numbers, which notation, drawings and people use."""

import numpy as np
from jaxtyping import Int8

from jaxgames.envs.connect_four.board import Position, Words, words_of


def from_plain(squares: Int8[np.ndarray, "rows cols"]) -> Position:
    """The position of a board, row 0 on top: 0 empty, 1 who began, 2 the other."""
    mover = 1 + np.count_nonzero(squares) % 2
    return Position(_words(squares == mover), _words(squares == 3 - mover))


def to_plain(position: Position, rows: int, cols: int) -> Int8[np.ndarray, "rows cols"]:
    """As read by `from_plain`."""
    own, opponent = (_squares(words, rows, cols) for words in position)
    mover = 1 + int((own + opponent).sum()) % 2
    return (mover * own + (3 - mover) * opponent).astype(np.int8)


def _words(squares: np.ndarray) -> Words:
    rows, cols = squares.shape
    number = sum(1 << place for place in _places(rows, cols)[squares].tolist())
    return words_of(number, -(-(rows + 1) * cols // 32))


def _squares(words: Words, rows: int, cols: int) -> np.ndarray:
    number = sum(int(word) << 32 * index for index, word in enumerate(words))
    return np.array([[number >> place & 1 for place in row] for row in _places(rows, cols).tolist()])


def _places(rows: int, cols: int) -> np.ndarray:
    column, row = np.arange(cols), np.arange(rows)[::-1, None]
    return column * (rows + 1) + row
