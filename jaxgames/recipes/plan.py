"""What somebody asks of a training, checked once for all recipes."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from jaxgames.envs.core import Game

LIMITS: dict[str, tuple[float, float]] = {
    "minutes": (0, 10**6),
    "games": (1, 10**15),
    "seed": (0, 2**32 - 1),  # `jax.random.key` repeats beyond
    "devices": (1, 10**6),
    "measured_games": (1, 10**8),  # as `jaxgames.matches.match` plays at most
    "final_games": (1, 10**8),
}


@dataclasses.dataclass(frozen=True)
class Plan:
    """What somebody asks of a training; None and empty where nothing was said.

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
    """Those that `minutes` make here, as `Recipe.prepared` measures; nobody asks for them."""
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
