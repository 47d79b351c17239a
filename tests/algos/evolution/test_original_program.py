"""The champions of the original tic-tac-toe program play here as they played there."""

import csv
import gzip
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.algos.evolution.play import Networks, play
from jaxgames.algos.evolution.policies import Outputs
from jaxgames.envs.tic_tac_toe import Position
from jaxgames.interop import softsign_norm
from jaxgames.nets import MLP
from tests.algos.evolution.reference_play import ConnectX

CHAMPIONS, RECORDED, POSITIONS = 20, 10, 4_520
GAME = jaxgames.make("tic_tac_toe")
MLP_9 = MLP((18, 18, 9), softsign_norm.ACTIVATION, softsign_norm.ACTIVATION)
POLICY = Outputs(GAME, Genomes(MLP_9, inputs=9), "cells", "highest")
RULES = ConnectX(3, 3, 3, falls=False)


def transposed(cell):
    """A cell by its number column by column from its number row by row, and the other way."""
    return 3 * (cell % 3) + cell // 3


@pytest.fixture(scope="module")
def folder(data_dir):
    return data_dir / "tic_tac_toe/evolution"


@pytest.fixture(scope="module")
def networks(folder):
    return softsign_norm.load(folder / "nets.txt")


@pytest.fixture(scope="module")
def recorded(folder):
    """Of the first ten: boards (`1` own, `2` the other's mark, column by column), chosen cells, outputs of two."""
    with gzip.open(folder / "moves_nets_0_9.csv.gz", "rt") as file:
        _, *rows = csv.reader(file)
    boards = np.array([list(map(int, board)) for _, board, _, _ in rows[:POSITIONS]])
    assert len(rows) == RECORDED * POSITIONS
    assert [row[:2] for row in rows] == [[str(n), row[1]] for n in range(RECORDED) for row in rows[:POSITIONS]]
    moves = np.array([int(move) for _, _, move, _ in rows]).reshape(RECORDED, POSITIONS)
    outputs = np.array([list(map(float, row[3].split())) for row in rows[: 2 * POSITIONS]]).reshape(2, POSITIONS, 9)
    return boards, moves, outputs


@pytest.fixture(scope="module")
def chosen(networks, recorded):
    """The cell that each champion chooses here in each of the program's positions, row by row."""
    boards = recorded[0][:, [transposed(cell) for cell in range(9)]]
    words = sum(
        (boards[:, cell] == 1).astype(np.uint32) << cell | (boards[:, cell] == 2).astype(np.uint32) << (16 + cell)
        for cell in range(9)
    )
    positions = Position(jnp.broadcast_to(words[None], (CHAMPIONS, POSITIONS)))
    genomes = jnp.asarray(softsign_norm.to_rows(networks))
    decision = jax.jit(POLICY.turn)(genomes, positions, jnp.zeros((CHAMPIONS, POSITIONS), jnp.uint32))
    assert decision.legal.all()
    added = (np.asarray(decision.outcome.position.cells) >> 16 & 0x1FF) ^ (words & 0x1FF)
    return np.log2(added).astype(int)


def test_the_programs_outputs(networks, recorded):
    boards, _, outputs = recorded
    inputs = np.array([0.0, 1.0, -1.0])[boards]
    for network, expected in zip(networks[:2], outputs, strict=True):
        np.testing.assert_allclose(softsign_norm.outputs(network, inputs), expected, atol=6e-10)


def test_its_moves_in_every_position(chosen, recorded):
    moves = recorded[1]
    np.testing.assert_array_equal(chosen[:RECORDED], transposed(moves))


def test_its_round_robin(folder, networks):
    """Each of the first ten against each other, the first of the pair begins."""
    _, *rows = csv.reader((folder / "round_robin_nets_0_9.csv").read_text().splitlines())
    assert len(rows) == RECORDED * (RECORDED - 1)
    genomes = jnp.asarray(softsign_norm.to_rows(networks[:RECORDED]))
    numbers = jnp.arange(RECORDED, dtype=jnp.int32)
    results = jax.jit(lambda g: play(POLICY, g, Networks(POLICY, g), jax.random.key(0), numbers, "first"))(genomes)
    points = {"0": 0, "1": 1, "2": -1}
    for first, second, winner in rows:
        assert results.points[int(first), int(second)] == points[winner]


def test_all_against_random_play_and_perfect_play(chosen, recorded):
    """What is known of all 20 together: results against random play, exactly, and how many moves keep the result."""
    index = {tuple(board): number for number, board in enumerate(recorded[0].tolist())}

    def number_of(board):
        own = 1 + RULES.mover(board)
        cells = sum(board, ())
        marks = [cells[transposed(cell)] for cell in range(9)]
        return index[tuple(0 if not mark else 1 if mark == own else 2 for mark in marks)]

    @cache
    def value(board):
        """What the mover can get."""
        return max(worth(board, cell) for cell in RULES.legal(board))

    @cache
    def worth(board, cell):
        """What a move of the mover is worth."""
        after = RULES.after(board, cell)
        result = RULES.result(after)
        if result is None:
            return -value(after)
        return -result if RULES.mover(board) else result

    def against_random(moves, board, player):
        """Chances that the champion, who is this player, wins, draws and loses."""
        result = RULES.result(board)
        if result is not None:
            return np.eye(3)[1 - (-result if player else result)]
        legal = RULES.legal(board)
        ours = RULES.mover(board) == player
        cells = [moves[number_of(board)]] if ours else legal
        return sum(against_random(moves, RULES.after(board, cell), player) for cell in cells) / len(cells)

    chances = np.mean([against_random(moves, RULES.start, player) for moves in chosen for player in range(2)], axis=0)
    np.testing.assert_allclose(chances, [0.674, 0.084, 0.242], atol=0.0005)
    value(RULES.start)
    boards = {number_of(board): board for board in reached(RULES.start)}
    assert len(boards) == POSITIONS
    keeps = [worth(board, moves[number]) == value(board) for moves in chosen for number, board in boards.items()]
    assert round(np.mean(keeps), 2) == 0.61


def reached(board, seen=None):
    """All positions with a move to play, each once."""
    seen = set() if seen is None else seen
    if board not in seen and RULES.result(board) is None:
        seen.add(board)
        for cell in RULES.legal(board):
            reached(RULES.after(board, cell), seen)
    return seen
