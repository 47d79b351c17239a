"""TD by self-play: settings, plan and job; by name `td-gammon`, `backgammon-backprop`, and `td` for every game."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from typing_extensions import override

from jaxgames.algos.parallel import devices_for, mesh_of, place
from jaxgames.algos.td import Learner, MonteCarloConfig, SequentialConfig, TDConfig, make_config, make_learner
from jaxgames.algos.td.config import GAMES_BETWEEN_TESTS
from jaxgames.algos.td.methods import TDCheckpoint, config_of, first_checkpoint, template, with_method
from jaxgames.envs.registry import make
from jaxgames.players.generic import greedy
from jaxgames.players.player import Player
from jaxgames.recipes import strength
from jaxgames.recipes.recipe import OfAnyGame, Plan, Recipe
from jaxgames.recipes.report import Report
from jaxgames.recipes.strength import LearnerJob
from jaxgames.recipes.training import Block, run_updates, seconds_per_update
from jaxgames.runs import Run
from jaxgames.runs.checkpoints import Snapshots

PLIES_PER_BLOCK = 50_000  # between two looks at the clock, and two lines of metrics
FEWEST, MOST = 2, 40  # measurements of strength


@dataclasses.dataclass(frozen=True)
class Published:
    """A published result: points per game against `opponent`, a few words for the curve, and where it stands."""

    opponent: str
    ppg: float
    label: str
    source: str


@dataclasses.dataclass(frozen=True)
class TDRecipe(Recipe):
    """A TD training of one game: named settings, the first of them the usual ones, and the players it is measured
    against.
    """

    kind = "td"
    measured_games = 2_000
    final_games = 10_000
    name: str
    summary: str
    settings: Mapping[str, TDConfig]
    published: tuple[Published, ...] = ()
    opponents: tuple[str, ...] = ("random",)
    watched: str = "random"
    """The opponent met during training."""
    minutes: float | None = 5.0
    """How long to train by default; None for the number of games below."""
    games: int | None = None
    plies_per_game: int = 62
    """Of a game between players that have learned something; only to plan the schedule from a number of games."""
    plies_per_measurement: int = 2_500_000
    """How often strength is measured; at least twice, at most 40 times."""
    measured_early: bool = False
    """Whether strength is measured after 1, 2, 4, ... blocks of plies, too: for games that are learned quickly."""
    lengths: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Games of settings that are trained for a number of games by default."""
    every_line: bool = False
    """Whether the player meets every possible line of play, too: for games as small as tic-tac-toe."""

    @property
    def game(self) -> str:
        """The game, by its id."""
        return next(iter(self.settings.values())).game

    @override
    def length(self) -> str:
        return f"{self.games:,} games" if self.games else f"{self.minutes:g} minutes"

    @override
    def config(self, plan: Plan) -> TDConfig:
        setting, changes = plan.setting_of(self.name, self.game, self.settings, minutes=True), dict(plan.changes)
        config = self.settings[setting]
        if "method" in changes:
            config = with_method(config, changes.pop("method"))
        return config.change(changes)

    @override
    def check(self, plan: Plan) -> None:
        config = self.config(plan)
        config.network()  # raises if there is no such encoding
        mesh_of(config, _devices(plan, config))
        most = 2**31 * config.plies_per_update(self.plies_per_game) // (2 * self.plies_per_game)
        if plan.games is not None and plan.games > most:
            raise ValueError(f"games {plan.games}: expected at most {most:,} with these settings")

    def _with_length(self, plan: Plan) -> Plan:
        """The plan with the usual minutes or games if it has none."""
        if plan.minutes is not None or plan.games is not None:
            return plan
        games = self.lengths.get(plan.setting or "", self.games)
        return dataclasses.replace(plan, minutes=None if games else self.minutes, games=games)

    @override
    def prepared(self, plan: Plan, report: Report) -> Plan:
        plan = self._with_length(plan)
        if plan.minutes is None:
            return plan
        report.say("compiling, and measuring the speed of this machine ...")
        config, seconds = self.config(plan), 60.0 * plan.minutes
        learner = make_learner(config)
        placed = place(learner, _devices(plan, config))
        first = placed.place(jax.jit(learner.init)(jax.random.key(1)))
        number = max(1, PLIES_PER_BLOCK // config.plies_per_update(self.plies_per_game))
        each = seconds_per_update(placed, first, number, min(6.0, seconds / 20))
        return dataclasses.replace(plan, updates=max(1, round(seconds / each)))

    @override
    def details(self, plan: Plan) -> dict[str, Any]:
        # A number of games, with a seed and a number of devices, decides the weights to the last bit.
        plan, config = self._with_length(plan), self.config(plan)
        plies = config.plies_per_update(self.plies_per_game)
        if plan.games is not None:
            updates = max(1, round(plan.games * self.plies_per_game / plies))
        else:
            assert plan.updates is not None, "`prepared` makes updates of minutes"
            updates = plan.updates
        block = max(1, min(PLIES_PER_BLOCK // plies, updates // 10))
        if config.values()["schedule"] == "tested" or isinstance(config, SequentialConfig):
            # About 1,000 games; exactly 1,000 where games are played one after the other.
            block = max(1, round(GAMES_BETWEEN_TESTS * self.plies_per_game / plies))
        blocks = -(-updates // block)
        measurements = min(max(updates * plies / self.plies_per_measurement, FEWEST), MOST)
        return {
            "game": config.game,
            "devices": _devices(plan, config),
            "goal": {"minutes": plan.minutes, "games": plan.games, "updates": blocks * block},
            "block": block,
            "measure_every": math.ceil(blocks / measurements) * block,
            "learner": config.replace(updates=blocks * block).to_json(),
        }

    @override
    def job(self, run: Run, report: Report) -> "TDJob":
        return TDJob(self, run, report, config_of(run.config["learner"]))


def _devices(plan: Plan, config: TDConfig) -> int:
    return devices_for(config.games_at_once) if plan.devices is None else plan.devices


class TDJob(LearnerJob):
    """A training by TD."""

    earlier = 0
    """Updates of the stages before this one."""

    def __init__(self, recipe: TDRecipe, run: Run, report: Report, config: TDConfig):
        super().__init__(recipe, run, report)
        self.config, self.learner = config, make_learner(config)
        self.network = self.learner.network
        self.placed = place(self.learner, self.settings["devices"])
        self.key, self.block = jax.random.key(self.settings["seed"]), self.settings["block"]
        self.shapes = template(self.learner)
        self.snapshots = Snapshots(run.path, self.shapes.state.params)

    @override
    def start(self, checkpoint: TDCheckpoint | None) -> TDCheckpoint:
        if checkpoint is not None:
            return checkpoint._replace(state=self.placed.place(checkpoint.state))
        state = jax.jit(self.learner.init)(jax.random.fold_in(self.key, 2**31))
        return first_checkpoint(self.learner, self.placed.place(state))

    @override
    def advance(self, checkpoint: TDCheckpoint, step: int) -> Block[TDCheckpoint]:
        state, metrics = run_updates(self.placed, checkpoint.state, self.key, self.block)
        metrics = jax.tree.map(lambda x: float(np.asarray(x, np.float64).sum()), metrics)
        games = checkpoint.games + np.int64(metrics.games)
        entry = {
            "step": self.earlier + int(state.updates),
            "games": int(games),
            "loss": metrics.squared_error / max(metrics.positions, 1),
            "plies_per_game": None,
            "points_per_game": None,
        }
        if metrics.games:
            ended = metrics.plies  # of games that end, but for those under way at the ends of the block
            if isinstance(self.config, MonteCarloConfig):
                ended -= metrics.truncated * self.config.plies
            entry |= {"plies_per_game": ended / metrics.games, "points_per_game": metrics.points / metrics.games}
        if metrics.truncated:
            entry["truncated"] = metrics.truncated
        checkpoint = checkpoint._replace(state=state, games=games)
        if isinstance(self.config, SequentialConfig):
            self.snapshots.put(int(state.updates) // self.block - 1, state.params)
        if checkpoint.tests is not None:
            checkpoint = after_block(checkpoint, self.player(state.params), self.learner)
            entry["step_size"] = self.learner.step_size(checkpoint.state)
        counts = {"games": metrics.games, "plies": metrics.plies}
        return Block(checkpoint, entry, counts, finite=math.isfinite(entry["loss"]))

    @override
    def is_measured(self, step: int) -> bool:
        blocks, every = step // self.settings["block"], self.settings["measure_every"]
        early = self.recipe.measured_early and blocks & (blocks - 1) == 0 and step < every
        return early or step % every == 0

    @override
    def draw(self, checkpoint: Any) -> None:
        references = [(published.label, published.ppg) for published in self.recipe.published]
        panels = strength.panels(self.recipe.watched, self.run.metrics())
        self.run.draw_curve(panels=panels, references=references)

    @override
    def player(self, params: Any, name: str = "trained") -> Player:
        # From here on on one device: a match is not split.
        return greedy(self.network.game, name, jax.device_put(jax.device_get(params)), self.network.value)


def after_block(checkpoint: TDCheckpoint, player: Player, learner: Learner) -> TDCheckpoint:
    """The checkpoint with the step size that follows from the tests after a block."""
    assert checkpoint.tests is not None, "only for the schedule `tested`"
    tests = strength.after_test(checkpoint.tests, player)
    return TDCheckpoint(learner.with_step_size(checkpoint.state, tests.schedule.step_size), checkpoint.games, tests)


_OPPONENTS = ("random", "simple:3", "pubeval")
_FAST = make_config()
_EXACT = make_config("exact", lambda_=0.7, batch=64, plies=16, optimizer="sgd", symmetric=False)
_AS_EBERT: dict[str, Any] = {"schedule": "tested", "symmetric": False, "cumulative": True, "biases": False}
"""As in Ebert's comparison (2007): one game after the other, a step after each ply."""
_EBERT = make_config("sequential_td", lambda_=0.7, **_AS_EBERT)
_EBERT_GAMES = {"ebert-2007": 700_000, "ebert-2007-extra": 1_000_000}

TD_GAMMON = TDRecipe(
    name="td-gammon",
    summary="TD-Gammon 0.0: TD(lambda) by self-play, 198-40-4 network, raw board input",
    settings={
        "fast": _FAST,
        "six": _FAST.replace(outputs=6),
        "wide": _FAST.replace(outputs=6, hidden=(80,)),
        "extra": _FAST.replace(outputs=6, encoding="extra"),
        "exact": _EXACT.replace(step_size=0.01, last_step_size=0.001),
        "tested": _EXACT.replace(schedule="tested"),
        "ebert-2007": _EBERT,
        "ebert-2007-extra": _EBERT.replace(encoding="extra"),
    },
    lengths=_EBERT_GAMES,
    opponents=_OPPONENTS,
    watched="pubeval",
    published=(
        Published("pubeval", 0.26, "Ebert 2007", "TD(lambda), 198-40-4: L. D. Ebert (2007)"),
        Published("pubeval", 0.33, "40 hidden units", "best known for 40 hidden units (compgammon, Benchmark 2)"),
        Published("pubeval", 0.43, "80 hidden units", "best known for 80 hidden units (the same)"),
    ),
)

_BACKPROP = make_config("monte_carlo", batch=128, plies=1024)
BACKGAMMON_BACKPROP = TDRecipe(
    name="backgammon-backprop",
    summary="Monte-Carlo self-play: 198-40-4 network, backprop to the final result",
    settings={
        "fast": _BACKPROP,
        "plain": _BACKPROP.replace(optimizer="sgd", step_size=0.001, last_step_size=0.0001, symmetric=False),
        "ebert-2007": make_config("sequential_backprop", **_AS_EBERT),
    },
    lengths={"ebert-2007": 1_100_000},
    opponents=_OPPONENTS,
    watched="pubeval",
    published=(Published("pubeval", -0.18, "Ebert 2007", "backprop, 198-40-4: L. D. Ebert (2007)"),),
)

_DEEP: dict[str, Any] = {
    "encoding": "observation",
    "hidden": (64, 32),
    "activation": "relu",
    "initializer": "lecun_normal",
    "outputs": 2,
    "batch": 128,
}


def _of_any_game(config: TDConfig, **settings: Any) -> TDRecipe:
    return TDRecipe("td", f"TD(lambda) by self-play: {config.game}", {"fast": config}, measured_early=True, **settings)


TIC_TAC_TOE = _of_any_game(
    make_config(**_DEEP, game="tic_tac_toe", lambda_=0.3, epsilon=0.5, plies=4, step_size=0.005, last_step_size=0.0002),
    minutes=None,
    games=300_000,
    plies_per_game=7,
    plies_per_measurement=200_000,
    every_line=True,
)
CONNECT_FOUR = _of_any_game(
    make_config(**_DEEP, game="connect_four", epsilon=0.3, plies=8, step_size=0.002),
    minutes=3.0,
    plies_per_game=25,
)
CHECKERS = _of_any_game(
    make_config(**{**_DEEP, "encoding": "pieces"}, game="checkers", epsilon=0.1, plies=8, step_size=0.002),
    minutes=3.0,
    plies_per_game=75,
)
BACKGAMMON = dataclasses.replace(TD_GAMMON, name="td")

BY_GAME: dict[str, TDRecipe] = {recipe.game: recipe for recipe in (TIC_TAC_TOE, CONNECT_FOUR, CHECKERS, BACKGAMMON)}


def recipe_for(game_id: str) -> TDRecipe:
    """The recipe `td` for a game; one that has no settings of its own gets some that suit many.

    Raises `ValueError` if there is no such game.
    """
    if game_id in BY_GAME:
        return BY_GAME[game_id]
    game = make(game_id)
    epsilon = 0.0 if game.outcome_probabilities else 0.1
    outputs = 2 * min(game.max_reward, 3)
    config = make_config(**{**_DEEP, "outputs": outputs}, game=game_id, epsilon=epsilon, plies=8, step_size=0.002)
    return _of_any_game(config)


TD = OfAnyGame(
    "td",
    "TD(lambda) by self-play, for the game named with --game",
    recipe_for,
    lambda: [f"--game {game}: {', '.join(r.settings)}; {r.length()}" for game, r in BY_GAME.items()],
)
