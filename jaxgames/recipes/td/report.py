"""The table at the end of a TD training, and where everything lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def show_training(result: Mapping[str, Any]) -> None:
    """Prints the results of a training."""
    from rich.console import Console

    points = any(match["max_reward"] > 1 for match in result["matches"])
    console = Console()
    console.print(_points_table(result) if points else _score_table(result))
    for mark, published in _marks(result).items():
        console.print(f"{mark}: {published['ppg']:+.2f} {published['source']}", markup=False, highlight=False)
    if points:
        console.print("PPG: points per game of the trained player; gammons: won/lost", highlight=False)
    else:
        console.print("score: won games and half of the drawn ones, with its 95 % interval", highlight=False)
    if "every_line" in result:
        console.print("all lines: against all replies there are, moving first or second", highlight=False)
    run, opponent = result["run"], result["matches"][-1]["b"]
    console.print(f"run folder      {run}", highlight=False)
    console.print(f"learning curve  {result['curve']}", highlight=False)
    console.print(f"play it         jaxgames match {run} {opponent} --games 10000", highlight=False)


def _points_table(result: Mapping[str, Any]) -> Table:
    """For games of several points."""
    table = _table(result, ("PPG", "95 % interval", "wins %", "gammons %", "published"))
    marks = _marks(result)
    for match in result["matches"]:
        published = [mark for mark, p in marks.items() if p["opponent"] == match["b"]]
        table.add_row(
            match["b"],
            f"{match['ppg']:+.3f}",
            f"{match['ppg_low']:+.3f} .. {match['ppg_high']:+.3f}",
            f"{100 * match['win_rate']:.1f}",
            f"{100 * match['gammon_rate']:.1f}/{100 * match['gammon_loss_rate']:.1f}",
            ", ".join(published) or "-",
        )
    return table


def _score_table(result: Mapping[str, Any]) -> Table:
    """For games that are won, drawn or lost."""
    table = _table(result, ("games", "score %", "won %", "drawn %", "lost %"))
    for match in result["matches"]:
        margin = 25 * (match["ppg_high"] - match["ppg_low"])
        rates = (match[name] for name in ("win_rate", "draw_rate", "loss_rate"))
        score = f"{50 * (1 + match['ppg']):.1f} ± {margin:.1f}"
        table.add_row(match["b"], f"{match['games']:,}", score, *_percent(rates))
    for side in ("first", "second") if "every_line" in result else ():
        tally = result["every_line"][side]
        shares = [tally[kind] / tally["lines"] for kind in ("won", "drawn", "lost")]
        score = f"{100 * (shares[0] + shares[1] / 2):.1f}"
        table.add_row(f"all lines, {side}", f"{tally['lines']:,}", score, *_percent(shares))
    return table


def _table(result: Mapping[str, Any], columns: tuple[str, ...]) -> Table:
    from rich.table import Table

    speed = f"{result['games_per_second']:,.0f} games/s" if result["games_per_second"] else "resumed when it was done"
    game = f"{result['game']}, " if result["recipe"] == "td" else ""
    table = Table(title=f"{result['recipe']} ({game}{result['setting']}): {result['games']:,} games, {speed}")
    for name in ("against", *columns):
        table.add_column(name, justify="left" if name == "against" else "right", no_wrap=True)
    return table


def _percent(rates: Iterable[float]) -> list[str]:
    return [f"{100 * rate:.1f}" for rate in rates]


def _marks(result: Mapping[str, Any]) -> dict[str, Any]:
    return dict(zip("abcdefgh", result["published"], strict=False))
