"""The table at the end of a training of `tic-tac-toe-self-play`."""

from collections.abc import Mapping
from statistics import median
from typing import Any

from jaxgames.recipes.tic_tac_toe_self_play.recipe import PUBLISHED


def show(result: Mapping[str, Any]) -> None:
    """Prints how good the networks of each variant have become."""
    from rich.console import Console
    from rich.table import Table

    speed = f"{result['games_per_second']:,.0f} games/s" if result["games_per_second"] else "resumed when it was done"
    title = f"{result['recipe']}: {result['seeds']} networks of {result['games']:,} games each, {speed}"
    table = Table(title=title)
    for name in ("variant", "good %", "10th .. 90th", "first %", "second %", "drawn", "lost"):
        table.add_column(name, justify="left" if name == "variant" else "right", no_wrap=True)
    for name, variant in result["variants"].items():
        good, first, second = (variant["final"][kind] for kind in ("good", "first", "second"))
        table.add_row(
            name,
            f"{good['median']:.1f}",
            f"{good['low']:.1f} .. {good['high']:.1f}",
            f"{first['median']:.1f}",
            f"{second['median']:.1f}",
            f"{variant['draw_themselves']}/{result['seeds']}",
            f"{median(variant['lines_lost']):.0f}",
        )
    console = Console()
    console.print(table)
    for line in (
        "medians over the networks as they are now, which learn nothing here",
        f"first, second: won of {result['measured_games']:,} games against random moves, moving first or second",
        "drawn: networks that draw against themselves; good: the mean of these three kinds of games",
        "lost: lines of play, of all that the other player's choices lead to, moving first or second",
        "the published chart: {:.0f} to {:.0f} good results per 100 games".format(*PUBLISHED),
    ):
        console.print(line, highlight=False)
    console.print(f"run folder       {result['run']}", highlight=False)
    console.print(f"learning curves  {result['curve']}", highlight=False)
