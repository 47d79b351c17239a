"""The players that a page may name, and nothing else: no path, no command, no number without a bound."""

import contextlib
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make as make_game
from jaxgames.ops.settings import Setting
from jaxgames.players import champions, from_folder, mcts, specs
from jaxgames.players import make as make_player
from jaxgames.players.packaged import PUBLISHED
from jaxgames.players.player import Player
from jaxgames.players.registry import FROM_FOLDER, PLAYERS
from jaxgames.players.specs import PlayerEntry
from jaxgames.runs import Run
from jaxgames.web.analysis import has_values
from jaxgames.web.limits import USUAL_LIMITS, Limits

SOLVES = ("perfect",)
"""Players that first solve their game; so that the page does not wait for this, they give no values."""
CHAMPION, NEWEST = "champion", "newest"
FIXED_DEPTH = {"minimax": "plain_plies", "alphabeta": "plies"}
"""Searches to a fixed depth, and the bound of it: nothing stops one that has begun."""
FOR_TRAININGS = ("one-round",)
"""Searches for training targets, which look too little ahead to be good opponents."""
NAMES = (
    "champion", "perfect", "random", "pubeval", "simple", "tidy", *PUBLISHED, "weak", *FIXED_DEPTH,
    *(name for name in mcts.KINDS if name not in FOR_TRAININGS),
)  # fmt: skip
"""Players that read no files and run no commands, but those of the runs that the server was started with."""
KINDS_OF_ARGUMENTS = ("N", "BUDGET", "LEVEL", "P", "RUN", "[RUN]", "...")
"""Options whose bounds are known here; a player with others is not offered."""
NOT_OFFERED = {"keep": "a search here learns nothing from move to move"}
MOST = {"trees": 16, "keep": 64}
"""The largest numbers of options: with more a turn takes too long here."""
_TEXT = re.compile(r"[A-Za-z0-9_.+@:,=-]+")
_RUN_NAME = re.compile(r"[^A-Za-z0-9_.+-]")


