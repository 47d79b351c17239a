"""The recipe `tic-tac-toe-self-play`: its plan and job. All networks of all variants are trained at once."""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import jax
import numpy as np
from typing_extensions import override

from jaxgames.algos.self_play_backprop import SelfPlayState
from jaxgames.ops.devices import device_mesh
from jaxgames.ops.settings import Setting, Settings, own, parse, setting
from jaxgames.recipes.recipe import Plan, Recipe
from jaxgames.recipes.report import Report, show_results
from jaxgames.recipes.self_play_population import (
    AXIS,
    NETWORK,
    PUBLISHED,
    SETTINGS,
    VARIANTS,
    WINDOW,
    Measured,
    Populations,
    Variant,
    lines_lost,
)
from jaxgames.recipes.training import Block, Job
from jaxgames.runs import Run
from jaxgames.runs.figures import LINE_COLORS, Diagram, PlottedLine, column, draw_diagrams

GAMES, SEEDS = 500_000, 16
MOST_GAMES, MOST_SEEDS = 10**9, 1024
BLOCKS = 100  # and lines of metrics, of a whole training
BLOCKS_PER_CHECKPOINT = 10
LOW, HIGH = 10, 90
"""The percentiles of the seeds between which a spread is shown."""


@dataclasses.dataclass(frozen=True)
class SeedsConfig(Settings):
    """What a training has besides its variants."""

    seeds: int = setting(SEEDS, "networks of each variant", low=1, high=MOST_SEEDS)


DECLARED: dict[str, Setting] = {"seeds": own(SeedsConfig)["seeds"], "weights": own(Variant)["weights"]}
"""What `--set` may change."""


