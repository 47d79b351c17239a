"""The games of the page: their options with bounds, and all that the page is told about them."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.records import FORMATS
from jaxgames.web.boards import VIEWS
from jaxgames.web.offered_players import CHAMPION, OfferedPlayers


class GameOption(NamedTuple):
    """A whole number that a game is played with, from `least` to `most`; `none`: there may be no such number."""

    label: str
    default: int | None
    least: int
    most: int
    none: bool = False


OPTIONS: Mapping[str, Mapping[str, GameOption]] = {
    "tic_tac_toe": {},
    "connect_four": {
        "rows": GameOption("Rows", 6, 2, 10),
        "cols": GameOption("Columns", 7, 2, 10),
        "connect": GameOption("In a row to win", 4, 3, 8),
    },
    "checkers": {
        "draw_after": GameOption("Draw after moves without capture", 100, 2, 1000),
        "max_moves": GameOption("Break off after moves", None, 1, 1000, True),
    },
    "backgammon": {"points": GameOption("Most points of a game", 3, 1, 3)},
}
"""Options by game. `points` is not one of the rules but of the score."""

FALLBACKS = ("champion", "uct:800", "random")


@dataclasses.dataclass(frozen=True)
class GameChoice:
    """A game with all its options, as the page names them."""

    game: Game
    options: Mapping[str, int | None]

    @property
    def most_points(self) -> int:
        """The most that one game is worth."""
        return self.options.get("points") or self.game.max_reward


def choose_game(game_id: str, options: Mapping[str, int | None]) -> GameChoice:
    """The game with these options. Raises `ValueError` for unknown ones, and for numbers out of bounds."""
    if game_id not in VIEWS:
        raise ValueError(f"unknown game {game_id[:40]!r}; available: {', '.join(VIEWS)}")
    known = OPTIONS[game_id]
    full = {name: option.default for name, option in known.items()}
    for name, value in options.items():
        if name not in known:
            raise ValueError(f"unknown option {name!r} of {game_id}; available: {', '.join(known) or 'none'}")
        option = known[name]
        if not (value is None and option.none) and not (value is not None and option.least <= value <= option.most):
            raise ValueError(f"{name}={value}: expected a whole number from {option.least} to {option.most}")
        full[name] = value
    rules = {name: value for name, value in full.items() if name != "points"}
    return GameChoice(make(game_id, **rules), full)


def options_of(game: Game) -> dict[str, int | None]:
    """The options of a game that was made elsewhere."""
    return {name: getattr(game, name, option.default) for name, option in OPTIONS[game.id].items()}


def analyst(offered: OfferedPlayers, game: Game) -> str:
    """The player that evaluates by default: the champion if there is one."""
    for spec in FALLBACKS:
        try:
            offered.resolve(spec, game)
        except ValueError:
            continue
        return spec
    return FALLBACKS[-1]


def describe_game(game_id: str, offered: OfferedPlayers) -> dict[str, Any]:
    """What the page is told about a game."""
    view, game = VIEWS[game_id], make(game_id)
    spec = analyst(offered, game)
    options = [{"name": name, **option._asdict()} for name, option in OPTIONS[game_id].items()]
    formats = [name for name, one in FORMATS.items() if one.games is None or game_id in one.games]
    return {
        "id": game_id,
        "title": view.title,
        "board": view.kind,
        "options": options,
        "sides": list(view.sides),
        "notation": view.notation,
        "chance": bool(game.outcome_probabilities),
        "most_points": game.max_reward,
        "formats": formats,
        "players": offered.describe(game),
        "default_player": spec,
        "analyst": spec,
        "champion": spec == CHAMPION,
    }
