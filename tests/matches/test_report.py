"""Match results as tables."""

import dataclasses
import io
import itertools

import numpy as np
from rich.console import Console

from jaxgames.matches import MatchResult, report, result_table
from jaxgames.matches.knockout import KnockoutResult, Meeting
from jaxgames.matches.report import draw_tournament, knockout_table, tournament_tables
from jaxgames.matches.tournament import TournamentResult

RESULT = MatchResult(
    game="backgammon", a="runs/a", b="pubeval", seed=0, games=10_000, ppg=0.331, ppg_low=0.31, ppg_high=0.352,
    win_rate=0.601, gammon_rate=0.172, backgammon_rate=0.013, loss_rate=0.399, gammon_loss_rate=0.081,
    backgammon_loss_rate=0.002, draw_rate=0.0, stopped=0, plies_per_game=58.7, seconds=4.0, games_per_second=2500.0,
    max_reward=3,
)  # fmt: skip


def text(table):
    console = Console(file=io.StringIO(), width=80)
    console.print(table)
    return console.file.getvalue()


def row(table, name):
    return next(line for line in text(table).splitlines() if name in line)


def test_one_match_seen_from_both_sides():
    table = result_table(RESULT)
    assert row(table, "points per game").split("│")[2:4] == ["           +0.331 ", "           -0.331 "]
    assert row(table, "95 %").split("│")[2:4] == [" +0.310 to +0.352 ", " -0.352 to -0.310 "]
    assert "60.1 %" in row(table, "won") and "39.9 %" in row(table, "won")
    assert "drawn" not in text(table)
    assert "59 plies a game, 2,500 games/s" in text(table)


def test_a_long_name_is_folded_and_figures_are_whole():
    long = f"hub:env {'PYTHONPATH=a/folder/of/packages ' * 4}python engine.py,depth=6"
    table = result_table(dataclasses.replace(RESULT, b=long))
    assert max(map(len, text(table).splitlines())) == 80
    assert row(table, "95 % interval").split("│")[2].strip() == "+0.310 to +0.352"
    shown = "".join(line.split("┃")[3].strip() for line in text(table).splitlines() if "┃" in line)
    assert shown.replace(" ", "") == long.replace(" ", "")


def test_a_table_is_a_text_too():
    title, head, line, points, interval, *_ = str(result_table(RESULT)).splitlines()
    assert (title, head.split(), set(line)) == ("backgammon: 10,000 games", ["runs/a", "pubeval"], {"-"})
    assert points.split() == ["points", "per", "game", "+0.331", "-0.331"] and points.endswith(" -0.331")
    assert interval.startswith("95 % interval ") and len(interval) == len(head) == len(points)


def test_stopped_and_lost_games_are_told():
    assert "stopped" not in text(result_table(RESULT))
    told = " ".join(text(result_table(dataclasses.replace(RESULT, stopped=3, forfeits={"an error": 2}))).split())
    assert "3 games stopped as too long" in told and "2 lost by an error" in told


def test_names_with_dollars_are_drawn_as_they_are(tmp_path):
    names = ("runs/a$1_$x", "runs/$\\frac$")
    matches = {pair: RESULT for pair in itertools.combinations(range(2), 2)}
    draw_tournament(TournamentResult("backgammon", names, 10, 0, 3, matches, (1.0, 1.0)), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


ONE = dataclasses.replace(
    RESULT, game="tic_tac_toe", a="one", b="other", games=10, ppg=0.3, ppg_low=-0.1, ppg_high=0.7, win_rate=0.5,
    loss_rate=0.2, draw_rate=0.3, max_reward=1,
)  # fmt: skip
LOST = dataclasses.replace(ONE, ppg=-0.4, ppg_low=-0.8, ppg_high=0.0, win_rate=0.2, loss_rate=0.6)


def toured(names, *results):
    matches = dict(zip(itertools.combinations(range(len(names)), 2), results, strict=True))
    return TournamentResult("tic_tac_toe", names, 10, 0, 1, matches, (1.0,) * len(names))


def cells(table, name):
    line = next(line for line in str(table).splitlines() if line.startswith(name))
    return " ".join(line.removeprefix(name).split())


def test_a_match_of_single_points_and_shares_of_more():
    table = result_table(ONE)
    found = [cells(table, name) for name in ("score", "95 % interval", "won", "drawn")]
    scores, intervals = "65.0 % 35.0 %", "45.0 to 85.0 % 15.0 to 55.0 %"
    assert found == [scores, intervals, "50.0 % 20.0 %", "30.0 % 30.0 %"]
    most = result_table(dataclasses.replace(ONE, win_rate=0.9999, loss_rate=0.0001, draw_rate=0.0))
    assert cells(most, "won") == ">99.9 % <0.1 %"  # one game of 10,000 is lost
    wide = dataclasses.replace(ONE, ppg_low=-1.2, ppg_high=1.3)
    assert (wide.score_low, wide.score_high) == (0, 1)
    found = [cells(result_table(RESULT), f"{name}, of all games") for name in ("gammons", "backgammons")]
    assert found == ["17.2 % 8.1 %", "1.3 % 0.2 %"]


def test_the_cross_table_is_of_rows_the_strongest_first():
    even = dataclasses.replace(ONE, ppg=0.0, ppg_low=-0.4, ppg_high=0.4, win_rate=0.3, loss_rate=0.3)
    some = [dataclasses.replace(LOST, forfeits={"slow": number}) for number in (2, 3)]
    cross, ratings = map(str, tournament_tables(toured(("one", "other", "third"), *some, even)))
    rows = [line.split() for line in cross.splitlines() if "±" in line]
    assert rows[-1] == "3 one 30.0 ± 20.0 30.0 ± 20.0 -".split()
    assert rows[0][2:] == "- 50.0 ± 20.0 70.0 ± 20.0".split() and "5 games forfeited: slow" in ratings


def test_the_picture_has_the_order_of_the_table(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(report, "save", lambda figure, path: kept.append(figure))
    draw_tournament(toured(("one", "other"), LOST), tmp_path / "a.png")
    np.testing.assert_allclose(kept[0].axes[0].images[0].get_array().filled(np.nan), [[np.nan, 70], [30, np.nan]])


def test_who_goes_on_in_a_knockout():
    meeting = Meeting(0, 1, 20, -6.0, 1)
    table = knockout_table(KnockoutResult("tic_tac_toe", ("one", "other"), 6, 40, 0, ((meeting,),), 1, 1.0))
    assert cells(table, "    1 ") == "one other -6 20 other"
