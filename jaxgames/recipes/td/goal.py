"""When a TD training is done, and how it is measured."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Goal:
    """When a training is done: after so many minutes or games; with which seed, on how many devices, and how it is
    measured.

    A number of games, with a seed and a number of devices, decides the weights to the last bit. Minutes are turned
    into a number of updates when the training begins, by the speed of the machine.
    """

    minutes: float | None = None
    games: int | None = None
    seed: int = 0
    devices: int = 1
    measured_games: int = 2_000
    """Games against the watched opponent at intervals."""
    final_games: int = 10_000
    """Games against each opponent at the end."""

    @property
    def seconds(self) -> float:
        """The time to train, 0 if the goal is a number of games."""
        return 60.0 * (self.minutes or 0.0)

    def __post_init__(self) -> None:
        if (self.minutes is None) == (self.games is None):
            raise ValueError("give either a number of minutes or a number of games")
        for name in ("minutes", "games", "devices", "measured_games", "final_games"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 10**12:
                raise ValueError(f"{name.replace('_', '-')} {value}: expected a number above 0")
