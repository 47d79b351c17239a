"""The solver of Connect Four: against published scores, a plain search, and bad input."""

import functools
import json

import jax
import numpy as np
import pytest

from jaxgames.cli import main
from jaxgames.cli.solve import in_words
from jaxgames.envs.connect_four.board import from_plain, to_plain
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.connect_four.notation import winning_cells
from jaxgames.envs.rollout import rollout
from jaxgames.matches.solved import MOVE_SCORES
from jaxgames.tables.connect_four_solver import Solver

GAME = ConnectFour()
WIDE = ConnectFour(rows=4, cols=9, connect=5)
"""Its lists of moves take two words."""


def stack(positions):
    return jax.tree.map(lambda *words: np.stack([np.asarray(word) for word in words]), positions[0], *positions[1:])


def plain_score(board, connect):
    """The score by the definition: all moves, no pruning. `board` as in `to_plain`, not over."""
    return _plain_score(board.tobytes(), board.shape, connect)


@functools.cache
def _plain_score(squares, shape, connect):
    board = np.frombuffer(squares, np.int8).reshape(shape)
    left, best = np.count_nonzero(board == 0), -np.inf
    mover = 1 + np.count_nonzero(board) % 2
    for column in np.flatnonzero(board[0] == 0):
        after = board.copy()
        after[np.flatnonzero(board[:, column] == 0)[-1], column] = mover
        if winning_cells(after, connect):
            return (left + 1) // 2
        best = max(best, 0 if left == 1 else -plain_score(after, connect))
    return best


@pytest.mark.parametrize("entries", [1 << 16, 64])
def test_published_scores(data_dir, entries):
    """However few entries the table has."""
    names = ("Test_L3_R1", "Test_L2_R1")[: 2 if entries > 64 else 1]
    lines = [line.split() for name in names for line in (data_dir / "connect_four" / name).read_text().splitlines()]
    positions = stack([GAME.parse(moves) for moves, _ in lines])
    found = jax.jit(Solver(GAME, entries=entries))(positions)
    np.testing.assert_array_equal(found.scores, [int(score) for _, score in lines])
    assert found.nodes > 10 * len(lines)


def test_published_scores_of_moves():
    rows = map(json.loads, MOVE_SCORES.read_text().splitlines())
    rows = [row for row in rows if np.count_nonzero(row["board"]) == 16][:3]
    positions = stack([from_plain(np.array(row["board"]).reshape(6, 7)) for row in rows])
    found = jax.jit(Solver(GAME).moves)(positions)
    np.testing.assert_array_equal(np.where(found.legal, found.scores, -99), [row["move score"] for row in rows])


@pytest.mark.slow  # 10 s: the published scores stay in the quick tier
def test_a_wide_board_and_games_that_are_over():
    """Late positions of random games, among them some that are over."""
    keys = jax.random.split(jax.random.key(3), 24)
    states = rollout(WIDE, jax.jit(jax.vmap(WIDE.init))(keys), jax.random.key(4), 30)[0]
    found = jax.jit(Solver(WIDE).moves)(states._position)
    scores = np.asarray(jax.jit(Solver(WIDE))(states._position).scores)
    over = 0
    for index in range(24):
        board = to_plain(jax.tree.map(lambda x, i=index: np.asarray(x)[i], states._position), 4, 9)
        left = np.count_nonzero(board == 0)
        if winning_cells(board, 5):
            assert scores[index] == -(left // 2) - 1
            assert not found.legal[index].any()
            over += 1
            continue
        assert scores[index] == plain_score(board, 5)
        np.testing.assert_array_equal(found.legal[index], board[0] == 0)
        assert np.max(found.scores[index][board[0] == 0]) == scores[index]
    assert 0 < over < 12


def test_the_command(capsys):
    assert main("solve connect_four 1122331 --set rows=4 --set cols=4 --json".split()) == 0
    result = json.loads(capsys.readouterr().out)
    board = to_plain(ConnectFour(rows=4, cols=4).parse("1122331"), 4, 4)
    assert result["score"] == plain_score(board, 4) == max(result["scores"]) and result["best"] == [4]
    # Anything but column 4 loses to a stone there: the other's first of 4 that are left after ours.
    assert result["scores"][:3] == [-4, -4, -4] and result["nodes"] > 0
    assert main("solve connect_four 1122331 --set rows=4 --set cols=4".split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["column", "1", "2", "3", "4"] and lines[2].startswith("best: 4 (")


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("checkers 12", "solve knows connect_four, not checkers"),
        ("connect_four 1212121", "the game is over after '1212121'"),
        ("connect_four 8", "column"),
        ("connect_four 44444", "37 squares are left, which may take hours; expected at most 30 left, or --long"),
        ("connect_four 1 --set rows=50", "rows=50: expected a whole number from 2 to 10"),
    ],
)
def test_bad_input_gets_one_line(arguments, words, capsys):
    assert main(["solve", *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_sizes_are_powers_of_2():
    with pytest.raises(ValueError, match="lanes=48: expected a power of 2"):
        Solver(GAME, lanes=48)
    with pytest.raises(ValueError, match="lanes=0: expected a power of 2"):
        Solver(GAME, lanes=0)
    with pytest.raises(ValueError, match="entries=0: expected a power of 2"):
        Solver(GAME, entries=0)
    with pytest.raises(TypeError, match="entries 'x': expected a whole number"):
        Solver(GAME, entries="x")


def test_scores_in_words():
    assert in_words(21, 42) == "wins with stone 1 from now" and in_words(1, 42) == "wins with stone 21 from now"
    assert in_words(-20, 41) == "loses to the other's stone 1 from now" and in_words(0, 3) == "a draw"
