"""What people see of a training: a line now and then, a progress bar, and a table at the end."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class Report:
    """Writes to the terminal; if `quiet`, errors and warnings only (`--json`)."""

    def __init__(self, quiet: bool = False):
        self.quiet = quiet

    def say(self, text: str) -> None:
        """One line."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    @contextmanager
    def progress(self, total: float) -> Iterator[Callable[[float, Mapping[str, Any]], None]]:
        """A progress bar; the function inside is told how much is done, and the latest metrics."""
        if self.quiet:
            yield lambda done, line: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        with Progress(*columns, TextColumn("{task.description}"), console=console) as bar:
            task = bar.add_task("", total=total)
            strength = ""

            def update(done: float, line: Mapping[str, Any]) -> None:
                nonlocal strength
                for key, value in line.items():
                    if key.startswith("ppg_") and f"{key}_low" in line:
                        strength = f", {value:+.3f} PPG against {key.removeprefix('ppg_')}"
                        if not console.is_terminal:
                            self.say(f"{line['games']:,} games{strength}")
                rates = f"{line['games']:,} games, {line['games_per_second']:,.0f} games/s, loss {line['loss']:.4f}"
                bar.update(task, completed=min(done, total), description=rates + strength)

            yield update


def show_training(result: Mapping[str, Any]) -> None:
    """The table at the end of a training, and where everything lies."""
    from rich.console import Console
    from rich.table import Table

    speed = f"{result['games_per_second']:,.0f} games/s" if result["games_per_second"] else "resumed when it was done"
    table = Table(title=f"{result['recipe']} ({result['setting']}): {result['games']:,} games, {speed}")
    for name in ("against", "PPG", "95 % interval", "wins %", "gammons %", "published"):
        table.add_column(name, justify="left" if name == "against" else "right", no_wrap=True)
    marks = dict(zip("abcdefgh", result["published"], strict=False))
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
    console = Console()
    console.print(table)
    for mark, p in marks.items():
        console.print(f"{mark}: {p['ppg']:+.2f} {p['source']}", markup=False, highlight=False)
    console.print("PPG: points per game of the trained player; gammons: won/lost", highlight=False)
    run = result["run"]
    console.print(f"run folder      {run}", highlight=False)
    console.print(f"learning curve  {result['curve']}", highlight=False)
    console.print(f"play it         jaxgames match {run} pubeval --games 10000", highlight=False)
