"""The reproduction of the Checkers-Simulation: its published figures, its formulas, what it measures."""

import json
from pathlib import Path

import numpy as np
import pytest

from jaxgames.matches.intervals import mean_margin
from jaxgames.recipes.report import Report
from jaxgames.recipes.reproduce import Study, system_named
from jaxgames.recipes.reproduce.checkers_simulation import minimax, networks, positions
from jaxgames.recipes.reproduce.rows import published

DATA = Path(__file__).parents[2] / "data"
PUBLISHED = published("checkers_simulation")


def test_published_figures_fit_together():
    for name in ("4.3 network against random", "6 minimax against random"):
        assert sum(PUBLISHED[name][result] for result in ("won", "lost", "drawn")) == PUBLISHED[name]["games"] == 10_000
    size, squares = PUBLISHED["4.2 network"], PUBLISHED["2.1 positions"]["squares"]
    assert size["inputs"] * size["hidden layers"] == size["hidden units"]
    assert size["inputs"] * size["hidden units"] == size["weights"]
    assert PUBLISHED["5.1 bits"]["board"] == 3 * squares


def test_numbers_of_positions():
    """The printed formula, whole numbers throughout; the printed figure is that of shorter sums; OEIS A055213."""
    assert positions.formula() == 2_308_487_698_984_342_680_192
    assert positions.formula(short=True) == 601_114_109_519_022_914_124
    typed = json.loads((DATA / "checkers" / "piece_counts.json").read_text("utf-8"))
    counts = positions.by_pieces()
    assert {str(n): count for n, count in enumerate(counts) if n} == typed["A055213_positions_by_total_pieces"]
    assert sum(counts[1:]) == typed["total"] == positions.A055213


def test_every_table_and_figure_has_a_part():
    keys = [part.key for part in system_named("checkers-simulation").parts]
    assert {"positions", "figure-3-1", "figure-3-2", "figure-3-4", "figure-4-2", "figure-4-3", "cuts"} <= set(keys)
    assert {"self-play", "legality", "against-minimax", "backpropagation", "comparison"} <= set(keys)
    assert len(keys) == len(set(keys)) == 15


def test_ratios_have_intervals():
    slow, fast = [10.0, 22.0, 28.0], [1.0, 2.0, 3.0]
    ratio, low, high = minimax.ratio_of(slow, fast)
    assert ratio == 10 and low < 10 < high < 12
    assert minimax.ratio_of([10.0, 20.0, 30.0], fast) == (10, 10, 10)


def test_what_the_page_of_recipes_says_is_in_the_report():
    folder = DATA.parent.parent / "docs" / "reproductions" / "checkers-simulation"
    report = json.loads((folder / "report.json").read_text("utf-8"))
    page, recipes = (
        path.read_text("utf-8") for path in (folder / "index.md", folder.parents[1] / "recipes" / "evolution.md")
    )
    assert not report["quick"] and "Quick figures" not in page
    part = next(part for part in report["parts"] if part["key"] == "self-play")
    rows = {row["what"] + row["learner"]: row for row in part["rows"]}
    won = rows["won against random moves, epoch 200one hidden layer"]
    assert f"wins {won['ours']:.1f} % of 10,000 games" in recipes and f"wins {won['published']:.1f} %" in recipes


@pytest.fixture
def study(tmp_path):
    return Study.create(tmp_path / "study", "checkers-simulation", True, 0, Report(quiet=True))


def test_parts_that_need_no_games(study):
    """Every row says why it differs; the points are those of the text."""
    for measure in (positions.measure, networks.network, networks.points):
        rows = measure(study)
        assert rows and all(row.why or row.verdict not in ("differs", "not done") for row in rows), rows
    assert {row.verdict for row in networks.points(study)} == {"set"}
    assert [row.verdict for row in positions.measure(study)] == ["differs", "agrees", "agrees", "agrees", "better"]
    (weights,) = [row for row in networks.network(study) if row.what == "weights"]
    assert weights.ours == 11 * 64 * 64 == weights.published + 64 * 64


def test_games_are_those_of_minimax_against_random():
    """It moves first in every other game; all its moves are searched, and no others; cuts of both kinds are made."""
    plies = list(minimax.games(3, 8, seed=1))
    assert plies[0][1].tolist() == [True, False] * 4 and len(plies) > 20
    for _, here, found in plies:
        nodes = np.asarray(found.nodes)
        assert (nodes[here] > 0).all() and (nodes[~here] == 0).all()
    totals = [sum(int(getattr(found, name).sum()) for *_, found in plies) for name in ("alpha_cuts", "beta_cuts")]
    assert min(totals) > 0
    drawn = minimax.positions(1, depth=3, count=8)
    for game in range(8):
        seen = [
            all((x[game] == y[game]) for x, y in zip(drawn, at, strict=True)) for at, here, _ in plies if here[game]
        ]
        assert any(seen)


@pytest.mark.slow  # half a minute, for the compiling of its opponents
def test_backpropagation_learns_moves_of_minimax(study, monkeypatch):
    """Positions learned and positions of the test are apart; a study that goes on measures nothing twice."""
    monkeypatch.setattr(networks, "AMOUNT", (None, {"games": 8, "epochs": "2", "final_games": 2}))
    monkeypatch.setattr(networks, "TEACHER", "alphabeta:1")
    rows = networks.backpropagation(study)
    assert all(row.why or row.verdict not in ("differs", "not done") for row in rows)
    found = {row.what: row.ours for row in rows}
    assert 0 < found["positions kept to test it"] < found["positions learned"] < 0.01
    assert 0 < found["squared error of a move learned, in that epoch"] < 64
    path = study.path / "errors.png"
    networks.draw_errors(study, rows, path)
    assert path.read_bytes().startswith(b"\x89PNG")

    (study.path / "data" / "merged" / "data.json").unlink()  # it is not read again
    assert networks.backpropagation(study) == rows


def test_games_of_one_network_are_alike():
    """Ten networks in a hundred equal games each say as much as ten numbers; one of them is judged by its games."""
    counts = np.repeat(np.arange(10.0)[:, None], 100, axis=1)
    assert networks.summary(counts)["margin"] == pytest.approx(mean_margin(np.arange(10.0)))
    assert networks.summary(counts.T[:1])["margin"] == pytest.approx(mean_margin(np.arange(10.0)))
    assert networks.summary(counts)["mean"] == 4.5
