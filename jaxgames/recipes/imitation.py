"""Trainings by imitation of data sets: settings, plan, job; by name for any game, and as two published texts did it."""

import dataclasses
import functools
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from typing_extensions import override

from jaxgames.algos.imitation import ImitationConfig, ImitationState, LabeledPositions, load, make_learner, open_of
from jaxgames.algos.imitation.data import check_split, prepare
from jaxgames.algos.imitation.learner import ImitationCheckpoint, checkpoint_shapes, weights_of
from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.nets import NetworkSpec
from jaxgames.ops.pytrees import take
from jaxgames.players.generic import imitating
from jaxgames.recipes import strength
from jaxgames.recipes.recipe import Plan, Recipe
from jaxgames.recipes.report import Report, show_training
from jaxgames.recipes.training import Block, Job, run_updates
from jaxgames.runs import Panel, Run
from jaxgames.runs.folder import DataSetFolder
from jaxgames.sessions.record import game_options

SECONDS_BETWEEN_PICTURES = 10.0
MOST_POSITIONS = 2**30


@dataclasses.dataclass(frozen=True)
class ImitationRecipe(Recipe):
    """Supervised training on a data set: named settings, the first of them the usual ones."""

    kind = "imitation"
    measured_games = 0
    final_games = 1_000
    reads_data = True
    name: str
    summary: str
    settings: Mapping[str, ImitationConfig]
    game: str | None = None
    """The only game it learns; None for any."""
    opponents: tuple[str, ...] = ("random",)
    """Met at the end."""

    @override
    def length(self) -> str:
        return "needs --data FOLDER"

    @override
    def config(self, plan: Plan) -> ImitationConfig:
        game = self.game or plan.game or ""
        setting = plan.setting_of(self.name, game, self.settings, minutes=True)
        return self.settings[setting].change(plan.changes)

    @override
    def check(self, plan: Plan) -> None:
        if plan.minutes is not None or plan.games is not None:
            raise ValueError(f"{self.name} trains for a number of epochs: give --set epochs=N, not minutes or games")
        if plan.devices not in (None, 1):
            raise ValueError(f"{self.name} trains on one device, not on {plan.devices}")
        if plan.measured_games is not None:
            raise ValueError(f"{self.name} measures the validation loss on the way: --measured-games has no effect")
        config, (game, folder) = self.config(plan), self._data(plan)
        for name in ("validation", "split"):
            if name in plan.changes and _is_split(folder):
                raise ValueError(f"{folder.path} was split when it was merged: {name} has no effect")
        plan.check_symmetries(game)
        make_learner(game, config)  # raises for a network that does not fit the game

    @override
    def prepared(self, plan: Plan, report: Report) -> Plan:
        game, folder = self._data(plan)
        report.say(f"reading {folder.path} ...")
        learned_rows(folder, game, self.config(plan), plan.seed or 0)  # which are kept
        return plan

    @override
    def details(self, plan: Plan) -> dict[str, Any]:
        # Data, settings and seed decide the weights to the last bit.
        config, (game, folder) = self.config(plan), self._data(plan)
        training, validation = learned_rows(folder, game, config, plan.seed or 0)
        each = math.ceil(len(training.game) / config.minibatch)
        block = math.ceil(each / config.blocks_per_epoch)
        steps = math.ceil(config.epochs * each / block) * block
        return {
            "game": game.id,
            "options": game_options(game),
            "devices": 1,
            "block": block,
            "data": {
                "folder": str(folder.path.resolve()),
                "made": folder.header["made"],
                "training": len(training.game),
                "validation": len(validation.game),
            },
            "learner": config.replace(steps=steps).to_json(),
        }

    @override
    def job(self, run: Run, report: Report) -> "ImitationJob":
        return ImitationJob(self, run, report)

    @override
    def show(self, result: Mapping[str, Any]) -> None:
        best, data = result["best"], result["data"]
        figures = [f"{name} {value:.4g}" for name, value in best.items() if name.startswith("validation_")]
        learned = f"{data['training']:,} positions to learn from, {data['validation']:,} for validation"
        show_training(result, (learned, f"best epoch {best['epoch']:.1f}: {', '.join(figures)}"))

    def _data(self, plan: Plan) -> tuple[Game, DataSetFolder]:
        """The data set of a plan, and its game. Raises `ValueError` if there is none, or it is of another game."""
        if plan.data is None:
            raise ValueError(
                f"{self.name} learns from data: --data FOLDER; they are made by: jaxgames data make --game "
                f"{self.game or plan.game or 'GAME'} --players alphabeta:5 --games 1000 --out FOLDER"
            )
        header = DataSetFolder.open_complete(plan.data).header
        name = self.game or plan.game or header["game"]
        if header["game"] != name:
            raise ValueError(f"{plan.data} holds data of {header['game']}, not of {name}")
        game = make(name, **header["options"])
        return game, open_of(plan.data, game, game_options(game))


