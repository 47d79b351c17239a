"""A published system: its tables and figures, each measured again beside what was published."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jaxgames.recipes.reproduce.report import Row, Table, to_markdown
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs import environment
from jaxgames.runs.files import replace, to_json


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
                part.draw(study, rows, study.folder / picture)
            tables.append(Table(part.key, part.title, rows, study.seconds - before, part.note, picture))
            report = self._report(study, tables)
            replace(study.folder / "report.json", to_json(report, "report", indent=2))
            replace(study.folder / "report.md", to_markdown(report, tables).encode())
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