@dataclasses.dataclass(frozen=True)
class SelfPlayRecipe(Recipe):
    """The recipe: a population of networks for each variant."""

    kind = "self_play"
    name = "tic-tac-toe-self-play"
    summary = "9-18-9-3-1 networks that learn tic-tac-toe from the results of their games"
    settings = SETTINGS
    measured_games = 100
    final_games = 1_000

    @override
    def length(self) -> str:
        return f"{GAMES:,} games of each of {SEEDS} networks (--set seeds=N)"

    @override
    def declared(self, plan: Plan) -> dict[str, Setting]:
        self.populations(plan)
        return DECLARED

    @override
    def check(self, plan: Plan) -> None:
        self.populations(plan)
        if plan.games is not None and plan.games >= MOST_GAMES:
            raise ValueError(f"games {plan.games}: expected a whole number from 1 to {MOST_GAMES - 1:,}")

    def populations(self, plan: Plan) -> tuple[Sequence[str], Populations]:
        """The variants of a plan: their names and networks. Raises `ValueError` for what makes no sense."""
        names = SETTINGS[plan.setting_of(self.name, NETWORK.game, SETTINGS)]
        changes = parse(DECLARED, plan.changes, self.name)
        seeds = changes.pop("seeds", SEEDS)
        return names, Populations(tuple(VARIANTS[name].replace(**changes) for name in names), seeds)

    @override
    def details(self, plan: Plan) -> dict[str, Any]:
        # Games are rounded up to whole blocks.
        names, populations = self.populations(plan)
        devices = populations.devices_for(jax.device_count()) if plan.devices is None else plan.devices
        device_mesh(devices, AXIS)  # raises if there are not so many
        if populations.blocks % devices:
            raise ValueError(f"{populations.blocks} blocks of networks cannot be split over {devices} devices evenly")
        games = plan.games or GAMES
        per_line = -(-games // (BLOCKS * WINDOW)) * WINDOW
        return {
            "setting": plan.setting or self.names[0],
            "game": NETWORK.game,
            "self_play": NETWORK.to_json(),
            "variants": [
                {"name": name} | variant.to_json() for name, variant in zip(names, populations.variants, strict=True)
            ],
            "seeds": populations.seeds,
            "games": -(-games // per_line) * per_line,
            "devices": devices,
            "games_per_line": per_line,
        }

    @override
    def job(self, run: Run, report: Report) -> "SelfPlayJob":
        return SelfPlayJob(self, run, report)

    @override
    def show(self, result: Mapping[str, Any]) -> None:
        rows = []
        for name, variant in result["variants"].items():
            good, first, second = (variant["final"][kind] for kind in ("good", "first", "second"))
            shares = f"{good['median']:.1f}", f"{good['low']:.1f} .. {good['high']:.1f}"
            wins = f"{first['median']:.1f}", f"{second['median']:.1f}"
            drawn = f"{variant['draw_themselves']}/{result['seeds']}"
            rows.append((name, *shares, *wins, drawn, f"{median(variant['lines_lost']):.0f}"))
        notes = (
            "medians over the networks as they are now, which learn nothing here",
            f"first, second: won of {result['measured_games']:,} games against random moves, moving first or second",
            "drawn: networks that draw against themselves; good: the mean of these three kinds of games",
            "lost: lines of play, of all that the other player's choices lead to, moving first or second",
            "the published chart: {:.0f} to {:.0f} good results per 100 games".format(*PUBLISHED),
        )
        columns = ("variant", "good %", "10th .. 90th", "first %", "second %", "drawn", "lost")
        title = f"{result['recipe']}: {result['seeds']} networks of {result['games']:,} games each"
        show_results(result, title, columns, rows, notes, "random --games 10000")


class SelfPlayJob(Job[SelfPlayState]):
    """A training by self-play: a step is a block of games of every network."""

    step_name = "block"
    keys = ("games", "games_per_line", "seeds", "variants")

    def __init__(self, recipe: SelfPlayRecipe, run: Run, report: Report):
        super().__init__(recipe, run, report)
        self.variants = _saved_variants(self.settings)
        self.populations = Populations(tuple(self.variants.values()), self.settings["seeds"])
        self.devices = self.settings["devices"]
        device_mesh(self.devices, AXIS)  # raises if there are not so many
        self.key = jax.random.key(self.settings["seed"])
        self._good: np.ndarray | None = None  # of the newest block
        """How good each network is, by the last measurement."""

    @override
    def template(self) -> SelfPlayState:
        return jax.eval_shape(partial(self.populations.init, self.key))

    @override
    def start(self, checkpoint: SelfPlayState | None) -> SelfPlayState:
        return jax.jit(partial(self.populations.init, self.key))() if checkpoint is None else checkpoint

    @override
    def advance(self, states: SelfPlayState, step: int) -> Block[SelfPlayState]:
        # The metrics are for each variant the good results per 100 games of training, also of the games against random
        # moves alone and of each network by itself; those of one network in each of its 100 games; and the good ones in
        # all kinds of games without learning.
        per_line, step = self.settings["games_per_line"], step + 1
        windows = per_line // WINDOW
        states, results = _train(self.populations, states, self.key, windows, self.devices)
        measured = self._measure(states, step)
        counts, won, loss = map(self.populations.by_variant, results)
        self._good = measured.good
        entry = {"step": step, "games": step * per_line, "loss": float(loss.mean())}
        for i, name in enumerate(self.variants):
            entry[f"{name}/one"] = counts[i, :, 0].tolist()
            for kind, of_windows in (("training", counts[i]), ("random", won[i])):
                each = of_windows.mean(axis=0)
                entry |= _spread(f"{name}/{kind}", each) | {f"{name}/{kind}/each": np.round(each, 3).tolist()}
            entry |= _spread(f"{name}/measured", 100 * measured.good[i])
        networks = self.populations.seeds * len(self.variants)
        return Block(states, entry, {"games": networks * per_line}, finite=bool(np.all(np.isfinite(loss))))

    @override
    def progress(self, states: SelfPlayState, step: int) -> float:
        return step * self.settings["games_per_line"] / self.settings["games"]

    @override
    def is_measured(self, step: int) -> bool:
        # Strength is in the metrics of every block.
        return step % BLOCKS_PER_CHECKPOINT == 0

    @override
    def measure(self, states: SelfPlayState, entry: Mapping[str, Any]) -> dict[str, Any]:
        # The network with most good results without learning is kept, if none before had more.
        good = self._measure(states, entry["step"]).good if self._good is None else self._good
        variant, seed = map(int, np.unravel_index(np.argmax(good), good.shape))
        strength, kept = 100 * float(good[variant, seed]), self.run.best_info()
        if kept is None or strength >= kept["strength"]:
            info = {"variant": list(self.variants)[variant], "seed": seed, "strength": strength}
            best = jax.device_get(self.populations.network(states, variant, seed))
            self.run.save_best(best, {"step": entry["step"], "games": entry["games"], **info})
        return {}

    @override
    def draw(self, checkpoint: Any) -> None:
        # A diagram for each variant, side by side.
        metrics = self.run.metrics()
        games, diagrams = [entry["games"] for entry in metrics], []
        for name, variant in self.variants.items():
            one = [entry[f"{name}/one"][-1] for entry in metrics]
            lines = [PlottedLine(games, one, color=TRAINING, style=".", alpha=0.35)]
            for kind, color in (("measured", MEASURED), ("training", TRAINING)):
                median, low, high = (column(metrics, f"{name}/{kind}{end}") for end in ("", "/low", "/high"))
                lines.append(PlottedLine(games, median, low=low, high=high, color=color, style="-"))
            x, limits = "games of each network", (0, 101.5)
            diagrams.append(Diagram(lines, variant.label, x, span=PUBLISHED, limits=limits, short_x=True))
        draw_diagrams(diagrams, self.run.path / "curve.png", TITLE, EXPLAINED, columns=3, size=(3.4, 2.5))

    @override
    def results(self, states: SelfPlayState) -> dict[str, Any]:
        settings, metrics = self.settings, self.run.metrics()
        repeats = -(-settings["final_games"] // settings["measured_games"])
        games = repeats * settings["measured_games"]
        self.report.say(f"playing {games:,} games of each network on either side ...")
        parts = [self._measure(states, 2**30 + number) for number in range(repeats)]
        final = Measured(*(np.mean(shares, axis=0) for shares in zip(*parts, strict=True)))
        self.report.say("playing all possible lines of play ...")
        lost = lines_lost(self.populations, states)
        variants = {}
        for i, name in enumerate(self.variants):
            percents = {kind: 100 * getattr(final, kind)[i] for kind in ("good", *Measured._fields)}
            variants[name] = self.variants[name].to_json() | {
                "final": {kind: _percentiles(shares) for kind, shares in percents.items()},
                "draw_themselves": int(np.sum(final.self_play[i] == 1)),
                "lines_lost": sorted(map(int, lost[i])),
                "curve": curves(metrics, name),
            }
        return {
            **{name: settings[name] for name in ("seed", "seeds", "games")},
            "measured_games": games,
            "kept": self.run.best_info(),
            "at_games": [entry["games"] for entry in metrics],
            "variants": variants,
        }

    def _measure(self, states: SelfPlayState, number: int) -> Measured:
        """Shares of good games, [variants, seeds]; `number` decides the random numbers."""
        key = jax.random.fold_in(jax.random.fold_in(self.key, 2**31), number)
        measured = _measured(self.populations, states, key, self.settings["measured_games"], self.devices)
        return Measured(*(self.populations.by_variant(share) for share in measured))


def _spread(name: str, values: np.ndarray) -> dict[str, float]:
    """Median and percentiles over seeds, as metrics."""
    percentiles = _percentiles(values)
    return {name: percentiles["median"], f"{name}/low": percentiles["low"], f"{name}/high": percentiles["high"]}


def _percentiles(values: np.ndarray) -> dict[str, float]:
    low, middle, high = (round(float(x), 2) for x in np.percentile(values, (LOW, 50, HIGH)))
    return {"median": middle, "low": low, "high": high}


def _saved_variants(config: Mapping[str, Any]) -> dict[str, Variant]:
    """The variants in a run's configuration, in the order in which the states are saved."""
    return {
        entry["name"]: Variant.from_json({name: value for name, value in entry.items() if name != "name"})
        for entry in config["variants"]
    }


_train = jax.jit(Populations.train, static_argnums=(0, 3, 4), donate_argnums=1)
_measured = jax.jit(Populations.measure, static_argnums=(0, 3, 4))


RECIPE = SelfPlayRecipe()


# The curves of all variants side by side, as a PNG.

TITLE = "Good results per 100 games"
EXPLAINED = (
    "good: a draw against itself, a win against random moves\n"
    "lines: medians over seeds, with their 10th to 90th percentile; grey band: 90 to 100, where the published chart "
    "ends\n"
    "blue: in training (dots: one network's latest 100 games); orange: in all three kinds of games"
)
TRAINING, MEASURED = LINE_COLORS[0], LINE_COLORS[4]


KINDS = ("training", "random", "measured")
CURVES = tuple(f"{kind}{end}" for kind in KINDS for end in ("", "/low", "/high"))
"""What the metrics tell of each variant, as `<variant>/<curve>`."""


def curves(metrics: Sequence[Mapping[str, Any]], name: str) -> dict[str, list[float]]:
    """All curves of one variant, to a tenth, and the latest 100 games of one network at each of their points."""
    curves = {curve: [_rounded(entry[f"{name}/{curve}"]) for entry in metrics] for curve in CURVES}
    return {"one": [entry[f"{name}/one"][-1:] for entry in metrics], **curves}


def _rounded(value: float | None) -> float | None:
    """To a tenth; None, which JSON has for NaN, stays."""
    return None if value is None else round(value, 1)