def learned_rows(
    folder: DataSetFolder, game: Game, config: ImitationConfig, seed: int
) -> tuple[LabeledPositions, LabeledPositions]:
    """The rows to learn from, shuffled and as many as the settings say, and those of validation.

    Raises `ValueError` if one of them is empty, and where there are less positions than are to be learned.
    """
    rows = _split_rows(folder.path, game, config.validation, config.split, seed)
    held = rows.validation
    training, validation = np.flatnonzero(~held), take(rows, np.flatnonzero(held))
    check_split(len(training), len(validation.game), config.validation, len(np.unique(rows.game)))
    if not len(training) < MOST_POSITIONS:
        raise ValueError(f"{len(training):,} positions to learn from: expected less than {MOST_POSITIONS:,}")
    if config.positions > len(training):
        raise ValueError(f"positions {config.positions}: {folder.path} has {len(training):,} to learn from")
    order = np.random.default_rng(seed).permutation(training)
    return take(rows, order[: config.positions or None]), validation


def _split_rows(path: Path, game: Game, *split: Any) -> LabeledPositions:
    """The rows of a data set, split; those of a merged one are as they were split then."""
    written = [(file.name, file.stat()) for file in sorted(path.iterdir()) if file.suffix in (".json", ".npz")]
    files = tuple((name, about.st_size, about.st_mtime_ns) for name, about in written)
    return _read_rows(path.absolute(), files, game, *split)


@functools.lru_cache(maxsize=1)
def _read_rows(
    path: Path, files: tuple[Any, ...], game: Game, validation: float, split: str, seed: int
) -> LabeledPositions:
    """As `_split_rows`. By `files` data that were made anew are told from those that were there."""
    del files
    folder = DataSetFolder.open_complete(path)
    rows = load(folder, game)
    if _is_split(folder):
        return rows
    return prepare(game, rows, None, validation, split, seed)[0]


def _is_split(folder: DataSetFolder) -> bool:
    """Whether the rows of a data set say themselves which are for validation."""
    return bool(folder.header["made"].get("by") == "merge")


class ImitationProgress(NamedTuple):
    """The learner's state, the lowest validation loss so far, and how many measurements ago it was."""

    state: ImitationState
    best: float
    since_best: int


METRICS_OF = {"policies": {"policy_loss", "predicted"}, "values": {"value_squared", "value_absolute"}}
"""The metrics of policies, and those of values."""


