"""The training of `tic-tac-toe-self-play` from start to end: play, measure, save, resume."""

import dataclasses
import time
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Key

from jaxgames.algos.self_play_backprop import State
from jaxgames.recipes.report import Report
from jaxgames.recipes.tic_tac_toe_self_play.curves import curves, draw
from jaxgames.recipes.tic_tac_toe_self_play.lines import lines_lost
from jaxgames.recipes.tic_tac_toe_self_play.population import WINDOW, Measured, Populations
from jaxgames.recipes.tic_tac_toe_self_play.recipe import Variant
from jaxgames.runs import Run

LINES = 100  # of metrics in a whole training
LINES_PER_CHECKPOINT = 10
LOW, HIGH = 10, 90
"""The percentiles of the seeds between which a spread is shown."""


class SelfPlayTraining:
    """The recipe at work in a run folder: `SelfPlayTraining.begin`, or `SelfPlayTraining` to resume; then
    `run_to_end`.
    """

    def __init__(self, run: Run, report: Report):
        self.run, self.report = run, report
        self.variants = _variants(run.config)
        self.populations = Populations(tuple(self.variants.values()), run.config["seeds"])
        self.devices = run.config["devices"]
        _check_devices(self.devices)
        self.key = jax.random.key(run.config["seed"])
        self.windows = run.config["games_per_line"] // WINDOW

    @classmethod
    def begin(cls, content: dict[str, Any], devices: int | None, path: str, report: Report) -> "SelfPlayTraining":
        """Makes the run folder. Games are rounded up to whole lines of metrics."""
        Run.check_free(path)
        populations = Populations(tuple(_variants(content).values()), content["seeds"])
        devices = populations.devices_for(jax.device_count()) if devices is None else devices
        _check_devices(devices)
        if populations.blocks % devices:
            raise ValueError(f"{populations.blocks} blocks of networks cannot be split over {devices} devices evenly")
        per_line = -(-content["games"] // (LINES * WINDOW)) * WINDOW
        content = content | {
            "devices": devices,
            "games": -(-content["games"] // per_line) * per_line,
            "games_per_line": per_line,
        }
        return cls(Run.create(path, content), report)

    def run_to_end(self) -> dict[str, Any]:
        """Trains until every network has played its games, and returns how good they are."""
        line, states = self._start()
        self.run.drop_metrics_after(line)
        lines, first = self.run.config["games"] // self.run.config["games_per_line"], line
        began = time.perf_counter()
        earlier = max((entry["seconds"] for entry in self.run.metrics()), default=0.0)
        with self.report.progress(lines) as progress:
            while line < lines:
                before = time.perf_counter()
                states, good, errors = jax.block_until_ready(
                    _train(self.populations, states, self.key, self.windows, self.devices)
                )
                line += 1
                entry = self._entry(line, good, errors, self._measure(states, line))
                networks = self.populations.seeds * len(self.variants)
                now = time.perf_counter()
                entry["games_per_second"] = networks * self.run.config["games_per_line"] / (now - before)
                entry["seconds"] = earlier + now - began
                self.run.log(entry)
                if line % LINES_PER_CHECKPOINT == 0 or line == lines:
                    self.run.save(line, states)
                    draw(self.run.metrics(), self._labels(), self.run.path / "curve.png")
                progress(line, entry)
        return self._results(states, lines - first, time.perf_counter() - began)

    def _start(self) -> tuple[int, State]:
        make = partial(self.populations.init, self.key)
        if self.run.steps():
            line, states = self.run.restore(jax.eval_shape(make))
            self.report.say(f"resuming after {line * self.run.config['games_per_line']:,} games of each network")
            return line, states
        return 0, jax.jit(make)()

    def _measure(self, states: State, number: int, games: int | None = None) -> Measured:
        """Shares of good games, [variants, seeds]: `number` says of which random numbers."""
        key = jax.random.fold_in(jax.random.fold_in(self.key, 2**31), number)
        games = games or self.run.config["measured_games"]
        measured = _measured(self.populations, states, key, games, self.devices)
        return Measured(*(self.populations.by_variant(share) for share in measured))

    def _entry(self, line: int, good: Array, errors: Array, measured: Measured) -> dict[str, Any]:
        """A line of metrics: for each variant the good results per 100 games of training, those of one network in its
        last 100 games, and the good ones in all kinds of games without learning.
        """
        counts, loss = self.populations.by_variant(good), self.populations.by_variant(errors)
        entry = {"step": line, "games": line * self.run.config["games_per_line"], "loss": float(loss[0].mean())}
        for i, name in enumerate(self.variants):
            entry[f"{name}/one"] = int(counts[i, -1, 0])
            entry |= _spread(f"{name}/training", counts[i].mean(axis=0))
            entry |= _spread(f"{name}/measured", 100 * measured.good[i])
        return entry

    def _results(self, states: State, lines: int, seconds: float) -> dict[str, Any]:
        config, metrics = self.run.config, self.run.metrics()
        repeats = -(-config["final_games"] // config["measured_games"])
        self.report.say(f"playing {repeats * config['measured_games']:,} games of each network on either side ...")
        parts = [self._measure(states, 2**30 + number) for number in range(repeats)]
        final = Measured(*(np.mean(shares, axis=0) for shares in zip(*parts, strict=True)))
        self.report.say("playing all possible lines of play ...")
        lost = lines_lost(self.populations, states)
        games = lines * config["games_per_line"] * config["seeds"] * len(self.variants)
        variants = {}
        for i, name in enumerate(self.variants):
            found = {kind: 100 * getattr(final, kind)[i] for kind in ("good", *Measured._fields)}
            variants[name] = dataclasses.asdict(self.variants[name]) | {
                "final": {kind: _percentiles(shares) for kind, shares in found.items()},
                "draw_themselves": int(np.sum(final.self_play[i] == 1)),
                "lines_lost": sorted(map(int, lost[i])),
                "curve": curves(metrics, name),
            }
        return {
            "run": str(self.run.path),
            **{name: config[name] for name in ("recipe", "setting", "seed", "seeds", "games")},
            "seconds": seconds,
            "games_per_second": games / seconds if games else None,
            "measured_games": repeats * config["measured_games"],
            "curve": str(self.run.path / "curve.png"),
            "at_games": [entry["games"] for entry in metrics],
            "variants": variants,
        }

    def _labels(self) -> dict[str, str]:
        return {name: variant.label for name, variant in self.variants.items()}


def _check_devices(number: int) -> None:
    if number > jax.device_count():
        raise ValueError(
            f"this training runs on {number} devices, but {jax.device_count()} are here; use a machine with as many"
        )


def _spread(name: str, values: np.ndarray) -> dict[str, float]:
    """Median and percentiles over seeds, as metrics."""
    found = _percentiles(values)
    return {name: found["median"], f"{name}/low": found["low"], f"{name}/high": found["high"]}


def _percentiles(values: np.ndarray) -> dict[str, float]:
    low, median, high = (round(float(x), 2) for x in np.percentile(values, (LOW, 50, HIGH)))
    return {"median": median, "low": low, "high": high}


def _variants(config: dict[str, Any]) -> dict[str, Variant]:
    """The variants in a run's configuration, in the order in which the states are saved."""
    found = {}
    for entry in config["variants"]:
        fields = entry | {"cycle": tuple(entry["cycle"])}  # JSON knows lists only
        name = fields.pop("name")
        found[name] = Variant(**fields)
    return found


@partial(jax.jit, static_argnums=(0, 3, 4), donate_argnums=1)
def _train(populations: Populations, states: State, key: Key[Array, ""], windows: int, devices: int) -> Any:
    return populations.train(states, key, windows, devices)


@partial(jax.jit, static_argnums=(0, 3, 4))
def _measured(populations: Populations, states: State, key: Key[Array, ""], games: int, devices: int) -> Measured:
    return populations.measure(states, key, games, devices)
