"""The recipe of an evolution at work in a run folder."""

import time
from pathlib import Path
from statistics import median
from typing import Any

import jax
import numpy as np
from jaxtyping import Array

from jaxgames.algos.evolution.evaluate import replicated
from jaxgames.algos.evolution.saved import champions_template
from jaxgames.recipes.evolution.recipe import Checkpoint, EvolutionRecipe
from jaxgames.recipes.evolution.registry import config_of
from jaxgames.recipes.evolution.strategy import EvolutionConfig, advance, mesh_of, summarize
from jaxgames.recipes.report import Report
from jaxgames.runs import Run

MEASUREMENTS = 20  # and checkpoints, of a whole training, if it has as many lines of metrics


class EvolutionTraining:
    """A recipe at work in a run folder: `EvolutionTraining.begin`, or `EvolutionTraining` to resume; then `run_to_end`.

    Of several processes all do the same, and only the first writes and speaks.
    """

    def __init__(self, recipe: EvolutionRecipe, run: Run, report: Report):
        self.recipe, self.run, self.report = recipe, run, report
        self.config = config_of(run.config)
        self.devices = check_devices(self.config, run.config["devices"])
        self.method = self.config.method(self.devices, recipe.fitnesses)
        self.per_line = run.config["generations_per_line"]
        self.lines = self.config.generations // self.per_line
        self.every = max(1, self.lines // MEASUREMENTS)
        self.leads = jax.process_index() == 0

    @classmethod
    def begin(cls, recipe: EvolutionRecipe, content: dict[str, Any], path: str, report: Report) -> "EvolutionTraining":
        """Makes the run folder."""
        if jax.process_index() == 0:
            return cls(recipe, Run.create(path, content), report)
        return cls(recipe, Run(Path(path), content), report)

    def run_to_end(self) -> dict[str, Any]:
        """Evolves to the end, and returns how good the champions are."""
        line, state = self._start()
        began = time.perf_counter()
        if self.leads:
            self.run.drop_metrics_after(line * self.per_line)
        earlier = max((entry["seconds"] for entry in self.run.metrics()), default=0.0) if self.leads else 0.0
        with self.report.progress(self.lines) as progress:
            while line < self.lines:
                before = time.perf_counter()
                state, scores = jax.block_until_ready(advance(self.method, state, self.per_line))
                now = time.perf_counter()
                line += 1
                champions, diversity = _here(summarize(self.method, state))
                entry = {
                    "step": line * self.per_line,
                    "games": self.method.games(line * self.per_line),
                    "fitness": float(np.asarray(scores.best)[-1]),
                    "fitness_mean": float(np.asarray(scores.mean)[-1]),
                    "diversity": float(diversity),
                    "games_per_second": self.method.games(self.per_line) / (now - before),
                    "generations_per_second": self.per_line / (now - before),
                    "seconds": earlier + now - began,
                }
                if not np.all(np.isfinite(champions)):
                    raise ValueError(f"weights became infinite or NaN at generation {entry['step']}: try smaller steps")
                if line % self.every == 0 or line == self.lines:
                    self._keep(line, entry, champions, state)
                elif self.leads:
                    self.run.log(entry)
                progress(line, entry)
        return self._results()

    def _start(self) -> tuple[int, Any]:
        make = jax.jit(self.method.init)
        key, mesh = jax.random.key(self.run.config["seed"]), mesh_of(self.devices)
        if self.run.steps():
            step, checkpoint = self.run.restore(self._template())
            self.report.say(f"resuming after {step:,} generations, {self.method.games(step):,} games")
            line, state = step // self.per_line, checkpoint.state
        else:
            line, state = 0, make(key)
        return line, state if mesh is None else replicated(state, mesh)

    def _template(self) -> Checkpoint:
        state = jax.eval_shape(self.method.init, jax.random.key(0))
        return Checkpoint(champions_template(self.run), state)

    def _keep(self, line: int, entry: dict[str, Any], champions: np.ndarray, state: Any) -> None:
        """Measures the champions, keeps them if none were better, and saves everything."""
        state = _here(state)
        if not self.leads:
            return
        config = self.run.config
        measured, best = self.recipe.measures.quick(
            self.config.network, champions, config["measured_games"], config["seed"]
        )
        entry |= measured
        kept = self.run.best_info()
        if kept is None or measured["strength"] >= kept["strength"]:
            ordered = np.concatenate([champions[best : best + 1], np.delete(champions, best, axis=0)])
            info = {"step": entry["step"], "games": entry["games"], "strength": measured["strength"]}
            self.run.save_best(ordered, info)
        self.run.log(entry)
        self.run.save(entry["step"], Checkpoint(champions, state))
        x = "games" if self.method.games(1) else "step"
        self.run.draw_curve(x=x, panels=self.recipe.measures.panels(self.run.metrics()))

    def _results(self) -> dict[str, Any]:
        if not self.leads:
            return {}
        config = self.run.config
        self.report.say("measuring the champions ...")
        if self.recipe.judged == "last":
            champions = np.asarray(self.run.restore(self._template())[1].champions)
        else:
            champions = np.asarray(self.run.load_best(champions_template(self.run))[1])
        metrics = self.run.metrics()
        judged = self.recipe.measures.thorough(
            self.config.network, champions, config["final_games"], config["seed"] + 1
        )
        return {
            "run": str(self.run.path),
            **{name: config[name] for name in ("recipe", "setting", "game", "seed", "devices")},
            "games": self.method.games(self.config.generations),
            "generations": self.config.generations,
            "seconds": metrics[-1]["seconds"],
            "games_per_second": median(entry["games_per_second"] for entry in metrics),
            "kept": self.run.best_info(),
            **judged,
            "published": [dict(published) for published in self.recipe.published],
            "curve": str(self.run.path / "curve.png"),
        }


def check_devices(config: EvolutionConfig, asked: int | None) -> int:
    """The devices to use. Raises `ValueError` if there are not so many, or the method uses one only."""
    available = jax.device_count()
    if config.most_devices == 1:
        for place, more in (("process", jax.process_count() > 1), ("device", asked not in (None, 1))):
            if more:
                raise ValueError(f"{config.strategy} runs on one {place}; strategies of one population can be split")
        return 1
    devices = min(available, config.most_devices) if asked is None else asked
    if devices > available:
        raise ValueError(f"this training runs on {devices} devices, but {available} are here; use a machine with more")
    if jax.process_count() > 1 and devices != available:
        raise ValueError(f"{devices} of {available} devices: expected all, so that every process has its share")
    return devices


def _here(tree: Any) -> Any:
    """The arrays of a pytree on this process' own device, as NumPy arrays; keys stay keys."""

    def fetch(leaf: Array) -> Any:
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(fetch(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf))
        return np.asarray(leaf.addressable_data(0))

    return jax.tree.map(fetch, tree)
