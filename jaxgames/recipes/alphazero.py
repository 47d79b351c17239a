"""AlphaZero trainings: their settings, plan and job; and by name."""

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from typing_extensions import override

from jaxgames.algos import alphazero, imitation, mcts
from jaxgames.algos.alphazero import AlphaZeroConfig, make_learner
from jaxgames.algos.alphazero.learner import METRICS, AlphaZeroCheckpoint, checkpoint_shapes
from jaxgames.algos.imitation import ImitationConfig
from jaxgames.algos.parallel import mesh_of, place
from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.nets import NetworkSpec
from jaxgames.players.generic import by_policy
from jaxgames.players.player import Player
from jaxgames.recipes import solved, strength
from jaxgames.recipes.recipe import Plan, Recipe
from jaxgames.recipes.report import Report
from jaxgames.recipes.strength import LearnerJob
from jaxgames.recipes.training import Block, run_updates, seconds_per_update
from jaxgames.runs import Panel, Run
from jaxgames.runs.files import digest
from jaxgames.runs.processes import check_all_take_part, fetched

SECONDS_PER_BLOCK = 5.0
MEASUREMENTS = 20
PLIES_PER_GAME = {"tic_tac_toe": 8, "connect_four": 20, "checkers": 75, "backgammon": 120}
"""Searched actions of a game, only to plan the schedule from a number of games; 60 for other games."""


