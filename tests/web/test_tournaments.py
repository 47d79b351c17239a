"""Tournaments of the page: what may be asked for, and tables that grow while one is played."""

import json
import os

import pytest

from jaxgames.matches.knockout import Meeting
from jaxgames.matches.match import MatchResult
from jaxgames.matches.tournament import TournamentFolder, bradley_terry
from jaxgames.players.registry import PLAYERS
from jaxgames.runs import Run
from jaxgames.web.commands import CommandKind, Commands
from jaxgames.web.limits import Limits
from jaxgames.web.offered_players import OfferedPlayers
from jaxgames.web.tournaments import KNOCKOUT, TournamentForm, Tournaments
from tests.web.pages import serving

FORM = TournamentForm(OfferedPlayers(), Limits(entrants=4))


def asked(*players, **fields):
    return {"fields": {"game": "checkers", **fields}, "set": {}, "players": list(players)}


def test_what_is_chosen_becomes_a_command_line():
    found = FORM.arguments(asked("random", "champion:easy", games="40"))
    assert found == ["random", "champion:easy", "--game=checkers", "--games=40", "--seed=0"]
    form = FORM.form(asked("random", "weak:0.2:random", game="tic_tac_toe"))
    assert form["error"] is None and form["name"] == "tic-tac-toe" and form["settings"] == []
    assert [(one["name"], one["value"]) for one in form["fields"]] == [
        ("game", "tic_tac_toe"), ("games", "200"), ("seed", "0"),
    ]  # fmt: skip


def test_the_rules_are_chosen():
    wanted = {**asked("random", "uct:50", game="connect_four"), "set": {"rows": "5", "cols": ""}}
    assert FORM.arguments(wanted)[:4] == ["random", "uct:50", "--game=connect_four", "--set=rows=5"]
    form = FORM.form(wanted)
    assert [(one["name"], one["value"]) for one in form["settings"]] == [("rows", "5"), ("cols", ""), ("connect", "")]
    assert form["error"] is None


def knockout(*players, run="first", **fields):
    return asked(*players, kind=KNOCKOUT, run=run, **fields)


def test_the_networks_of_a_training_meet(a_run):
    form = TournamentForm(OfferedPlayers([str(a_run)]), Limits())
    wanted = knockout(game="tic_tac_toe", behind="10")
    assert form.arguments(wanted) == [
        f"--knockout={a_run}", "--game=tic_tac_toe", "--behind=10", "--most-games=2000", "--seed=0",
    ]  # fmt: skip
    names = [one["name"] for one in form.form(wanted)["fields"]]
    assert names == ["game", "kind", "run", "behind", "most_games", "seed"]
    for wrong, says in [
        (knockout("random", game="tic_tac_toe"), "expected no other players"),
        (knockout(run="other", game="tic_tac_toe"), "no training 'other' of tic_tac_toe; expected one of: first"),
        (knockout(game="checkers"), "no training 'first' of checkers; expected one of: there is none"),
        (knockout(game="tic_tac_toe", games="20"), "unknown setting 'games'"),
        (asked("random", "uct:50", run="first"), "run 'first' is of a knock-out"),
        (asked("random", "uct:50", kind="league"), "unknown kind 'league'"),
    ]:
        assert says in form.form(wrong)["error"]


@pytest.fixture
def a_run(tmp_path):
    return Run.create(tmp_path / "first", {"kind": "td", "recipe": "td-gammon", "game": "tic_tac_toe"}).path


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (asked("random"), "a tournament of 1 players: expected 2 to 4"),
        (asked(*["random"] * 5), "a tournament of 5 players"),
        (asked("random", "random"), "player random is there 2 times"),
        (asked("random", "/etc/passwd"), "expected a name from the list"),
        (asked("random", "uct:100000"), "expected a whole number from 1 to 5000"),
        (asked("random", "pubeval"), "pubeval plays backgammon, not checkers"),
        (asked("random", "weak:0.2:random", games="1000000"), "expected a whole number from 2 to 10,000"),
        (asked("random", "weak:0.2:random", out="x"), "unknown setting 'out' of tournaments; available: games, seed"),
        (asked("random", "weak:0.2:random", game="go"), "unknown game 'go'"),
        ({**asked("random", "champion"), "set": {"rows": "5"}}, "unknown setting 'rows' of checkers"),
        ({**asked("random", "uct:50", game="connect_four"), "set": {"rows": "50"}}, "from 2 to 10"),
    ],
)
def test_what_cannot_be(wanted, says):
    assert says in FORM.form(wanted)["error"]
    with pytest.raises(ValueError, match="."):
        FORM.arguments(wanted)


