"""Matches of searches, tables 3 to 10 and 13: players, settings and games of each, and pictures of these tables."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxgames.algos import mcts
from jaxgames.matches.match import interval
from jaxgames.recipes.reproduce.connect_four_mcts.matches import Keeper, play, play_with_trees, sweep
from jaxgames.recipes.reproduce.connect_four_mcts.searches import (
    PUBLISHED,
    REPLIES,
    UCT,
    Kind,
    left_out,
    percent_row,
    percents,
)
from jaxgames.recipes.reproduce.rows import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs.figures import GREY, LINE_COLORS, Diagram, PlottedLine, draw_diagrams

PAIRS, QUICK_PAIRS = 250, 4
SIMULATIONS, QUICK_SIMULATIONS = 1000, 16
SLOTS, QUICK_SLOTS = 1024, 64
FORGETS = mcts.last_good_reply(forget=True, path=False)
GRAPHS = {"UCT1": mcts.uct1, "UCT2": mcts.uct2, "UCT3": mcts.uct3}
LGR = Kind(mcts.uct(), REPLIES, True)

KINDS: Mapping[str, Kind | Mapping[str, Kind]] = {
    "table 3": Kind(mcts.uct()),
    "table 4": {
        f"{name}, {label}": Kind(rule(symmetries=symmetries))
        for label, symmetries in (("with symmetry", True), ("without", False))
        for name, rule in GRAPHS.items()
    },
    "table 5": Kind(mcts.amaf()),
    "table 6": Kind(mcts.rave()),
    "table 7": {
        "replies not kept, none forgotten": Kind(mcts.uct(), REPLIES),
        "kept, none forgotten": LGR,
        "not kept, forgotten": Kind(mcts.uct(), FORGETS),
        "kept, forgotten": Kind(mcts.uct(), FORGETS, True),
    },
    "table 8": Kind(mcts.amaf(), REPLIES, True),
    "table 9": Kind(mcts.rave(), REPLIES, True),
}
"""The search of a table, or of each of its rows; Cp is that of the column."""
CONSTANTS = {"table 5": "alpha", "table 6": "k", "table 8": "alpha", "table 9": "k"}
"""Of which constant the rows of a table are."""
AGAINST = {"table 3": 0.5}
"""The constant c of UCT, the opponent, where it is not 0.4."""

QUICK_CELLS = ("table 3", "table 6", "table 7: kept, none forgotten", "table 9", "table 4: UCT2, with symmetry")
"""What quick figures are of: each search compiles for some seconds."""


def sweep_rows(
    study: Study,
    cell: str,
    kind: Kind,
    settings: Mapping[str, Sequence[float]],
    figures: Mapping[str, float],
    games: int,
    opponent: Kind = UCT,
    against: float = 0.4,
    factor: int = 1,
) -> list[Row]:
    """A kind of search at several settings against one opponent, all games at once.

    Args:
        study: keeps the cell.
        cell: its name.
        kind: the search.
        settings: constants of the rule by name, one for each setting.
        figures: what the settings are called, and their published percents.
        games: of each published figure, for its margin.
        opponent: whom it plays against.
        against: the opponent's constant c.
        factor: so many times as many games as usual.
    """
    pairs, simulations = factor * study.amount(PAIRS, QUICK_PAIRS), study.amount(SIMULATIONS, QUICK_SIMULATIONS)
    if study.quick and cell not in QUICK_CELLS:
        return [left_out(name, theirs) for name, theirs in figures.items()]
    told = {"pairs": pairs, "simulations": simulations, "against": {"c": against}, **settings}

    def measure() -> dict[str, Any]:
        own = sweep(kind.rule, kind.evaluate, settings, pairs, simulations, kind.keep)
        other = sweep(opponent.rule, opponent.evaluate, {"c": [against]}, pairs, simulations, opponent.keep)
        results = play(own, other, len(figures), pairs, study.seed, study.amount(SLOTS, QUICK_SLOTS))
        return {"cells": [percents(*result) | {"games": 2 * pairs} for result in results]}

    results = study.cell(cell, told, measure)["cells"]
    seconds = study.seconds_of(cell) / len(results)
    return [
        percent_row(cell, name, theirs, ours, 2 * pairs, games, seconds)
        for (name, theirs), ours in zip(figures.items(), results, strict=True)
    ]


def by_cp(table: str, study: Study, against: float | None = None) -> list[Row]:
    """A table of searches by Cp, which is 2 c, and by another constant or kind of search; `against` is the constant c
    of UCT, the opponent, None for that of the text.
    """
    figures, kinds, constant = PUBLISHED[table], KINDS[table], CONSTANTS.get(table)
    halves, cell = [cp / 2 for cp in figures["Cp"]], table if against is None else f"{table} against c {against}"
    against = AGAINST.get(table, 0.4) if against is None else against
    named, word = {}, f"{constant} " if constant else ""
    for label, row in figures["rows"].items():
        named[label] = {f"{word}{label}, Cp {cp}": x for cp, x in zip(figures["Cp"], row, strict=True)}
    if isinstance(kinds, Mapping):
        return [
            row
            for label, of_row in named.items()
            for row in sweep_rows(
                study, f"{cell}: {label}", kinds[label], {"c": halves}, of_row, figures["games"], against=against
            )
        ]
    settings = {"c": halves * len(named)}
    if constant:
        settings[constant] = [float(value) for value in named for _ in halves]
    whole = {name: x for of_row in named.values() for name, x in of_row.items()}
    return sweep_rows(study, cell, kinds, settings, whole, figures["games"], against=against)


def table_10(study: Study) -> list[Row]:
    """Both combinations against replies alone."""
    best = {
        "AMAF-LGR": (mcts.amaf(), {"alpha": [0.5], "c": [0.2]}),
        "RAVE-LGR": (mcts.rave(), {"k": [50.0], "c": [0.1]}),
    }
    rows, figures = [], PUBLISHED["table 10"]
    for label, (rule, settings) in best.items():
        kind, theirs = Kind(rule, REPLIES, True), dict(zip([label], figures["rows"][label], strict=True))
        rows += sweep_rows(study, f"table 10: {label}", kind, settings, theirs, figures["games"], LGR, 0.5, 2)
    return rows


class Agent(NamedTuple):
    """An agent of table 13: its search, and how many iterations it makes in the time of 1,000 of UCT."""

    kind: Kind
    iterations: int


AGENTS = {
    "UCT1": Agent(Kind(mcts.uct1(0.4)), 850),
    "UCT2": Agent(Kind(mcts.uct2(0.5)), 850),
    "UCT3": Agent(Kind(mcts.uct3(0.45)), 695),
    "AMAF": Agent(Kind(mcts.amaf(0.5, 0.2)), 809),
    "RAVE": Agent(Kind(mcts.rave(100, 0.1)), 809),
    "LGR": Agent(Kind(mcts.uct(0.5), REPLIES), 654),
    "AMAF-LGR": Agent(Kind(mcts.amaf(0.5, 0.2), REPLIES), 563),
    "RAVE-LGR": Agent(Kind(mcts.rave(50, 0.1), REPLIES), 563),
}


def table_13(study: Study) -> list[Row]:
    """All agents in the same time, with trees kept between moves."""
    rows, figures = [], PUBLISHED["table 13"]
    scales = study.amount(len(figures["iterations"]), 1)
    games, factor = study.amount(2 * PAIRS, 2 * QUICK_PAIRS), study.amount(1.0, 0.02)
    for label, agent in AGENTS.items():
        for number, (scale, theirs) in enumerate(zip(figures["iterations"], figures["rows"][label], strict=True), 1):
            name = f"{label}, time of {scale:,} iterations"
            if study.quick and (label, number) != ("RAVE-LGR", 1):
                rows.append(left_out(name, theirs))
                continue
            own, other = (
                Keeper(*one.kind[:2], *(max(8, int(factor * x * one.iterations)) for x in (number, scales)))
                for one in (agent, Agent(Kind(mcts.uct(0.4)), 1000))
            )
            cell, settings = f"table 13: {label}, {scale:,}", {"iterations": [own.simulations, other.simulations]}
            result = study.cell(cell, {"games": games, **settings}, _match, own, other, games, study.seed)
            seconds = study.seconds_of(cell)
            rows.append(percent_row("table 13", name, theirs, result, games, figures["games"], seconds))
    return rows


def _match(own: Keeper, other: Keeper, games: int, seed: int) -> dict[str, float]:
    points: np.ndarray = play_with_trees(own, other, games, seed)
    return percents(points.mean(), *interval(points, 1))


# The pictures: published figures and ours over the settings.


def draw(unit: str, study: Study, rows: Sequence[Row], path: Path, kinds: Sequence[str] = ("",)) -> None:
    """Draws a panel for each row of a table or each player; rows with each of the words `kinds` are lines of it."""
    panels: list[Diagram] = []
    for label, group in itertools.groupby(rows, _label):
        shown, lines = list(group), []
        for kind, style in zip(kinds, ("o-", "o--"), strict=False):
            lines += _lines([row for row in shown if kind in row.what], kind, style)
        ticks = dict(enumerate(dict.fromkeys(map(_setting, shown))))
        panels.append(Diagram(lines, label, y="" if panels else unit, ticks=ticks))
    labels = [[line._replace(label="") for line in panel.lines] for panel in panels]
    last = min(4, len(panels)) - 1  # the legend stands at the end of the first line of panels
    panels = [panel._replace(lines=panel.lines if i == last else labels[i]) for i, panel in enumerate(panels)]
    draw_diagrams(panels, path, columns=4, size=(3.2, 2.6))


def _lines(rows: Sequence[Row], kind: str, style: str) -> list[PlottedLine]:
    done = [(place, row) for place, row in enumerate(rows) if row.ours is not None]
    places, ours = [place for place, _ in done], [row.ours for _, row in done]
    low, high = ([getattr(row, end) for _, row in done] for end in ("low", "high"))
    theirs = [row.published for row in rows]
    return [
        PlottedLine(range(len(rows)), theirs, f"published {kind}".strip(), color=GREY, style=style),
        PlottedLine(places, ours, f"ours {kind}".strip(), low, high, LINE_COLORS[0], style),
    ]


def _label(row: Row) -> str:
    return (
        row.what.rpartition(", ")[0].removesuffix(",") if "iterations" not in row.what else row.what.partition(",")[0]
    )


def _setting(row: Row) -> str:
    parts = row.what.split(", ")[1:]
    part = next((part for part in parts if "iterations" in part), parts[-1] if "Cp" in parts[-1] else "")
    return part.removeprefix("Cp ").removeprefix("time of ").partition(" ")[0]
