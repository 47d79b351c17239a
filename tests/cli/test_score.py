"""`jaxgames score`: what it prints, and how it answers bad input."""

import json

import pytest

from jaxgames.cli import main
from jaxgames.matches.solved import MOVE_SCORES


@pytest.fixture
def files(data_dir):
    return data_dir / "connect_four"


@pytest.mark.parametrize(("name", "perfect", "good"), [("move_scores_500.jsonl", 0.25, 0.7), ("Test_L3_R1", 0.52, 0.7)])
def test_shares_as_json(files, name, perfect, good, capsys):
    path = str(MOVE_SCORES if name == MOVE_SCORES.name else files / name)
    assert main(["score", "connect_four", "random", "--positions", path, "--limit", "400", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["player"], result["positions"], result["file"]) == ("random", 400, path)
    assert result["perfect"] == pytest.approx(perfect, abs=0.1) and result["good"] == pytest.approx(good, abs=0.1)
    assert result["seconds"] > 0


def test_shares_for_people(files, capsys):
    path = str(files / "Test_L3_R1")
    assert main(["score", "connect_four", "random", "--positions", path, "--limit", "10", "--seed", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"random: 10 positions of {path}"
    assert [line.split()[0] for line in lines[1:3]] == ["perfect", "good"] and lines[1].endswith("0.0 %")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("checkers random --positions FILE", "score knows solved positions of connect_four, not of checkers"),
        ("chess random --positions FILE", "unknown game 'chess'"),
        ("connect_four pubeval --positions FILE", "pubeval plays backgammon, not connect_four"),
        ("connect_four nobody --positions FILE", "unknown player 'nobody'; expected the folder of a training, or one"),
        ("connect_four random --positions FILE --limit 0", "cannot take 0 positions"),
        ("connect_four random --positions none", "none cannot be read"),
    ],
)
def test_bad_input_gets_one_line(files, arguments, words, capsys):
    assert main(["score", *arguments.replace("FILE", str(files / "Test_L3_R1")).split()]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
