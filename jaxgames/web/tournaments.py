"""The page of the tournaments: how one is asked for, and the cross-tables and ratings of those it has started."""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.envs.core import Game
from jaxgames.matches.match import MatchResult
from jaxgames.matches.tournament import TournamentFolder, TournamentResult
from jaxgames.ops.settings import Setting, parse
from jaxgames.web.boards import VIEWS
from jaxgames.web.commands import Asked, Commands
from jaxgames.web.games import choose_game
from jaxgames.web.limits import Limits
from jaxgames.web.offered_players import OfferedPlayers

SHOWN = 20
"""Tournaments, the newest ones."""
USUAL_GAMES = 200
KEPT_SECONDS = 1.0


class TournamentForm:
    """A round robin of players that the page may name, as arguments of `jaxgames tournament`."""

    verb = "tournament"

    def __init__(self, offered: OfferedPlayers, limits: Limits):
        self._offered, self._limits = offered, limits
        self._numbers = {
            "games": Setting("games", int, USUAL_GAMES, "of each pair", low=2, high=limits.tournament_games),
            "seed": Setting("seed", int, 0, "of all random numbers", low=0, high=2**32 - 1),
        }

    def form(self, asked: Asked) -> dict[str, Any]:
        """The numbers, and what is wrong with what was chosen."""
        error = None
        try:
            self.arguments(asked)
        except ValueError as wrong:
            error = " ".join(str(wrong).split())
        numbers = [{"name": name, "help": one.help, "value": one.default} for name, one in self._numbers.items()]
        name = asked["fields"].get("game", "").replace("_", "-")[:30]
        return {"name": name, "fields": numbers, "settings": [], "error": error}

    def arguments(self, asked: Asked) -> list[str]:
        """The arguments. Raises `ValueError` for a tournament that cannot be."""
        fields, players = dict(asked["fields"]), asked["players"]
        if asked["set"]:
            raise ValueError("tournaments of the page are of the usual rules; for others: jaxgames tournament --set")
        game = choose_game(fields.pop("game", ""), {}).game
        if not 2 <= len(players) <= self._limits.entrants:
            raise ValueError(f"a tournament of {len(players)} players: expected 2 to {self._limits.entrants}")
        specs = [self._player(spec, game) for spec in players]
        for spec, resolved in zip(players, specs, strict=True):
            if specs.count(resolved) > 1:
                raise ValueError(f"player {spec} is there {specs.count(resolved)} times; expected different ones")
        usual = {name: str(one.default) for name, one in self._numbers.items()}
        given = usual | {name: text for name, text in fields.items() if text}
        numbers = parse(self._numbers, given, "tournaments")
        return [*specs, f"--game={game.id}", *(f"--{name}={number}" for name, number in numbers.items())]

    def _player(self, spec: str, game: Game) -> str:
        resolved = self._offered.resolve(spec, game)
        if resolved in self._offered.plugins:
            raise ValueError(f"player {spec} is of a plug-in: jaxgames tournament --plugin FILE.py")
        self._offered.make(spec, game)  # raises for one that does not play this game
        return resolved


class Tournaments:
    """Those that the page has started; what was read stays for a second, however many pages ask."""

    def __init__(self, commands: Commands, runs: Mapping[str, Path]):
        self._commands, self._runs = commands, runs
        self._read: tuple[float, list[dict[str, Any]]] = (-math.inf, [])

    def describe(self) -> list[dict[str, Any]]:
        """The newest ones, as the page reads them. What cannot be read is an `error` in it."""
        if time.monotonic() - self._read[0] > KEPT_SECONDS:
            found = [self._describe(path) for path in self._commands.folders("tournament")[:SHOWN]]
            self._read = (time.monotonic(), found)
        return self._read[1]

    def _describe(self, path: Path) -> dict[str, Any]:
        running = bool(self._commands.runs(path))
        base = {"name": path.name, "under_way": running, "goes_on": False, "error": None, "players": []}
        try:
            folder = TournamentFolder.open(path)
            plan, lines = folder.header, folder.results.read()
            matches = {(line["pair"][0], line["pair"][1]): MatchResult(**line["match"]) for line in lines}
            found = self._facts(plan, matches)
        except (ValueError, KeyError, TypeError, IndexError, OSError) as error:
            return base | {"error": self._plain(f"it cannot be read: {error}")}
        return base | found | {"goes_on": not running and found["played"] < found["pairs"]}

    def _facts(self, plan: Mapping[str, Any], matches: Mapping[tuple[int, int], MatchResult]) -> dict[str, Any]:
        names = tuple(self._plain(spec) for spec in plan["players"])
        game = choose_game(plan["game"], {}).game
        result = TournamentResult(game.id, names, plan["games"], plan["seed"], game.max_reward, matches, ())
        return {
            "game": game.id,
            "title": VIEWS[game.id].title,
            "players": list(names),
            "games": plan["games"],
            "played": len(matches),
            "pairs": len(names) * (len(names) - 1) // 2,
            "most_points": game.max_reward,
            "table": _numbers(result.table()),
            "margins": _numbers(result.margins),
            "ratings": [rating.to_dict() for rating in result.ratings] if matches else None,
        }

    def _plain(self, text: str) -> str:
        """A text without the folders of the server."""
        for name, path in self._runs.items():
            text = text.replace(str(path), name)
        for folder in {path.parent for path in self._commands.folders("tournament")}:
            text = text.replace(f"{folder}/", "")
        return " ".join(text.split())[:300]


def _numbers(table: np.ndarray) -> list[list[float | None]]:
    return [[None if math.isnan(value) else round(float(value), 5) for value in row] for row in table]
