"""The recipe `td`: every game, its results in its own terms, and the player of tic-tac-toe that loses no line."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import jaxgames
from jaxgames import cli
from jaxgames.arena import every_line
from jaxgames.envs.registry import available_games
from jaxgames.players import make as make_player
from jaxgames.recipes import RECIPES, Plan
from jaxgames.recipes.td import named as td
from jaxgames.recipes.td import strength
from jaxgames.runs import Run

TINY = "--games 3000 --devices 1 --set hidden=8 --set batch=64 --measured-games 20 --final-games 40 --json".split()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A short training, and what its command printed."""
    path = tmp_path_factory.mktemp("runs") / "tic_tac_toe"
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda text, **_: printed.append(text))
        assert cli.main(["train", "td", "--game", "tic_tac_toe", "--out", str(path), *TINY]) == 0
    (text,) = printed
    return SimpleNamespace(run=Run.open(path), result=json.loads(text))


def test_results_are_those_of_the_player_that_was_kept(finished):
    result, run = finished.result, finished.run
    assert (result["recipe"], result["game"]) == ("td", "tic_tac_toe")
    (match,) = result["matches"]
    assert match["b"] == "random" and match["games"] == 40
    player = make_player(str(run.path), jaxgames.make("tic_tac_toe"))
    assert result["every_line"] == every_line(player).to_dict()
    measured = [line for line in run.metrics() if "lines_lost" in line]
    assert len(measured) >= 2
    assert run.best_info()["lines_lost"] == min(line["lines_lost"] for line in measured)
    assert result["every_line"]["lost"] == run.best_info()["lines_lost"]
    for line in measured:
        assert line["win_random"] + line["draw_random"] + line["loss_random"] == pytest.approx(100)
        assert line["score_random"] == pytest.approx(line["win_random"] + line["draw_random"] / 2)
        assert 0 <= line["score_random_low"] <= line["score_random"] <= line["score_random_high"] <= 100
    assert (run.path / "curve.png").read_bytes()[:4] == b"\x89PNG"


def test_the_table_fits_80_columns(finished, capsys):
    RECIPES["td"].show({**finished.result, "run": "runs/x", "curve": "runs/x/curve.png"})
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    row = next(line for line in text.splitlines() if "all lines, second" in line)
    assert f"{finished.result['every_line']['second']['lines']:,}" in row and "…" not in text


def test_a_match_finds_the_game_in_the_run_folder(finished, capsys):
    path = str(finished.run.path)
    for players in ((path, "random"), ("random", path)):
        assert cli.main(["match", *players, "--games", "20", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["game"] == "tic_tac_toe"
    for arguments, message in (
        ([path, "pubeval"], "pubeval plays backgammon, not tic_tac_toe"),
        ([path, "random", "--game", "connect_four"], "holds a player of tic_tac_toe, not of connect_four"),
    ):
        assert cli.main(["match", *arguments]) == 2
        assert message in one_line(capsys)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("td", "td learns the game that is named: --game tic_tac_toe|connect_four|"),
        ("td --game chess", "unknown game 'chess'; available: tic_tac_toe"),
        ("td-gammon --game checkers", "td-gammon learns backgammon, not checkers; for other games: jaxgames train td"),
        ("td --game connect_four --setting foo", "unknown setting 'foo' of td; available: fast"),
        ("td --game connect_four --set encoding=foo --games 9", "unknown encoding 'foo' of connect_four"),
        ("td --game connect_four --set game=checkers", "unknown setting 'game'; available: encoding"),
        ("td --game connect_four --set epsilon=2", "epsilon=2.0: expected a number from 0 to 1"),
    ],
)
def test_bad_input_gets_one_line(arguments, expected, tmp_path, capsys):
    assert cli.main(["train", *arguments.split(), "--out", str(tmp_path / "out")]) == 2
    assert expected in one_line(capsys)
    assert not (tmp_path / "out").exists()


def test_every_game_has_settings_that_make_sense(monkeypatch):
    from jaxgames.envs import registry
    from tests.envs.othello import Othello

    monkeypatch.setitem(registry.GAMES, Othello.id, Othello)
    for game in (*available_games(), Othello.id):
        recipe = td.recipe_for(game)
        RECIPES["td"].check(Plan(game=game))
        assert recipe.game == game
        assert (recipe.minutes is None) != (recipe.games is None)
        for config in recipe.settings.values():
            network = config.network()
            assert network.game == jaxgames.make(game)
            assert (config.epsilon > 0) == (not network.game.outcome_probabilities)  # else all games are the same
            assert len(network.outcomes) == 2 or network.game.max_reward > 1


def measured(lost: int | None, score: float) -> dict:
    lines = {} if lost is None else {"lines_lost": lost}
    return {"score_random": score, "score_random_low": score - 1, "score_random_high": score + 1, **lines}


@pytest.mark.parametrize(
    ("before", "now", "kept"),
    [
        ((None, 90.0), (None, 89.5), True),  # not clearly worse, and it has learned more
        ((None, 90.0), (None, 88.5), False),
        ((3, 90.0), (2, 50.0), True),  # lines count first
        ((2, 50.0), (3, 90.0), False),
        ((0, 90.0), (0, 88.0), False),
        ((0, 90.0), (0, 91.0), True),
    ],
)
def test_the_player_that_is_kept(before, now, kept):
    assert strength.is_kept("random", measured(*before), None)
    remembered = strength.remembered("random", measured(*before))
    assert strength.is_kept("random", measured(*now), remembered) == kept


def test_backgammon_is_measured_in_points():
    metrics = [{"ppg_pubeval": 0.1, "loss": 0.1}]
    assert strength.panels("pubeval", metrics) is None
    panels = strength.panels("random", [measured(None, 90.0)])
    assert list(panels[0].lines) == ["score_random", "win_random", "draw_random", "loss_random"]
    panels = strength.panels("random", [measured(0, 90.0)])
    assert "lines_lost" in {key for panel in panels for key in panel.lines}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_line_is_lost(seed, tmp_path, capsys):
    arguments = f"train td --game tic_tac_toe --out {tmp_path / 'run'} --seed {seed} --json"
    assert cli.main(arguments.split()) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["every_line"]["lost"] == 0
    assert np.isclose(result["matches"][0]["loss_rate"], 0)


def one_line(capsys) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    return captured.err
