"""A reproduction under way: a folder that keeps each measured cell, so that nothing is measured twice."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from jaxgames.ops import json_text
from jaxgames.recipes import recipe_named
from jaxgames.recipes.plan import Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run
from jaxgames.runs.files import lock, plain, replace, to_json
from jaxgames.runs.json_lines import JsonLines

PLAN, CELLS, LOCK = "study.json", "cells.jsonl", "study.lock"

T = TypeVar("T")


class Study:
    """What the parts of a reproduction measure with. Make one with `Study.create` or `Study.open`.

    `quick` studies measure little, to be done in a minute or two; `amount(full, quick)` chooses between two numbers.
    """

    def __init__(self, folder: Path, quick: bool, seed: int, report: Report):
        self.folder, self.quick, self.seed, self.report = folder, quick, seed, report
        self._lock = lock(folder / LOCK)
        self._lines = JsonLines(folder / CELLS)
        entries = self._lines.read()
        self._count, self._cells = len(entries), {entry["cell"]: entry for entry in entries}
        self._asked: set[str] = set()
        self.seconds = 0.0
        """Wall time of all cells asked for so far, those of earlier processes included."""

    @classmethod
    def create(cls, folder: str | Path, system: str, quick: bool, seed: int, report: Report) -> "Study":
        """Begins a study in a new or empty folder. Raises `ValueError` if there is anything in it."""
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            advice = "choose another with --out, or go on with --resume" if folder.is_dir() else "expected a folder"
            raise ValueError(f"{folder} is in use; {advice}")
        folder.mkdir(parents=True, exist_ok=True)
        replace(folder / PLAN, to_json({"system": system, "quick": quick, "seed": seed}, "study", indent=2))
        return cls(folder, quick, seed, report)

    @classmethod
    def open(cls, folder: str | Path, system: str, quick: bool, seed: int, report: Report) -> "Study":
        """Goes on with a study. Raises `ValueError` if the folder holds none, or one of another plan."""
        folder = Path(folder)
        try:
            found = json_text.loads((folder / PLAN).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError(f"{folder} holds no reproduction; begin one without --resume") from None
        except ValueError:
            raise ValueError(f"{folder / PLAN} is broken: it is no JSON; begin anew in another folder") from None
        asked = {"system": system, "quick": quick, "seed": seed}
        if found != asked:
            raise ValueError(f"{folder} holds a reproduction with {found}; this one is {asked}: choose another --out")
        return cls(folder, quick, seed, report)

    def amount(self, full: T, quick: T) -> T:
        """The first in a whole study, the second in a quick one."""
        return quick if self.quick else full

    def cell(
        self, name: str, settings: Mapping[str, Any], measure: Callable[[], Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        """What `measure()` returned, ready for JSON; measured once, then read from the folder.

        Args:
            name: names the cell within its study.
            settings: all that decides the result; a cell with other settings is measured again.
            measure: measures it; its result is made of texts, numbers, lists and dictionaries.
        """
        wanted = plain(dict(settings), name)
        entry = self._cells.get(name)
        if entry is None or entry["settings"] != wanted:
            began = time.perf_counter()
            result = plain(dict(measure()), name)
            seconds = time.perf_counter() - began
            self._count += 1
            entry = {"step": self._count, "cell": name, "settings": wanted, "seconds": seconds, "result": result}
            self._lines.append(entry)
            self._cells[name] = entry
            self._asked.discard(name)
            self.report.say(f"  {name}: {seconds:,.1f} s")
        if name not in self._asked:
            self._asked.add(name)
            self.seconds += entry["seconds"]
        return entry["result"]

    def result_of(self, name: str) -> Mapping[str, Any]:
        """The result of a cell that was asked for."""
        return self._cells[name]["result"]

    def seconds_of(self, name: str) -> float:
        """Wall time of a cell that was asked for."""
        return self._cells[name]["seconds"]

    def train(
        self, name: str, recipe: str, setting: str, changes: Mapping[str, str] | None = None, **plan: Any
    ) -> Path:
        """The folder of a training by a recipe, `runs/<name>`; begun, resumed or found finished.

        Args:
            name: names the training within its study.
            recipe, setting, changes: as for `jaxgames train RECIPE --setting SETTING --set NAME=VALUE`.
            plan: other fields of `Plan`, such as `games` or `minutes`.

        Raises `ValueError` if the folder holds a training that was begun with other settings.
        """
        folder = self.folder / "runs" / name
        begun = folder.with_suffix(".json")
        asked = Plan(setting=setting, changes=changes or {}, seed=plan.pop("seed", self.seed), **plan)
        settings = {"recipe": recipe, "setting": setting, "changes": dict(changes or {}), "seed": asked.seed, **plan}
        if asked.data is not None and Path(asked.data).is_relative_to(self.folder):
            settings["data"] = str(Path(asked.data).relative_to(self.folder))  # a study may be moved

        def run_to_end() -> Mapping[str, Any]:
            quiet, chosen = Report(quiet=True), recipe_named(recipe)
            if (folder / "config.json").exists():
                if begun.exists() and (found := json_text.loads(begun.read_bytes())) != plain(settings, name):
                    raise ValueError(f"{folder} was begun with {found}; remove it, or choose another --out")
                return chosen.resume(Run.open(folder), quiet).run_to_end()
            training = chosen.begin(asked, str(folder), quiet)
            replace(begun, to_json(settings, "settings", indent=2))
            return training.run_to_end()

        self.cell(f"training {name}", settings, run_to_end)
        return folder
