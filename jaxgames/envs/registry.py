"""The games by name. A new game is a folder beside this file and one line here.

Games of other packages are found by their entry points in the group `jaxgames.games`.
"""

import dataclasses
from importlib.metadata import entry_points
from typing import Any

from jaxgames.envs.backgammon.game import Backgammon
from jaxgames.envs.checkers.game import Checkers
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game
from jaxgames.envs.tic_tac_toe.game import TicTacToe
from jaxgames.ops import checks

GAMES: dict[str, type[Game]] = {game.id: game for game in (TicTacToe, ConnectFour, Checkers, Backgammon)}


GROUP = "jaxgames.games"


def available_games() -> tuple[str, ...]:
    """The ids that `make` knows."""
    return tuple(dict.fromkeys((*GAMES, *(point.name for point in entry_points(group=GROUP)))))


def register(game: type[Game]) -> None:
    """Makes a game known to `make` by its id. Raises `ValueError` for what is no game, and for an id that is taken."""
    check_new(game)
    GAMES[game.id] = game


def check_new(game: type[Game]) -> None:
    """The checks of `register`."""
    if not (isinstance(game, type) and issubclass(game, Game) and dataclasses.is_dataclass(game)):
        raise ValueError(f"{game!r} is no game; expected a dataclass that derives from jaxgames.Game")
    if GAMES.get(game.id, game) is not game:
        raise ValueError(f"there is a game {game.id!r} already; give this one another id")


def make(game_id: str, /, **options: Any) -> Game:
    """The game named `game_id`, with its options, e.g. `make("backgammon")`.

    Raises `ValueError` for an unknown id or option, `TypeError` for what is no text.
    """
    checks.text("game", game_id, "connect_four")
    if game_id not in GAMES:
        _find(game_id)
    known = {field.name: field.default for field in dataclasses.fields(GAMES[game_id])}
    for name in options:
        if name not in known:
            raise ValueError(f"unknown option {name!r} of {game_id}; available: {', '.join(known) or 'none'}")
        if isinstance(known[name], tuple) and isinstance(options[name], list):  # as JSON has them
            options[name] = tuple(options[name])
    return GAMES[game_id](**options)


def as_game(game: Any, name: str = "game") -> Game:
    """The game that was passed, itself or by its name: perft, players, matches and runs accept both.

    Raises `TypeError` for anything else, `ValueError` for an unknown name.
    """
    if isinstance(game, str):
        return make(game)
    if not isinstance(game, Game):
        raise TypeError(f"{name} {checks.describe(game)}: expected a game or its name, such as 'connect_four'")
    return game


def _find(game_id: str) -> None:
    """Registers a game of another package. Raises `ValueError` if none has it."""
    for point in entry_points(group=GROUP, name=game_id):
        game = point.load()
        if getattr(game, "id", None) != game_id:
            raise ValueError(f"entry point {game_id} of {GROUP} leads to {game!r}; expected the game with this id")
        register(game)
        return
    raise ValueError(f"unknown game {game_id!r}; available: {', '.join(available_games())}")
