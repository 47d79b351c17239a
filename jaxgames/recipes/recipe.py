"""What a recipe is: a named training with settings to choose from, begun and resumed in a run folder."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol

from jaxgames.recipes.report import Report
from jaxgames.runs import Run


@dataclasses.dataclass(frozen=True)
class Plan:
    """What somebody asks of a training; None and empty where nothing was said."""

    game: str | None = None
    setting: str | None = None
    changes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Numbers of the setting to be changed, as texts: `{"hidden": "80"}`."""
    minutes: float | None = None
    games: int | None = None
    seed: int | None = None
    devices: int | None = None
    measured_games: int | None = None
    final_games: int | None = None


class Training(Protocol):
    """A recipe at work in a run folder."""

    def run_to_end(self) -> dict[str, Any]:
        """Trains to the end and returns the results, ready for JSON."""
        ...


class Recipe(Protocol):
    """A named training. Whatever makes no sense is a `ValueError` before there is a run folder.

    The run's configuration holds the name as `recipe`, by which the recipe is found again to resume.
    """

    @property
    def name(self) -> str:
        """As given on the command line."""
        ...

    def help(self) -> str:
        """What `jaxgames train --help` says: a line about it, then indented lines of settings."""
        ...

    def check(self, plan: Plan) -> None:
        """Raises `ValueError` if there is no such game, setting or number to be changed."""
        ...

    def begin(self, plan: Plan, path: str, report: Report) -> Training:
        """Makes the run folder `path`, in which everything that decides the result is fixed."""
        ...

    def resume(self, run: Run, report: Report) -> Training:
        """Goes on in a run folder."""
        ...

    def show(self, result: Mapping[str, Any]) -> None:
        """Prints results for people."""
        ...
