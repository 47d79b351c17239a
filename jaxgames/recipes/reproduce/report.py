"""A published system: its tables and figures, each measured again, and the report as Markdown and JSON."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxgames.ops import json_text
from jaxgames.recipes.reproduce.rows import VERDICTS, Row, pooled
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs import environment
from jaxgames.runs.files import plain, replace


@dataclasses.dataclass(frozen=True)
class Part:
    """A table or figure of the publication.

    `measure(study)` returns its rows; `draw(study, rows, path)` draws its picture as a PNG, if it has one.
    """

    key: str
    title: str
    measure: Callable[[Study], Sequence[Row]]
    draw: Callable[[Study, Sequence[Row], Path], None] | None = None
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """A part that was measured. `seconds` is wall time, `picture` the file name of a PNG."""

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


@dataclasses.dataclass(frozen=True)
class System:
    """A publication. `citation` names author, title and year."""

    name: str
    title: str
    citation: str
    parts: tuple[Part, ...]

    def reproduce(self, study: Study) -> dict[str, Any]:
        """Measures all parts and writes `report.md`, `report.json` and the pictures. Returns the report."""
        tables = []
        for number, part in enumerate(self.parts, 1):
            study.report.say(f"{self.name} {number}/{len(self.parts)}: {part.title}")
            before = study.seconds
            rows = tuple(part.measure(study))
            unexplained = [row.what for row in rows if not row.is_explained and not study.quick]
            if unexplained:
                study.report.say(f"  to be explained: {', '.join(unexplained)}")
            picture = f"{part.key}.png" if part.draw else None
            if part.draw and picture:
                part.draw(study, rows, study.path / picture)
            tables.append(Table(part.key, part.title, rows, study.seconds - before, part.note, picture))
            report = self._report(study, tables)
            replace(study.path / "report.json", to_json(report).encode())
            replace(study.path / "report.md", to_markdown(report, tables).encode())
        return report

    def _report(self, study: Study, tables: Sequence[Table]) -> dict[str, Any]:
        return {
            "system": self.name,
            "title": self.title,
            "citation": self.citation,
            "command": f"jaxgames reproduce {self.name}{' --quick' if study.quick else ''}",
            "quick": study.quick,
            "seed": study.seed,
            "seconds": study.seconds,
            "environment": environment(),
            "parts": [table.to_dict() for table in tables],
        }


def to_json(report: Mapping[str, Any]) -> str:
    """A report as JSON, a row a line."""

    def line(values: Mapping[str, Any]) -> str:
        return json.dumps(plain(dict(values), "report"), ensure_ascii=False)

    def without(values: Mapping[str, Any], last: str) -> str:
        head = line({name: value for name, value in values.items() if name != last})
        return f'{head[:-1]}, "{last}": ['

    tables = []
    for part in report["parts"]:
        rows = ",\n".join(f"   {line(row)}" for row in part["rows"])
        tables.append(f"  {without(part, 'rows')}\n{rows}\n  ]}}")
    return f"{without(report, 'parts')}\n" + ",\n".join(tables) + "\n ]}\n"


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
    if row.text:
        published = row.text + (unit if row.published is not None else "")
    return what, published, ours, interval, verdict


def to_markdown(report: dict[str, Any], tables: Sequence[Table]) -> str:
    """The page of a report."""
    machine, versions = report["environment"]["machine"], report["environment"]["versions"]
    lines = [f"# {report['title']}", "", report["citation"], ""]
    if report["quick"]:
        lines += ["**Quick figures**: little was trained and measured, only to see that everything runs.", ""]
    counts = {name: sum(row.verdict == name for table in tables for row in table.rows) for name in VERDICTS}
    tally = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    lines += [
        f"Rows: {tally}. Made by `{report['command']}` in {_duration(report['seconds'])} on {machine['cores']} cores "
        f"({machine['system']}, jax {versions['jax']}, jaxgames {versions['jaxgames']}, seed {report['seed']}).",
        "",
        "A row *agrees* if the 95 % interval of the difference of both figures holds zero, *too wide* if it would do "
        "so as well were the published figure zero or twice as large. What is *set* is an input, chosen as in the "
        "text; what is *not confirmed* is said in words in the text, and our interval does not show it. A dash stands "
        "where the text has no figure.",
        "",
    ]
    if report.get("note"):
        lines += [report["note"], ""]
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
        if whole := pooled(table.rows):
            lines += [_pooled_text(*whole, unit=table.rows[0].unit), ""]
        lines += [f"Wall time: {_duration(table.seconds)}.", ""]
    return "\n".join(lines)


def _pooled_text(count: int, mean: float, low: float, high: float, unit: str) -> str:
    """What all rows of a table show together."""
    told = f"Over these {count} rows ours is {abs(mean):.2f} {unit} {'higher' if mean > 0 else 'lower'} on average "
    told += f"(95 % {low:+.2f} to {high:+.2f}, the rows taken as independent)"
    return told + ("." if low <= 0 <= high else ", which is more than chance, whatever single rows say.")


def report_again(folder: str | Path) -> dict[str, Any]:
    """Makes `index.md` of a folder anew from the figures in its `report.json`, and the verdicts there. Returns the
    report. Raises `ValueError` if there is none.
    """
    folder = Path(folder)
    try:
        report: dict[str, Any] = json_text.loads((folder / "report.json").read_bytes())
    except (OSError, ValueError):
        raise ValueError(f"{folder} holds no report.json; expected the folder of a reproduction") from None
    tables = [
        Table(**{**part, "rows": [Row(**{name: x[name] for name in Row._fields if name in x}) for x in part["rows"]]})
        for part in report["parts"]
    ]
    report["parts"] = [table.to_dict() for table in tables]
    replace(folder / "report.json", to_json(report).encode())
    replace(folder / "index.md", to_markdown(report, tables).encode())
    return report


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
