"""Results for people: matches, tournaments and knock-outs as tables, and a tournament as a picture (matplotlib)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.matches.knockout import KnockoutResult
from jaxgames.matches.match import MatchResult
from jaxgames.matches.tournament import TournamentResult
from jaxgames.runs.console import ConsoleTable, percent
from jaxgames.runs.figures import new_figure, save


def result_table(result: MatchResult) -> ConsoleTable:
    """One match: a row for each figure, a column for each player."""
    title, caption = f"{result.game}: {result.games:,} games", _caption(result)
    table = ConsoleTable(("", result.a, result.b), title=title, caption=caption)
    if result.max_reward > 1:
        table.add_row("points per game", f"{result.ppg:+.3f}", f"{-result.ppg:+.3f}", bold=True)
        table.add_row(
            "95 % interval", _interval(result.ppg_low, result.ppg_high), _interval(-result.ppg_high, -result.ppg_low)
        )
    else:
        low, high = result.score_low, result.score_high
        table.add_row("score", _percent(result.score), _percent(1 - result.score), bold=True)
        table.add_row("95 % interval", _percents(low, high), _percents(1 - high, 1 - low))
    table.add_row("won", _percent(result.win_rate), _percent(result.loss_rate))
    if result.gammon_rate or result.gammon_loss_rate:
        two, three = ("gammons", "backgammons") if result.game == "backgammon" else ("2 points or more", "3 points")
        table.add_row(f"{two}, of all games", _percent(result.gammon_rate), _percent(result.gammon_loss_rate))
        most = _percent(result.backgammon_rate), _percent(result.backgammon_loss_rate)
        table.add_row(f"{three}, of all games", *most)
    if result.draw_rate:
        table.add_row("drawn", _percent(result.draw_rate), _percent(result.draw_rate))
    return table


def tournament_tables(result: TournamentResult) -> Sequence[ConsoleTable]:
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


def knockout_table(result: KnockoutResult, rounds: int = 4) -> ConsoleTable:
    """The last rounds of a knock-out."""
    title = f"{result.game}: {len(result.players):,} players, out when {result.behind:g} points behind"
    columns = "round", "player", "opponent", "points", "games", "goes on"
    table = ConsoleTable(columns, (1, 2, 5), title, f"{result.games:,} games in {result.seconds:,.0f} s")
    for number, meetings in list(enumerate(result.rounds, 1))[-rounds:]:
        for one in meetings:
            names = (result.players[one.a], result.players[one.b])
            points = f"{one.points:+g}"
            table.add_row(str(number), *names, points, f"{one.games:,}", result.players[one.winner])
    return table


def draw_tournament(result: TournamentResult, path: str | Path) -> None:
    """Draws the cross-table as a heat map and the ratings with their intervals into a PNG, replaced atomically."""
    order, shown, margins, unit = _ordered(result)
    number = len(order)
    figure = new_figure(5.5 + 1.35 * number, 1.6 + 0.55 * number)
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
                cell = _cell(result, shown, margins, row, column).replace(" ± ", "\n± ")
                cross.text(x, y, cell, ha="center", va="center", fontsize=8, color="white" if strong else "black")
    cross.set_xticks(range(number), [str(place) for place in range(1, number + 1)])
    # A name with $ is no formula.
    cross.set_yticks(range(number), [f"{name}  {place}" for place, name in enumerate(names, 1)], parse_math=False)
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
    save(figure, Path(path))


def _interval(low: float, high: float) -> str:
    return f"{low:+.3f} to {high:+.3f}"


def _percents(low: float, high: float) -> str:
    return f"{percent(low)} to {_percent(high)}"


def _percent(rate: float) -> str:
    return f"{percent(rate)} %"


def _caption(result: MatchResult) -> str:
    speed = f"{result.plies_per_game:.0f} plies a game, {result.games / result.seconds:,.0f} games/s"
    lost = [f"{count} lost by {reason}" for reason, count in result.forfeits.items()]
    stopped = [f"{result.stopped:,} games stopped as too long, counted as 0 points"] if result.stopped else []
    return "; ".join([speed, *lost, *stopped])


def _ordered(result: TournamentResult) -> tuple[list[int], np.ndarray, np.ndarray, str]:
    """The players by their ratings; what the cross-table shows, how far the intervals go, and the unit."""
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
