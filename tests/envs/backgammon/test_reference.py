"""The reference rule book against GNU Backgammon's move lists."""

import gzip
import json

import pytest

from tests.envs.backgammon import reference
from tests.envs.backgammon.reference import START


def played(board, steps):
    for source, die in steps:
        board = reference.apply_step(*board, source, die)
    return board


def test_all_distinct_plays_of_2000_positions(data_dir):
    with gzip.open(data_dir / "backgammon" / "legal_moves.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    assert len(rows) == 2000
    for row in rows:
        board = reference.board_from_hex(row["pos"])
        plays = reference.plays(*board, tuple(row["dice"]))
        assert len(plays) == row["n"], row
        assert set(plays) == {reference.board_from_hex(result) for result in row["results"]}, row
        assert all(played(board, steps) == result for result, steps in plays.items()), row


def test_opening_counts(data_dir):
    data = json.loads((data_dir / "backgammon" / "opening_plays.json").read_text())
    counts = {tuple(row["roll"]): len(reference.plays(START, START, row["roll"])) for row in data["openings"]}
    assert counts == {tuple(row["roll"]): row["distinct_plays"] for row in data["openings"]}
    assert sum(counts.values()) == 447


def side(**checkers):
    return tuple(checkers.get(f"p{point}", 0) for point in range(1, 26))


HOME_CLOSED = side(p1=2, p2=2, p3=2, p4=2, p5=2, p6=5)  # the opponent's points 1..6 are the mover's 24..19


@pytest.mark.parametrize(
    ("mover", "opponent", "dice", "steps"),
    [
        (side(p25=1, p6=14), HOME_CLOSED, (6, 5), set()),
        (side(p25=2, p6=13), side(p1=15), (6, 5), {(25, 6), (25, 5)}),  # the bar first
        (side(p20=1), side(p1=2), (6, 1), {(20, 6), (20, 1)}),
        (side(p20=1), side(p12=2), (6, 1), {(20, 6)}),  # 13 is held: one die, and that is the larger
        (side(p20=1), side(p12=2, p11=2), (6, 1), {(20, 1)}),  # 14 too: the larger cannot be played
        (side(p9=1, p2=1), side(p22=2), (6, 1), {(9, 1)}),  # 3 is held: 2/1 would leave no 6
        (side(p4=2, p3=1), side(p1=2), (6, 5), {(4, 6), (4, 5)}),  # overshoot from the rearmost only
        (side(p7=1, p1=1), side(p1=2), (1, 1), {(7, 1)}),  # bearing off only when all are home
        (side(p6=1, p4=2), side(p1=2), (5, 5, 5, 5), {(6, 5)}),
        (side(p6=1, p4=2), side(p1=2), (5, 5), {(6, 5)}),
    ],
)
def test_first_steps(mover, opponent, dice, steps):
    assert reference.legal_steps(mover, opponent, dice) == steps


@pytest.mark.parametrize(
    ("mover", "opponent", "points"),
    [
        (side(p1=1), side(p24=15), 0),
        (side(), side(p24=14), 1),
        (side(), side(p18=15), 2),
        (side(), side(p18=14, p19=1), 3),
        (side(), side(p1=14, p25=1), 3),
    ],
)
def test_result(mover, opponent, points):
    assert reference.result(mover, opponent) == points
