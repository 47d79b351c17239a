"""A reproduction under way: a folder that keeps each measured cell, so that nothing is measured twice."""

import shutil
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from jaxgames.data_sets import make_data, merge_data, played_games
from jaxgames.envs.core import Game
from jaxgames.matches import match
from jaxgames.ops import json_text
from jaxgames.ops.pytrees import as_bytes
from jaxgames.players import Player, make
from jaxgames.recipes import recipe_named
from jaxgames.recipes.recipe import Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run
from jaxgames.runs.files import JsonLines, plain, replace, to_json
from jaxgames.runs.folder import Folder

T = TypeVar("T")


class Study(Folder):
    """What the parts of a reproduction measure with. Make one with `Study.create` or `Study.resume`.

    `quick` studies measure little, to be done in a minute or two; `amount(full, quick)` chooses between two numbers.
    """

    HEADER = "study.json"
    KIND = "a reproduction"
    EXPECTED = "one that was begun, without --resume"
    RESTORE = "begin anew in another folder"
    ANOTHER = "choose another with --out, or go on with --resume"
    FIELDS: ClassVar[Mapping[str, type]] = {"system": str, "quick": bool, "seed": int}

    @classmethod
    def create(cls, path: str | Path, system: str, quick: bool, seed: int, report: Report) -> Self:
        """Begins a study in a new or empty folder. Raises `ValueError` if there is anything in it."""
        return cls.begin(path, {"system": system, "quick": quick, "seed": seed})._start(report)

    @classmethod
    def resume(cls, path: str | Path, system: str, quick: bool, seed: int, report: Report) -> Self:
        """Goes on with a study. Raises `ValueError` if the folder holds none, or one of another plan."""
        study = cls.open(path)
        study.check_begun_with({"system": system, "quick": quick, "seed": seed})
        study.claim()
        return study._start(report)

    def _start(self, report: Report) -> Self:
        self.report, self.quick, self.seed = report, self.header["quick"], self.header["seed"]
        entries = self._lines.read()
        self._count, self._cells = len(entries), {entry["cell"]: entry for entry in entries}
        self._asked: set[str] = set()
        self.seconds = 0.0
        """Wall time of all cells asked for so far, those of earlier processes included."""
        return self

    @property
    def _lines(self) -> JsonLines:
        return JsonLines(self.path / "cells.jsonl")

    def amount(self, full: T, quick: T) -> T:
        """The first in a whole study, the second in a quick one."""
        return quick if self.quick else full

    def cell(
        self, name: str, settings: Mapping[str, Any], measure: Callable[..., Mapping[str, Any]], *arguments: Any
    ) -> Mapping[str, Any]:
        """What `measure(*arguments)` returned, ready for JSON; measured once, then read from the folder.

        Args:
            name: names the cell within its study.
            settings: all that decides the result; a cell with other settings is measured again.
            measure: measures it; its result is made of texts, numbers, lists and dictionaries.
            arguments: what it is called with.
        """
        wanted = plain(dict(settings), name)
        entry = self._cells.get(name)
        if entry is None or entry["settings"] != wanted:
            began = time.perf_counter()
            result = plain(dict(measure(*arguments)), name)
            seconds = time.perf_counter() - began
            self._count += 1
            entry = {"step": self._count, "cell": name, "settings": wanted, "seconds": seconds, "result": result}
            self.claim()
            self._lines.append(entry)
            self._cells[name] = entry
            self._asked.discard(name)
            self.report.say(f"  {name}: {seconds:,.1f} s")
        if name not in self._asked:
            self._asked.add(name)
            self.seconds += entry["seconds"]
        return entry["result"]

    def match(
        self,
        name: str,
        players: Callable[[], tuple[Player | str, Player | str]],
        games: int,
        seed: int,
        settings: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Mapping[str, Any]:
        """The cell of a match, as `MatchResult.to_dict`.

        Args:
            name: of the cell.
            players: both players, or their names; asked where the match is played and not read from the folder.
            games, seed, options: as for `match`, such as the `game` of two names.
            settings: what decides the result beside `games`.
        """

        def play() -> Mapping[str, Any]:
            return match(*players(), games, seed=seed, **options).to_dict()

        return self.cell(name, {"games": games, **(settings or {})}, play)

    def examples(
        self, name: str, game: Game, teacher: str, games: int, per_shard: int, split: str = "game", tests: Any = None
    ) -> Mapping[str, Any]:
        """Examples to learn from, games of a player against itself: the folder of the data set (`folder`), and how many
        positions there are to learn and to test with.

        Args:
            name: of the cell; the data lies in the study's folder `data`.
            game: the game.
            teacher: the player, as text.
            games: how many it plays.
            per_shard: how many are made at once; what is stopped goes on with the next of them.
            split: by `game` or by `position`, see `prepare`.
            tests: positions that must not be learned, and their legal actions; None for none.
        """
        raw, merged = (self.path / "data" / part for part in ("raw", "merged"))

        def make_them() -> Mapping[str, Any]:
            player = make(teacher, game)
            make_data(played_games(player, player, games, self.seed, games_per_shard=per_shard), raw)
            shutil.rmtree(merged, ignore_errors=True)  # one that was not finished
            _, counts = merge_data(game, [raw], merged, tests, split=split, seed=self.seed)
            return counts._asdict()

        bits = zlib.crc32(as_bytes(tests))
        settings = {"teacher": teacher, "games": games, "seed": self.seed, "split": split, "held_out": bits}
        return {**self.cell(name, settings, make_them), "folder": merged}

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
        folder = self.path / "runs" / name
        begun = folder.with_suffix(".json")
        asked = Plan(setting=setting, changes=changes or {}, seed=plan.pop("seed", self.seed), **plan)
        settings = {"recipe": recipe, "setting": setting, "changes": dict(changes or {}), "seed": asked.seed, **plan}
        if asked.data is not None and Path(asked.data).is_relative_to(self.path):
            settings["data"] = str(Path(asked.data).relative_to(self.path))  # a study may be moved

        def run_to_end() -> Mapping[str, Any]:
            quiet, chosen = Report(quiet=True), recipe_named(recipe)
            if (folder / "config.json").exists():
                if begun.exists() and (old_settings := json_text.loads(begun.read_bytes())) != plain(settings, name):
                    raise ValueError(f"{folder} was begun with {old_settings}; remove it, or choose another --out")
                return chosen.resume(Run.open(folder), quiet).run_to_end()
            training = chosen.begin(asked, str(folder), quiet)
            replace(begun, to_json(settings, "settings", indent=2))
            return training.run_to_end()

        self.cell(f"training {name}", settings, run_to_end)
        return folder
