"""The training loop of all recipes: advance, measure, log, save, draw, resume.

From `jaxgames train td-gammon` to the first jitted call a reader passes through these files:

    cli/__init__.py         the verbs
    cli/train.py            the command
    recipes/__init__.py     the recipes by name
    recipes/recipe.py       begin: check the plan, turn minutes into updates, make the run folder
    recipes/td.py           settings of td-gammon, plan and job of a TD training
    recipes/training.py     the loop, and a block of updates, jitted
    runs/interruptible.py   the thread in which a block is computed, so that Ctrl-C is heard
    algos/td/learner.py     init and update of a learner
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from jaxgames.ops import checks
from jaxgames.recipes.report import Report
from jaxgames.runs import Run, environment, tensorboard
from jaxgames.runs.interruptible import interruptible

S = TypeVar("S")


class Block(NamedTuple, Generic[S]):
    """The result of one block of a training.

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
    """Advice if weights become infinite."""
    counted: str = "games"
    """The unit of its length: an entry of its lines of metrics, and of the counts of a block."""
    keys: tuple[str, ...] = ()
    """What it reads of the run's configuration besides what all jobs read."""
    end: int | None = None
    """The step after which the next stage begins; None for the last one, which ends at a progress of 1."""

    def __init__(self, recipe: Any, run: Run, report: Report):
        self.recipe, self.run, self.report, self.settings = recipe, run, report, run.config

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

    @property
    def final_seed(self) -> int:
        """Of what is measured at the end: not by the dice by which the best player was chosen."""
        return (self.settings["seed"] + 1) % (checks.MOST_SEED + 1)

    def is_done(self, state: S, step: int) -> bool:
        """Whether this stage of the training is at its end."""
        return self.progress(state, step) >= 1 if self.end is None else step >= self.end

    def begin_after(self, state: Any) -> S:
        """The state in which this stage begins, after the last one of the stage before."""
        raise NotImplementedError

    @abstractmethod
    def is_measured(self, step: int) -> bool:
        """Whether strength is measured and a checkpoint saved at this step, as it always is at the end."""

    @abstractmethod
    def results(self, state: S) -> dict[str, Any]:
        """What is measured at the end, ready for JSON."""

    @abstractmethod
    def draw(self, checkpoint: Any) -> None:
        """Draws the learning curve into the run folder, and what else is to be seen of a checkpoint."""

    def measure(self, state: S, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Metrics of strength. Saves the best player, if this is one."""
        return {}

    def checkpoint(self, state: S) -> Any:
        """The part of a state that is saved."""
        return state


class Training(Generic[S]):
    """Jobs at work in their run folder, one stage after the other. Of several processes only the first writes."""

    def __init__(self, stages: Sequence[Job[S]], run: Run, report: Report):
        self.stages, self.run, self.report = stages, run, report
        self.job = stages[-1]
        """The last stage, by which a training is named and measured at its end."""
        self.leads = jax.process_index() == 0
        for name in ("recipe", "setting", "game", "seed", "devices", "measured_games", "final_games", *self.job.keys):
            run.config[name]  # what is missing is said before the training, not after it

    def run_to_end(self) -> dict[str, Any]:
        """Trains to the end and returns the results, ready for JSON; none in processes other than the first.

        Raises `ValueError` where weights or metrics are not finite any more.
        """
        step, state, stages = self._start()
        earlier, began, games, trained = self._earlier_seconds(step), time.perf_counter(), 0.0, 0.0
        if self.leads and self._events:
            tensorboard.begin(self._events, self.run.metrics())
        with self.report.progress(1.0) as progress:
            for job in stages:
                if job is not stages[0]:
                    state = job.begin_after(state)
                while not job.is_done(state, step):
                    before = time.perf_counter()
                    state, entry, counts, finite = interruptible(partial(job.advance, state, step))
                    now = time.perf_counter()
                    step, games, trained = entry["step"], games + counts[job.counted], trained + now - before
                    entry |= {f"{name}_per_second": count / (now - before) for name, count in counts.items()}
                    entry["seconds"] = earlier + now - began
                    entry["progress"] = round(min(job.progress(state, step), 1.0), 4)
                    if not finite:
                        raise ValueError(self._not_finite(step))
                    if job.is_measured(step) or job.is_done(state, step):
                        self._measure_and_save(job, step, state, entry)
                    elif self.leads:
                        self._log(entry)
                    progress(entry["progress"], entry)
        lasted = time.perf_counter() - began
        if not games:  # it may have been killed before its last picture was drawn
            checkpoint = self.job.checkpoint(state)
            if self.leads:
                self.job.draw(checkpoint)
        return self._results(state, earlier + lasted, games / trained if games else 0.0) if self.leads else {}

    def _start(self) -> tuple[int, S, Sequence[Job[S]]]:
        """The step and the state to continue with, and the remaining stages."""
        if not self.run.steps():
            return 0, self.stages[0].start(None), self.stages
        newest = max(self.run.steps())
        left = [job for job in self.stages if job.end is None or newest <= job.end]
        step, checkpoint = self.run.restore(left[0].template())
        self.report.say(f"resuming after {self.job.step_name} {step:,}")
        if changes := self.run.changes():
            self.report.warn(f"the numbers may differ from now on from those of an undisturbed run: {changes}")
        return step, left[0].start(checkpoint), left

    def _earlier_seconds(self, step: int) -> float:
        """The time trained before the checkpoint of `step`. Drops the metrics of work that is done again."""
        if not self.leads:
            return 0.0
        self.run.drop_metrics_after(step)
        return max((entry["seconds"] for entry in self.run.metrics()), default=0.0)

    def _measure_and_save(self, job: Job[S], step: int, state: S, entry: dict[str, Any]) -> None:
        checkpoint = job.checkpoint(state)  # in all processes
        if self.leads:
            before = time.perf_counter()
            entry |= job.measure(state, entry)
            entry["seconds"] += time.perf_counter() - before  # from there a resumed training goes on counting
            self._log(entry)
            self.run.save(step, checkpoint)
            job.draw(checkpoint)

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
        """What is found in the end; `seconds` of the whole training. `rate` is that of all blocks of this process, with
        the compilation, without measuring.
        """
        config, metrics = self.run.config, self.run.metrics()
        if not rate and metrics and self.run.best_info() is None:  # it was ended before, and its best player is lost
            self.job.measure(state, metrics[-1])
        return {
            "run": str(self.run.path),
            "recipe": config["recipe"],
            "setting": config["setting"],
            "seed": config["seed"],
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
