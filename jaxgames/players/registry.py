"""The players by spec string. A new player is one entry of `PLAYERS`."""

import re
from pathlib import Path

import numpy as np

from jaxgames.envs.core import Game
from jaxgames.players import generic, specs, trained
from jaxgames.players.player import Player
from jaxgames.players.pubeval import PubevalTurn, tesauro_weights
from jaxgames.players.simple import LEVELS, SimpleTurn
from jaxgames.players.specs import Entry


def _pubeval(game: Game) -> Player:
    return Player("pubeval", game, PubevalTurn(), tesauro_weights())


def _simple(game: Game, level: str) -> Player:
    if level not in map(str, LEVELS):
        raise ValueError(f"{PLAYERS['simple'].usage}, not {f'simple:{level}'!r}")
    return Player(f"simple:{level}", game, SimpleTurn(), np.int32(level))


PLAYERS = {
    "random": Entry(
        generic.random,
        "any turn with the same probability",
        "random has no options: write random",
        ("random",),
    ),
    "pubeval": Entry(
        _pubeval,
        "Tesauro's public benchmark player",
        "pubeval has no options: write pubeval",
        ("pubeval",),
        game="backgammon",
    ),
    "simple": Entry(
        _simple,
        "no look-ahead, only a taste",
        "simple players are simple:1, simple:2 and simple:3",
        tuple(f"simple:{level}" for level in LEVELS),
        ("LEVEL",),
        game="backgammon",
    ),
}


def available_players(game: Game | None = None) -> tuple[str, ...]:
    """Specs of the built-in players, of one game or of all, with usual numbers; some need a run folder besides."""
    return tuple(spec for spec in _examples(game) if "RUN" not in re.split("[:@,]", spec))


def make(spec: str, game: Game) -> Player:
    """The player named by `spec`: a built-in one such as `simple:3`, or the folder of a training such as `runs/a`.

    Raises `ValueError` for an unknown name or option, a player of another game, and a folder that is no run.
    """
    parsed = specs.parse(spec)
    if parsed.name in PLAYERS:
        return specs.make(parsed, PLAYERS[parsed.name], game)
    if spec and Path(spec).is_dir():
        return trained.load(spec, game)
    expected = ", ".join(_examples(game))
    raise ValueError(f"unknown player {spec!r}; expected the folder of a training, or one of: {expected}")


def game_of(spec: str) -> str | None:
    """The id of the game that the training in a folder learned, or the only one of a player; None for any other.

    Raises `ValueError` if the folder is no run.
    """
    parsed = specs.parse(spec)
    if parsed.name in PLAYERS:
        path = specs.folder(parsed, PLAYERS[parsed.name])
        return PLAYERS[parsed.name].game if path is None else trained.game_of(path)
    return trained.game_of(spec) if spec and Path(spec).is_dir() else None


def _examples(game: Game | None) -> list[str]:
    entries = [entry for entry in PLAYERS.values() if game is None or entry.plays(game)]
    return [example for entry in entries for example in entry.examples]
