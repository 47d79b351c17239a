"""A training run on disk: configuration, measurements, checkpoints, the best player, learning curves."""

import operator
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, TypeVar

import jax
import numpy as np

from jaxgames.ops import checks
from jaxgames.runs import archive, checkpoints, figures
from jaxgames.runs.files import JsonLines, plain
from jaxgames.runs.folder import Folder

PACKAGES = ("jax", "jaxlib", "flax", "optax", "numpy", "jaxgames")
EXTRAS = {"matplotlib": "matplotlib", "orbax.checkpoint": "orbax-checkpoint"}
"""The modules that trainings import besides the core dependencies, and the packages they come with."""

T = TypeVar("T")


class Run(Folder):
    """One folder: `config.json`, `metrics.jsonl`, `checkpoints/step-<n>`, `best/best-<n>`, `curve.png`; evolutions
    that look for many players also have `archive.png`.

    If the process is killed, each file is the old or the new one, never half of one. One process writes at a time, any
    number may read. Make one with `Run.create` or `Run.open`.
    """

    HEADER = "config.json"
    KIND = "a run"
    EXPECTED = "the folder of a training, as given to --out"
    RESTORE = "restore the file or start a new run"
    ANOTHER = "choose another name or resume that run"
    FIELDS = {"config": dict}

    def __init__(self, path: str | Path, header: Mapping[str, Any]):
        super().__init__(path, header)
        self.config: dict[str, Any] = self.header["config"]
        made_with = self.header.get("made_with")
        self.began_with: Mapping[str, str] = made_with if isinstance(made_with, dict) else {}
        """Versions and device when the run was created, see `made_with`; empty if not known."""

    @property
    def _metrics(self) -> JsonLines:
        return JsonLines(self.path / "metrics.jsonl", number="step")

    @property
    def _steps(self) -> checkpoints.CheckpointDir:
        return checkpoints.CheckpointDir(self.path / "checkpoints", "step")

    @property
    def _best(self) -> checkpoints.CheckpointDir:
        return checkpoints.CheckpointDir(self.path / "best", "best")

    @classmethod
    def create(cls, path: str | Path, config: dict[str, Any]) -> Self:
        """Starts a run in a new or empty folder. ValueError if there is anything in it, or `config` is no JSON."""
        return cls.begin(path, {"made_with": made_with(), "config": plain(config, "config", finite=True)})

    @classmethod
    def check_free(cls, path: str | Path) -> None:
        """ValueError if `create` would fail there, or if packages are missing that the training of a recipe needs.

        Trainings call it before they compile anything.
        """
        check_extras()
        cls.check_place(path)

    def changes(self) -> str:
        """What has changed since the run began: `jax 0.10.2, now 0.12.0`; empty if the run will give the same bits."""
        now = made_with()
        told = (f"{name} {was}, now {now.get(name)}" for name, was in self.began_with.items() if was != now.get(name))
        return "; ".join(told)

    def log(self, values: dict[str, Any]) -> None:
        """Appends one line to metrics.jsonl; a whole number `step` is required, NaN and infinities become null.

        Raises `ValueError` for a line without its step, and for a step below 0.
        """
        if isinstance(step := values.get("step"), int | np.integer) and not 0 <= step < 1 << 63:
            raise ValueError(f"metrics need a whole number 'step', got {step}: expected 0 or more, below 2**63")
        self.claim()
        self._metrics.append(values)

    def metrics(self) -> list[dict[str, Any]]:
        """All lines logged so far; a line cut by a crash is left out."""
        return self._metrics.read()

    def drop_metrics_after(self, step: int) -> None:
        """Drops the lines with a larger step: after resuming from a checkpoint their work is done again."""
        self.claim()
        self._metrics.keep(lambda line: line["step"] <= step)

    def save(self, step: int, state: Any, keep: int = 3) -> None:
        """Saves a pytree of arrays and numbers; when this returns it is on disk.

        Then only the `keep` newest checkpoints remain; larger steps, left by a run that was resumed from an older
        checkpoint, are removed. Raises ValueError if a leaf is neither array nor number.
        """
        step, keep = operator.index(step), operator.index(keep)
        if step < 0 or keep < 1:
            raise ValueError(f"cannot save step {step} keeping {keep} checkpoints; expected step >= 0 and keep >= 1")
        self.claim()
        self._steps.put(step, state, {}, keep)

    def steps(self) -> list[int]:
        """Steps of the complete checkpoints, in increasing order."""
        return self._steps.numbers()

    def restore(self, template: Any, step: int | None = None) -> tuple[int, Any]:
        """(step, state) of the newest checkpoint, or of `step`; bit-identical, in the structure of `template`.

        The template's leaves are arrays, numbers, or `jax.ShapeDtypeStruct` as `jax.eval_shape` makes them (of a dtype
        that JAX holds). Raises ValueError that says which step is wrong, why, and which is still good.
        """
        read = partial(checkpoints.read, template=template)
        step, (_, state) = self._load(self._steps, step, read, lambda damaged: self._still_good(damaged, template))
        return step, state

    def restore_leaf(self, place: str, step: int | None = None) -> np.ndarray:
        """One array of the newest checkpoint, or of `step`, by its place in the tree; ValueError if there is none."""
        return self._load(self._steps, step, partial(checkpoints.read_leaf, place=place))[1]

    def save_best(self, state: Any, info: dict[str, Any]) -> None:
        """Saves the best player so far, replacing the one before, with a dictionary about it (games, PPG, ...)."""
        self.claim()
        self._best.put(max(self._best.numbers(), default=0) + 1, state, info, keep=1)

    def load_best(self, template: Any) -> tuple[dict[str, Any], Any]:
        """(info, state) of the best player, in the structure of `template`; raises ValueError as `restore`."""
        read = partial(checkpoints.read, template=template)
        return self._load(self._best, None, read, lambda _: f"checkpoints are there of steps {self.steps()}")[1]

    def best_info(self) -> dict[str, Any] | None:
        """What `save_best` was told about the best player; None if there is none yet. ValueError if it is damaged."""
        return self._load(self._best, None, checkpoints.read_manifest)[1]["info"] if self._best.numbers() else None

    def draw_curve(
        self,
        x: str = "games",
        panels: Sequence[figures.Panel] | None = None,
        references: Sequence[tuple[str, float]] = (),
        title: str | None = None,
    ) -> Path:
        """Draws the learning curves from the metrics into curve.png and returns its path; see `figures.draw`."""
        path = self.path / "curve.png"
        figures.draw(
            self.metrics(), path, x=x, panels=panels, references=references, title=title or self.path.resolve().name
        )
        return path

    def draw_archive(self, found: archive.Archive | archive.Fronts) -> Path:
        """Draws what an evolution has found into archive.png and returns its path; see `archive.draw`."""
        path = self.path / "archive.png"
        archive.draw(found, path, self.path.resolve().name)
        return path

    def _load(
        self,
        kept: checkpoints.CheckpointDir,
        number: int | None,
        read: Callable[[Path], T],
        advice: Callable[[int], str] | None = None,
    ) -> tuple[int, T]:
        """The number of a checkpoint, by default the newest one, and what `read` returns for it; `advice` says what to
        do about a damaged one. Reads again if another process replaced the checkpoints in the meantime.
        """
        what, of = ("checkpoint", " of step {}") if kept.name == "step" else ("best player", "")
        while True:
            numbers = kept.numbers()
            if not numbers:
                raise ValueError(f"{self.path} has no {what} yet")
            chosen = numbers[-1] if number is None else number
            if chosen not in numbers:
                there = ", ".join(map(str, numbers))
                raise ValueError(f"{self.path} has no {what}{of.format(number)}; available: {there}")
            try:
                return chosen, read(kept.path(chosen))
            except (ValueError, KeyError) as error:
                if kept.numbers() == numbers:
                    told = f"; {advice(chosen)}" if advice else ""
                    raise ValueError(f"{what}{of.format(chosen)} in {self.path} {error}{told}") from error

    def _still_good(self, damaged: int, template: Any) -> str:
        """The last good checkpoint before the damaged one or, if there is none, the first one after it, in words."""
        for step in sorted(set(self.steps()) - {damaged}, key=lambda step: (step > damaged, abs(step - damaged))):
            try:
                checkpoints.read(self._steps.path(step), template)
                return f"step {step} is still good"
            except (ValueError, KeyError):
                continue
        return "no other step is good"


def environment() -> dict[str, Any]:
    """Cores, devices, system and versions, ready for JSON: without them a time is meaningless."""
    return {
        "machine": {
            "cores": os.cpu_count(),
            "devices": [device.device_kind for device in jax.devices()],
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
        },
        "versions": {name: version(name) for name in PACKAGES},
    }


def made_with() -> dict[str, str]:
    """What the bits of a training depend on besides its configuration: a run records it when it begins."""
    return {
        "Python": platform.python_version(),
        **{name: version(name) for name in ("jax", "jaxlib")},
        "device": jax.devices()[0].device_kind,
    }


def check_extras(*modules: str) -> None:
    """ValueError if some of `modules`, by default of all `EXTRAS`, is not installed. Call it before hours of work."""
    asked = [checks.choice("module", module, EXTRAS) for module in modules or EXTRAS]
    missing = [EXTRAS[module] for module in asked if not _is_installed(module)]
    if missing:
        raise ValueError(f"not installed: {', '.join(missing)}; install with: pip install 'jaxgames[cli]'")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False
