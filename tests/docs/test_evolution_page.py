"""The page of the recipes of evolution shows the results that are committed beside it, and their settings."""

import json
import re
from pathlib import Path
from statistics import median

import pytest

from jaxgames.recipes import RECIPES
from jaxgames.recipes.tic_tac_toe_evolution import LABELS, RERUN

FOLDER = Path(__file__).parents[2] / "docs" / "recipes"
RESULTS = json.loads((FOLDER.parents[1] / "benchmarks/results/recipes/evolution.json").read_text("utf-8"))
TEXT = (FOLDER / "evolution.md").read_text("utf-8")
EXACT = [result for result in RESULTS if "mean" in result]
BY_MATCHES = [result for result in RESULTS if "matches" in result]


def exact_row(result: dict) -> str:
    """A line of the table of tic-tac-toe."""
    cells = [f"`{result['setting']}`", f"{result['games']:,}" if result["games"] else "-"]
    several = len(result["champions"]["kept"]) > 1
    for name in list(LABELS)[:5]:
        margin = f" ± {result['margin'][name]:.1f}" if several else ""
        cells.append(f"{result['mean'][name]:.1f}{margin}")
    return f"| {' | '.join(cells)} |"


def match_rows(result: dict) -> list[str]:
    """The lines of the tables of the other games."""
    found = []
    for match in result["matches"]:
        rates = [f"{100 * match[f'{kind}_rate']:.1f}" for kind in ("win", "draw", "loss")]
        points = [f"{match['ppg']:+.3f}"] if match["max_reward"] > 1 else []
        cells = [f"`{result['setting']}`", f"{result['games']:,}", f"`{match['b']}`", f"{match['games']:,}"]
        found.append(f"| {' | '.join([*cells, *points, *rates])} |")
    return found


def test_tables_are_those_of_the_results():
    shown = [line for line in TEXT.splitlines() if line.startswith("| `")]
    for row in [exact_row(result) for result in EXACT] + [row for result in BY_MATCHES for row in match_rows(result)]:
        assert row in shown, row
    assert f"| {RERUN['win_random']} | {RERUN['draw_random']} | {RERUN['loss_random']} |" in TEXT


@pytest.mark.parametrize("name", sorted({result["recipe"] for result in RESULTS}))
def test_settings_are_named(name):
    for setting in RECIPES[name].settings:
        assert f"`{setting}`" in TEXT, setting


def test_what_is_claimed_of_tic_tac_toe():
    results = {result["setting"]: result for result in EXACT}
    original = results["original"]
    assert original["generations"] == 900 and round(original["games"], -6) == 345_000_000
    for name in ("win_random", "kept", "wins", "blocks"):  # 900 rounds are no better than the rerun's 24
        both = (original["margin"][name] ** 2 + RERUN["margins"][name] ** 2) ** 0.5
        assert original["mean"][name] - RERUN[name] < both, name
    report = json.loads((FOLDER.parent / "reproductions/tic-tac-toe-evolution/report.json").read_text("utf-8"))
    (rerun,) = (part["rows"] for part in report["parts"] if part["key"] == "rerun")
    assert len(rerun) == 7 and all(row["verdict"] == "agrees" for row in rerun)
    assert results["illegal-loses generations=100"]["mean"]["win_random"] < original["mean"]["win_random"] - 10
    best = results["best"]["mean"]
    assert best["loss_random"] <= 5 and best["kept"] >= 90


def test_what_is_claimed_of_checkers():
    best = next(r for r in BY_MATCHES if r["recipe"] == "checkers-evolution" and r["setting"].startswith("best"))
    against_random = next(match for match in best["matches"] if match["b"] == "random")
    assert against_random["games"] == 10_000 and against_random["win_rate"] >= 0.9


def test_what_is_claimed_of_backgammon_and_connect_four():
    ppg = {
        result["setting"]: match["ppg"]
        for result in BY_MATCHES
        for match in result["matches"]
        if match["b"] == "pubeval"
    }
    assert -0.91 < ppg["faithful"] < ppg["best"] < 0  # above the published figure, below TD
    usual = next(result for result in BY_MATCHES if result["recipe"] == "connect-four-evolution")
    won = {match["b"]: match for match in usual["matches"]}
    assert won["uct:50"]["ppg_low"] > 0 and won["random"]["win_rate"] >= 0.99


def test_the_memory_of_a_million_is_that_of_the_command():
    (result,) = (result for result in RESULTS if "peak_memory_gib" in result)
    (command,) = (line for line in TEXT.replace("\\\n", "").splitlines() if "--out runs/million" in line)
    changes = re.findall(r"--(?:set |(?=population ))(\S+(?: \d+)?)", command)
    setting = {change.replace(" ", "=") for change in changes}
    assert setting == set(result["setting"].removeprefix("usual ").split())
    assert f" --devices {result['devices']} " in command and f"took {result['peak_memory_gib']} GiB" in TEXT


def test_the_spread_of_champions_is_that_of_the_results():
    for setting in ("self-play", "self-play-one-square"):
        (points,) = (result["curve_points"] for result in BY_MATCHES if result["setting"] == setting)
        won = [point["win_random"] for point in points]
        assert f"{min(won):.0f} to {max(won):.0f} % (median {median(won):.0f})" in TEXT
        assert len(won) == 20


if __name__ == "__main__":  # the rows, to be pasted
    for result in EXACT:
        print(exact_row(result))
    for result in BY_MATCHES:
        print(result["recipe"], *match_rows(result), sep="\n")
