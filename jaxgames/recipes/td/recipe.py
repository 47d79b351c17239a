"""Recipes of temporal-difference self-play: settings of the learner, and whom it is measured against."""

import dataclasses
from collections.abc import Mapping
from typing import Any, get_type_hints

from jaxgames.algos.td import TDConfig
from jaxgames.algos.td.config import current_names
from jaxgames.recipes.overrides import read
from jaxgames.recipes.recipe import Plan, Training
from jaxgames.recipes.report import Report
from jaxgames.runs import Run

PLANNED = ("game", "updates")
"""Settings of a learner that are not for people to set: the first is the recipe's, the second a matter of length."""

BACKGAMMON_OPPONENTS = ("random", "simple:3", "pubeval")


@dataclasses.dataclass(frozen=True)
class Published:
    """A published result: points per game against `opponent`, a few words for the curve, and where it stands."""

    opponent: str
    ppg: float
    label: str
    source: str


@dataclasses.dataclass(frozen=True)
class TDRecipe:
    """A TD training of one game: named settings, the first of them the usual ones, and the players it is measured
    against.
    """

    name: str
    summary: str
    settings: Mapping[str, TDConfig]
    published: tuple[Published, ...] = ()
    opponents: tuple[str, ...] = ("random",)
    watched: str = "random"
    """The opponent met at intervals during training."""
    minutes: float | None = 5.0
    """How long to train if nothing is said; None for the number of games below."""
    games: int | None = None
    plies_per_game: int = 62
    """Of a game between players that have learned something; only to plan the schedule from a number of games."""
    plies_per_measurement: int = 2_500_000
    """How often strength is measured; at least twice, at most 40 times."""
    measured_early: bool = False
    """Whether strength is measured after 1, 2, 4, ... blocks of plies, too: for games that are learned quickly."""
    every_line: bool = False
    """Whether the player meets every possible line of play, too: for games as small as tic-tac-toe."""

    @property
    def game(self) -> str:
        """The game, by its id."""
        return next(iter(self.settings.values())).game

    def config(self, setting: str | None = None, changes: Mapping[str, str] | None = None) -> TDConfig:
        """The settings named `setting`, with some of them changed by texts such as `{"hidden": "80"}`.

        Raises `ValueError` for an unknown name or a text that cannot be read.
        """
        setting = setting or next(iter(self.settings))
        if setting not in self.settings:
            raise ValueError(f"unknown setting {setting!r} of {self.name}; available: {', '.join(self.settings)}")
        types = {name: kind for name, kind in get_type_hints(TDConfig).items() if name not in PLANNED}
        return dataclasses.replace(self.settings[setting], **read(types, current_names(changes or {})))

    def help(self) -> str:
        """The summary, and the settings."""
        return f"{self.summary}\n{'':24}settings: {', '.join(self.settings)}; {self.length()}"

    def length(self) -> str:
        """How long it takes if nothing is said."""
        return f"{self.games:,} games" if self.games else f"{self.minutes:g} minutes"

    def check(self, plan: Plan) -> None:
        """Raises `ValueError` for another game, and for settings that are unknown or make no sense."""
        if plan.game not in (None, self.game):
            raise ValueError(f"{self.name} learns {self.game}, not {plan.game}; for other games: jaxgames train td")
        self.config(plan.setting, plan.changes)

    def begin(self, plan: Plan, path: str, report: Report) -> Training:
        """As `Recipe.begin`."""
        from jaxgames.recipes.td.training import TDTraining

        self.check(plan)
        if plan.minutes is None and plan.games is None:
            plan = dataclasses.replace(plan, minutes=self.minutes, games=self.games)
        return TDTraining.begin(self, plan, path, report)

    def resume(self, run: Run, report: Report) -> Training:
        """As `Recipe.resume`."""
        from jaxgames.recipes.td.training import TDTraining

        return TDTraining(self, run, report)

    def show(self, result: Mapping[str, Any]) -> None:
        """As `Recipe.show`."""
        from jaxgames.recipes.td.report import show_training

        show_training(result)