class ImitationJob(Job[ImitationProgress]):
    """A training by imitation; a step is an optimizer step."""

    counted = "positions"
    keys = ("learner", "data", "block")
    advice = "a smaller step_size"
    recipe: ImitationRecipe

    def __init__(self, recipe: ImitationRecipe, run: Run, report: Report):
        super().__init__(recipe, run, report)
        self.config = ImitationConfig.from_json(self.settings["learner"])
        self.game = make(self.settings["game"], **self.settings["options"])
        self.learner = make_learner(self.game, self.config)
        self.key, self.drawn = jax.random.key(self.settings["seed"]), -math.inf
        self.training, self.validation = self._rows()

    @override
    def template(self) -> ImitationCheckpoint:
        return checkpoint_shapes(self.learner)

    @override
    def start(self, checkpoint: ImitationCheckpoint | None) -> ImitationProgress:
        training = jax.device_put(self.training)
        if checkpoint is None:
            key = jax.random.fold_in(self.key, 2**31)
            return ImitationProgress(jax.jit(self.learner.init)(key, training), math.inf, 0)
        saved = jax.device_put(checkpoint)
        state = ImitationState(saved.params, saved.optimizer, training, jnp.int32(int(checkpoint.updates)))
        return ImitationProgress(state, float(checkpoint.best), int(checkpoint.since_best))

    @override
    def advance(self, progress: ImitationProgress, step: int) -> Block[ImitationProgress]:
        state, metrics = run_updates(self.learner, progress.state, self.key, self.settings["block"])
        entry: dict[str, Any] = {"step": int(state.updates)}
        entry["positions"] = entry["step"] * self.config.minibatch
        entry["epoch"] = entry["positions"] / len(self.training.game)
        entry |= self._means(jax.device_get(metrics), step)
        measured = self.learner.evaluate(state.params, self.validation)
        entry |= {f"validation_{name}": value for name, value in measured.items()}
        lower = measured["loss"] < progress.best
        best, since = (measured["loss"], 0) if lower else (progress.best, progress.since_best + 1)
        counts = {"positions": self.settings["block"] * self.config.minibatch}
        finite = math.isfinite(entry["loss"]) and math.isfinite(measured["loss"])
        return Block(ImitationProgress(state, best, since), entry, counts, finite)

    def _means(self, metrics: Mapping[str, np.ndarray], first: int) -> dict[str, float]:
        """The means of metrics of the steps from `first` on, each by what the rows of a step count: one whose rows have
        no results says nothing of values.
        """
        number, size = len(self.training.game), self.config.minibatch
        steps = next(iter(metrics.values())).shape[0]
        starts = (first + np.arange(steps)) * size % number
        means: dict[str, float] = {}
        for kind, weights in weights_of(self.config, self.training).items():
            before = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])  # rows come in turn, again and again
            rounds, ends = np.divmod(starts + size, number)
            counts = rounds * before[-1] + before[ends] - before[starts]
            for name in METRICS_OF[kind] & metrics.keys():
                means[name] = float(np.average(metrics[name], weights=counts)) if counts.any() else 0.0
        value = self.config.value_weight * means.get(f"value_{self.config.value_loss}", 0.0)
        means["loss"] = means.get("policy_loss", 0.0) + value
        return {name: means[name] for name in metrics}

    @override
    def progress(self, progress: ImitationProgress, step: int) -> float:
        # The training ends early when the validation loss has not fallen for long.
        return 1.0 if progress.since_best >= self.config.patience else step / self.config.steps

    @override
    def is_measured(self, step: int) -> bool:
        return True

    @override
    def measure(self, progress: ImitationProgress, entry: Mapping[str, Any]) -> dict[str, Any]:
        # The weights of the lowest validation loss are kept.
        if progress.since_best == 0:
            info = {name: value for name, value in entry.items() if not name.endswith("_per_second")}
            self.run.save_best(progress.state.params, info)
        return {}

    @override
    def checkpoint(self, progress: ImitationProgress) -> ImitationCheckpoint:
        # All but the data.
        state = progress.state
        numbers = np.int64(int(state.updates)), np.float64(progress.best), np.int64(progress.since_best)
        return ImitationCheckpoint(state.params, state.optimizer, *numbers)

    @override
    def draw(self, checkpoint: Any) -> None:
        # An epoch may take less time than its picture, so not after each, but at the end.
        if time.perf_counter() > self.drawn + SECONDS_BETWEEN_PICTURES:
            self._draw()

    def _draw(self) -> None:
        self.drawn = time.perf_counter()
        both = {"loss": "training", "validation_loss": "validation"}
        panels = [Panel("loss", both, height=2.0)]
        names = {"predicted": "moves predicted", "value_squared": "squared error", "value_absolute": "absolute error"}
        metrics = self.run.metrics()
        for name, label in names.items():
            if any(name in line for line in metrics):
                panels.append(Panel(label, {name: "training", f"validation_{name}": "validation"}))
        self.run.draw_curve(x="epoch", panels=panels)

    @override
    def results(self, progress: ImitationProgress) -> dict[str, Any]:
        self._draw()
        info, params = self.run.load_best(self.template().params)
        player = imitating(str(self.run.path), params, self.learner.network)
        games, seed = self.settings["final_games"], self.final_seed
        return {
            "game": self.game.id,
            "positions": info["positions"],
            "data": dict(self.settings["data"]),
            "best": dict(info),
            "published": [],
            "matches": strength.final_matches(player, self.game, self.recipe.opponents, games, seed, self.report),
        }

    def _rows(self) -> tuple[LabeledPositions, LabeledPositions]:
        """The data of the run. Raises `ValueError` if they have changed since it began."""
        data = self.settings["data"]
        folder = open_of(data["folder"], self.game, game_options(self.game))
        training, validation = learned_rows(folder, self.game, self.config, self.settings["seed"])
        current = {"training": len(training.game), "validation": len(validation.game), "made": folder.header["made"]}
        for name, value in current.items():
            if value != data[name]:
                raise ValueError(f"{folder.path} has changed since the training began: {name}; start a new run")
        return training, validation


