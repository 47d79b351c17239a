"""Figures 5.1 to 5.4: the saved networks against the three benchmarks, and Extra against TD of the same age."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from jaxgames.matches import match
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon import published
from jaxgames.recipes.reproduce.td_gammon.tables import LEFT_OUT
from jaxgames.recipes.reproduce.td_gammon.trained import BATCH, LEARNER, Trained, player, trained
from jaxgames.runs import Panel
from jaxgames.runs.curves import draw as draw_metrics

MATCH = 200
"""Games of a network against a benchmark."""
MEAN_OF = 10
"""Networks whose mean is drawn."""
METHODS = ("td", "backprop", "mutation")
COLORS = {"td": "TD", "backprop": "Backprop", "mutation": "Mutation"}

Curve = list[tuple[int, float]]


def ages(study: Study, found: Trained) -> list[int]:
    """After how many games the networks that are met were saved: all of them, in a quick study the first and last."""
    steps = range(1, len(found.players) + 1)
    return [step * found.every for step in study.amount(steps, sorted({steps[0], steps[-1]}))]


def against(study: Study, name: str, benchmark: str) -> Curve:
    """Points per game of the networks of a training, in 200 games each."""
    found, other = trained(study, name), benchmark

    def measure() -> dict[str, list[float]]:
        opponent = player(study, other)
        points = [
            match(found.after(games), opponent, MATCH, seed=study.seed + games, batch=BATCH).ppg
            for games in ages(study, found)
        ]
        return {"ppg": points}

    settings = {"ages": ages(study, found), "games": MATCH}
    points = study.cell(f"{name} over games against {benchmark}", settings, measure)["ppg"]
    return list(zip(ages(study, found), points, strict=True))


def smooth(curve: Curve) -> Curve:
    """Means of ten networks in a row, or of all if there are fewer, each at the middle of their ages."""
    width = min(MEAN_OF, len(curve))
    table = np.array(curve)
    means = np.stack([table[i : i + width].mean(axis=0) for i in range(len(curve) - width + 1)])
    return [(int(games), float(ppg)) for games, ppg in means]


def reached(curve: Curve, level: float) -> int | None:
    """The first age at which the smooth curve reaches a level."""
    return next((games for games, ppg in smooth(curve) if ppg >= level), None)


def _games_row(study: Study, what: str, text: float, ours: int | None, why: str) -> Row:
    return Row(
        what, text, ours, unit="games", published_margin=0.25 * text, learner=LEARNER, digits=0,
        why=why if ours is not None else f"not reached; {why}",
    )  # fmt: skip


READ = "read off a curve of means of ten networks, in the text by eye"


def figure_random(study: Study) -> list[Row]:
    """Figure 5.1: when each curve is at 2.5 points per game."""
    return [
        _games_row(
            study, f"{name}: at +{published.FLAT} PPG after", text, reached(against(study, name, "random"), 2.5), READ
        )
        for name, text in published.FLAT_AGAINST_RANDOM.items()
    ]


def figure_simple(study: Study) -> list[Row]:
    """Figure 5.2: when backprop overtakes mutation."""
    mutation, backprop = (smooth(against(study, name, "simple")) for name in ("mutation", "backprop"))
    end = min(mutation[-1][0], backprop[-1][0])
    places = np.linspace(max(mutation[0][0], backprop[0][0]), end, 200)
    ahead = _at(backprop, places) > _at(mutation, places)
    behind = np.flatnonzero(~ahead)
    last = int(places[min(behind[-1] + 1, len(places) - 1)]) if len(behind) else int(places[0])
    found = last if ahead[-1] else None
    rows = [_games_row(study, "backprop is ahead of mutation from", published.OVERTAKES, found, READ)]
    return rows + _ends(study, "simple")


def figure_pubeval(study: Study) -> list[Row]:
    """Figure 5.3: when each curve comes within 0.1 of its highest point."""
    rows = []
    for name, text in published.TOP_AGAINST_PUBEVAL.items():
        curve = against(study, name, "pubeval")
        top = max(ppg for _, ppg in smooth(curve))
        games = trained(study, name).games
        found = reached(curve, top - 0.1) if games >= text else None
        why = READ if games >= text else f"{games:,} games were trained"
        rows.append(_games_row(study, f"{name}: at its top (within 0.1 PPG) after", text, found, why))
    return rows + _ends(study, "pubeval")


def _ends(study: Study, benchmark: str) -> list[Row]:
    """Where the curves end."""
    rows = []
    for name in METHODS:
        games, ppg = smooth(against(study, name, benchmark))[-1]
        rows.append(
            Row(f"{name}: the end of its curve, {games:,} games", None, ppg, unit="PPG", learner=LEARNER, digits=2)
        )
    return rows


def _at(curve: Curve, places: np.ndarray) -> np.ndarray:
    table = np.array(curve)
    return np.interp(places, table[:, 0], table[:, 1])


def drawing(benchmark: str) -> Callable[[Study, Sequence[Row], Path], None]:
    """Draws the figure against a benchmark."""

    def draw(study: Study, rows: Sequence[Row], path: Path) -> None:
        lines = [
            {"games": games, name: ppg} for name in METHODS for games, ppg in smooth(against(study, name, benchmark))
        ]
        panel = Panel(f"points per game against {benchmark}", COLORS, height=2.6, signed=True)
        draw_metrics(lines, path, panels=[panel], title=f"Three ways to learn, against {benchmark}")

    return draw


def extra_curve(study: Study) -> Curve:
    """Figure 5.4: Extra against TD of the same age."""
    extra, td = trained(study, "extra"), trained(study, "td")
    met = [games for games in ages(study, extra) if games <= td.games]

    def measure() -> dict[str, list[float]]:
        points = [match(extra.after(g), td.after(g), MATCH, seed=study.seed + g, batch=BATCH).ppg for g in met]
        return {"ppg": points}

    points = study.cell("extra over games against td", {"ages": met, "games": MATCH}, measure)["ppg"]
    return list(zip(met, points, strict=True))


def figure_extra(study: Study) -> list[Row]:
    """Figure 5.4: whether Extra is ahead in the first 5,000 games, and later."""
    if study.quick:
        return [Row("extra against td of the same age", None, unit="PPG", learner=LEARNER, why=LEFT_OUT)]
    curve = extra_curve(study)
    parts = (
        (
            f"extra against td, the first {published.EXTRA_FASTER:,} games",
            [p for g, p in curve if g <= published.EXTRA_FASTER],
        ),
        ("extra against td, later", [p for g, p in curve if g > published.EXTRA_FASTER]),
    )
    rows = []
    for what, points in parts:
        if points:
            mean, margin = float(np.mean(points)), 1.96 * 1.5 / np.sqrt(MATCH * len(points))
            rows.append(Row(what, None, mean, mean - margin, mean + margin, "PPG", learner=LEARNER, digits=3))
    return rows


def draw_extra(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws figure 5.4."""
    curve = [(0, 0.0)] if study.quick else smooth(extra_curve(study))  # nothing was trained in a quick study
    lines = [{"games": games, "extra": ppg} for games, ppg in curve]
    panel = Panel("points per game against td", {"extra": "Extra"}, height=2.6, signed=True)
    draw_metrics(lines, path, panels=[panel], title="212 inputs against 198, networks of the same age")
