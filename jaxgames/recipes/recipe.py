"""What a recipe is: a named training with settings to choose from, begun and resumed in a run folder; and a plan, what
somebody asks of it, checked once for all recipes.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from typing_extensions import override

from jaxgames.envs.core import Game
from jaxgames.envs.registry import available_games
from jaxgames.ops import checks
from jaxgames.ops.settings import Setting, settable
from jaxgames.recipes.report import Report, show_training
from jaxgames.recipes.training import Job, Training
from jaxgames.runs import Run

LIMITS: dict[str, tuple[float, float]] = {
    "minutes": (0, 10**6),
    "games": (1, 10**15),
    "seed": (0, checks.MOST_SEED),
    "devices": (1, 10**6),
    "measured_games": (1, 10**8),  # as `jaxgames.matches.match` plays at most
    "final_games": (1, 10**8),
}


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the user wants of a training; None and empty values where nothing was said.

    Raises `ValueError` for a number that is out of bounds.
    """

    game: str | None = None
    from_file: str | None = None
    """A file of networks to begin with."""
    data: str | None = None
    """The folder of a data set to learn from."""
    setting: str | None = None
    changes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Values of the setting to be changed, as texts: `{"hidden": "80"}`."""
    minutes: float | None = None
    games: int | None = None
    updates: int | None = None
    """The updates that fit into `minutes` here, as `Recipe.prepared` measures; users do not set them."""
    seed: int | None = None
    devices: int | None = None
    measured_games: int | None = None
    """Games of each measurement during training."""
    final_games: int | None = None
    """Games against each opponent at the end."""
    tensorboard: bool = False
    """Whether the measurements are written for TensorBoard, too."""

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if value is None:
                continue
            if name == "minutes" and not (0 < value <= high and math.isfinite(value)):
                raise ValueError(f"minutes {value:g}: expected a number above 0, at most {high:,}")
            if not low <= value <= high:
                raise ValueError(f"{name.replace('_', '-')} {value}: expected a whole number from {low} to {high:,}")

    def setting_of(self, name: str, game: str, settings: Mapping[str, Any], minutes: bool = False) -> str:
        """The setting to train with, the recipe's first one if nothing was said.

        Args:
            name: the recipe's name.
            game: the only game it learns.
            settings: its settings by name.
            minutes: whether it can train for a time.

        Raises `ValueError` for another game, an unknown setting, for minutes where it cannot, and for both minutes and
        games.
        """
        if self.game not in (None, game):
            raise ValueError(f"{name} learns {game}, not {self.game}; for other games: jaxgames train td")
        setting = next(iter(settings)) if self.setting is None else self.setting
        if setting not in settings:
            raise ValueError(f"unknown setting {setting!r} of {name}; available: {', '.join(settings)}")
        if self.minutes is not None and not minutes:
            raise ValueError(f"{name} trains for a number of games: give --games, not --minutes")
        if self.minutes is not None and self.games is not None:
            raise ValueError("give either a number of minutes or a number of games")
        return setting

    def check_symmetries(self, game: Game) -> None:
        """Raises `ValueError` if symmetries are set for a game that has none."""
        if "symmetries" in self.changes and len(game.symmetries) < 2:
            said = f"symmetries={self.changes['symmetries']}"
            raise ValueError(f"{said} has no effect: {game.id} has no mirror images; leave it out")

    def label(self, setting: str) -> str:
        """The setting and its changes, such as `fast hidden=80`."""
        return " ".join([setting, *(f"{name}={text}" for name, text in self.changes.items())])


class Recipe(ABC):
    """A named training. Whatever makes no sense is a `ValueError` before there is a run folder.

    The run's configuration holds the name as `recipe`, by which the recipe is found again to resume.
    """

    name: str
    """As given on the command line."""
    summary: str
    """A line about it."""
    kind: str
    """The kind of its runs, which decides how players are loaded from them."""
    measured_games: int
    """Games of each measurement during training, by default."""
    final_games: int
    """Games against each opponent at the end, by default."""
    several_processes: bool = False
    """Whether several processes can share one training."""
    reads_networks: bool = False
    """Whether a training can begin with the networks of a file."""
    reads_data: bool = False
    """Whether it learns from a data set."""

    def help(self) -> str:
        """What `jaxgames train --help` says: a line about it, then indented lines of settings."""
        return f"{self.summary}\n{'':24}settings: {', '.join(self.names)}; {self.length()}"

    def length(self) -> str:
        """How long it takes by default, in words."""
        return ""

    @abstractmethod
    def check(self, plan: Plan) -> None:
        """Raises `ValueError` if there is no such game or setting, or a changed value makes no sense."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its settings' names, the default first; empty if they depend on the game."""
        settings: Mapping[str, Any] = getattr(self, "settings", {})
        return tuple(settings)

    def config(self, plan: Plan) -> Any:
        """The setting of a plan with its changes. Raises `ValueError` for what makes no sense."""
        raise NotImplementedError

    def declared(self, plan: Plan) -> dict[str, Setting]:
        """What `--set` may change in a plan, by name, with the plan's values as defaults.

        Raises `ValueError` for what makes no sense.
        """
        return settable(self.config(plan))

    def prepared(self, plan: Plan, report: Report) -> Plan:
        """A checked plan after all that takes its time: where there is a need, with its minutes as a number of updates,
        by the speed of this machine.
        """
        return plan

    def content(self, plan: Plan) -> dict[str, Any]:
        """The run's configuration: everything that decides the result, ready for JSON. The plan has been prepared."""
        return {
            "kind": self.kind,
            "recipe": self.name,
            "setting": plan.label(plan.setting or self.names[0]),
            "seed": plan.seed or 0,
            "measured_games": plan.measured_games or self.measured_games,
            "final_games": plan.final_games or self.final_games,
            **self.details(plan),
        }

    def details(self, plan: Plan) -> dict[str, Any]:
        """The game, the devices, and what only runs of this kind have in their configuration."""
        raise NotImplementedError

    @abstractmethod
    def job(self, run: Run, report: Report) -> Job:
        """What this recipe does in the training of a run."""

    def stages(self, run: Run, report: Report) -> Sequence[Job]:
        """What it does one after the other; most recipes have one job."""
        return [self.job(run, report)]

    def show(self, result: Mapping[str, Any]) -> None:
        """Prints results for people."""
        show_training(result)

    def begin(self, plan: Plan, path: str, report: Report) -> Training:
        """Makes the run folder `path`, in which everything that decides the result is fixed.

        Of several processes only the first makes it. Raises `ValueError` for a plan that makes no sense, and
        for a folder that is taken.
        """
        if plan.from_file is not None and not self.reads_networks:
            known = "tic-tac-toe-evolution and AlphaZero"
            raise ValueError(f"{self.name} begins with random weights; --from is for {known}")
        if plan.data is not None and not self.reads_data:
            raise ValueError(f"{self.name} makes its own games; --data is for imitation")
        self.check(plan)
        leads = jax.process_index() == 0
        if leads:
            Run.check_free(path)
        content = self.content(self.prepared(plan, report)) | ({"tensorboard": True} if plan.tensorboard else {})
        return self.resume(Run.create(path, content) if leads else Run(path, {"config": content}), report)

    def resume(self, run: Run, report: Report) -> Training:
        """Goes on in a run folder."""
        return Training(self.stages(run, report), run, report)