def test_players_of_plug_ins_are_of_the_command_line(monkeypatch):
    monkeypatch.setitem(PLAYERS, "mine", PLAYERS["random"])
    form = TournamentForm(OfferedPlayers(plugins=["mine"]), Limits())
    with pytest.raises(ValueError, match="player mine is of a plug-in: jaxgames tournament --plugin FILE.py"):
        form.arguments(asked("random", "mine"))


@pytest.fixture
def folder(tmp_path):
    players = ["random", str(tmp_path / "runs" / "my"), "champion"]
    plan = {"players": players, "game": "tic_tac_toe", "games": 100, "seed": 0}
    return TournamentFolder.begin(tmp_path / "tournaments" / "first", plan)


def tables(folder):
    runs = {"my-run": folder.path.parent.parent / "runs" / "my"}
    commands = Commands({"tournament": CommandKind(FORM, folder.path.parent, TournamentFolder.is_at)}, Limits())
    return Tournaments(commands, runs).describe()[0]


def result(**facts):
    usual = {"game": "tic_tac_toe", "a": "a", "b": "b", "games": 100, "seed": 0, "max_reward": 1.0, "ppg": 0.5}
    rates = {"ppg_low": 0.4, "ppg_high": 0.7, "win_rate": 0.7, "loss_rate": 0.2, "draw_rate": 0.1}
    fields = dict.fromkeys(MatchResult.__dataclass_fields__, 0) | usual | rates | facts
    return MatchResult(**{name: fields[name] for name in MatchResult.__dataclass_fields__})


def test_the_table_grows_and_says_no_folders(folder):
    empty = tables(folder)
    assert (empty["played"], empty["pairs"], empty["ratings"], empty["goes_on"]) == (0, 3, None, True)
    assert empty["players"] == ["random", "my-run", "champion"]
    folder.results.append({"pair": [0, 2], "match": result().to_dict(), "bytes": 0})
    found = tables(folder)
    assert found["played"] == 1 and found["table"][0] == [None, None, 0.5] and found["table"][2][0] == -0.5
    assert found["margins"][0][2] == pytest.approx(0.2)  # the farther end of the interval
    wins = [[0, 0, 75], [0, 0, 0], [25, 0, 0]]
    assert found["ratings"] == [rating.to_dict() for rating in bradley_terry(empty["players"], wins)]
    for pair in ([0, 1], [1, 2]):
        folder.results.append({"pair": pair, "match": result().to_dict(), "bytes": 0})
    assert not tables(folder)["goes_on"]
    assert str(folder.path.parent.parent) not in json.dumps(tables(folder))


def test_the_rounds_of_a_knockout_grow(tmp_path):
    plan = {"players": [], "game": "connect_four", "set": ["rows=5"], "knockout": str(tmp_path / "runs" / "my")}
    folder = TournamentFolder.begin(tmp_path / "tournaments" / "first", plan)
    met = (0, Meeting(0, 1, 40, 50.0, 0)), (0, Meeting(2, 3, 60, -50.0, 3)), (1, Meeting(0, 3, 8, 9.0, 0))
    for number, meeting in met:
        folder.results.append({"round": number, "meeting": meeting._asdict()})
    found = tables(folder)
    assert (found["rules"], found["knockout"], found["rounds"]) == (["rows=5"], "my-run", [[2, 100], [1, 8]])
    assert found["best"] is None and found["goes_on"]
    folder.write_json("result.json", {"best": f"{tmp_path / 'runs' / 'my'},games=100"})
    found = tables(folder)
    assert found["best"] == "my-run,games=100" and not found["goes_on"]
    folder.write_json("result.json", {"best": 3})  # by somebody else
    assert tables(folder)["best"] == "3"
    (folder.path / "result.json").unlink()
    os.mkfifo(folder.path / "result.json")  # would be read for ever
    assert tables(folder)["goes_on"]


@pytest.mark.parametrize("text", ["{", '{"format": 1}', '{"format": 1, "game": "go", "players": [], "games": 1}'])
def test_what_is_broken_is_said_to_be(folder, text):
    (folder.path / "tournament.json").write_text(text)
    found = tables(folder)
    assert found["error"].startswith("it cannot be read") and not found["goes_on"]
    assert str(folder.path.parent) not in found["error"]


def test_the_server_tells_them(folder):
    with serving(work=folder.path.parent.parent) as (_, http):
        assert [one["name"] for one in http.get("/api/tournaments").json()["tournaments"]] == ["first"]
        assert http.get("/tournaments").status_code == 200
    with serving() as (_, http):
        assert http.get("/api/tournaments").json() == {"tournaments": []}
