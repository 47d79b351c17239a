"""The games of the page: their options with bounds, and all that the page is told about them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.ops.settings import Setting
from jaxgames.players.champions import card, champion_games
from jaxgames.records import FORMATS
from jaxgames.web.boards import VIEWS
from jaxgames.web.offered_players import CHAMPION, OfferedPlayers

OPTIONS: Mapping[str, Mapping[str, Setting]] = {
    game_id: {option.name: option for option in options}
    for game_id, options in {
        "tic_tac_toe": (),
        "connect_four": (
            Setting("rows", int, 6, "Rows", low=2, high=10),
            Setting("cols", int, 7, "Columns", low=2, high=10),
            Setting("connect", int, 4, "In a row to win", low=3, high=8),
        ),
        "checkers": (
            Setting("draw_after", int, 100, "Moves without capture until a draw", low=2, high=1000),
            Setting("max_moves", int | None, None, "Most moves of a game", low=1, high=1000),
        ),
        "backgammon": (Setting("points", int, 3, "Most points of a game", low=1, high=3),),
    }.items()
}
"""Options by game, with the bounds of the page. `points` is not one of the rules but of the score."""

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
        try:
            full[name] = known[name].check(value)
        except TypeError as error:
            raise ValueError(str(error)) from None
    if game_id == "connect_four" and full["connect"] > max(full["rows"], full["cols"]):
        longest = max(full["rows"], full["cols"])
        raise ValueError(f"connect {full['connect']}: nobody can win on this board; expected at most {longest}")
    return GameChoice(make(game_id, **{name: full[name] for name in rules_of(game_id)}), full)


def rules_of(game_id: str) -> dict[str, Setting]:
    """The options that are rules."""
    return {name: option for name, option in OPTIONS[game_id].items() if name != "points"}


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
    options = [option.form() for option in OPTIONS[game_id].values()]
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
        "strengths": _strengths(game_id),
    }


def _strengths(game_id: str) -> list[dict[str, Any]]:
    """What each level of the champion has scored against the last one that it has met, from its card."""
    if game_id not in champion_games():
        return []
    met = {match["level"]: match for match in card(game_id)["matches"]}
    return [
        {
            "level": level,
            "opponent": match["opponent"],
            "ppg": match["ppg"],
            "low": match["ppg_low"],
            "high": match["ppg_high"],
        }
        for level, match in met.items()
    ]
