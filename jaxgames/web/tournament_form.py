"""The form of a tournament on the page: what may be asked for, as arguments of `jaxgames tournament`."""

from collections.abc import Mapping
from typing import Any

from jaxgames.envs.core import Game
from jaxgames.matches.knockout import BEHIND, MOST_GAMES
from jaxgames.ops.settings import Setting, parse
from jaxgames.web.boards import VIEWS
from jaxgames.web.commands import Asked
from jaxgames.web.games import choose_game, rules_of
from jaxgames.web.limits import Limits
from jaxgames.web.offered_players import OfferedPlayers

USUAL_GAMES = 200
ROUND_ROBIN, KNOCKOUT = "everybody against everybody", "knock-out of a training"


class TournamentForm:
    """A round robin of players that the page may name, or a knock-out of the networks that a training has saved."""

    verb = "tournament"

    def __init__(self, offered: OfferedPlayers, limits: Limits):
        self._offered, self._limits = offered, limits
        seed = Setting("seed", int, 0, "of all random numbers", low=0, high=2**32 - 1)
        most = limits.tournament_games
        games = Setting("games", int, USUAL_GAMES, "of each pair", low=2, high=most)
        behind = Setting("behind", int, BEHIND, "points by which a player drops out", low=1, high=most)
        most_games = Setting("most_games", int, min(MOST_GAMES, most), "then who is ahead goes on", low=2, high=most)
        self._numbers = {
            ROUND_ROBIN: {"games": games, "seed": seed},
            KNOCKOUT: {"behind": behind, "most_games": most_games, "seed": seed},
        }

    def form(self, asked: Asked) -> dict[str, Any]:
        """The fields to fill in after what was chosen, and what is wrong with it."""
        fields, error = {"game": next(iter(VIEWS)), **asked["fields"]}, None
        try:
            self.arguments({**asked, "fields": fields})
        except ValueError as wrong:
            error = " ".join(str(wrong).split())
        game_id = fields["game"]
        game = choose_game(game_id if game_id in VIEWS else next(iter(VIEWS)), {}).game
        runs, kind = self._offered.runs_of(game), fields.get("kind")
        kind = kind if kind in self._numbers else ROUND_ROBIN
        shown = [_choices("game", "that they play", list(VIEWS), game.id)]
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
        """The arguments. Raises `ValueError` for a tournament that cannot be."""
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
