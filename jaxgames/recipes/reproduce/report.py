"""A published system: its tables and figures, each measured again, and the report as Markdown and JSON."""

import dataclasses
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
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

    `measure(study)` returns its rows; `draw(study, rows, path)` draws its picture as a PNG, if it has one. `reasons`
    say why rows differ or are missing, by patterns of what the rows are called; they come before a row's own reason.
    Tables with the same `whole` are also tested together. `takes` says how long measuring takes, if that is long.
    """

    key: str
    title: str
    measure: Callable[[Study], Sequence[Row]]
    draw: Callable[[Study, Sequence[Row], Path], None] | None = None
    note: str = ""
    reasons: Mapping[str, str] = dataclasses.field(default_factory=dict)
    whole: str = ""
    takes: str = ""

    def explained(self, row: Row) -> Row:
        """The row with the reason why it differs or is missing."""
        if row.verdict not in NEED_REASONS:
            return row
        why = next((why for pattern, why in self.reasons.items() if fnmatchcase(row.what, pattern)), row.why)
        return row._replace(why=why or NO_REASON)


@dataclasses.dataclass(frozen=True)
class Table:
    """A part that was measured. `seconds` is wall time, `picture` the file name of a PNG, `environment` where it was
    measured.
    """

    key: str
    title: str
    rows: Sequence[Row]
    seconds: float
    note: str = ""
    picture: str | None = None
    environment: Mapping[str, Any] = dataclasses.field(default_factory=dict)

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

    def chosen(self, keys: Sequence[str] = ()) -> list[Part]:
        """The parts with these keys, or all. Raises `ValueError` if there is none with one of them."""
        known = [part.key for part in self.parts]
        for key in keys:
            if key not in known:
                raise ValueError(f"{self.name} has no part {key!r}; expected some of {', '.join(known)}")
        return [part for part in self.parts if part.key in keys or not keys]

    def reproduce(self, study: Study, keys: Sequence[str] = ()) -> dict[str, Any]:
        """Measures all parts, or those with these keys, and writes `report.md`, `report.json` and the pictures. Other
        parts that the folder's report has already stay in it. Returns the report.
        """
        file, parts = study.path / "report.json", self.chosen(keys)
        tables = {table.key: table for table in tables_of(read_report(study.path))} if file.exists() else {}
        made = {**environment(), "commit": commit()}
        for number, part in enumerate(parts, 1):
            study.report.say(f"{self.name} {number}/{len(parts)}: {part.title}")
            before = study.seconds
            rows = tuple(part.measure(study))
            picture = f"{part.key}.png" if part.draw else None
            if part.draw and picture:
                part.draw(study, rows, study.path / picture)
            tables[part.key] = Table(part.key, part.title, rows, study.seconds - before, part.note, picture, made)
            report = self.report(tables, {"quick": study.quick, "seed": study.seed, "environment": made})
            replace(file, to_json(report).encode())
            replace(study.path / "report.md", self.to_markdown(report).encode())
        return report

    def report(self, tables: Mapping[str, Table], of: Mapping[str, Any]) -> dict[str, Any]:
        """A report of tables by their keys, with the titles, notes and reasons of its parts; `of` has the rest."""
        self.chosen(list(tables))
        fresh = [
            dataclasses.replace(
                table, title=part.title, note=part.note, rows=tuple(map(part.explained, table.rows)),
            )
            for part in self.parts
            if (table := tables.get(part.key))
        ]  # fmt: skip
        return {
            "system": self.name,
            "title": self.title,
            "citation": self.citation,
            "command": f"jaxgames reproduce {self.name}{' --quick' if of['quick'] else ''}",
            "seconds": sum(table.seconds for table in fresh),
            **{name: of[name] for name in ("quick", "seed", "environment", "note") if name in of},
            "parts": [table.to_dict() for table in fresh],
        }

    def to_markdown(self, report: Mapping[str, Any]) -> str:
        """The page of a report."""
        tables, made = {table.key: table for table in tables_of(report)}, report["environment"]
        lines = [f"# {report['title']}", "", report["citation"], ""]
        if report["quick"]:
            lines += ["**Quick figures**: little was trained and measured, only to see that everything runs.", ""]
        counts = {name: sum(row.verdict == name for x in tables.values() for row in x.rows) for name in VERDICTS}
        tally = [f"{count} {name}" for name, count in counts.items() if count]
        missing = [part for part in self.parts if part.key not in tables]
        if missing:
            tally.append(f"{len(missing)} of {len(self.parts)} parts not measured")
        lines += [
            f"Rows: {', '.join(tally)}. Made by `{report['command']}` in {_duration(report['seconds'])}, "
            f"{_made_with(made)}, jaxgames {made['versions']['jaxgames']}, seed {report['seed']}; parts that were "
            "measured at another time say so.",
            "",
            "A row *agrees* if the 95 % interval of the difference of both figures contains zero. It is *too wide* if "
            "that would also be so with a published figure of zero, or of twice the size. *Set* is an input that we "
            "chose as in the text. *Not confirmed* is what the text says in words and our interval does not show. A "
            "dash stands where the text has no figure. Rows that say *differs*, *better*, *not confirmed* or *not "
            "done* give a reason, or say that it is not known.",
            "",
        ]
        if report.get("note"):
            lines += [report["note"], ""]
        for name in dict.fromkeys(part.whole for part in self.parts if part.whole):
            together = [row for part in self.parts if part.whole == name and part.key in tables
                        for row in tables[part.key].rows]  # fmt: skip
            if whole := pooled(together):
                told = _pooled_text(*whole, unit=together[0].unit)
                lines += [f"{name}: {told[0].lower()}{told[1:]}", ""]
        for part in self.parts:
            lines += [f"## {part.title}", ""]
            lines += self._lines(part, tables.get(part.key), made)
        return "\n".join(lines)

    def _lines(self, part: Part, table: Table | None, made: Mapping[str, Any]) -> list[str]:
        lines = [part.note, ""] if part.note else []
        if table is None:
            takes = f", in {part.takes}" if part.takes else ""
            return [*lines, f"Not measured: `jaxgames reproduce {self.name} --parts {part.key}` does{takes}.", ""]
        if table.picture:
            lines += [f"![{part.title}]({table.picture})", ""]
        if table.rows:
            lines += ["| | published | ours | 95 % | verdict |", "|---|---|---|---|---|"]
            lines += [
                "| " + " | ".join(text.replace("|", "\\|") for text in cells_of(row)) + " |" for row in table.rows
            ]
            lines += [""]
        if whole := pooled(table.rows):
            lines += [_pooled_text(*whole, unit=table.rows[0].unit), ""]
        when = "" if table.environment in ({}, made) else f", {_made_with(table.environment)}"
        return [*lines, f"Wall time: {_duration(table.seconds)}{when}.", ""]


NEED_REASONS = ("differs", "better", "not confirmed", "not done")
NO_REASON = "the reason is not known"


def commit() -> str | None:
    """The commit of this code, with `-dirty` if it was changed since; None outside a repository."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=10"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _made_with(made: Mapping[str, Any]) -> str:
    """Cores, system, release of JAX and commit."""
    machine, versions = made["machine"], made["versions"]
    told = f"on {machine['cores']} cores ({machine['system']}, jax {versions['jax']}"
    return f"{told}, commit {made['commit']})" if made.get("commit") else f"{told})"


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


