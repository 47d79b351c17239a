"""A training by evolution from start to end: plan, evolve, measure, save, resume. All recipes of evolution share it."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float32

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.recipes.evolution.registry import content_of, with_changes
from jaxgames.recipes.evolution.strategy import EvolutionConfig
from jaxgames.recipes.recipe import Plan, Training
from jaxgames.recipes.report import Report
from jaxgames.runs import Panel, Run

LINES = 100  # of metrics in a whole training
LIMITS = {"games": 10**15, "devices": 10**6, "measured_games": 10**9, "final_games": 10**9}

Champions = Float32[np.ndarray, "champions dimension"]


class Checkpoint(NamedTuple):
    """All that a training needs to go on bit by bit, and its champions by now."""

    champions: Champions
    state: Any


class Measures(NamedTuple):
    """How a recipe measures its champions.

    `quick(network, champions, games, seed)` gives metrics on the way, among them `strength`, by which champions are
    kept, and the number of the best of them; `thorough`, with the same arguments, what the results say of them;
    `panels(metrics)` the learning curve.
    """

    quick: Callable[[NetworkConfig, Champions, int, int], tuple[dict[str, Any], int]]
    thorough: Callable[[NetworkConfig, Champions, int, int], dict[str, Any]]
    panels: Callable[[Sequence[Mapping[str, Any]]], list[Panel]]


@dataclasses.dataclass(frozen=True)
class EvolutionRecipe:
    """An evolution of networks for one game: named settings, the first of them the usual ones, and how champions are
    measured. `fitnesses` are those by which candidates may be judged without games, by name.
    """

    name: str
    summary: str
    settings: Mapping[str, EvolutionConfig]
    measures: Measures
    show_result: Callable[[Mapping[str, Any]], None]
    published: tuple[Mapping[str, Any], ...] = ()
    fitnesses: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    judged: str = "best"
    """Whom the results are about: the `best` champions of all that were measured, or the `last` ones."""
    measured_games: int = 1_000
    final_games: int = 10_000
    several_processes: bool = True
    """Populations may be split over processes."""

    @property
    def game(self) -> str:
        """The game, by its id."""
        return next(iter(self.settings.values())).network.game

    def help(self) -> str:
        """As `Recipe.help`."""
        usual = next(iter(self.settings.values()))
        length = f"{usual.generations:,} {usual.unit}"
        return f"{self.summary}\n{'':24}settings: {', '.join(self.settings)}; {length}"

    def config(self, plan: Plan) -> EvolutionConfig:
        """The setting of a plan with its changes. Raises `ValueError` for what makes no sense."""
        if plan.game not in (None, self.game):
            raise ValueError(f"{self.name} learns {self.game}, not {plan.game}")
        setting = plan.setting or next(iter(self.settings))
        if setting not in self.settings:
            raise ValueError(f"unknown setting {setting!r} of {self.name}; available: {', '.join(self.settings)}")
        if plan.minutes is not None:
            raise ValueError(f"{self.name} trains for a number of games: give --games, not --minutes")
        for name, most in LIMITS.items():
            number = getattr(plan, name)
            if number is not None and not 0 < number <= most:
                raise ValueError(f"{name.replace('_', '-')} {number}: expected a number from 1 to {most:,}")
        config = with_changes(self.settings[setting], plan.changes)
        method = config.method(fitnesses=self.fitnesses)
        if plan.games is not None:
            if "generations" in plan.changes:
                raise ValueError("give --games or --set generations=N, not both")
            one = method.games(1)
            if not one:
                raise ValueError(f"{setting} plays no games while it evolves: give --set generations=N, not --games")
            config = dataclasses.replace(config, generations=max(1, round(plan.games / one)))
        return config

    def check(self, plan: Plan) -> None:
        """As `Recipe.check`."""
        self.config(plan)

    def begin(self, plan: Plan, path: str, report: Report) -> Training:
        """As `Recipe.begin`. Generations are rounded up to whole lines of metrics."""
        from jaxgames.recipes.evolution.training import EvolutionTraining, check_devices

        config = self.config(plan)
        devices = check_devices(config, plan.devices)
        lines = min(LINES, config.generations)
        per_line = -(-config.generations // lines)
        config = dataclasses.replace(config, generations=-(-config.generations // per_line) * per_line)
        method = config.method(fitnesses=self.fitnesses)
        method.check_memory(devices)
        setting = plan.setting or next(iter(self.settings))
        changes = (f"{name}={text}" for name, text in plan.changes.items())
        content = {
            "recipe": self.name,
            "setting": " ".join([setting, *changes]),
            "game": self.game,
            "seed": plan.seed or 0,
            "devices": devices,
            **content_of(config),
            "champions": method.champions,
            "generations_per_line": per_line,
            "measured_games": plan.measured_games or self.measured_games,
            "final_games": plan.final_games or self.final_games,
        }
        return EvolutionTraining.begin(self, content, path, report)

    def resume(self, run: Run, report: Report) -> Training:
        """As `Recipe.resume`."""
        from jaxgames.recipes.evolution.training import EvolutionTraining

        return EvolutionTraining(self, run, report)

    def show(self, result: Mapping[str, Any]) -> None:
        """As `Recipe.show`."""
        self.show_result(result)