@dataclasses.dataclass(frozen=True)
class AlphaZeroRecipe(Recipe):
    """A training of one game: named settings, the first of them the usual ones, and the players it is measured by."""

    kind = "alphazero"
    measured_games = 200
    final_games = 1_000
    reads_networks = True
    published = ()
    name: str
    game: str
    summary: str
    settings: Mapping[str, AlphaZeroConfig]
    opponents: tuple[str, ...]
    """Met at the end, with the policy alone."""
    watched: str
    """The opponent met during training."""
    minutes: float = 30.0
    """How long to train by default."""
    every_line: bool = False
    """Whether the player meets every possible line of play, too: for games as small as tic-tac-toe."""
    several_processes: bool = True
    """Games, replay buffer and minibatches may be split over processes."""

    @override
    def length(self) -> str:
        return f"{self.minutes:g} minutes"

    @override
    def config(self, plan: Plan) -> AlphaZeroConfig:
        setting = plan.setting_of(self.name, self.game, self.settings, minutes=True)
        return self.settings[setting].change(plan.changes)

    @override
    def check(self, plan: Plan) -> None:
        learner = make_learner(make(self.game), self.config(plan))
        plan.check_symmetries(learner.game)
        learner.check()  # raises if there is no such network, or no room
        mesh_of(learner.config, _devices(plan))  # raises if there are not so many devices, or no equal shares
        if plan.from_file is not None:
            first_params(plan.from_file, learner.game, learner.config)  # raises if they do not fit
        if jax.process_count() > 1 and plan.games is None:
            raise ValueError("several processes train for a number of games, as each has its own speed: give --games")

    @override
    def prepared(self, plan: Plan, report: Report) -> Plan:
        if plan.games is not None:
            return plan
        report.say("compiling, and measuring the speed of this machine ...")
        learner = make_learner(make(self.game), self.config(plan))
        placed = place(learner, _devices(plan))
        each = seconds_per_update(placed, placed.place(jax.jit(learner.init)(jax.random.key(1))), 1, 5.0)
        return dataclasses.replace(plan, updates=max(1, round(self._seconds(plan) / each)))

    def _seconds(self, plan: Plan) -> float:
        return 60 * (plan.minutes or self.minutes)

    @override
    def details(self, plan: Plan) -> dict[str, Any]:
        # A number of games, with a seed and a number of devices, decides the weights to the last bit.
        config = self.config(plan)
        if plan.games is not None:
            per_update = config.batch * config.plies
            updates = max(1, round(plan.games * PLIES_PER_GAME.get(self.game, 60) / per_update))
            block = round(50_000 / per_update)
        else:
            assert plan.updates is not None, "`prepared` makes updates of minutes"
            updates = plan.updates
            block = round(SECONDS_PER_BLOCK * updates / self._seconds(plan))
        block = max(1, min(block, updates // 10))
        blocks = math.ceil(updates / block)
        first = plan.from_file and digest(jax.tree.leaves(first_params(plan.from_file, make(self.game), config)))
        return {
            "game": self.game,
            "from": first and {"run": str(Path(plan.from_file or "").resolve()), "sha256": first},
            "devices": _devices(plan),
            "goal": {
                "minutes": None if plan.games is not None else plan.minutes or self.minutes,
                "games": plan.games,
                "updates": blocks * block,
            },
            "block": block,
            "measure_every": math.ceil(blocks / MEASUREMENTS) * block,
            "learner": config.replace(updates=blocks * block).to_json(),
        }

    @override
    def job(self, run: Run, report: Report) -> "AlphaZeroJob":
        return AlphaZeroJob(self, run, report)


class AlphaZeroJob(LearnerJob):
    """A training of AlphaZero, whose policy alone is measured."""

    weights = "mean_params"

    def __init__(self, recipe: AlphaZeroRecipe, run: Run, report: Report):
        super().__init__(recipe, run, report)
        self.game = make(self.settings["game"])
        self.learner = make_learner(self.game, AlphaZeroConfig.from_json(self.settings["learner"]))
        self.network = self.learner.network
        self.placed, self.shapes = place(self.learner, self.settings["devices"]), checkpoint_shapes(self.learner)
        self.key = jax.random.key(self.settings["seed"])
        self.update_key = self.placed.shared(self.key)
        self.positions = solved.positions_of(self.game)

    @override
    def start(self, checkpoint: AlphaZeroCheckpoint | None) -> AlphaZeroCheckpoint:
        if checkpoint is not None:
            return checkpoint._replace(state=self.placed.place(checkpoint.state))
        state = self.placed.place(jax.jit(self.learner.init)(jax.random.fold_in(self.key, 2**31)))
        if first := self.settings.get("from"):
            params = first_params(first["run"], self.game, self.learner.config)
            if digest(jax.tree.leaves(params)) != first["sha256"]:
                raise ValueError(f"{first['run']} plays with other weights than when this began with them: begin anew")
            state = self.placed.place(state._replace(params=params, mean_params=jax.tree.map(np.copy, params)))
        return AlphaZeroCheckpoint(state, np.int64(0))

    @override
    def advance(self, checkpoint: AlphaZeroCheckpoint, step: int) -> Block[AlphaZeroCheckpoint]:
        state, metrics = run_updates(self.placed, checkpoint.state, self.update_key, self.settings["block"])
        columns = {name: values.astype(np.float64) for name, values in fetched(metrics).items()}
        ended, plies = columns.pop("games").sum(), columns.pop("plies_of_games").sum()
        games = checkpoint.games + np.int64(ended)
        config, learned = self.learner.config, np.any([values != 0 for values in columns.values()], axis=0)
        entry = {"step": int(state.updates), "games": int(games), "plies_per_game": plies / ended if ended else None}
        entry |= {"loss": None, **dict.fromkeys(columns)}
        if learned.any():  # before the first game has ended there is nothing to learn
            means = {name: float(values[learned].mean()) for name, values in columns.items()}
            entry |= means | {"loss": means["policy_loss"] + config.value_weight * means["value_loss"]}
        counts = {"games": ended, "plies": config.batch * config.plies * self.settings["block"]}
        return Block(AlphaZeroCheckpoint(state, games), entry, counts, finite=math.isfinite(entry["loss"] or 0.0))

    @override
    def is_measured(self, step: int) -> bool:
        return step % self.settings["measure_every"] == 0

    @override
    def checkpoint(self, checkpoint: AlphaZeroCheckpoint) -> AlphaZeroCheckpoint:
        # Of several processes, each has all of it.
        return checkpoint if jax.process_count() == 1 else fetched(checkpoint)

    @override
    def for_play(self, params: Any) -> Any:
        return fetched(params)

    @override
    def draw(self, checkpoint: Any) -> None:
        metrics = self.run.metrics()
        panels = strength.panels(self.recipe.watched, metrics)
        if panels is not None:
            panels = [panel for panel in panels if "loss" not in panel.lines] + [Panel("nats, squares", METRICS)]
            panels = solved.panel(metrics) + panels
        self.run.draw_curve(panels=panels)

    @override
    def more_results(self, player: Player, params: Any) -> dict[str, Any]:
        if not self.positions:
            return {}
        self.report.say(f"playing in solved positions, alone and with {solved.SIMULATIONS} simulations ...")
        network = mcts.network(self.learner.network.apply, params)
        return {"solved": solved.final(player, network, self.learner.config.discount, self.positions)}

    @override
    def player(self, params: Any, name: str = "trained") -> Player:
        return by_policy(name, self.game, self.learner.network.apply, params, self.learner.config.discount)


def _devices(plan: Plan) -> int:
    """The devices to use: those asked for, else one; of several processes all."""
    devices = plan.devices or (jax.device_count() if jax.process_count() > 1 else 1)
    check_all_take_part(devices)
    return devices


def first_params(path: str, game: Game, config: AlphaZeroConfig) -> Any:
    """The weights of the run in folder `path`, of AlphaZero or of imitation, for a network to begin with.

    Raises `ValueError` for runs of other kinds or games, and for another network.
    """
    run = Run.open(path)
    kinds: dict[str, tuple[Any, Any]] = {
        "imitation": (imitation.load_network, ImitationConfig),
        "alphazero": (alphazero.load_network, AlphaZeroConfig),
    }
    load, settings = kinds.get(run.config["kind"], (None, None))
    if load is None:
        raise ValueError(f"{path} holds no network to begin with: expected a run of imitation or of AlphaZero")
    if run.config["game"] != game.id:
        raise ValueError(f"{path} holds a network of {run.config['game']}, not of {game.id}")
    params, *_ = load(run, game)
    theirs, mine = (_function(one) for one in (settings.from_json(run.config["learner"]), config))
    for name in theirs | mine:
        if (wrong := theirs.get(name)) != (right := mine.get(name)):
            raise ValueError(f"{path} holds another network, of {name}={wrong}: train both with {name}={right}")
    return params


def _function(config: AlphaZeroConfig | ImitationConfig) -> dict[str, Any]:
    """The settings that say what a network computes with its weights."""
    network = {name: value for name, value in config.network.to_json().items() if name not in ("initializer", "dtype")}
    return network | {name: getattr(config, name, usual) for name, usual in (("encoding", "observation"), ("head", ""))}


_FAST = AlphaZeroConfig(batch=256, plies=8, simulations=32, steps=8, minibatch=512, buffer_plies=256)

_CONNECT_FOUR = AlphaZeroConfig(
    network=NetworkSpec("windows", (256, 256), channels=64),
    batch=512,
    plies=8,
    simulations=32,
    search="puct",
    reuse=True,
    opening_plies=12,
    result_share=0.5,
    discount=0.98,
    buffer_plies=1024,
    steps=16,
    minibatch=1024,
    ema=0.999,
    last_step_size=0.0003,
)


def _recipe(game: str, config: AlphaZeroConfig, opponents: tuple[str, ...], **others: object) -> AlphaZeroRecipe:
    tower = config.replace(form="residual", channels=32)
    settings = {
        "fast": config,
        "tower": tower,
        "gpu": tower.replace(batch=1024, dtype="bfloat16", channels=64, blocks=6),
    }
    name = f"{game.replace('_', '-')}-alphazero"
    return AlphaZeroRecipe(name, game, f"AlphaZero by search ({config.search}): {game}", settings, opponents, **others)  # type: ignore[arg-type]


TIC_TAC_TOE = _recipe(
    "tic_tac_toe",
    _FAST.replace(hidden=(128, 128), buffer_plies=64, simulations=16, opening_plies=6, result_share=0.5),
    ("random",),
    watched="random",
    minutes=5.0,
    every_line=True,
)
CONNECT_FOUR = _recipe("connect_four", _CONNECT_FOUR, ("random", "uct:100", "uct:800"), watched="uct:100")
CHECKERS = _recipe("checkers", _FAST, ("random", "alphabeta:3", "alphabeta:5"), watched="alphabeta:3")
BACKGAMMON = _recipe(
    "backgammon",
    _FAST.replace(simulations=16, opening_plies=0),
    ("random", "simple:3", "pubeval"),
    watched="pubeval",
)