class OfferedPlayers:
    """The players of a server.

    Args:
        runs: folders of trainings that may be played.
        limits: the bounds of their numbers.
        plugins: players of plug-ins, by their names alone.

    Raises `ValueError` if a folder is no run.
    """

    def __init__(self, runs: Sequence[str] = (), limits: Limits = USUAL_LIMITS, plugins: Sequence[str] = ()):
        self._limits = limits
        self.plugins = [name for name in plugins if name in PLAYERS]
        self.runs: dict[str, Path] = {}
        for folder in runs:
            self.add(Path(folder))

    def add(self, folder: Path) -> None:
        """One more run. Raises `ValueError` if it is none."""
        Run.open(folder)
        path = folder.resolve()
        name = base = _RUN_NAME.sub("-", path.name).lstrip("-.") or "run"
        for number in range(2, len(self.runs) + 3):
            if not self.is_taken(name):
                break
            name = f"{base}-{number}"
        self.runs[name] = path

    def is_taken(self, name: str) -> bool:
        """Whether a run or another player has this name."""
        return name in self.runs or name in (*PLAYERS, CHAMPION, NEWEST)

    def runs_of(self, game: Game) -> list[str]:
        """The names of the runs of a game."""
        names = []
        for name, path in self.runs.items():
            try:
                if from_folder.game_of(path) in (None, game.id):
                    names.append(name)
            except ValueError:
                continue
        return names

    def make(self, spec: str, game: Game) -> Player:
        """The player of a spec from a page. Raises `ValueError` for every other one, and for numbers out of bounds."""
        resolved = self.resolve(spec, game)
        with self._hidden():
            return make_player(resolved, game)

    def resolve(self, spec: str, game: Game) -> str:
        """The spec as `jaxgames.players.make` reads it: the names of runs are their folders then."""
        with self._hidden():
            return self._resolved(spec, game)

    @contextlib.contextmanager
    def _hidden(self) -> Iterator[None]:
        """Replaces the paths of runs in errors by their names."""
        try:
            yield
        except ValueError as error:
            said = str(error)
            for name, path in self.runs.items():
                said = said.replace(str(path), name)
            raise ValueError(said) from None

    def _resolved(self, spec: str, game: Game) -> str:
        if not _TEXT.fullmatch(spec) or len(spec) > self._limits.spec:
            raise ValueError(f"player {spec[:40]!r}: expected a name from the list, such as {CHAMPION} or random")
        parsed = specs.parse(spec)
        if parsed.name == NEWEST:
            return str(self._newest(parsed.rest or ""))
        if spec in self.plugins:
            return spec
        if parsed.name in NAMES:
            return self._named(parsed, PLAYERS[parsed.name], game)
        run, at, plies = parsed.start.partition("@")
        if run in self.runs or (run == CHAMPION and at and _has_weights(game)):
            if at:
                specs.whole_number(plies, f"player {spec!r}: plies", self._limits.look_ahead)
            specs.read_options(parsed, _bounded(FROM_FOLDER.options))
            return str(self.runs.get(run, run)) + spec[len(run) :]
        raise ValueError(f"unknown player {spec!r}; expected one of {', '.join(self._examples(game))}")

    def describe(self, game: Game) -> list[dict[str, Any]]:
        """All of them, for the page: names, arguments with their bounds, options."""
        runs, offers = self.runs_of(game), []
        for name in NAMES:
            entry = PLAYERS[name]
            if not entry.plays(game) or not set(entry.arguments) <= set(KINDS_OF_ARGUMENTS):
                continue
            if name == CHAMPION and game.id not in champions.champion_games():
                continue
            if entry.arguments[:1] == ("RUN",) and not self._networks(game):
                continue
            offers.append(self._description(name, entry, game))
        for name in self.plugins:
            if (entry := PLAYERS[name]).plays(game):
                offers.append(_player(name, entry.help, name, values=False))
        for run in runs:
            help_ = f"the best player of the training {run}; {run}@2 looks 2 plies ahead"
            offers.append(_player(run, help_, run, [], [], True))
            offers.append(_player(f"{NEWEST}:{run}", f"the newest checkpoint of the training {run}", f"{NEWEST}:{run}"))
        return offers

    def _description(self, name: str, entry: PlayerEntry, game: Game) -> dict[str, Any]:
        networks = self._networks(game)
        arguments: list[dict[str, Any]] = []
        example = self._example(name).replace("RUN", networks[0] if networks else "RUN")
        if name != CHAMPION and game.id not in champions.champion_games():
            example = example.replace(CHAMPION, "random")
        usual = example.split(":")[1:]
        for place, kind in enumerate(entry.arguments):
            given = usual[place - len(entry.arguments)] if len(usual) >= len(entry.arguments) - place else None
            if kind in ("N", "BUDGET"):
                number = self._number(name)
                default = min(int(given), number.high) if given and given.isdecimal() else number.high
                seconds = {"most_seconds": self._limits.think_seconds} if kind == "BUDGET" else {}
                arguments.append({**number.form(), "name": "N", "default": default, **seconds})
            elif kind in ("RUN", "[RUN]"):
                choices = networks if kind == "RUN" else ["", *networks]
                arguments.append({"name": "RUN", "choices": choices, "default": choices[0]})
            elif kind == "P":
                arguments.append({"name": "P", "default": 0.2, "least": 0, "most": 1})
            elif kind == "...":
                arguments.append({"name": "PLAYER", "default": example.split(":", place + 1)[-1]})
            else:
                choices = [text.partition(":")[2] for text in entry.examples]
                arguments.append({"name": kind, "choices": choices, "default": choices[0]})
        options = [_form(option) for name, option in _bounded(entry.options).items() if name not in NOT_OFFERED]
        try:
            values = name not in SOLVES and has_values(self.make(example, game))
        except ValueError:
            values = False
        return _player(name, entry.help, example, arguments, options, values)

    def _example(self, name: str) -> str:
        """How a player is written, within the bounds."""
        example = PLAYERS[name].examples[0]
        if name not in FIXED_DEPTH:
            return example
        return f"{name}:{min(int(example.split(':')[1]), getattr(self._limits, FIXED_DEPTH[name]))}"

    def _named(self, parsed: specs.Spec, entry: PlayerEntry, game: Game) -> str:
        """A spec of a named player, within the bounds, with the folders of runs."""
        arguments = entry.arguments
        if not set(arguments) <= set(KINDS_OF_ARGUMENTS):
            raise ValueError(f"player {parsed.text!r} is not offered here")
        for option in set(parsed.options) & set(NOT_OFFERED):
            raise ValueError(f"player {parsed.text!r}: option {option!r} is not offered here: {NOT_OFFERED[option]}")
        if arguments[-1:] == ("...",):
            texts = (parsed.text.split(":", len(arguments)) + [""])[1 : len(arguments) + 1]
            if len(texts) != len(arguments) or not texts[-1] or texts[-1].startswith(f"{parsed.name}:"):
                raise ValueError(f"{entry.usage}, not {parsed.text!r}")
            return ":".join([parsed.name, *texts[:-1], self.resolve(texts[-1], game)])
        options = specs.read_options(parsed, _bounded(entry.options))
        if parsed.name == CHAMPION:
            champions.card(game.id)
        texts = [] if parsed.rest is None else parsed.rest.split(":")
        if texts and len(texts) == len(arguments) and arguments[0] in ("RUN", "[RUN]"):
            if texts[0] not in self._networks(game):
                known = ", ".join(self._networks(game)) or "there is none"
                raise ValueError(f"player {parsed.text!r}: unknown run {texts[0]!r}; expected one of: {known}")
            texts[0] = str(self.runs.get(texts[0], texts[0]))
        elif len(texts) > len(arguments):
            raise ValueError(f"{entry.usage}, not {parsed.text!r}")
        if texts and arguments[-1] in ("N", "BUDGET"):
            what = f"player {parsed.text!r}"
            if arguments[-1] == "BUDGET" and texts[-1].endswith("s"):
                if specs.budget(texts[-1], f"{what}: time") > self._limits.think_seconds:
                    raise ValueError(f"{what}: expected a time of at most {self._limits.think_seconds:g}s")
            else:
                number = self._number(parsed.name, options.get("trees", 1))
                specs.value(texts[-1], f"{what}: {number.name}", number)
        return ":".join([parsed.name, *texts]) + parsed.text[len(parsed.start) :]

    def _number(self, name: str, trees: int = 1) -> Any:
        """The number that a player is given: how far it looks, or how many simulations each of its trees has."""
        if name in FIXED_DEPTH:
            return specs.whole_option("plies", "", getattr(self._limits, FIXED_DEPTH[name]))
        return specs.whole_option("simulations", "", self._limits.simulations // trees)

    def _networks(self, game: Game) -> list[str]:
        """The choices where a run is needed."""
        return [CHAMPION] * _has_weights(game) + self.runs_of(game)

    def _newest(self, run: str) -> Path:
        if run not in self.runs:
            raise ValueError(f"unknown run {run[:40]!r}; expected one of: {', '.join(self.runs) or 'there is none'}")
        path = self.runs[run]
        steps = Run.open(path).steps()
        if not steps:
            raise ValueError(f"the training {run} has no checkpoint yet")
        return path / "checkpoints" / f"step-{steps[-1]}"

    def _examples(self, game: Game) -> Iterator[str]:
        for name in NAMES:
            if PLAYERS[name].plays(game):
                yield self._example(name)
        yield from (name for name in self.plugins if PLAYERS[name].plays(game))
        yield from self.runs_of(game)


def _player(
    name: str,
    help_: str,
    example: str,
    arguments: list[dict[str, Any]] | None = None,
    options: list[dict[str, Any]] | None = None,
    values: bool = True,
) -> dict[str, Any]:
    """One player as the page reads it."""
    return {
        "name": name,
        "label": name,
        "help": _words(help_),
        "example": example,
        "arguments": arguments or [],
        "options": options or [],
        "values": values,
    }


def _has_weights(game: Game) -> bool:
    """Whether the champion of a game is a network that has learned on this board."""
    return game.id in champions.champion_games() and game == make_game(game.id)


def _bounded(options: Mapping[str, Setting]) -> dict[str, Setting]:
    """Options within the bounds of the server."""
    return {name: dataclasses.replace(option, high=MOST.get(name, option.high)) for name, option in options.items()}


def _form(option: Setting) -> dict[str, Any]:
    """An option as the page's forms read it."""
    choices = {"choices": [str(choice) for choice in option.choices]} if option.choices else {}
    words = {"label": option.name.replace("_", " "), "help": _words(option.help)}
    return {**option.form(), **choices, **words}


def _words(text: str) -> str:
    """A help text of the command line, which marks typed words, as a text for the page."""
    return text.replace("`", "")
