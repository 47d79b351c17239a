"""A training run on disk: configuration, measurements, checkpoints, the best player, learning curves."""

import operator
import os
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from jaxgames.ops import json_text
from jaxgames.runs import checkpoints, curves, metrics
from jaxgames.runs.files import LEFTOVERS, WriteLock, lock, plain, replace, to_json
from jaxgames.runs.machine import made_with

CONFIG = "config.json"
FORMAT = 1
LEAST_FREE = 1 << 16
"""Bytes that must be free to begin a run."""
EXTRAS = {"matplotlib": "matplotlib", "orbax.checkpoint": "orbax-checkpoint"}
"""What trainings import besides the core dependencies, and the package it comes with."""

T = TypeVar("T")


class Run:
    """One folder: `config.json`, `metrics.jsonl`, `checkpoints/step-<n>`, `best/best-<n>`, `curve.png`.

    If the process is killed, each file is the old or the new one, never half of one. One process writes at a time, any
    number may read. Make one with `Run.create` or `Run.open`.
    """

    def __init__(self, path: Path, config: dict[str, Any], began_with: dict[str, str] | None = None):
        self.path = path
        self.config = _Config.of(config, path / CONFIG)
        self.began_with = began_with or {}
        """Versions and device when the run was created, see `made_with`; empty if that is not known."""
        self._lock: WriteLock | None = None
        self._metrics = path / "metrics.jsonl"
        self._steps = checkpoints.CheckpointDir(path / "checkpoints", "step")
        self._best = checkpoints.CheckpointDir(path / "best", "best")

    @classmethod
    def create(cls, path: str | Path, config: dict[str, Any]) -> "Run":
        """Starts a run in a new or empty folder. ValueError if there is anything in it, or `config` is no JSON."""
        path = Path(path)
        config = plain(config, "config", finite=True)
        began_with = made_with()
        content = to_json({"format": FORMAT, "made_with": began_with, "config": config}, "config", indent=2)
        _check_place(path)
        path.mkdir(parents=True, exist_ok=True)
        run = cls(path, config, began_with)
        run._claim()
        replace(path / CONFIG, content)
        return run

    @staticmethod
    def check_free(path: str | Path) -> None:
        """ValueError if `create` would fail there, or if packages are missing that the training of a recipe needs.

        Trainings call it before they compile anything.
        """
        check_extras("matplotlib", "orbax.checkpoint")
        _check_place(Path(path))

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """Opens a run. ValueError if the folder is none."""
        path = Path(path)
        try:
            content = json_text.loads((path / CONFIG).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            kind = "does not exist" if not path.exists() else f"is no run: it has no {CONFIG}"
            raise ValueError(f"{path} {kind}; expected the folder of a training, as given to --out") from None
        except IsADirectoryError:
            raise ValueError(f"{path / CONFIG} is a folder; restore the file or start a new run") from None
        except ValueError:
            raise ValueError(f"{path / CONFIG} is broken: it is no JSON; restore it or start a new run") from None
        if not isinstance(content, dict) or not isinstance(content.get("config"), dict):
            raise ValueError(
                f'{path / CONFIG} is no configuration of a run; expected {{"format": 1, "config": {{...}}}}'
            )
        if content.get("format") != FORMAT:
            found = content.get("format")
            raise ValueError(f"{path / CONFIG} has format {found!r}; this version of jaxgames reads format {FORMAT}")
        began_with = content.get("made_with")
        return cls(path, content["config"], began_with if isinstance(began_with, dict) else None)

    def changes(self) -> str:
        """What is not as it was when the run began: `jax 0.10.2, now 0.12.0`; empty where the same bits can be had."""
        now = made_with()
        told = (f"{name} {was}, now {now.get(name)}" for name, was in self.began_with.items() if was != now.get(name))
        return "; ".join(told)

    def log(self, values: dict[str, Any]) -> None:
        """Appends one line to metrics.jsonl; a whole number `step` is required, NaN and infinities become null."""
        self._claim()
        metrics.append(self._metrics, values)

    def metrics(self) -> list[dict[str, Any]]:
        """All lines logged so far; a line cut by a crash is left out."""
        return metrics.read(self._metrics)

    def drop_metrics_after(self, step: int) -> None:
        """Drops the lines with a larger step: on resuming from a checkpoint, those of work that is done again."""
        self._claim()
        metrics.drop_after(self._metrics, step)

    def save(self, step: int, state: Any, keep: int = 3) -> None:
        """Saves a pytree of arrays and numbers; when this returns it is on the disk.

        Then only the `keep` newest checkpoints remain; larger steps, left by a run that was resumed from an older
        checkpoint, are removed. ValueError if a leaf is no array or number.
        """
        step, keep = operator.index(step), operator.index(keep)
        if step < 0 or keep < 1:
            raise ValueError(f"cannot save step {step} keeping {keep} checkpoints; expected step >= 0 and keep >= 1")
        self._claim()
        self._steps.put(step, state, {}, keep)

    def steps(self) -> list[int]:
        """Steps of the complete checkpoints, in increasing order."""
        return self._steps.numbers()

    def restore(self, template: Any, step: int | None = None) -> tuple[int, Any]:
        """(step, state) of the newest checkpoint, or of `step`; bit-identical, in the structure of `template`.

        The template's leaves are arrays, numbers, or `jax.ShapeDtypeStruct` as `jax.eval_shape` makes them. Raises
        ValueError that says which step is wrong, why, and which is still good.
        """

        def load() -> tuple[int, Any]:
            steps = self.steps()
            chosen = self._chosen(steps, step)
            try:
                return chosen, checkpoints.read(self._steps.path(chosen), template)[1]
            except ValueError as error:
                others = [other for other in steps if other < chosen][::-1] + [
                    other for other in steps if other > chosen
                ]
                raise ValueError(
                    f"checkpoint of step {chosen} in {self.path} {error}; {self._still_good(others, template)}"
                ) from error

        return _retry_if_replaced(self.steps, load)

    def restore_leaf(self, place: str, step: int | None = None) -> np.ndarray:
        """One array of the newest checkpoint, or of `step`, by its place in the tree; ValueError if there is none."""

        def load() -> np.ndarray:
            chosen = self._chosen(self.steps(), step)
            try:
                return checkpoints.read_leaf(self._steps.path(chosen), place)
            except ValueError as error:
                raise ValueError(f"checkpoint of step {chosen} in {self.path} {error}") from error

        return _retry_if_replaced(self.steps, load)

    def save_best(self, state: Any, info: dict[str, Any]) -> None:
        """Saves the best player so far, replacing the one before, with a dictionary about it (games, PPG, ...)."""
        self._claim()
        self._best.put(max(self._best.numbers(), default=0) + 1, state, info, keep=1)

    def load_best(self, template: Any) -> tuple[dict[str, Any], Any]:
        """(info, state) of the best player; as `restore`."""

        def load() -> tuple[dict[str, Any], Any]:
            numbers = self._best.numbers()
            if not numbers:
                raise ValueError(f"{self.path} has no best player yet")
            try:
                return checkpoints.read(self._best.path(numbers[-1]), template)
            except ValueError as error:
                raise ValueError(
                    f"best player in {self.path} {error}; checkpoints are there of steps {self.steps()}"
                ) from error

        return _retry_if_replaced(self._best.numbers, load)

    def best_info(self) -> dict[str, Any] | None:
        """What `save_best` was told about the best player; None if there is none yet."""

        def load() -> dict[str, Any] | None:
            numbers = self._best.numbers()
            try:
                return checkpoints.read_manifest(self._best.path(numbers[-1]))["info"] if numbers else None
            except ValueError as error:
                raise ValueError(f"best player in {self.path} {error}") from error

        return _retry_if_replaced(self._best.numbers, load)

    def draw_curve(
        self,
        x: str = "games",
        panels: Sequence[curves.Panel] | None = None,
        references: Sequence[tuple[str, float]] = (),
        title: str | None = None,
    ) -> Path:
        """Draws the learning curves from the metrics into curve.png and returns its path; see `curves.draw`."""
        path = self.path / "curve.png"
        curves.draw(
            self.metrics(), path, x=x, panels=panels, references=references, title=title or self.path.resolve().name
        )
        return path

    def _chosen(self, steps: list[int], step: int | None) -> int:
        if not steps:
            raise ValueError(f"{self.path} has no checkpoint yet")
        if step is not None and step not in steps:
            raise ValueError(f"{self.path} has no checkpoint of step {step}; available: {', '.join(map(str, steps))}")
        return steps[-1] if step is None else step

    def _claim(self) -> None:
        if self._lock is None:
            self._lock = lock(self.path / ".lock")

    def _still_good(self, steps: list[int], template: Any) -> str:
        for step in steps:
            try:
                checkpoints.read(self._steps.path(step), template)
                return f"step {step} is still good"
            except (ValueError, KeyError):
                continue
        return "no other step is good"


def check_extras(*modules: str) -> None:
    """ValueError if some of `modules`, by default of all `EXTRAS`, is not installed. Call it before hours of work."""
    missing = [EXTRAS[module] for module in modules or EXTRAS if not _is_installed(module)]
    if missing:
        raise ValueError(f"not installed: {', '.join(missing)}; install with: pip install 'jaxgames[cli]'")


def _check_place(path: Path) -> None:
    """ValueError if no run can be made there: runs are never overwritten, and the folder must be writable."""
    if path.is_file() or (path.is_dir() and any(not _ours_to_ignore(entry) for entry in path.iterdir())):
        raise ValueError(f"{path} exists already and is never overwritten; choose another name or resume that run")
    above = next(parent for parent in (path, *path.absolute().parents) if os.path.lexists(parent))
    if not above.is_dir():
        raise ValueError(f"{path} cannot be made, as {above} is no folder; choose another name")
    if not os.access(above, os.W_OK | os.X_OK):
        raise ValueError(f"{path} cannot be made, as {above} cannot be written; choose another folder")
    disk = shutil.disk_usage(above)
    if disk.free < LEAST_FREE and disk.total:
        raise ValueError(f"{path} cannot be made, as the disk is full; free some space or choose another disk")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


class _Config(dict[str, Any]):
    """A configuration that says which key it lacks, and in which file."""

    file: Path

    @classmethod
    def of(cls, content: Any, file: Path) -> Any:
        """`content` with all dictionaries in it replaced."""
        if not isinstance(content, dict):
            return content
        config = cls({key: cls.of(value, file) for key, value in content.items()})
        config.file = file
        return config

    def __missing__(self, key: str) -> Any:
        raise ValueError(f"{self.file} lacks {key!r}; restore the file or start a new run")


def _ours_to_ignore(entry: Path) -> bool:
    """What a `Run.create` that was killed leaves in an otherwise empty folder."""
    return entry.name == ".lock" or entry.name.startswith(LEFTOVERS)


def _retry_if_replaced(numbers: Callable[[], list[int]], load: Callable[[], T]) -> T:
    """`load()`, again if another process replaced the checkpoints in the meantime."""
    while True:
        before = numbers()
        try:
            return load()
        except (ValueError, KeyError):
            if numbers() == before:
                raise
