"""The players by spec string. A new built-in player is one line here."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from jaxgames.envs.backgammon import Backgammon
from jaxgames.envs.core import Game
from jaxgames.players import generic, trained
from jaxgames.players.player import Player
from jaxgames.players.pubeval import PubevalTurn, tesauro_weights
from jaxgames.players.simple import LEVELS, SimpleTurn


def _random(option: str | None, game: Game) -> Player:
    _no_option("random", option)
    return generic.random(game)


def _pubeval(option: str | None, game: Game) -> Player:
    _no_option("pubeval", option)
    _only_backgammon("pubeval", game)
    return Player("pubeval", game, PubevalTurn(), tesauro_weights())


def _simple(option: str | None, game: Game) -> Player:
    _only_backgammon("simple", game)
    if option is None or option not in map(str, LEVELS):
        raise ValueError(f"simple players are simple:1, simple:2 and simple:3, not {_spec('simple', option)!r}")
    return Player(f"simple:{option}", game, SimpleTurn(), np.int32(option))


PLAYERS: dict[str, Callable[[str | None, Game], Player]] = {"random": _random, "pubeval": _pubeval, "simple": _simple}
SPECS = ("random", "pubeval", "simple:1", "simple:2", "simple:3")


def available_players() -> tuple[str, ...]:
    """The spec strings of the built-in players."""
    return SPECS


def make(spec: str, game: Game) -> Player:
    """The player named by `spec`: a built-in one such as `simple:3`, or the folder of a training such as `runs/a`.

    Raises `ValueError` for an unknown name or option, a player of another game, and a folder that is no run.
    """
    name, colon, option = spec.partition(":")
    if name in PLAYERS:
        return PLAYERS[name](option if colon else None, game)
    if spec and Path(spec).is_dir():
        return trained.load(spec, game)
    raise ValueError(f"unknown player {spec!r}; expected the folder of a training, or one of: {', '.join(SPECS)}")


def game_of(spec: str) -> str | None:
    """The id of the game that the training in a folder learned; None for players of no certain game.

    Raises `ValueError` if the folder is no run.
    """
    if spec.partition(":")[0] in PLAYERS or not (spec and Path(spec).is_dir()):
        return None
    return trained.game_of(spec)


def _spec(name: str, option: str | None) -> str:
    return name if option is None else f"{name}:{option}"


def _no_option(name: str, option: str | None) -> None:
    if option is not None:
        raise ValueError(f"{name} has no options: write {name}, not {_spec(name, option)!r}")


def _only_backgammon(name: str, game: Game) -> None:
    if not isinstance(game, Backgammon):
        raise ValueError(f"{name} plays backgammon, not {game.id}")
