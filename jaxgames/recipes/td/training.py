"""A TD training from start to end: plan, play, measure, save, resume."""

import dataclasses
import math
import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from jaxgames.algos.td import Metrics, TDConfig, TDState, make_learner
from jaxgames.algos.td.parallel import devices_for, place
from jaxgames.algos.td.saved import Checkpoint, config_of, first_checkpoint, template
from jaxgames.arena import every_line, match
from jaxgames.players import make as make_player
from jaxgames.players.generic import greedy
from jaxgames.players.player import Player
from jaxgames.recipes.recipe import Plan
from jaxgames.recipes.report import Report
from jaxgames.recipes.td import step_tests, strength
from jaxgames.recipes.td.goal import Goal
from jaxgames.recipes.td.recipe import TDRecipe
from jaxgames.recipes.td.step_tests import plies_in_update
from jaxgames.runs import Run

PLIES_PER_BLOCK = 50_000  # between two looks at the clock, and two lines of metrics
FEWEST, MOST = 2, 40  # measurements of strength


class TDTraining:
    """A recipe at work in a run folder: `TDTraining.begin`, or `TDTraining` to resume; then `run_to_end`."""

    def __init__(self, recipe: TDRecipe, run: Run, report: Report):
        self.recipe, self.run, self.report = recipe, run, report
        self.config = config_of(run.config["learner"])
        self.network = self.config.network()
        self.learner = place(make_learner(self.config), run.config["devices"])
        self.block = run.config["block"]
        self.key = jax.random.key(run.config["seed"])
        self.opponents = {name: make_player(name, self.network.game) for name in recipe.opponents}

    @classmethod
    def begin(cls, recipe: TDRecipe, plan: Plan, path: str, report: Report) -> "TDTraining":
        """Plans a training and makes its run folder. Everything that decides the result is fixed here."""
        config = recipe.config(plan.setting, plan.changes)
        devices = devices_for(config.batch) if plan.devices is None else plan.devices
        numbers = {name: getattr(plan, name) for name in ("seed", "measured_games", "final_games")}
        numbers = {name: number for name, number in numbers.items() if number is not None}
        goal = Goal(minutes=plan.minutes, games=plan.games, devices=devices, **numbers)
        changes = (f"{name}={text}" for name, text in plan.changes.items())
        setting = " ".join([plan.setting or next(iter(recipe.settings)), *changes])
        Run.check_free(path)
        config.network()  # so that an unknown encoding is known before there is a folder
        place(make_learner(config), goal.devices)
        plies = plies_in_update(config, recipe.plies_per_game)
        if goal.games is not None:
            updates = max(1, round(goal.games * recipe.plies_per_game / plies))
        else:
            report.say("compiling, and measuring the speed of this machine ...")
            updates = max(1, round(goal.seconds / _seconds_per_update(config, goal, plies)))
        block = max(1, min(PLIES_PER_BLOCK // plies, updates // 10))
        if config.schedule == "tested":
            block = step_tests.updates_per_test(config, recipe.plies_per_game)
        blocks = -(-updates // block)
        measurements = min(max(updates * plies / recipe.plies_per_measurement, FEWEST), MOST)
        content = {
            "recipe": recipe.name,
            "setting": setting,
            "game": config.game,
            "seed": goal.seed,
            "devices": goal.devices,
            "goal": {"minutes": goal.minutes, "games": goal.games, "updates": blocks * block},
            "block": block,
            "measure_every": math.ceil(blocks / measurements) * block,
            "measured_games": goal.measured_games,
            "final_games": goal.final_games,
            "learner": dataclasses.asdict(dataclasses.replace(config, updates=blocks * block)),
        }
        return cls(recipe, Run.create(path, content), report)

    def run_to_end(self) -> dict[str, Any]:
        """Trains until the goal, measures the best player against all opponents, and returns the results."""
        checkpoint = self._start()
        self.run.drop_metrics_after(int(checkpoint.state.updates))
        goal, began, first = self.run.config["goal"], time.perf_counter(), int(checkpoint.games)
        earlier = max((line["seconds"] for line in self.run.metrics()), default=0.0)  # of the process that was killed
        with self.report.progress(goal["games"] or goal["updates"]) as progress:
            while not self._done(checkpoint):
                before = time.perf_counter(), int(checkpoint.games)
                checkpoint, line = self._block(checkpoint)
                step = line["step"]
                seconds = time.perf_counter() - before[0]
                line["games_per_second"] = (int(checkpoint.games) - before[1]) / seconds
                line["plies_per_second"] = line.pop("plies") / seconds
                line["seconds"] = earlier + time.perf_counter() - began
                if not np.isfinite(line["loss"]):
                    kept = self.run.best_info()
                    best = f"the best player, of {kept['games']} games, is kept" if kept else "no player was kept"
                    raise ValueError(
                        f"the weights became infinite or NaN at update {step}: {best}; try a smaller step_size"
                    )
                if self._is_measured(step) or self._done(checkpoint):
                    line |= self._measure_strength(checkpoint, line)
                    self.run.log(line)
                    self.run.save(step, checkpoint)
                    references = [(p.label, p.ppg) for p in self.recipe.published]
                    self.run.draw_curve(panels=strength.panels(self.recipe, self.run.metrics()), references=references)
                else:
                    self.run.log(line)
                progress(int(checkpoint.games) if goal["games"] else step, line)
        seconds, games = time.perf_counter() - began, int(checkpoint.games) - first
        return self._results(seconds, games)

    def _start(self) -> Checkpoint:
        if self.run.steps():
            step, checkpoint = self.run.restore(template(self.config))
            self.report.say(f"resuming from update {step}, {int(checkpoint.games):,} games")
            return checkpoint._replace(state=self.learner.place(checkpoint.state))
        state = jax.jit(make_learner(self.config).init)(jax.random.fold_in(self.key, 2**31))
        return first_checkpoint(self.config, self.learner.place(state))

    def _done(self, checkpoint: Checkpoint) -> bool:
        goal = self.run.config["goal"]
        if goal["games"]:
            return int(checkpoint.games) >= goal["games"]
        return int(checkpoint.state.updates) >= goal["updates"]

    def _is_measured(self, step: int) -> bool:
        blocks = step // self.block
        early = self.recipe.measured_early and blocks & (blocks - 1) == 0 and step < self.run.config["measure_every"]
        return early or step % self.run.config["measure_every"] == 0

    def _block(self, checkpoint: Checkpoint) -> tuple[Checkpoint, dict[str, Any]]:
        state, metrics = _updates(self.learner, checkpoint.state, self.key, self.block)
        metrics = jax.tree.map(lambda x: float(np.asarray(x, np.float64).sum()), metrics)
        games = checkpoint.games + np.int64(metrics.games)
        line = {
            "step": int(state.updates),
            "games": int(games),
            "loss": metrics.squared_error / max(metrics.positions, 1),
            "plies": metrics.plies,
            "plies_per_game": metrics.plies / max(metrics.games, 1),
            "points_per_game": metrics.points / max(metrics.games, 1),
        }
        if metrics.truncated:
            line["truncated"] = metrics.truncated
        checkpoint = checkpoint._replace(state=state, games=games)
        if checkpoint.tests is not None:
            checkpoint = step_tests.after_block(checkpoint, self._player(state.params), self.config)
            line["step_size"] = float(checkpoint.state.factor) * self.config.batch
        return checkpoint, line

    def _player(self, params: Any, name: str = "trained") -> Player:
        # From here on on one device: a match is not split.
        return greedy(self.network.game, name, jax.device_put(jax.device_get(params)), self.network.value)

    def _measure_strength(self, checkpoint: Checkpoint, line: dict[str, Any]) -> dict[str, Any]:
        """Strength by now; the player is kept unless it is clearly worse than the one kept before."""
        player, opponent = self._player(checkpoint.state.params), self.opponents[self.recipe.watched]
        settings = self.run.config
        measured = strength.measure(self.recipe, player, opponent, settings["measured_games"], settings["seed"])
        if strength.is_kept(self.recipe, measured, self.run.best_info()):
            info = {"step": line["step"], "games": line["games"], **strength.remembered(self.recipe, measured)}
            self.run.save_best(checkpoint.state.params, info)
        return measured

    def _results(self, seconds: float, games: int) -> dict[str, Any]:
        info, params = self.run.load_best(template(self.config).state.params)
        player = self._player(params, str(self.run.path))
        number, seed = self.run.config["final_games"], self.run.config["seed"] + 1
        matches = []
        for name, opponent in self.opponents.items():
            self.report.say(f"playing {number:,} games against {name} ...")
            matches.append(match(player, opponent, number, seed=seed))
        lines = {"every_line": every_line(player).to_dict()} if self.recipe.every_line else {}
        return {
            "run": str(self.run.path),
            "recipe": self.recipe.name,
            "setting": self.run.config["setting"],
            "game": self.config.game,
            "games": info["games"],
            "seconds": seconds,
            "games_per_second": games / seconds if games else None,
            "published": [dataclasses.asdict(published) for published in self.recipe.published],
            "matches": [result.to_dict() for result in matches],
            **lines,
            "curve": str(self.run.path / "curve.png"),
        }


@partial(jax.jit, static_argnames=("learner", "number"), donate_argnums=1)
def _updates(learner: Any, state: TDState, key: Key[Array, ""], number: int) -> tuple[TDState, Metrics]:
    """`number` updates; the key of each depends on its place in the whole training only."""
    places = state.updates + jnp.arange(number, dtype=jnp.int32)
    return jax.lax.scan(learner.update, state, jax.vmap(lambda place: jax.random.fold_in(key, place))(places))


def _seconds_per_update(config: TDConfig, goal: Goal, plies: int) -> float:
    """The time of an update once play has become sensible. What is learned here is thrown away."""
    learner = place(make_learner(config), goal.devices)
    state = learner.place(jax.jit(make_learner(config).init)(jax.random.key(1)))
    number = max(1, PLIES_PER_BLOCK // plies)
    state, _ = jax.block_until_ready(_updates(learner, state, jax.random.key(2), number))
    budget, began = min(6.0, goal.seconds / 20), time.perf_counter()
    while True:
        start = time.perf_counter()
        state, _ = jax.block_until_ready(_updates(learner, state, jax.random.key(2), number))
        if time.perf_counter() - began > budget:
            return (time.perf_counter() - start) / number
