"""The players by spec string. A new player is one entry of `PLAYERS`."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.envs.core import Game
from jaxgames.players import from_folder, generic, mcts, minimax, specs
from jaxgames.players.backgammon.pubeval import PubevalTurn, tesauro_weights
from jaxgames.players.backgammon.simple import LEVELS, SimpleTurn
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry

MOST_PLIES = 5


def _pubeval(game: Game) -> Player:
    return Player("pubeval", game, PubevalTurn(), tesauro_weights())


def _simple(game: Game, level: str) -> Player:
    if level not in map(str, LEVELS):
        raise ValueError(f"{PLAYERS['simple'].usage}, not {f'simple:{level}'!r}")
    return Player(f"simple:{level}", game, SimpleTurn(), np.int32(level))


_TIES = {"ties": "of equally good actions `random` draws one, as if nothing is said; `first` takes the first"}


def _search_entry(name: str, kind: mcts.SearchKind) -> PlayerEntry:
    """A player that searches by simulations: with rollouts, or guided by the network of a run."""

    def make_player(game: Game, *arguments: Any, **options: str) -> Player:
        *run, budget = arguments
        return mcts.mcts_player(name, game, budget, *run, **options)

    arguments: tuple[str, ...]
    needs, amount = "a number of simulations or a time such as 2s", "BUDGET"
    if not kind.takes_time:
        needs, amount = "a number of simulations", "N"
    example, arguments = f"{name}:800", (amount,)
    if kind.evaluate is None:
        example, needs, arguments = f"{name}:RUN:800", f"a run folder and {needs}", ("RUN", amount)
    usage = f"{name} needs {needs}: write {example}"
    return PlayerEntry(make_player, kind.help, usage, (example,), arguments, mcts.options(name))


PLAYERS = {
    "random": PlayerEntry(
        generic.random,
        "any turn with the same probability",
        "random has no options: write random",
        ("random",),
    ),
    "pubeval": PlayerEntry(
        _pubeval,
        "Tesauro's public benchmark player",
        "pubeval has no options: write pubeval",
        ("pubeval",),
        game="backgammon",
    ),
    "simple": PlayerEntry(
        _simple,
        "no look-ahead, a heuristic by hand",
        "simple players are simple:1, simple:2 and simple:3",
        tuple(f"simple:{level}" for level in LEVELS),
        ("LEVEL",),
        game="backgammon",
    ),
    "minimax": PlayerEntry(
        minimax.minimax,
        "minimax to a depth, by the change of material since the position",
        "minimax needs a depth: write minimax:5",
        ("minimax:5",),
        ("N",),
        _TIES,
        chance=False,
    ),
    "alphabeta": PlayerEntry(
        minimax.alphabeta,
        "alpha-beta: the same values as minimax, much faster",
        "alphabeta needs a depth or a time such as 1s: write alphabeta:9",
        ("alphabeta:9",),
        ("BUDGET",),
        _TIES,
        chance=False,
    ),
    **{name: _search_entry(name, kind) for name, kind in mcts.KINDS.items()},
}


FROM_FOLDER = PlayerEntry(
    from_folder.load,
    "the best player of a training, or that of a checkpoint; with `@2` it looks 2 plies ahead",
    "a run folder stands for itself, with plies after an @: write RUN or RUN@2",
    ("RUN", "RUN@2"),
    options={
        "keep": "with plies: how many turns, the best by the network, are looked into",
        "within": "with keep: leaves out turns that seem more than so many points worse than the best",
    },
)
"""The players of specs that begin with the folder of a run instead of a name."""


def available_players(game: Game | None = None) -> tuple[str, ...]:
    """Specs of the players of one game, or of all games, with usual numbers; without those that need a run folder."""
    return tuple(spec for spec in _examples(game) if "RUN" not in re.split("[:@,]", spec))


def make(spec: str, game: Game) -> Player:
    """The player named by `spec`: a built-in one such as `simple:3`, or the folder of a training such as `runs/a`.

    Raises `ValueError` for an unknown name or option, a player of another game, and a folder that is no run.
    """
    if _is_folder(spec):
        return from_folder.load(spec, game)
    parsed = specs.parse(spec)
    if parsed.name in PLAYERS:
        return specs.make(parsed, PLAYERS[parsed.name], game)
    if _is_folder(parsed.start):
        raise ValueError(f"player {spec!r}: a run has options with plies only; write {parsed.start}@2,keep=8")
    path, _, plies = parsed.start.rpartition("@")
    if not _is_folder(path):
        expected = ", ".join(_examples(game))
        raise ValueError(f"unknown player {spec!r}; expected the folder of a training, or one of: {expected}")
    specs.check_options(parsed, FROM_FOLDER.options)
    return _look_ahead(from_folder.load(path, game), spec, plies, **parsed.options)


def game_of(spec: str) -> str | None:
    """The id of the game that a run was trained for, or of the only game that a player plays; None for other players.

    Raises `ValueError` if the folder is no run.
    """
    if _is_folder(spec):
        return from_folder.game_of(spec)
    parsed = specs.parse(spec)
    if parsed.name in PLAYERS:
        run = specs.folder(parsed, PLAYERS[parsed.name])
        return PLAYERS[parsed.name].game if run is None else from_folder.game_of(run)
    path = parsed.start.rpartition("@")[0]
    return from_folder.game_of(path) if _is_folder(path) else None


def _look_ahead(player: Player, spec: str, plies: str, keep: str | None = None, within: str | None = None) -> Player:
    return generic.look_ahead(
        player,
        spec,
        specs.whole_number(plies, f"player {spec!r}: plies", MOST_PLIES),
        None if keep is None else specs.whole_number(keep, f"player {spec!r}: keep"),
        None if within is None else specs.number(within, f"player {spec!r}: within"),
    )


def _is_folder(text: str) -> bool:
    """Whether a text is the folder of a run and begins with no player's name."""
    return bool(text) and re.split("[:,]", text)[0] not in PLAYERS and Path(text).is_dir()


def _examples(game: Game | None) -> list[str]:
    entries = [entry for entry in (*PLAYERS.values(), FROM_FOLDER) if game is None or entry.plays(game)]
    return [example for entry in entries for example in entry.examples if example != "RUN"]