_MLP = ImitationConfig()
_VALUE = _MLP.replace(learns="value", plays="value")

IMITATION = ImitationRecipe(
    name="imitation",
    summary="supervised learning of the moves and results of a data set, for every game",
    settings={
        "mlp": _MLP,
        "residual": _MLP.replace(form="residual"),
        "conv": _MLP.replace(form="conv", hidden=(64,)),
        "value": _VALUE,
    },
)

_ADAMCZYK = ImitationConfig(
    network=NetworkSpec(
        hidden=(64,), activation="bipolar_sigmoid", output="bipolar_sigmoid", initializer="glorot_uniform"
    ),
    encoding="pieces", head="target", learns="policy", policy_loss="squared", optimizer="sgd", minibatch=1,
    step_size=0.01, last_step_size=0.01, epochs=3, blocks_per_epoch=4, patience=4, symmetries=False,
)  # fmt: skip
"""The delta rule: a step after each move, as many weights as there are connections. The text leaves the step size and
the first weights open.
"""
_MODERN = ImitationConfig(
    network=NetworkSpec(hidden=(128, 128)), encoding="pieces", learns="policy", step_size=0.002, epochs=10,
    minibatch=256, blocks_per_epoch=2,
)  # fmt: skip

CHECKERS = ImitationRecipe(
    name="checkers-imitation",
    summary="networks that learn moves of alpha-beta, 64-64-64 as published, and better",
    settings={
        "modern": _MODERN,
        "modern-small": _MODERN.replace(hidden=(42,)),
        "adamczyk-2018": _ADAMCZYK,
        "adamczyk-2018-deep": _ADAMCZYK.replace(hidden=(64,) * 10),
    },
    game="checkers",
    opponents=("random", "alphabeta:1", "alphabeta:2", "alphabeta:3"),
)

_GOEPPERT = _VALUE.replace(
    hidden=(128, 128, 64), encoding="marks", output="identity", split="position", optimizer="adam", step_size=0.001,
    epochs=30,
)  # fmt: skip
_CONV = _GOEPPERT.replace(form="conv", convolutions=(32, 32), hidden=(64,), encoding="marks_planes")
CONNECT_FOUR = ImitationRecipe(
    name="connect-four-networks",
    summary="networks that learn results of searches, dense and convolutional, as published",
    settings={
        "dense-unit": _GOEPPERT.replace(value_range="unit"),
        "conv-unit": _CONV.replace(value_range="unit"),
        "dense": _GOEPPERT,
        "conv": _CONV,
        "naive": _GOEPPERT.replace(encoding="marks_12"),
    },
    game="connect_four",
    opponents=("random", "uct:100"),
)
