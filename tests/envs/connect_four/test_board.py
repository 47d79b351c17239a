"""Connect X: what wins on boards of every size. All lines, nothing that only looks like one."""

import itertools
import random

import numpy as np
import pytest

from jaxgames.envs.connect_four.board import Position
from jaxgames.envs.connect_four.game import ConnectFour
from tests.envs.connect_four.reference import lines

SIZES = list(itertools.product(range(2, 11), range(2, 11), range(3, 9)))
BATCH = 2048


def every_line(rows, cols, connect):
    """bool[lines, cells]"""
    chosen = np.zeros((len(lines(rows, cols, connect)), rows, cols), bool)
    for stones, line in zip(chosen, lines(rows, cols, connect), strict=True):
        stones[tuple(zip(*line, strict=True))] = True
    return chosen.reshape(-1, rows * cols)


def lookalikes(rows, cols, connect):
    """Runs of `connect` cells that go on at the opposite edge, in any of two ways, and some full boards' halves."""
    cells = np.arange(rows * cols)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        steps = np.arange(connect)
        around = (cells[:, None] // cols + steps * down) % rows * cols + (cells[:, None] % cols + steps * right) % cols
        yield around
        yield (cells[:, None] + steps * (down * cols + right)) % len(cells)  # into the next row
        by_column = (cells[:, None] + steps * (right * rows + down)) % len(cells)  # into the next column
        yield by_column % rows * cols + by_column // rows


def stones(rows, cols, connect, rng):
    """bool[n, cells]: sets of stones, and how many of them are lines."""
    whole = every_line(rows, cols, connect)
    holes = np.repeat(whole, connect, axis=0)
    index = np.nonzero(whole)[1]
    holes[np.arange(len(holes)), index] = False  # each line without each of its cells
    alike = np.concatenate(list(lookalikes(rows, cols, connect)))
    runs = np.zeros((len(alike), rows * cols), bool)
    np.put_along_axis(runs, alike, True, axis=1)
    strewn = rng.random((64, rows * cols)) < rng.random((64, 1))
    return np.concatenate([whole, holes, runs, strewn, ~holes[:64]]), len(whole)


def as_words(sets, rows, cols):
    """uint32 words as `board` documents them: bit `column * (rows + 1) + row`, row 0 at the bottom."""
    count = -(-(rows + 1) * cols // 32)
    bits = np.zeros((len(sets), cols, rows + 1), np.uint64)
    bits[:, :, :rows] = sets.reshape(-1, rows, cols)[:, ::-1].transpose(0, 2, 1)
    bits = np.pad(bits.reshape(len(sets), -1), ((0, 0), (0, count * 32 - (rows + 1) * cols)))
    values = (bits.reshape(-1, count, 32) << np.arange(32, dtype=np.uint64)).sum(axis=2).astype(np.uint32)
    return tuple(values.T)


def check_size(rows, cols, connect):
    """How many lines the size has; all of them win, and all other sets as the lines in them say."""
    sets, number = stones(rows, cols, connect, np.random.default_rng(rows * 100 + cols * 10 + connect))
    whole = every_line(rows, cols, connect)
    expected = (sets.astype(np.float32) @ whole.T.astype(np.float32) == connect).any(axis=1)
    assert expected[:number].all() and not expected[number : number * (1 + connect)].any()
    game = ConnectFour(rows, cols, connect)
    # Batches of one length, so that each operation is compiled once for all sizes.
    padded = np.zeros((-(-len(sets) // BATCH) * BATCH, rows * cols), bool)
    padded[: len(sets)] = sets
    found = []
    for batch in padded.reshape(-1, BATCH, rows * cols):
        words = as_words(batch, rows, cols)
        empty = tuple(np.zeros_like(word) for word in words)
        found.append(game._wins(words))
        filled = np.asarray(game.ended(Position(empty, words)))
        np.testing.assert_array_equal(filled, np.asarray(found[-1]) | batch.all(axis=1))
    np.testing.assert_array_equal(np.concatenate(found)[: len(sets)], expected, err_msg=f"{rows} x {cols}, {connect}")
    return number


def number_of_lines(rows, cols, connect):
    """Across, down, and both diagonals."""
    wide, high = max(0, cols - connect + 1), max(0, rows - connect + 1)
    return rows * wide + high * cols + 2 * high * wide


SOME = [(6, 7, 4), (10, 10, 3), (10, 10, 8), (2, 2, 3), (2, 10, 5), (10, 2, 3), (7, 4, 4), (9, 7, 6), (3, 9, 3)]


@pytest.mark.parametrize("rows, cols, connect", SOME + random.Random(5).sample(SIZES, 21))
def test_lines_of_a_size(rows, cols, connect):
    assert check_size(rows, cols, connect) == number_of_lines(rows, cols, connect)


@pytest.mark.slow
def test_lines_of_every_size():
    assert sum(check_size(*size) for size in SIZES) == sum(number_of_lines(*size) for size in SIZES)
