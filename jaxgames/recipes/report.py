"""What people see of a training: lines and a progress bar while it runs, a table of results at its end."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from jaxgames.runs.console import ConsoleTable, progress_bar, show


class Report:
    """Writes to the terminal; if `quiet`, errors and warnings only (`--json`)."""

    def __init__(self, quiet: bool = False):
        self.quiet = quiet

    def say(self, text: str) -> None:
        """One line."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """One line, also if `quiet`."""
        print(f"warning: {text}", file=sys.stderr, flush=True)

    @contextmanager
    def progress(self, total: float) -> Iterator[Callable[[float, Mapping[str, Any]], None]]:
        """A progress bar; the function inside takes how much of `total` is done, and the latest metrics."""
        if self.quiet:
            yield lambda done, line: None
            return
        with progress_bar(total) as bar:
            strength = ""

            def update(done: float, line: Mapping[str, Any]) -> None:
                nonlocal strength
                measured, counted = _strength(line), next(name for name in ("games", "positions") if name in line)
                if measured:
                    strength = f", {measured}"
                rates = f"{line[counted]:,} {counted}, {line[f'{counted}_per_second']:,.0f} {counted}/s, "
                rates += f"loss {line['loss']:.4f}" if "loss" in line else f"fitness {line['fitness']:.4f}"
                if not bar(done, rates + strength) and measured:
                    self.say(f"{line[counted]:,} {counted}{strength}")

            yield update


def show_results(
    result: Mapping[str, Any],
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Iterable[str],
    play: str = "",
    texts: int = 1,
) -> None:
    """Prints the table of a training's results, and where its files are.

    Args:
        result: as `Training.run_to_end` returns it.
        title: what was trained; the speed is added.
        columns: their names; the first `texts` of them hold texts, the others numbers.
        rows: the cells, a text each.
        notes: lines below the table.
        play: arguments of `jaxgames match` that let the player play, if it can.
    """
    counted = next(name for name in ("games", "positions") if f"{name}_per_second" in result)
    rate = result[f"{counted}_per_second"]
    speed = f"{rate:,.0f} {counted}/s" if rate else "resumed when it was done"
    table = ConsoleTable(columns, range(texts), f"{title}, {speed}")
    for row in rows:
        table.add_row(*row)
    files = [f"run folder      {result['run']}", f"learning curve  {result['curve']}"]
    show(table, *notes, *files, *([f"play it         jaxgames match {play}"] if play else []))


def published_marks(result: Mapping[str, Any]) -> dict[str, Any]:
    """The published results, each by the letter that stands for it in the table."""
    return dict(zip("abcdefgh", result["published"], strict=False))


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
        elif key == "validation_loss":
            found.append(f"{value:.4f} in validation")
    return ", ".join(found)