@dataclasses.dataclass(frozen=True)
class OfAnyGame(Recipe):
    """A recipe that needs a game, and is a different recipe for each game."""

    name: str
    summary: str
    recipe_for: Callable[[str], Recipe]
    """The recipe for a game, by its id. Raises `ValueError` if there is no such game."""
    lines: Callable[[], Sequence[str]]
    """What help says of games, a line each."""
    several_processes: bool = False

    def recipe(self, game: str | None) -> Recipe:
        """The recipe for a game. Raises `ValueError` if none is named."""
        if game is None:
            raise ValueError(f"{self.name} learns the game that is named: --game {'|'.join(available_games())}")
        return self.recipe_for(game)

    @override
    def help(self) -> str:
        return "\n".join([self.summary, *(f"{'':24}{line}" for line in self.lines())])

    @override
    def check(self, plan: Plan) -> None:
        self.recipe(plan.game).check(plan)

    @override
    def declared(self, plan: Plan) -> dict[str, Setting]:
        return self.recipe(plan.game).declared(plan)

    @override
    def prepared(self, plan: Plan, report: Report) -> Plan:
        return self.recipe(plan.game).prepared(plan, report)

    @override
    def content(self, plan: Plan) -> dict[str, Any]:
        return self.recipe(plan.game).content(plan)

    @override
    def job(self, run: Run, report: Report) -> Job:
        return self.recipe(run.config["game"]).job(run, report)

    @override
    def show(self, result: Mapping[str, Any]) -> None:
        self.recipe(result["game"]).show(result)
