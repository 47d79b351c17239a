"""What people see of a training under way: a line now and then, and a progress bar."""

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
                measured = _strength(line)
                if measured:
                    strength = f", {measured}"
                    if not console.is_terminal:
                        self.say(f"{line['games']:,} games{strength}")
                rates = f"{line['games']:,} games, {line['games_per_second']:,.0f} games/s, "
                rates += f"loss {line['loss']:.4f}" if "loss" in line else f"fitness {line['fitness']:.4f}"
                bar.update(task, completed=min(done, total), description=rates + strength)

            yield update


def _strength(line: Mapping[str, Any]) -> str:
    """What a line of metrics says about strength, if anything."""
    found = []
    for key, value in line.items():
        kind, _, opponent = key.partition("_")
        if f"{key}_low" in line:
            figure = f"{value:+.3f} PPG" if kind == "ppg" else f"{value:.1f} %"
            found.append(f"{figure} against {opponent}")
        elif key == "lines_lost":
            found.append(f"{value:,} lines lost")
    return ", ".join(found)
