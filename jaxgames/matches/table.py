"""Match results as tables for people."""

from collections.abc import Sequence

from jaxgames.matches.match import MatchResult
from jaxgames.runs import console
from jaxgames.runs.console import ConsoleTable


def result_table(result: MatchResult) -> ConsoleTable:
    """One match: a row for each figure, a column for each player."""
    title, caption = f"{result.game}: {result.games:,} games", _caption([result])
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
        table.add_row("gammons among them", _percent(result.gammon_rate), _percent(result.gammon_loss_rate))
        table.add_row("backgammons among them", _percent(result.backgammon_rate), _percent(result.backgammon_loss_rate))
    if result.draw_rate:
        table.add_row("drawn", _percent(result.draw_rate), _percent(result.draw_rate))
    return table


def results_table(results: Sequence[MatchResult], title: str | None = None) -> ConsoleTable:
    """Several matches, one a row; points per game with the half width of their 95 % interval."""
    has_gammons = any(result.max_reward > 1 for result in results)
    shares = "won / gammon / bg %" if has_gammons else "won / drawn / lost %"
    columns = "player", "opponent", "points per game", shares, "games"
    table = ConsoleTable(columns, (0, 1), title or "", _caption(results), has_box=False)
    for result in results:
        margin = max(result.ppg_high - result.ppg, result.ppg - result.ppg_low)
        rates = (result.win_rate, result.gammon_rate, result.backgammon_rate)
        rates = rates if has_gammons else (result.win_rate, result.draw_rate, result.loss_rate)
        percent = " / ".join(f"{100 * rate:.1f}" for rate in rates)
        table.add_row(result.a, result.b, f"{result.ppg:+.3f} ± {margin:.3f}", percent, f"{result.games:,}")
    return table


def show(results: Sequence[MatchResult], title: str | None = None) -> None:
    """Prints one match in full, or a table of several."""
    console.show(result_table(results[0]) if len(results) == 1 else results_table(results, title))


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
