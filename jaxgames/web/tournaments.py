"""The page of the tournaments: the cross-tables, ratings and rounds of those that it has started."""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.envs.core import Game
from jaxgames.matches.knockout import BEHIND, MOST_GAMES, Meeting
from jaxgames.matches.match import MatchResult
from jaxgames.matches.tournament import TournamentFolder, TournamentResult
from jaxgames.ops import json_text
from jaxgames.ops.checks import MOST_SEED
from jaxgames.ops.settings import Setting, parse
from jaxgames.web.boards import VIEWS
from jaxgames.web.commands import Asked, Commands
from jaxgames.web.games import choose_game, rules_of
from jaxgames.web.limits import Limits
from jaxgames.web.offered_players import OfferedPlayers

SHOWN = 20
"""Tournaments, the newest ones."""
KEPT_SECONDS = 1.0


class Tournaments:
    """Tournaments that the page has started; results are cached for a second, however many pages ask."""

    def __init__(self, commands: Commands, runs: Mapping[str, Path]):
        self._commands, self._runs = commands, runs
        self._read: tuple[float, list[dict[str, Any]]] = (-math.inf, [])

    def describe(self) -> list[dict[str, Any]]:
        """The newest ones, as the page reads them. What cannot be read is an `error` in it."""
        if time.monotonic() - self._read[0] > KEPT_SECONDS:
            tournaments = [self._describe(path) for path in self._commands.folders("tournament")[:SHOWN]]
            self._read = (time.monotonic(), tournaments)
        return self._read[1]

    def _describe(self, path: Path) -> dict[str, Any]:
        running = bool(self._commands.runs(path))
        base = {"name": path.name, "under_way": running, "goes_on": False, "error": None, "players": []}
        try:
            folder = TournamentFolder.open(path)
            game, rules = choose_game(folder.header["game"], {}).game, folder.header.get("set") or ()
            details = {
                "game": game.id,
                "title": VIEWS[game.id].title,
                "rules": [self._plain(rule) for rule in rules],
                "most_points": game.max_reward,
                **(self._rounds(folder) if folder.header.get("knockout") else self._table(folder, game)),
            }
        except (ValueError, KeyError, TypeError, IndexError, OSError) as error:
            return base | {"error": self._plain(f"it cannot be read: {error}")}
        return base | details | {"goes_on": not (running or details["ended"])}

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

    def _plain(self, value: Any) -> str:
        """A text from a file, without the server's folders."""
        text = str(value)
        for name, path in self._runs.items():
            text = text.replace(str(path), name)
        return " ".join(text.replace(f"{self._commands.kinds['tournament'].folder}/", "").split())[:300]


def _numbers(table: np.ndarray) -> list[list[float | None]]:
    return [[None if math.isnan(value) else round(float(value), 5) for value in row] for row in table]


# The form of a tournament on the page: what may be asked for, as arguments of `jaxgames tournament`.

USUAL_GAMES = 200
ROUND_ROBIN, KNOCKOUT = "everybody against everybody", "knock-out of a training"


