"""Match results as tables."""

import dataclasses
import io
import itertools

from rich.console import Console

from jaxgames.matches import MatchResult, result_table
from jaxgames.matches.report import draw_tournament
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
