"""A finished or unfinished game as it is written into files: `jaxgames.records` knows the formats."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from jaxgames.envs.core import Game


class RecordedTurn(NamedTuple):
    """A whole turn in the game's notation, and the outcome of chance before it (`31`), empty if there was none."""

    text: str
    chance: str = ""


@dataclass(frozen=True)
class GameRecord:
    """One game: its rules, who played, the start position, the turns, the result.

    `start` is a position in the game's notation, with the first roll if the game begins with one. The first of
    `players` moves first there; `points` are that player's points, None if the game did not end.
    `reason` says how it ended if not by the rules: `resigned`, `draw agreed`. `options` are those of `make`.
    """

    game: str
    start: str
    turns: tuple[RecordedTurn, ...] = ()
    points: float | None = None
    reason: str = ""
    players: tuple[str, str] = ("first", "second")
    options: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


Accept = Callable[[str, Mapping[str, Any]], None]
"""Called with the game and options of each record before its turns are played; raises `ValueError` to stop reading."""


def any_game(game: str, options: Mapping[str, Any]) -> None:
    """Accepts every game, and as many as there are."""


def game_options(game: Game) -> dict[str, Any]:
    """The options of a game that differ from their defaults, as `make` takes them."""
    values = {one.name: (getattr(game, one.name), one.default) for one in fields(game)}
    return {name: value for name, (value, default) in values.items() if value != default}


def result_text(results: Mapping[float | None, str], points: float | None) -> str:
    """The text of a result in a format. Raises `ValueError` for points for which the format has no text."""
    if points not in results:
        raise ValueError(f"a game of {points:+g} points cannot be written here, only {', '.join(results.values())}")
    return results[points]


def check_line(what: str, text: str) -> None:
    """Raises `ValueError` for a text that would not be one line of a file."""
    if text.splitlines() not in ([], [text]):
        raise ValueError(f"{what} {text!r} must be a text of one line")


def wrong_at(text: str, at: int, reason: object) -> ValueError:
    """The error for what is wrong in a file's text, with its line and column."""
    return ValueError(f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}: {reason}")