def _pooled_text(count: int, mean: float, low: float, high: float, unit: str) -> str:
    """What all rows of a table show together."""
    told = f"Over these {count} rows ours is {abs(mean):.2f} {unit} {'higher' if mean > 0 else 'lower'} on average "
    told += f"(95 % {low:+.2f} to {high:+.2f}, if the rows are independent)"
    return told + ("." if low <= 0 <= high else ". That is more than chance, whatever single rows say.")


def read_report(folder: str | Path) -> dict[str, Any]:
    """The report in a folder. Raises `ValueError` if there is none."""
    try:
        report: dict[str, Any] = json_text.loads((Path(folder) / "report.json").read_bytes())
    except (OSError, ValueError):
        raise ValueError(f"{folder} holds no report.json; expected the folder of a reproduction") from None
    return report


def tables_of(report: Mapping[str, Any]) -> list[Table]:
    """The tables of a report."""
    return [
        Table(**{**part, "rows": [Row(**{name: x[name] for name in Row._fields if name in x}) for x in part["rows"]]})
        for part in report["parts"]
    ]


def report_again(system: System, folder: str | Path, newer: Iterable[str | Path] = ()) -> dict[str, Any]:
    """Makes `index.md` of a folder anew from the figures in its `report.json`, and the verdicts and reasons there.
    Parts in the reports of the `newer` folders replace its own, with their pictures; of several the last one counts.
    Returns the report. Raises `ValueError` if there is no report, if one is of another system, and if quick figures
    would be mixed with others.
    """
    folder = Path(folder)
    report = read_report(folder)
    tables, pictures = {table.key: table for table in tables_of(report)}, {}
    for place in (folder, *map(Path, newer)):
        its_report = read_report(place)
        for what in ("system", "quick"):
            expected = system.name if what == "system" else report[what]
            if its_report[what] != expected:
                raise ValueError(f"{place} has a report of {what} {its_report[what]!r}; expected {expected!r}")
        if place == folder:
            continue
        for table in tables_of(its_report):
            tables[table.key] = dataclasses.replace(table, environment=table.environment or its_report["environment"])
            if table.picture:
                pictures[table.picture] = place / table.picture
    report = system.report(tables, report)
    for name, path in pictures.items():
        shutil.copyfile(path, folder / name)
    replace(folder / "report.json", to_json(report).encode())
    replace(folder / "index.md", system.to_markdown(report).encode())
    return report


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
