"""Measured figures, what they are compared with, and how they are shown to people."""

import dataclasses
import statistics
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from _machine import load_average


class Timing(NamedTuple):
    """One repeat: units of work done, seconds on the clock, seconds of processor time of all threads together."""

    amount: float
    wall: float
    cpu: float


@dataclasses.dataclass(frozen=True)
class Figure:
    """A measured quantity: one value for each repeat.

    `interval` takes the place of the smallest and largest repeat where a 95 % interval of the mean is known. `at_least`
    and `at_most` are what the project asks of itself.
    """

    what: str
    by: str
    unit: str
    values: tuple[float, ...]
    timings: tuple[Timing, ...] = ()
    compile_seconds: float | None = None
    interval: tuple[float, float] | None = None
    at_least: float | None = None
    at_most: float | None = None
    form: str = ""
    note: str = ""

    @property
    def value(self) -> float:
        """The median of the repeats; their mean where an interval of the mean is known."""
        return statistics.fmean(self.values) if self.interval else statistics.median(self.values)

    @property
    def range(self) -> tuple[float, float]:
        """The interval, or the smallest and the largest repeat."""
        return self.interval or (min(self.values), max(self.values))

    @property
    def cores(self) -> float | None:
        """Processor seconds per second: how many cores were at work for us."""
        wall = sum(timing.wall for timing in self.timings)
        return sum(timing.cpu for timing in self.timings) / wall if wall else None

    @property
    def reached(self) -> bool | None:
        """Whether the figure is as it should be; None where nothing is asked."""
        if self.at_least is None and self.at_most is None:
            return None
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    def text(self, value: float) -> str:
        """A value of this figure, for people."""
        if self.form:
            return format(value, self.form)
        return f"{float(f'{value:.4g}'):,.0f}" if abs(value) >= 1000 else f"{value:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        low, high = self.range
        return {
            "what": self.what,
            "by": self.by,
            "unit": self.unit,
            "value": self.value,
            "low": low,
            "high": high,
            "values": list(self.values),
            "repeats": [{"amount": t.amount, "wall_seconds": t.wall, "cpu_seconds": t.cpu} for t in self.timings],
            "cores": self.cores,
            "compile_seconds": self.compile_seconds,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "reached": self.reached,
            "form": self.form,
            "note": self.note,
        }


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Our figure beside the peer's (None where nobody offers the same): a row of the README's table."""

    what: str
    ours: Figure
    peer: Figure | None = None
    published: str = ""
    """What others have published, not measured here."""

    @property
    def ratio(self) -> float | None:
        """Our figure over the peer's; None for figures that are no rates."""
        is_rate = self.ours.unit.endswith("/s")
        return self.ours.value / self.peer.value if is_rate and self.peer and self.peer.value else None

    def to_dict(self) -> dict[str, Any]:
        """What `table.py` reads."""
        peer = self.peer
        return {
            "what": self.what,
            "unit": self.ours.unit,
            "ours": self.ours.value,
            "ours_text": self.ours.text(self.ours.value),
            "peer": peer and peer.value,
            "peer_text": peer and peer.text(peer.value),
            "peer_name": peer and peer.by,
            "ratio": self.ratio,
            "published": self.published,
        }


@dataclasses.dataclass
class Report:
    """What a benchmark found. `checks` are comparisons of results, not of speed; any that is false is a failure."""

    subject: str
    title: str
    figures: list[Figure] = dataclasses.field(default_factory=list)
    comparisons: list[Comparison] = dataclasses.field(default_factory=list)
    checks: dict[str, bool] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)
    load: float | None = dataclasses.field(default_factory=load_average)
    machine: dict[str, Any] = dataclasses.field(default_factory=dict)
    """What `finish` is not to find out itself, as other processes did the work."""

    def add(self, figure: Figure) -> Figure:
        """Notes a figure, and tells that it is there."""
        self.figures.append(figure)
        say(f"  {figure.by}: {figure.what}: {figure.text(figure.value)} {figure.unit}")
        return figure

    def merge(self, other: "Report") -> None:
        """Takes over what another process found."""
        self.figures += other.figures
        self.comparisons += other.comparisons
        self.checks |= other.checks
        self.notes += other.notes
        self.machine |= other.machine


def show(report: Report, described: dict[str, Any]) -> None:
    """The figures and the comparisons as tables."""
    print(f"\n{report.title}")
    used = f"{described['cores_usable']} of {described['cores']} cores, {described['memory_gib']} GiB"
    system = f"{described['os']}, Python {described['python']}, load {described['load_average']}"
    print(f"{described['cpu']}, {used}, {system}")
    rows = [("", "by", "figure", "unit", "low .. high", "cores", "compile s", "asked for")]
    for figure in report.figures:
        low, high = (figure.text(value) for value in figure.range)
        bounds = ((">=", figure.at_least), ("<=", figure.at_most))
        asked = [f"{sign} {figure.text(bound)}" for sign, bound in bounds if bound is not None]
        mark = {None: "", True: " yes", False: " NO"}[figure.reached]
        rows.append(
            (
                figure.what,
                figure.by,
                figure.text(figure.value),
                figure.unit,
                f"{low} .. {high}",
                f"{figure.cores:.1f}" if figure.cores else "",
                f"{figure.compile_seconds:.1f}" if figure.compile_seconds is not None else "",
                " ".join(asked) + mark,
            )
        )
    print_table(rows, left=(0, 1, 3))
    rows = [("", "jaxgames", "peer", "", "unit", "ratio")]
    for comparison in map(Comparison.to_dict, report.comparisons):
        ratio = f"{comparison['ratio']:.3g}" if comparison["ratio"] is not None else ""
        published = f"(published: {comparison['published']})" if comparison["published"] else ""
        by = f"{comparison['peer_name'] or ''} {published}".strip()
        keys = ("what", "ours_text", "peer_text")
        rows.append((*(comparison[key] or "" for key in keys), by, comparison["unit"], ratio))
    if len(rows) > 1:
        print_table(rows, left=(0, 3, 4))
    for figure in report.figures:
        if figure.note:
            print(f"* {figure.by}, {figure.what}: {figure.note}")
    for note in report.notes:
        print(f"* {note}")
    for name, passed in report.checks.items():
        print(f"{'ok' if passed else 'FAILED'}: {name}")
    sys.stdout.flush()


def print_table(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> None:
    """Columns in line; numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print()
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("-" * (sum(widths) + 2 * (len(widths) - 1)))


def say(text: str) -> None:
    """A line for people, while it goes on."""
    print(text, file=sys.stderr, flush=True)
