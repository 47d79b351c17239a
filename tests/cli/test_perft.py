"""`jaxgames perft`: what it prints, and how it answers bad input."""

import json

import pytest

from jaxgames.cli import main
from jaxgames.cli.common import make_game


def test_counts(capsys):
    assert main("perft tic_tac_toe 4".split()) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[:5] == [["0", "1"], ["1", "9"], ["2", "72"], ["3", "504"], ["4", "3,024"]]
    assert lines[5][:3] == ["3,024", "games", "in"] and len(lines) == 6


def test_options(capsys):
    size = "--set rows=3 --set cols=3 --set connect=3"
    assert main(f"perft connect_four 2 {size} --from 112 --divide --json".split()) == 0
    result = json.loads(capsys.readouterr().out)
    # Columns 1 and 2 hold two stones and one; a third in column 1 fills it.
    assert (result["divide"], result["total"], result["from"]) == ({"1": 2, "2": 3, "3": 3}, 8, "112")
    assert main(["perft", "checkers", "1", "--from", "B:W9,10,17,18,32:BK22,5", "--distinct", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["counts"], result["distinct"]) == ([1, 3], True)


def test_an_option_that_is_usually_none():
    assert make_game("checkers", ["max_moves=40"]).max_moves == 40
    assert make_game("checkers", ["max_moves=none"]).max_moves is None


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("chekers 3", "unknown game 'chekers'"),
        ("backgammon 3", "backgammon has chance"),
        ("tic_tac_toe -1", "depth -1: expected a whole number from 0 to 10000"),
        ("tic_tac_toe 0 --divide", "depth 0: expected a whole number from 1 to 10000"),
        ("tic_tac_toe 2 --from X", "position 'X'"),
        ("connect_four 2 --set rows=six", "rows='six': expected a whole number"),
        ("connect_four 2 --set row=6", "unknown option 'row'"),
        ("checkers 2 --set max_moves=few", "max_moves='few': expected a whole number, or none"),
        ("checkers 2 --set play=3", "unknown option 'play' of checkers; available: draw_after, max_moves"),
    ],
)
def test_bad_input_gets_one_line(arguments, words, capsys):
    assert main(["perft", *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
