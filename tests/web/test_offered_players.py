"""Which players a page may name."""

import json
from pathlib import Path

import pytest

from jaxgames.envs.registry import make
from jaxgames.players import registry
from jaxgames.runs import Run
from jaxgames.web.boards import VIEWS
from jaxgames.web.games import describe_game
from jaxgames.web.limits import Limits
from jaxgames.web.offered_players import NAMES, OfferedPlayers


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "my run"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"format": 1, "config": {"kind": "td", "game": "backgammon"}}))
    return folder


@pytest.fixture
def listed(run_folder):
    return OfferedPlayers([str(run_folder)])


@pytest.mark.parametrize(
    ("spec", "game", "resolved"),
    [
        ("random", "checkers", "random"),
        ("uct:800,c=1.5", "checkers", "uct:800,c=1.5"),
        ("alphabeta:8,ties=first", "checkers", "alphabeta:8,ties=first"),
        ("simple:2", "backgammon", "simple:2"),
        ("uct:0.5s", "checkers", "uct:0.5s"),
        ("champion:easy", "tic_tac_toe", "champion:easy"),
        ("champion", "tic_tac_toe", "champion"),
        ("champion@2", "tic_tac_toe", "champion@2"),
        ("weak:0.2:champion", "tic_tac_toe", "weak:0.2:champion"),
        ("weak:0.5:uct:100,c=1", "checkers", "weak:0.5:uct:100,c=1"),
        ("puct:champion:100", "tic_tac_toe", "puct:champion:100"),
    ],
)
def test_listed_specs_stay_what_they_are(listed, spec, game, resolved):
    assert listed.resolve(spec, make(game)) == resolved


def test_runs_are_named_by_the_server(listed, run_folder):
    game = make("backgammon")
    assert listed.runs == {"my-run": run_folder.resolve()}
    assert listed.resolve("my-run", game) == str(run_folder)
    assert listed.resolve("my-run@2,keep=8", game) == f"{run_folder}@2,keep=8"
    assert listed.resolve("gumbel:my-run:32", game) == f"gumbel:{run_folder}:32"
    assert listed.resolve("weak:0.1:my-run", game) == f"weak:0.1:{run_folder}"
    with pytest.raises(ValueError, match="has no checkpoint yet"):
        listed.resolve("newest:my-run", game)
    run = Run.open(run_folder)
    for step in (5, 10):
        run.save(step, {"weight": 0.0})
    assert Path(listed.resolve("newest:my-run", game)).name == "step-10"


