"""Boards of any size as sets of bits, in as many uint32 words as they need.

Bit `column * (rows + 1) + row` is a square, row 0 at the bottom; the highest bit of each column stays empty, so that no
line runs from one column into the next. `from_plain` and `to_plain` translate from and to boards of numbers, which
notation and drawings use.
"""

import functools
import operator
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int8, UInt32

Words = tuple[UInt32[Array, "..."], ...]


class Position(NamedTuple):
    """The stones of the player to act, and those of the other."""

    own: Words
    opponent: Words


def words_of(number: int, count: int) -> Words:
    """A Python integer as `count` words, the lowest first."""
    return tuple(jnp.asarray(np.uint32(number >> 32 * index & 0xFFFFFFFF)) for index in range(count))


def both(one: Words, other: Words) -> Words:
    """What is in both sets."""
    return tuple(map(operator.and_, one, other))


def either(one: Words, other: Words) -> Words:
    """What is in one of two sets or in both."""
    return tuple(map(operator.or_, one, other))


def is_empty(words: Words) -> Bool[Array, "..."]:
    """Whether nothing is in the set."""
    return functools.reduce(operator.or_, words) == 0


def shift_down(words: Words, by: int) -> Words:
    """Every bit moved `by` places towards bit 0."""
    whole, rest = divmod(by, 32)
    words = (*words[whole:], *(jnp.zeros_like(words[-1]),) * min(whole, len(words)))
    if not rest:
        return words
    above = (*words[1:], jnp.zeros_like(words[-1]))
    return tuple((word >> rest) | (high << (32 - rest)) for word, high in zip(words, above, strict=True))


def shift_up(words: Words, by: int) -> Words:
    """Every bit moved `by` places away from bit 0."""
    whole, rest = divmod(by, 32)
    words = (*(jnp.zeros_like(words[-1]),) * min(whole, len(words)), *words[: max(len(words) - whole, 0)])
    if not rest:
        return words
    beneath = (jnp.zeros_like(words[0]), *words[:-1])
    return tuple((word << rest) | (low >> (32 - rest)) for word, low in zip(words, beneath, strict=True))


def run(width: int, start: UInt32[Array, "..."], count: int) -> Words:
    """`width` bits from bit `start` on; `start` is an array."""
    ones = jnp.uint32((1 << width) - 1)
    # Shifts by 32 or more give 0, and a difference below 0 wraps around to such a shift.
    return tuple((ones << (start - 32 * index)) | (ones >> (32 * index - start)) for index in range(count))


def has_line(words: Words, steps: tuple[int, ...], length: int) -> Bool[Array, "..."]:
    """Whether the set holds `length` bits in a row, at a distance of any of `steps`."""
    lines = []
    for step in steps:
        line, known = words, 1
        while known < length:
            more = min(known, length - known)
            line, known = both(line, shift_down(line, more * step)), known + more
        lines.append(line)
    return ~is_empty(functools.reduce(either, lines))


def completing(words: Words, steps: tuple[int, ...], length: int) -> Words:
    """The squares that would each complete a line of `length` with the set, as in `has_line`; they may be taken."""
    squares = []
    for step in steps:
        below, above = [words], [words]  # below[k]: the k + 1 squares that come before this one are all in the set
        for distance in range(1, length):
            down, up = shift_up(words, distance * step), shift_down(words, distance * step)
            below.append(both(below[-1], down) if distance > 1 else down)
            above.append(both(above[-1], up) if distance > 1 else up)
        squares += [below[length - 1], above[length - 1]]
        squares += [both(below[k], above[length - 1 - k]) for k in range(1, length - 1)]
    return functools.reduce(either, squares)


def from_plain(squares: Int8[np.ndarray, "rows cols"]) -> Position:
    """The position of a board, row 0 on top: 0 empty, 1 who began, 2 the other."""
    mover = 1 + np.count_nonzero(squares) % 2
    return Position(_words_at(squares == mover), _words_at(squares == 3 - mover))


def to_plain(position: Position, rows: int, cols: int) -> Int8[np.ndarray, "rows cols"]:
    """As read by `from_plain`."""
    own, opponent = (_squares_of(words, rows, cols) for words in position)
    mover = 1 + int((own + opponent).sum()) % 2
    return (mover * own + (3 - mover) * opponent).astype(np.int8)


def _words_at(squares: np.ndarray) -> Words:
    rows, cols = squares.shape
    number = sum(1 << place for place in _places(rows, cols)[squares].tolist())
    return words_of(number, -(-(rows + 1) * cols // 32))


def _squares_of(words: Words, rows: int, cols: int) -> np.ndarray:
    number = sum(int(word) << 32 * index for index, word in enumerate(words))
    return np.array([[number >> place & 1 for place in row] for row in _places(rows, cols).tolist()])


def _places(rows: int, cols: int) -> np.ndarray:
    column, row = np.arange(cols), np.arange(rows)[::-1, None]
    return column * (rows + 1) + row
