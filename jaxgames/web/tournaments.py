"""The page of the tournaments: the cross-tables, ratings and rounds of those that it has started."""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.envs.core import Game
from jaxgames.matches.knockout import Meeting
from jaxgames.matches.match import MatchResult
from jaxgames.matches.tournament import TournamentFolder, TournamentResult
from jaxgames.ops import json_text
from jaxgames.web.boards import VIEWS
from jaxgames.web.commands import Commands
from jaxgames.web.games import choose_game

SHOWN = 20
"""Tournaments, the newest ones."""
KEPT_SECONDS = 1.0


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
            game, rules = choose_game(folder.header["game"], {}).game, folder.header.get("set") or ()
            found = {
                "game": game.id,
                "title": VIEWS[game.id].title,
                "rules": [self._plain(rule) for rule in rules],
                "most_points": game.max_reward,
                **(self._rounds(folder) if folder.header.get("knockout") else self._table(folder, game)),
            }
        except (ValueError, KeyError, TypeError, IndexError, OSError) as error:
            return base | {"error": self._plain(f"it cannot be read: {error}")}
        return base | found | {"goes_on": not (running or found["ended"])}

    def _table(self, folder: TournamentFolder, game: Game) -> dict[str, Any]:
        """The results of a round robin so far."""
        plan, lines = folder.header, folder.results.read()
        matches = {(line["pair"][0], line["pair"][1]): MatchResult(**line["match"]) for line in lines}
        names = tuple(self._plain(spec) for spec in plan["players"])
        pairs = len(names) * (len(names) - 1) // 2
        result = TournamentResult(game.id, names, plan["games"], plan["seed"], game.max_reward, matches, ())
        return {
            "players": list(names),
            "games": plan["games"],
            "played": len(matches),
            "pairs": pairs,
            "ended": len(matches) >= pairs,
            "table": _numbers(result.table()),
            "margins": _numbers(result.margins),
            "ratings": [rating.to_dict() for rating in result.ratings] if matches else None,
        }

    def _rounds(self, folder: TournamentFolder) -> dict[str, Any]:
        """The rounds of a knock-out so far: how many met, and in how many games."""
        meetings = [(line["round"], Meeting(**line["meeting"])) for line in folder.results.read()]
        rounds: dict[int, list[int]] = {}
        for number, meeting in meetings:
            counts = rounds.setdefault(number, [0, 0])
            counts[0] += 1
            counts[1] += meeting.games
        result = folder.path / "result.json"
        best = json_text.loads(result.read_text(encoding="utf-8"))["best"] if result.is_file() else None
        return {
            "knockout": self._plain(folder.header["knockout"]),
            "rounds": [rounds[number] for number in sorted(rounds)],
            "best": best and self._plain(best),
            "ended": best is not None,
        }

    def _plain(self, found: Any) -> str:
        """What a file has for a text, without the folders of the server."""
        text = str(found)
        for name, path in self._runs.items():
            text = text.replace(str(path), name)
        for folder in {path.parent for path in self._commands.folders("tournament")}:
            text = text.replace(f"{folder}/", "")
        return " ".join(text.split())[:300]


def _numbers(table: np.ndarray) -> list[list[float | None]]:
    return [[None if math.isnan(value) else round(float(value), 5) for value in row] for row in table]