def test_two_runs_of_one_name_and_one_named_as_a_player(tmp_path):
    folders = []
    for parent, name in (("a", "x"), ("b", "x"), ("c", "random")):
        folder = tmp_path / parent / name
        folder.mkdir(parents=True)
        (folder / "config.json").write_text('{"format": 1, "config": {}}')
        folders.append(str(folder))
    assert list(OfferedPlayers(folders).runs) == ["x", "x-2", "random-2"]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "expected a name from the list"),
        ("/etc/passwd", "expected a name from the list"),
        ("../runs/a", "expected a name from the list"),
        ("~/runs", "expected a name from the list"),
        ("my run", "expected a name from the list"),
        ("random\n", "expected a name from the list"),
        ("tests", "unknown player 'tests'"),
        (".", "unknown player '.'"),
        ("..", "unknown player '..'"),
        ("jaxgames@2", "unknown player"),
        ("puct:tests:100", "unknown run 'tests'"),
        ("puct:..:100", "unknown run '..'"),
        ("newest:tests", "unknown run 'tests'"),
        ("newest:", "unknown run ''"),
        ("newest:..", "unknown run '..'"),
        ("weak:0.2:tests", "unknown player 'tests'"),
        ("weak:0.2:weak:0.2:random", "weak needs a probability and a player"),
        ("weak:0.2:", "weak needs"),
        ("hub:ls", "unknown player 'hub:ls'"),
        ("gnubg:0", "unknown player"),
        ("openspiel:mcts:1000", "unknown player"),
        ("plugin:x", "unknown player"),
        ("uct:5001", "from 1 to 5000"),
        ("uct:99999999999999999999", "from 1 to 5000"),
        ("uct:800:900", "not 'uct:800:900'"),
        ("uct:6s", "at most 5s"),
        ("uct:999999s", "at most 3600 s"),
        ("alphabeta:champion:6s", "at most 5s"),
        ("lgr:100,keep=1", "option 'keep' is not offered here"),
        ("gumbel:champion:1s", "expected a whole number"),
        ("uct:800,trees=16", "from 1 to 312"),
        ("uct:10,trees=17", "from 1 to 16"),
        ("uct:10,c=1e9", "from 0 to 1,000,000"),
        ("uct:10,path=x", "no option 'path'"),
        ("alphabeta:9", "from 1 to 8"),
        ("minimax:champion:9", "from 1 to 5"),
        ("minimax:6", "from 1 to 5"),
        ("champion@3", "from 1 to 2"),
        ("champion:../x", "expected a name from the list"),
        ("champion:best", "champions are"),
        ("champion@2,keep=65", "from 1 to 64"),
        ("my-run@3", "from 1 to 2"),
        ("weak:0.2:uct:5001", "from 1 to 5000"),
        ("x" * 121, "expected a name from the list"),
    ],
)
def test_nothing_else_is_a_player(listed, monkeypatch, spec, says):
    monkeypatch.setattr(registry, "entry_points", lambda **_: pytest.fail("a page loads no package"))
    with pytest.raises(ValueError) as error:
        listed.make(spec, make("tic_tac_toe"))
    assert (
        says in str(error.value) and "\n" not in str(error.value) and str(listed.runs["my-run"]) not in str(error.value)
    )


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "connect_four", "checkers", "backgammon"])
def test_what_is_described_can_be_played(listed, game_id):
    game = make(game_id)
    found = listed.describe(game)
    names = [player["name"] for player in found]
    assert len(set(names)) == len(names) and "random" in names and ("my-run" in names) == (game_id == "backgammon")
    for player in found:
        if "my-run" not in player["example"]:  # it has no player yet
            spec = player["example"]
            for argument in player["arguments"]:
                spec = spec.replace(":9", f":{argument['most']}") if "most" in argument else spec
            assert listed.make(spec, game).game == game
    json.dumps(found, allow_nan=False)


def test_a_player_with_arguments_of_other_kinds_is_not_offered(listed, monkeypatch):
    """The bounds of numbers must not be lost when players change."""
    entry = registry.PLAYERS["uct"]
    monkeypatch.setitem(registry.PLAYERS, "uct", entry._replace(arguments=("SOMETHING",)))
    with pytest.raises(ValueError, match="is not offered here"):
        listed.resolve("uct:99999", make("checkers"))
    assert "uct" not in [player["name"] for player in listed.describe(make("checkers"))]


def test_every_listed_name_is_known():
    assert [name for name in NAMES if name not in registry.PLAYERS and name != "perfect"] == []


def test_limits_are_kept():
    assert OfferedPlayers(limits=Limits(simulations=10)).resolve("uct:10", make("checkers")) == "uct:10"
    with pytest.raises(ValueError, match="from 1 to 10"):
        OfferedPlayers(limits=Limits(simulations=10)).resolve("uct:11", make("checkers"))


def test_errors_say_no_folders_and_suggest_only_what_is_offered(listed, run_folder):
    game = make("backgammon")
    with pytest.raises(ValueError) as error:
        listed.make("my-run", game)
    assert "my-run" in str(error.value) and str(run_folder.parent) not in str(error.value)
    for game in map(make, ("tic_tac_toe", "checkers")):
        with pytest.raises(ValueError, match="expected one of") as error:
            listed.resolve("nobody", game)
        for spec in str(error.value).partition("expected one of ")[2].split(", "):
            if "RUN" not in spec:
                assert listed.resolve(spec, game)


def test_what_is_said_of_players_is_for_people():
    """No marks of the command line, no names of the code."""
    for game_id in VIEWS:
        described = describe_game(game_id, OfferedPlayers())
        said = [described["title"], described["notation"], *described["sides"]]
        for player in described["players"]:
            said += [player["help"], *(option[name] for option in player["options"] for name in ("label", "help"))]
        said += [option["help"] for option in described["options"]]
        assert not [text for text in said if "`" in text or "_" in text]