class TournamentForm:
    """A round robin of players that the page may name, or a knock-out of the networks that a training has saved."""

    verb = "tournament"

    def __init__(self, offered: OfferedPlayers, limits: Limits):
        self._offered, self._limits = offered, limits
        seed = Setting("seed", int, 0, "seed of all random numbers", low=0, high=MOST_SEED)
        most = limits.tournament_games
        games = Setting("games", int, USUAL_GAMES, "games of each pair", low=2, high=most)
        behind = Setting("behind", int, BEHIND, "a player drops out so many points behind", low=1, high=most)
        usual = min(MOST_GAMES, most)
        most_games = Setting("most_games", int, usual, "after so many games the leader goes on", low=2, high=most)
        self._numbers = {
            ROUND_ROBIN: {"games": games, "seed": seed},
            KNOCKOUT: {"behind": behind, "most_games": most_games, "seed": seed},
        }

    def form(self, asked: Asked) -> dict[str, Any]:
        """The fields to fill in after the present choices, and what is wrong with these."""
        fields, error = {"game": next(iter(VIEWS)), **asked["fields"]}, None
        try:
            self.arguments({**asked, "fields": fields})
        except ValueError as wrong:
            error = " ".join(str(wrong).split())
        game_id = fields["game"]
        game = choose_game(game_id if game_id in VIEWS else next(iter(VIEWS)), {}).game
        runs, kind = self._offered.runs_of(game), fields.get("kind")
        kind = kind if kind in self._numbers else ROUND_ROBIN
        shown = [_choices("game", "the game that they play", list(VIEWS), game.id)]
        if runs:
            shown.append(_choices("kind", "who meets whom", [ROUND_ROBIN, KNOCKOUT], kind))
        if runs and kind == KNOCKOUT:
            shown.append(_choices("run", "whose networks meet", runs, fields.get("run") or runs[0]))
        shown += [
            {"name": name, "help": one.help, "value": fields.get(name) or str(one.default)}
            for name, one in self._numbers[kind].items()
        ]
        settings = [
            {**rule.form(), "value": asked["set"].get(name, ""), "expected": rule.expected, "idle": False}
            for name, rule in rules_of(game.id).items()
        ]
        return {"name": game.id.replace("_", "-"), "fields": shown, "settings": settings, "error": error}

    def arguments(self, asked: Asked) -> list[str]:
        """The arguments. Raises `ValueError` for an impossible tournament."""
        fields = {name: text for name, text in asked["fields"].items() if text}
        rules, game = self._game(fields.pop("game", ""), asked["set"])
        kind, run = fields.pop("kind", ROUND_ROBIN), fields.pop("run", "")
        if kind not in self._numbers:
            raise ValueError(f"unknown kind {kind[:40]!r}; expected one of: {', '.join(self._numbers)}")
        if kind == KNOCKOUT:
            who = self._knockout(run, asked["players"], game)
        elif run:
            raise ValueError(f"run {run[:40]!r} is of a knock-out; expected none")
        else:
            who = self._round_robin(asked["players"], game)
        declared = self._numbers[kind]
        numbers = {name: one.default for name, one in declared.items()} | parse(declared, fields, "tournaments")
        settings = [f"--set={name}={value}" for name, value in rules.items() if value is not None]
        options = [f"--{name.replace('_', '-')}={number}" for name, number in numbers.items()]
        return [*who, f"--game={game.id}", *settings, *options]

    def _game(self, game_id: str, texts: Mapping[str, str]) -> tuple[dict[str, Any], Game]:
        """The rules that were chosen, and the game with them."""
        usual = choose_game(game_id, {}).game
        rules = parse(rules_of(usual.id), {name: text for name, text in texts.items() if text}, usual.id)
        return rules, choose_game(usual.id, rules).game

    def _knockout(self, run: str, players: list[str], game: Game) -> list[str]:
        if players:
            raise ValueError("a knock-out is one of a training's networks; expected no other players")
        runs = self._offered.runs_of(game)
        if run not in runs:
            known = ", ".join(runs) or "there is none"
            raise ValueError(f"no training {run[:40]!r} of {game.id}; expected one of: {known}")
        return [f"--knockout={self._offered.runs[run]}"]

    def _round_robin(self, players: list[str], game: Game) -> list[str]:
        if not 2 <= len(players) <= self._limits.entrants:
            raise ValueError(f"a tournament of {len(players)} players: expected 2 to {self._limits.entrants}")
        specs = [self._player(spec, game) for spec in players]
        for spec, resolved in zip(players, specs, strict=True):
            if specs.count(resolved) > 1:
                raise ValueError(f"player {spec} is there {specs.count(resolved)} times; expected different ones")
        return specs

    def _player(self, spec: str, game: Game) -> str:
        resolved = self._offered.resolve(spec, game)
        if resolved in self._offered.plugins:
            raise ValueError(f"player {spec} is of a plug-in: jaxgames tournament --plugin FILE.py")
        self._offered.make(spec, game)  # raises for one that does not play this game
        return resolved


def _choices(name: str, help: str, choices: list[str], value: str) -> dict[str, Any]:
    return {"name": name, "help": help, "choices": choices, "value": value}
