"""Match results as tables for people (rich)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxgames.arena.match import MatchResult

if TYPE_CHECKING:
    from rich.table import Table


def result_table(result: MatchResult) -> Table:
    """One match: a row for each figure, a column for each player."""
    from rich.table import Table

    table = Table(title=f"{result.game}: {result.games:,} games", caption=_caption([result]))
    table.add_column()
    table.add_column(result.a, justify="right")
    table.add_column(result.b, justify="right")
    if result.max_reward > 1:
        table.add_row("points per game", f"{result.ppg:+.3f}", f"{-result.ppg:+.3f}", style="bold")
        table.add_row(
            "95 % interval", _interval(result.ppg_low, result.ppg_high), _interval(-result.ppg_high, -result.ppg_low)
        )
    else:
        low, high = result.score_low, result.score_high
        table.add_row("score", _percent(result.score), _percent(1 - result.score), style="bold")
        table.add_row("95 % interval", _percents(low, high), _percents(1 - high, 1 - low))
    table.add_row("won", _percent(result.win_rate), _percent(result.loss_rate))
    if result.gammon_rate or result.gammon_loss_rate:
        table.add_row("gammons among them", _percent(result.gammon_rate), _percent(result.gammon_loss_rate))
        table.add_row("backgammons among them", _percent(result.backgammon_rate), _percent(result.backgammon_loss_rate))
    if result.draw_rate:
        table.add_row("drawn", _percent(result.draw_rate), _percent(result.draw_rate))
    return table


def results_table(results: Sequence[MatchResult], title: str | None = None) -> Table:
    """Several matches, one a row; points per game with the half width of their 95 % interval."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, caption=_caption(results), box=SIMPLE_HEAD)
    for heading in ("player", "opponent"):
        table.add_column(heading)
    for heading in ("points per game", "won / gammon / bg %", "games"):
        table.add_column(heading, justify="right")
    for result in results:
        margin = max(result.ppg_high - result.ppg, result.ppg - result.ppg_low)
        rates = (result.win_rate, result.gammon_rate, result.backgammon_rate)
        percent = " / ".join(f"{100 * rate:.1f}" for rate in rates)
        table.add_row(result.a, result.b, f"{result.ppg:+.3f} ± {margin:.3f}", percent, f"{result.games:,}")
    return table


def show(results: Sequence[MatchResult], title: str | None = None) -> None:
    """Prints one match in full, or a table of several."""
    from rich.console import Console

    Console().print(result_table(results[0]) if len(results) == 1 else results_table(results, title))


def _interval(low: float, high: float) -> str:
    return f"{low:+.3f} to {high:+.3f}"


def _percents(low: float, high: float) -> str:
    return f"{100 * low:.1f} to {_percent(high)}"


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def _caption(results: Sequence[MatchResult]) -> str:
    seconds = sum(result.seconds for result in results)
    games = sum(result.games for result in results)
    plies = sum(result.plies_per_game * result.games for result in results) / max(games, 1)
    text = f"{plies:.0f} plies a game, {games / seconds:,.0f} games/s" if results else "no matches"
    stopped = sum(result.stopped for result in results)
    lost = [f"{count} lost by {reason}" for result in results for reason, count in result.forfeits.items()]
    text = "; ".join([text, *lost])
    return text + (f"; {stopped:,} games stopped as too long, counted as 0 points" if stopped else "")
