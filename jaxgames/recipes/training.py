"""The training loop of all recipes: advance, measure, log, save, draw, resume.

From `jaxgames train td-gammon` to the first jitted call a reader passes through these files:

    cli/train.py            the command
    recipes/__init__.py     the recipes by name
    recipes/td/named.py     the settings of td-gammon
    recipes/recipe.py       begin: check the plan, make the run folder
    recipes/td/recipe.py    plan and job of a TD training
    recipes/training.py     the loop, and a block of updates, jitted
    algos/td/learner.py     init and update of a learner
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from jaxgames.recipes.report import Report
from jaxgames.runs import Run, environment, tensorboard

S = TypeVar("S")


class Block(NamedTuple, Generic[S]):
    """What one block of a training leads to.

    `entry` is the line of metrics, with `step` and `games` so far (or what else the job counts); `counts` are what was
    done in the block, of which the loop logs the rates (`games` as `games_per_second`); `finite` says whether the
    weights are finite.
    """

    state: S
    entry: dict[str, Any]
    counts: Mapping[str, float]
    finite: bool


class Job(ABC, Generic[S]):
    """What a recipe does in a training, from its run's configuration. Steps count what its checkpoints are named by."""

    step_name: str = "step"
    advice: str = "smaller steps"
    """What helps against weights that become infinite."""
    counted: str = "games"
    """What its length is counted in: an entry of its lines of metrics, and of the counts of a block."""
    keys: tuple[str, ...] = ()
    """What it reads of the run's configuration besides what all jobs read."""

    @abstractmethod
    def template(self) -> Any:
        """A checkpoint's structure, with shapes and dtypes."""

    @abstractmethod
    def start(self, checkpoint: Any | None) -> S:
        """The state in a checkpoint, or that of a new training, placed on the devices."""

    @abstractmethod
    def advance(self, state: S, step: int) -> Block[S]:
        """Trains for one block, from the state after `step` steps."""

    @abstractmethod
    def progress(self, state: S, step: int) -> float:
        """The share of the training that is done; at 1 it ends."""

    @abstractmethod
    def is_measured(self, step: int) -> bool:
        """Whether strength is measured and a checkpoint saved at this step, as it always is at the end."""

    @abstractmethod
    def results(self, state: S) -> dict[str, Any]:
        """What is measured at the end, ready for JSON."""

    @abstractmethod
    def draw(self) -> None:
        """Draws the learning curve into the run folder."""

    def measure(self, state: S, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Metrics of strength. Saves the best player, if this is one."""
        return {}

    def checkpoint(self, state: S) -> Any:
        """What is saved of a state."""
        return state


class Training(Generic[S]):
    """A job at work in its run folder. Of several processes all do the same, and only the first writes."""

    def __init__(self, job: Job[S], run: Run, report: Report):
        self.job, self.run, self.report = job, run, report
        self.leads = jax.process_index() == 0
        for name in ("recipe", "setting", "game", "seed", "devices", "measured_games", "final_games", *job.keys):
            run.config[name]  # what is missing is said before the training, not after it

    def run_to_end(self) -> dict[str, Any]:
        """Trains to the end and returns the results, ready for JSON; none in processes other than the first.

        Raises `ValueError` where weights or metrics are not finite any more.
        """
        step, state = self._start()
        earlier, began, games = self._earlier_seconds(step), time.perf_counter(), 0.0
        if self.leads and self._events:
            tensorboard.begin(self._events, self.run.metrics())
        with self.report.progress(1.0) as progress:
            while self.job.progress(state, step) < 1:
                before = time.perf_counter()
                state, entry, counts, finite = self.job.advance(state, step)
                now = time.perf_counter()
                step, games = entry["step"], games + counts[self.job.counted]
                entry |= {f"{name}_per_second": count / (now - before) for name, count in counts.items()}
                entry["seconds"] = earlier + now - began
                if not finite:
                    raise ValueError(self._not_finite(step))
                done = self.job.progress(state, step)
                if self.job.is_measured(step) or done >= 1:
                    self._measure_and_save(step, state, entry)
                elif self.leads:
                    self._log(entry)
                progress(done, entry)
        lasted = time.perf_counter() - began
        return self._results(state, earlier + lasted, games / lasted) if self.leads else {}

    def _start(self) -> tuple[int, S]:
        if not self.run.steps():
            return 0, self.job.start(None)
        step, checkpoint = self.run.restore(self.job.template())
        self.report.say(f"resuming after {self.job.step_name} {step:,}")
        if changes := self.run.changes():
            self.report.warn(f"the numbers may differ from now on from those of an undisturbed run: {changes}")
        return step, self.job.start(checkpoint)

    def _earlier_seconds(self, step: int) -> float:
        """The time trained before the checkpoint of `step`. Drops the metrics of what is done again."""
        if not self.leads:
            return 0.0
        self.run.drop_metrics_after(step)
        return max((entry["seconds"] for entry in self.run.metrics()), default=0.0)

    def _measure_and_save(self, step: int, state: S, entry: dict[str, Any]) -> None:
        checkpoint = self.job.checkpoint(state)  # in all processes
        if self.leads:
            entry |= self.job.measure(state, entry)
            self._log(entry)
            self.run.save(step, checkpoint)
            self.job.draw()

    @property
    def _events(self) -> Path | None:
        """The folder of the events for TensorBoard, if they are wanted."""
        return self.run.path / "tensorboard" if self.run.config.get("tensorboard") else None

    def _log(self, entry: dict[str, Any]) -> None:
        self.run.log(entry)
        if self._events:
            tensorboard.append(self._events, entry)

    def _not_finite(self, step: int) -> str:
        kept = self.run.best_info() if self.leads else None
        counted = self.job.counted
        best = f"the best player, of {kept[counted]} {counted}, is kept" if kept else "no player was kept"
        return f"the weights became infinite or NaN at {self.job.step_name} {step}: {best}; try {self.job.advice}"

    def _results(self, state: S, seconds: float, rate: float) -> dict[str, Any]:
        """What is found in the end; `seconds` of the whole training, `rate` of what this process did of it."""
        config = self.run.config
        return {
            "run": str(self.run.path),
            "recipe": config["recipe"],
            "setting": config["setting"],
            "seconds": seconds,
            f"{self.job.counted}_per_second": rate or None,
            "curve": str(self.run.path / "curve.png"),
            **environment(),
            **self.job.results(state),
        }


@partial(jax.jit, static_argnames=("learner", "number"), donate_argnums=1)
def run_updates(learner: Any, state: Any, key: Key[Array, ""], number: int) -> tuple[Any, Any]:
    """`number` updates; the key of each depends on its place in the whole training only.

    Args:
        learner: hashable, with `update(state, key) -> (state, metrics)`.
        state: counts its updates in `updates`; given away.
        key: of the whole training.
        number: how many.

    Returns the state after them, and the metrics of each, stacked.
    """
    places = state.updates + jnp.arange(number, dtype=jnp.int32)
    return jax.lax.scan(learner.update, state, jax.vmap(lambda place: jax.random.fold_in(key, place))(places))


def seconds_per_update(learner: Any, state: Any, number: int, seconds: float) -> float:
    """The mean time of an update on this machine, in blocks of `number` updates for about so many seconds.

    Only the second half counts, when play has become sensible. What is learned here is thrown away.
    """
    state, _ = jax.block_until_ready(run_updates(learner, state, jax.random.key(2), number))
    times: list[float] = []
    while sum(times) < seconds:
        began = time.perf_counter()
        state, _ = jax.block_until_ready(run_updates(learner, state, jax.random.key(2), number))
        times.append(time.perf_counter() - began)
    later = times[len(times) // 2 :]
    return sum(later) / len(later) / number
