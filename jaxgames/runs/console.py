"""Tables and a progress bar for people: by rich if it is installed, otherwise in plain text."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable

PLAIN_SECONDS = 10.0
"""Seconds between two lines of progress in plain text."""
WHOLE_TEXT = 24
"""So many characters of a text stay on one line, however narrow the console is."""


def percent(share: float) -> str:
    """A share in percent, to a tenth; only none and all are 0.0 and 100.0.

    >>> percent(0.5), percent(1.0), percent(9_999 / 10_000), percent(1 / 10_000)
    ('50.0', '100.0', '>99.9', '<0.1')
    """
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return ">99.9"
    return "<0.1" if text == "0.0" and share > 0 else text


@dataclasses.dataclass
class ConsoleTable:
    """A table of texts. `rich` prints it, and so does `print`.

    Attributes:
        columns: the names of the columns.
        texts: which columns are left-aligned, as texts are; numbers are right-aligned.
        title, caption: the lines above and below.
        rows: the cells, and whether the row is important.
    """

    columns: Sequence[str]
    texts: Sequence[int] = (0,)
    title: str = ""
    caption: str = ""
    rows: list[tuple[tuple[str, ...], bool]] = dataclasses.field(default_factory=list)

    def add_row(self, *cells: str, bold: bool = False) -> None:
        """Adds a row."""
        self.rows.append((cells, bold))

    def __rich__(self) -> RichTable:
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self.title or None, caption=self.caption or None)
        for number, name in enumerate(self.columns):
            # If the console is too narrow, long names are folded, and figures stay whole.
            text, widest = number in self.texts, max((len(cells[number]) for cells, _ in self.rows), default=0)
            least = min(widest, WHOLE_TEXT) if text else widest
            table.add_column(name, justify="left" if text else "right", min_width=least, overflow="fold")
        for cells, bold in self.rows:
            table.add_row(*map(Text, cells), style="bold" if bold else None)
        return table

    def __str__(self) -> str:
        rows = [tuple(self.columns), *(cells for cells, _ in self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row in rows:
            cells = enumerate(zip(row, widths, strict=True))
            lines.append("  ".join(x.ljust(w) if n in self.texts else x.rjust(w) for n, (x, w) in cells).rstrip())
        lines.insert(1, "-" * max(map(len, lines)))
        return "\n".join([*filter(None, [self.title]), *lines, *filter(None, [self.caption])])


def show(*parts: ConsoleTable | str) -> None:
    """Prints tables, and lines unchanged."""
    if not _has_rich():
        print("\n".join(map(str, parts)))
        return
    from rich.console import Console

    console = Console()
    for part in parts:
        console.print(part, markup=False, highlight=False)


@contextlib.contextmanager
def progress_bar(total: float) -> Iterator[Callable[[float, str], bool]]:
    """A bar on stderr. It yields a function of how much of `total` is done and a text, which returns whether people see
    a moving bar. Without rich it prints a line now and then instead.
    """
    if not _has_rich():
        told = time.monotonic()

        def tell(done: float, text: str) -> bool:
            nonlocal told
            if time.monotonic() > told + PLAIN_SECONDS or done >= total:
                told = time.monotonic()
                print(f"{100 * min(done / total, 1):3.0f} %  {text}", file=sys.stderr, flush=True)
            return False

        yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column
    from rich.text import Text

    class Cut(TextColumn):
        """A text that is cut where the line ends, so that the times before it are whole."""

        def render(self, task: Task) -> Text:
            text = super().render(task)
            text.no_wrap, text.overflow = True, "ellipsis"
            return text

    times = (kind(table_column=Column(no_wrap=True)) for kind in (TimeElapsedColumn, TimeRemainingColumn))
    columns = (BarColumn(bar_width=10), TextColumn("{task.percentage:3.0f} %"), *times)
    text = Cut("{task.description}", markup=False, table_column=Column())
    console = Console(stderr=True)
    with Progress(*columns, text, console=console) as bar:
        task = bar.add_task("", total=total)

        def update(done: float, text: str) -> bool:
            bar.update(task, completed=min(done, total), description=text)
            return console.is_terminal

        yield update


def _has_rich() -> bool:
    try:
        return importlib.util.find_spec("rich") is not None
    except (ImportError, ValueError):
        return False
