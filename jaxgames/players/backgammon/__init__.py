"""Players of backgammon made by hand: pubeval and the simple ones."""

import numpy as np

from jaxgames.envs.core import Game
from jaxgames.players.backgammon.pubeval import PubevalTurn, tesauro_weights
from jaxgames.players.backgammon.simple import LEVELS, SimpleTurn, pips
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry

__all__ = ["PLAYERS", "pips"]


def _simple(name: str, help: str) -> PlayerEntry:
    """The players `name:1` to `name:3`."""
    usage = f"{name} players are {name}:1, {name}:2 and {name}:3"

    def make_player(game: Game, level: str) -> Player:
        if level not in map(str, LEVELS):
            raise ValueError(f"{usage}, not {f'{name}:{level}'!r}")
        return Player(f"{name}:{level}", game, SimpleTurn(name == "tidy"), np.int32(level))

    examples = tuple(f"{name}:{level}" for level in LEVELS)
    return PlayerEntry(make_player, help, usage, examples, ("LEVEL",), games=("backgammon",))


PLAYERS = {
    "pubeval": PlayerEntry(
        lambda game: Player("pubeval", game, PubevalTurn(), tesauro_weights()),
        "Tesauro's public benchmark player",
        "pubeval has no options: write pubeval",
        ("pubeval",),
        games=("backgammon",),
    ),
    "simple": _simple("simple", "no look-ahead, a heuristic by hand; draws among equal plays"),
    "tidy": _simple("tidy", "no look-ahead, a heuristic by hand that settles equal plays by blots and pips"),
}
