"""Connect X against a plain rule book: a dozen sizes by whole games, the lines of every size there is."""

import itertools
import random

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.connect_four import board
from jaxgames.envs.connect_four.board import from_plain
from tests.envs.connect_four import reference

SIZES = [
    (6, 7, 4),
    (2, 2, 3),
    (2, 10, 3),
    (10, 2, 3),
    (3, 3, 3),
    (4, 3, 4),
    (3, 5, 4),
    (7, 6, 4),
    (8, 8, 5),
    (9, 7, 6),
    (7, 10, 7),
    (10, 10, 8),
    (10, 10, 3),
]
LEAVES = {"xla_backend_optimization_level": "0"}  # compiled quickly, as each program runs once


@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}, {0[2]}".format)
def test_games_follow_the_rule_book(size):
    """Every position of random games: legal columns, what is seen, the next position, the end and who has won."""
    rows, cols, connect = size
    game, draw = jaxgames.make("connect_four", rows=rows, cols=cols, connect=connect), random.Random(str(size))
    boards, actions = [], []
    for _ in range(400 // (rows * cols) + 6):
        boards.append(reference.empty(rows, cols))
        for column in reference.random_game(draw, rows, cols, connect):
            actions.append(column)
            boards.append(reference.drop(boards[-1], column))
        actions.append(0)
    positions = jax.tree.map(lambda *x: np.stack(x), *[from_plain(reference.as_array(one)) for one in boards])
    acting = np.ones(len(boards), bool)

    def look(position, action, acting):
        return (
            game.legal(position),
            game.ended(position),
            game.observe_position(position, acting),
            game.play(position, action),
        )

    look = jax.jit(jax.vmap(look), compiler_options=LEAVES)
    legal, ended, view, outcome = jax.device_get(look(positions, np.array(actions, np.int32), acting))
    results = [reference.result(one, connect) for one in boards]
    for index, (one, result) in enumerate(zip(boards, results, strict=True)):
        own = reference.to_move(one)
        assert (view[index] == (reference.as_array(one)[..., None] == [own, 3 - own])).all()
        assert ended[index] == (result is not None)
        if result is None:
            after, reward = results[index + 1], outcome.reward[index] * (1 if own == 1 else -1)
            assert set(np.flatnonzero(legal[index])) == set(reference.legal_columns(one, connect))
            assert outcome.over[index] == (after is not None) and reward == (after or 0) and outcome.turn_passes[index]
    played = np.array([result is None for result in results])
    for word, then in zip(jax.tree.leaves(positions), jax.tree.leaves(outcome.position), strict=True):
        assert (then[:-1] == word[1:])[played[:-1]].all()
    assert 0 in results or {1, -1} <= set(results)


def as_words(boards, rows, cols):
    """Sets of squares, bool[n, rows * cols] from the top row on, as words."""
    places = (np.arange(cols) * (rows + 1) + np.arange(rows)[::-1, None]).ravel()
    numbers = [sum(1 << int(place) for place in places[row]) for row in boards]
    count = -(-(rows + 1) * cols // 32)
    return tuple(np.array([number >> 32 * i & 0xFFFFFFFF for number in numbers], np.uint32) for i in range(count))


def test_lines_of_every_size(monkeypatch):
    """Every line wins, no line that lacks one square does, and random boards win if they hold a line."""
    monkeypatch.setattr(board, "jnp", np)  # the same operations on NumPy arrays: nothing to compile
    rng, seen = np.random.default_rng(0), 0
    for rows, cols, connect in itertools.product(range(2, 11), range(2, 11), range(3, 9)):
        cells = reference.lines(rows, cols, connect)
        lines = np.zeros((len(cells), rows * cols), bool)
        for line, places in zip(lines, cells, strict=True):
            line[[row * cols + column for row, column in places]] = True
        lacking = lines.copy()
        for line in lacking:
            line[rng.choice(np.flatnonzero(line))] = False
        some = rng.random((16, rows * cols)) < rng.uniform(0.3, 0.95, (16, 1))
        boards = np.concatenate([lines, lacking, some])
        held = boards.astype(np.int32) @ lines.T.astype(np.int32)
        wins = jaxgames.make("connect_four", rows=rows, cols=cols, connect=connect)._wins(as_words(boards, rows, cols))
        assert (wins == (held == connect).any(axis=1)).all()
        assert wins[: len(lines)].all() and not wins[len(lines) : 2 * len(lines)].any()
        seen += len(lines)
    assert seen == 18_292


@pytest.mark.parametrize("size", [(1, 7, 4), (6, 11, 4), (6, 7, 2), (6, 7, 9), (6.0, 7, 4)])
def test_sizes_out_of_range(size):
    with pytest.raises(ValueError, match="expected a whole number from [23] to (8|10)"):
        jaxgames.make("connect_four", **dict(zip(("rows", "cols", "connect"), size, strict=True)))
