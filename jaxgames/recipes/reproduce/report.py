"""Published beside ours: rows, their verdicts, and the report as Markdown and JSON."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple


class Row(NamedTuple):
    """A published figure and ours.

    Args:
        what: what is measured.
        published: the figure of the text; None where it has none.
        ours: our figure; None where it cannot be had, and `why` says why.
        low, high: the 95 % interval of ours; None where it is exact.
        unit: such as "%" or "PPG".
        best: which figure is the better one, "high" or "low"; None where neither is.
        published_margin: half the 95 % interval of the published figure, or of its rounding.
        why: the reason of a difference, or of what is missing; needed for both.
        learner: of which learner or setting the row is, where that matters.
        seconds: wall time.
        digits: decimals shown.
    """

    what: str
    published: float | None
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    best: Literal["high", "low"] | None = None
    published_margin: float = 0.0
    why: str = ""
    learner: str = ""
    seconds: float | None = None
    digits: int = 1

    @property
    def verdict(self) -> str:
        """`agrees`, `better`, `differs`; `-` without a published figure, `not done` without ours.

        Two figures agree if they differ by at most the margin of their difference, the root of the sum of squares.
        """
        if self.ours is None:
            return "not done"
        if self.published is None:
            return "-"
        difference = self.ours - self.published
        ours = 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2
        if abs(difference) <= math.hypot(ours, self.published_margin) + 1e-9:
            return "agrees"
        gain = {"high": difference, "low": -difference, None: -1.0}[self.best]
        return "better" if gain > 0 else "differs"

    @property
    def is_explained(self) -> bool:
        """Whether a row that differs or is missing says why."""
        return bool(self.why) or self.verdict not in ("differs", "not done")


@dataclasses.dataclass(frozen=True)
class Table:
    """A table or figure of the publication, measured. `seconds` is wall time, `picture` the file name of a PNG."""

    key: str
    title: str
    rows: Sequence[Row]
    seconds: float
    note: str = ""
    picture: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        rows = [{**row._asdict(), "verdict": row.verdict} for row in self.rows]
        return {**dataclasses.asdict(self), "rows": rows}


def number(value: float | None, digits: int) -> str:
    """A figure with its decimals and thousands; a dash for None."""
    return "–" if value is None else f"{value:,.{digits}f}"


def cells_of(row: Row) -> tuple[str, str, str, str, str]:
    """A row as texts: what, published, ours, 95 % interval, verdict with its reason."""
    interval = (
        ""
        if row.low is None or row.high is None
        else f"{number(row.low, row.digits)} to {number(row.high, row.digits)}"
    )
    unit = f" {row.unit}" if row.unit else ""
    what = f"{row.what} ({row.learner})" if row.learner else row.what
    verdict = f"{row.verdict}: {row.why}" if row.why else row.verdict
    published, ours = (text if text == "–" else text + unit for text in (number(x, row.digits) for x in row[1:3]))
    return what, published, ours, interval, verdict


def to_markdown(report: dict[str, Any], tables: Sequence[Table]) -> str:
    """The page of a report."""
    machine, versions = report["environment"]["machine"], report["environment"]["versions"]
    lines = [f"# {report['title']}", "", report["citation"], ""]
    if report["quick"]:
        lines += ["**Quick figures**: little was trained and measured, only to see that everything runs.", ""]
    counts = {name: sum(row.verdict == name for table in tables for row in table.rows) for name in VERDICTS}
    found = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    lines += [
        f"Rows: {found}. Made by `{report['command']}` in {_duration(report['seconds'])} on {machine['cores']} cores "
        f"({machine['system']}, jax {versions['jax']}, jaxgames {versions['jaxgames']}, seed {report['seed']}).",
        "",
        "A row *agrees* if the two figures differ by no more than the 95 % margin of their difference; a dash stands "
        "where the text has no figure.",
        "",
    ]
    for table in tables:
        lines += [f"## {table.title}", ""]
        if table.note:
            lines += [table.note, ""]
        if table.picture:
            lines += [f"![{table.title}]({table.picture})", ""]
        if table.rows:
            lines += ["| | published | ours | 95 % | verdict |", "|---|---|---|---|---|"]
            lines += [
                "| " + " | ".join(text.replace("|", "\\|") for text in cells_of(row)) + " |" for row in table.rows
            ]
            lines += [""]
        lines += [f"Wall time: {_duration(table.seconds)}.", ""]
    return "\n".join(lines)


VERDICTS = ("agrees", "better", "differs", "-", "not done")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
