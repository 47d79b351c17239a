"""Tournaments for people: the cross-table and the ratings as tables and as a picture (matplotlib)."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.matches.knockout import KnockoutResult
from jaxgames.matches.tournament import TournamentResult
from jaxgames.runs import console
from jaxgames.runs.console import ConsoleTable
from jaxgames.runs.files import replace

PNG_DPI = 150


def tables(result: TournamentResult) -> Sequence[ConsoleTable]:
    """The cross-table, strongest player first, and the ratings with the time of a move."""
    order, shown, margins, unit = _ordered(result)
    title = f"{result.game}: {result.games:,} games a pair, {unit} of the row, and its 95 % interval"
    cross = ConsoleTable(["", *(str(place) for place, _ in enumerate(order, 1))], title=title)
    for place, row in enumerate(order, 1):
        cells = ["-" if row == column else _cell(result, shown, margins, row, column) for column in order]
        cross.add_row(f"{place} {result.players[row]}", *cells)
    columns = "player", "Elo", "95 %", "ms a move"
    ratings = ConsoleTable(columns, title="Elo (Bradley-Terry), mean 0", caption=_stopped(result))
    for row in order:
        one = result.ratings[row]
        interval = f"{one.low:+.0f} to {one.high:+.0f}"
        ratings.add_row(one.player, f"{one.elo:+.0f}", interval, f"{result.milliseconds[row]:.3g}")
    return cross, ratings


def show(result: TournamentResult) -> None:
    """Prints the tables."""
    console.show(*tables(result))


def show_knockout(result: KnockoutResult, rounds: int = 4) -> None:
    """Prints the last rounds of a knock-out, and who is left."""
    title = f"{result.game}: {len(result.players):,} players, out when {result.behind:g} points behind"
    columns = "round", "player", "opponent", "points", "games", "goes on"
    table = ConsoleTable(columns, (1, 2, 5), title, f"{result.games:,} games in {result.seconds:,.0f} s")
    for number, meetings in list(enumerate(result.rounds, 1))[-rounds:]:
        for one in meetings:
            names = (result.players[one.a], result.players[one.b])
            points = f"{one.points:+g}"
            table.add_row(str(number), *names, points, f"{one.games:,}", result.players[one.winner])
    console.show(table, f"best: {result.players[result.winner]}")


def draw(result: TournamentResult, path: str | Path) -> None:
    """Draws the cross-table as a heat map and the ratings with their intervals into a PNG, replaced atomically."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    order, shown, margins, unit = _ordered(result)
    number = len(order)
    figure = Figure(figsize=(5.5 + 1.35 * number, 1.6 + 0.55 * number), layout=ConstrainedLayoutEngine())
    FigureCanvasAgg(figure)
    cross, bars = figure.subplots(1, 2, width_ratios=(1.1 * number, 4))
    names = [result.players[row] for row in order]
    values = shown[np.ix_(order, order)]
    middle = 0.0 if result.max_reward > 1 else 50.0
    most = max(float(np.nanmax(np.abs(values - middle))), 1e-6)
    # Blue to orange: told apart by the colour-blind, too.
    cross.imshow(values, cmap="PuOr", vmin=middle - most, vmax=middle + most, aspect="auto")
    for y, row in enumerate(order):
        for x, column in enumerate(order):
            if row != column:
                strong = abs(values[y, x] - middle) > 0.6 * most
                text = _cell(result, shown, margins, row, column).replace(" ± ", "\n± ")
                cross.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if strong else "black")
    cross.set_xticks(range(number), [str(place) for place in range(1, number + 1)])
    cross.set_yticks(range(number), [f"{name}  {place}" for place, name in enumerate(names, 1)])
    cross.set_title(f"{unit}, row against column, 95 %", fontsize=10)
    ratings = [result.ratings[row] for row in order]
    elo = [one.elo for one in ratings]
    errors = [[one.elo - one.low for one in ratings], [one.high - one.elo for one in ratings]]
    bars.barh(range(number), elo, xerr=errors, color="#7a86b8", error_kw={"capsize": 3, "ecolor": "#333333"})
    bars.set_yticks(range(number), [""] * number)
    bars.set_ylim(number - 0.5, -0.5)
    bars.axvline(0, color="#333333", linewidth=0.8)
    bars.set_title("Elo, 95 %", fontsize=10)
    figure.suptitle(f"{result.game}, {result.games:,} games a pair", fontsize=11)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=PNG_DPI, metadata={"Software": "jaxgames"})
    replace(Path(path), file.getvalue())


def _ordered(result: TournamentResult) -> tuple[list[int], np.ndarray, np.ndarray, str]:
    """The players by their ratings; what the cross-table shows, half of the intervals' width, and the unit."""
    elo = [rating.elo for rating in result.ratings]
    order = sorted(range(len(elo)), key=lambda row: -elo[row])
    if result.max_reward > 1:
        return order, result.table(), result.margins, "points per game"
    return order, 50 * (1 + result.table()), 50 * result.margins, "score in %"


def _cell(result: TournamentResult, shown: np.ndarray, margins: np.ndarray, row: int, column: int) -> str:
    if result.max_reward > 1:
        return f"{shown[row, column]:+.3f} ± {margins[row, column]:.3f}"
    return f"{shown[row, column]:.1f} ± {margins[row, column]:.1f}"


def _stopped(result: TournamentResult) -> str:
    notes: list[Any] = []
    if stopped := sum(one.stopped for one in result.matches.values()):
        notes.append(f"{stopped:,} games stopped as too long, counted as drawn")
    forfeits: dict[str, int] = {}
    for one in result.matches.values():
        for reason, number in one.forfeits.items():
            forfeits[reason] = forfeits.get(reason, 0) + number
    notes += [f"{number:,} games forfeited: {reason}" for reason, number in forfeits.items()]
    return "\n".join(notes)
