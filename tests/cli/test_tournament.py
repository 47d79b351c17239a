"""`jaxgames tournament`: tables, JSON, pictures, records; resumed where it was stopped; knock-outs of a run."""

import json
from importlib import import_module
from unittest import mock

import numpy as np
import pytest

from jaxgames import records
from jaxgames.cli import main
from jaxgames.matches.tournament import TournamentFolder
from jaxgames.sessions.session import Session

SPECS = ["random", "weak:0.3:random", "weak:0.6:random"]
GAME = ["--game", "tic_tac_toe", "--games", "10"]
LINES = "results.jsonl"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament in a folder, with its games in a file."""
    path = tmp_path_factory.mktemp("tournament")
    out, games = path / "out", path / "games.txt"
    assert main(["tournament", *SPECS, *GAME, "--out", str(out), "--games-out", str(games), "--json"]) == 0
    return out, games


def test_all_results_are_kept_and_every_game_is_read_again(played):
    out, games = played
    result = json.loads((out / "result.json").read_text())
    assert [one["player"] for one in result["ratings"]] == SPECS and len(result["matches"]) == 3
    assert all(one["low"] < one["elo"] < one["high"] and one["milliseconds"] > 0 for one in result["ratings"])
    assert (out / "tournament.png").read_bytes()[:4] == b"\x89PNG"
    found = records.load(games)
    assert len(found) == 30
    for number, match in enumerate(result["matches"]):
        mine = found[10 * number : 10 * number + 10]
        points = [one.points if one.players[0] == match["a"] else -one.points for one in mine]
        assert np.mean(points) == pytest.approx(match["ppg"])
        assert all(Session.replay(one).end.points == one.points for one in mine)


def test_a_tournament_that_was_killed_goes_on(played, tmp_path, capsys):
    out, games = played
    text, lines = games.read_bytes(), (out / LINES).read_bytes().splitlines(keepends=True)
    whole = json.loads((out / "result.json").read_text())["matches"]
    (out / LINES).write_bytes(lines[0] + lines[1][:20])  # killed while the second line was written
    games.write_bytes(text[:-7])
    assert main(["tournament", "--out", str(out), "--resume", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["matches"]
    assert [one["ppg"] for one in again] == [one["ppg"] for one in whole]
    assert games.read_bytes() == text
    assert len([json.loads(line) for line in (out / LINES).read_bytes().splitlines()]) == 3


def test_what_is_said_after_ctrl_c_can_be_pasted(tmp_path, monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("jaxgames.matches.tournament"), "tournament", stop)
    out = f"{tmp_path}/my out"
    again = f"go on with: jaxgames tournament --out '{out}' --resume"
    for more, said in ((["--out", out], again), ([], "nothing was kept")):
        assert main(["tournament", *SPECS, *GAME, *more]) == 130
        assert capsys.readouterr().err == f"stopped; {said}\n"


def test_a_line_that_is_no_result_is_named(played, capsys):
    out, _ = played
    lines = (out / LINES).read_bytes()
    without_bytes = {name: part for name, part in json.loads(lines.splitlines()[0]).items() if name != "bytes"}
    for broken in ({"pair": [0, 1]}, without_bytes):
        (out / LINES).write_text(json.dumps(broken) + "\n")
        assert main(["tournament", "--out", str(out), "--resume"]) == 2
        assert f"line 1 of {out / LINES} is no result of a tournament; delete it to go on" in capsys.readouterr().err
    (out / LINES).write_bytes(lines)


def test_tables_for_people(capsys):
    assert main(["tournament", *SPECS[:2], *GAME]) == 0
    shown = capsys.readouterr().out
    assert "score in %" in shown and "Elo" in shown and "ms a move" in shown and "random" in shown


def test_a_knockout_of_the_networks_of_a_run(tmp_path, capsys, monkeypatch):
    from jaxgames.matches.knockout import knockout
    from jaxgames.players import from_folder
    from tests.matches.test_knockout import POOL, SLOTS

    monkeypatch.setattr(from_folder, "load_all", lambda run, game: POOL)
    monkeypatch.setattr("jaxgames.players.game_of", lambda spec: "tic_tac_toe")
    out = tmp_path / "knockout"
    arguments = ["tournament", "--knockout", "runs/a", "--behind", "6", "--most-games", "40", "--seed", "3"]
    assert main([*arguments, "--out", str(out), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    expected = knockout(POOL, 6, 40, seed=3, slots=SLOTS).to_dict()
    assert (result["rounds"], result["best"]) == (json.loads(json.dumps(expected["rounds"])), expected["best"])
    (out / LINES).write_text("".join((out / LINES).read_text().splitlines(keepends=True)[:4]))
    assert main(["tournament", "--out", str(out), "--resume"]) == 0
    assert f"best: {expected['best']}" in capsys.readouterr().out
    assert len((out / LINES).read_text().splitlines()) == len(POOL) - 1
    (out / LINES).write_text('{"round": 0, "meeting": {"a": 1}}\n')
    assert main(["tournament", "--out", str(out), "--resume"]) == 2
    assert "line 1 of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random"], "two players or more"),
        (["random", "random", "--game", "checkers"], "2 times"),
        (["random", "nobody", "--game", "checkers"], "unknown player"),
        (["random", "pubeval", "--games-out", "x.pdn"], ".mat or .sgf or .json"),
        (["--knockout", "runs/none"], "runs/none"),
        (["random", "--knockout", "runs/none"], "takes neither"),
        (["random", "uct:3", "--behind", "5"], "--knockout"),
        (["random", "uct:3", "--game", "tic_tac_toe", "--png", "no/a.png"], "cannot be made: there is no folder no"),
        (
            ["random", "uct:3", "--game", "tic_tac_toe", "--png", "."],
            ". is a folder; expected a file, such as table.png",
        ),
        (
            ["random", "uct:3", "--game", "tic_tac_toe", "--out", "o", "--games-out", "no/a.txt"],
            "there is no folder no",
        ),
        (["--resume"], "--out FOLDER"),
        (["--resume", "--out", "nowhere"], "nowhere does not exist; expected a folder of `jaxgames tournament --out`"),
    ],
)
def test_bad_input_gets_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["tournament", *arguments]) == 2
    assert message in (found := capsys.readouterr().err) and found.count("\n") == 1
    assert not list(tmp_path.iterdir())  # nothing was begun


def test_the_result_is_told_even_if_no_picture_can_be_made(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("jaxgames.matches.report.draw_tournament", mock.Mock(side_effect=ValueError("no picture")))
    out, games = tmp_path / "out", tmp_path / "out" / "games.txt"
    arguments = [*SPECS[:2], *GAME, "--png", str(tmp_path / "a.png"), "--out", str(out), "--games-out", str(games)]
    assert main(["tournament", *arguments, "--json"]) == 2
    assert len(json.loads(capsys.readouterr().out)["matches"]) == 1 and len(records.load(games)) == 10


def test_folders_and_files_that_are_taken(played, tmp_path, capsys):
    out, games = played
    for arguments, message in (
        (["--out", str(out)], "exists already and is never overwritten; go on there with --resume"),
        (["--games-out", str(games)], "there already"),
    ):
        assert main(["tournament", *SPECS[:2], *GAME, *arguments]) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "tournament.json").write_text("{")
    with pytest.raises(ValueError, match="tournament.json is broken: it is no JSON"):
        TournamentFolder.open(tmp_path)
