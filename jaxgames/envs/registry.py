"""The games by name. A new game is a folder beside this file and one line here."""

import dataclasses
from typing import Any

from jaxgames.envs.backgammon.game import Backgammon
from jaxgames.envs.checkers.game import Checkers
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game
from jaxgames.envs.tic_tac_toe.game import TicTacToe

GAMES: dict[str, type[Game]] = {game.id: game for game in (TicTacToe, ConnectFour, Checkers, Backgammon)}


def available_games() -> tuple[str, ...]:
    """The ids that `make` knows."""
    return tuple(GAMES)


def make(game_id: str, **options: Any) -> Game:
    """The game named `game_id`, with its options, e.g. `make("backgammon")`.

    Raises `ValueError` for an unknown id or option.
    """
    if game_id not in GAMES:
        raise ValueError(f"unknown game {game_id!r}; available: {', '.join(GAMES)}")
    known = [field.name for field in dataclasses.fields(GAMES[game_id])]
    for name in options:
        if name not in known:
            raise ValueError(f"unknown option {name!r} of {game_id}; available: {', '.join(known) or 'none'}")
    return GAMES[game_id](**options)
