"""How players are named: `NAME[:ARGUMENT...][,option=value...]`, such as `simple:3`; a run folder: `RUN[@PLIES]`.

`PlayerEntry` says what may follow a name, `Spec` is the text in its parts. For a wrong text one line says what would be
right.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jaxgames.envs.core import Game
from jaxgames.ops.settings import Setting
from jaxgames.players.player import Player

OPTIONAL_RUN, REST = "[RUN]", "..."
MOST = 10**9
MOST_NUMBER = 1_000_000
"""The largest number of an option. Searches score in float32, and give untried moves 1e9."""
MOST_SECONDS = 3600
FLAG = (0, 1)
"""The values of options that are off or on."""
_OPTIONS = re.compile(r"""(?:,[\w-]+=[^,=:@"']*)*$""")
"""Options at the end of a text, but not within the quotes of a command."""


class PlayerEntry(NamedTuple):
    """All players of one name.

    `make(game, *arguments, **options)` makes one; arguments `N` are numbers, `BUDGET` numbers or times such as `2s` (a
    float), other arguments are texts. `[RUN]` may be missing, and is then an empty text; what follows `...`, including
    options, is the spec of another player; `usual` are the arguments if there is only the name. The error for wrong
    arguments begins with `usage`. `options` are declared as settings, so their values are checked. `examples` are specs
    of all players of this name, with usual numbers. `games` are the only games they play, empty for any; `chance` says
    whether they play games with chance.
    """

    make: Callable[..., Player]
    help: str
    usage: str
    examples: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    options: Mapping[str, Setting] = {}
    games: tuple[str, ...] = ()
    chance: bool = True
    usual: tuple[str, ...] = ()
    only: Callable[[Game], bool] = lambda game: True

    def plays(self, game: Game) -> bool:
        """Whether it plays a game."""
        chance = self.chance or not game.outcome_probabilities
        return (not self.games or game.id in self.games) and chance and self.only(game)


class Spec(NamedTuple):
    """The parts of a text: `start`, which is `name:rest`, and options. `rest` is None if there is no colon."""

    text: str
    start: str
    name: str
    rest: str | None
    options: Mapping[str, str]


def number_option(name: str, help: str, most: float = MOST_NUMBER, least: float = 0) -> Setting:
    """An option that is a number."""
    return Setting(name, float, None, help, low=least, high=most)


def whole_option(name: str, help: str, most: int = MOST) -> Setting:
    """An option that is a whole number from 1 on."""
    return Setting(name, int, None, help, low=1, high=most)


def flag_option(name: str, help: str) -> Setting:
    """An option that is 0 or 1."""
    return Setting(name, int, 0, help, choices=FLAG)


def by_name(*options: Setting) -> dict[str, Setting]:
    """Options as `PlayerEntry` has them."""
    return {option.name: option for option in options}


def parse(text: str) -> Spec:
    """Splits a text into its parts. Raises `ValueError` for an option that is given twice or without a value."""
    end = _OPTIONS.search(text).start()  # type: ignore[union-attr]  # it matches the empty end
    name, colon, rest = text[:end].partition(":")
    options: dict[str, str] = {}
    for option in filter(None, text[end:].split(",")):
        key, _, value = option.partition("=")
        if key in options:
            raise ValueError(f"player {text!r}: option {key!r} is given twice")
        if not value:
            raise ValueError(f"player {text!r}: option {key!r} has no value; write {key}=VALUE")
        options[key] = value
    return Spec(text, text[:end], name, rest if colon else None, options)


def make(spec: Spec, entry: PlayerEntry, game: Game) -> Player:
    """The player of an entry. Raises `ValueError` for arguments or options it does not have, and for another game."""
    if not entry.plays(game):
        plays = " and ".join(entry.games) or "games without chance"
        if game.id in entry.games:
            plays, what = f"small boards of {plays}", f"this one of {game.id}"
        else:
            what = game.id
        raise ValueError(f"{spec.name} plays {plays}, not {what}")
    options = {} if entry.arguments[-1:] == (REST,) else read_options(spec, entry.options)
    return dataclasses.replace(entry.make(game, *read_arguments(spec, entry), **options), name=spec.text)


def read_options(spec: Spec, declared: Mapping[str, Setting]) -> dict[str, Any]:
    """The values of the options in a spec. Raises `ValueError` for unknown ones, and for texts that are no value."""
    for name in spec.options:
        if name not in declared:
            has = f"it has: {', '.join(declared)}" if declared else "it has none"
            raise ValueError(f"player {spec.text!r}: no option {name!r}; {has}")
    return {name: value(text, f"player {spec.text!r}: {name}", declared[name]) for name, text in spec.options.items()}


def value(text: str, what: str, declared: Setting) -> Any:
    """The value in a text. Raises `ValueError` if there is none."""
    digits = declared.base is not int or re.fullmatch("[0-9]{1,10}", text)
    try:
        read = declared.parse(text if digits else "")
    except ValueError:
        raise ValueError(f"{what} {text!r}: expected {declared.expected}") from None
    return bool(read) if declared.choices == FLAG else read


def folder(spec: Spec, entry: PlayerEntry) -> str | None:
    """The run folder in a spec; None if players of this name have none. Raises `ValueError` if it is missing."""
    for name in ("RUN", OPTIONAL_RUN):
        if name in entry.arguments:
            return str(read_arguments(spec, entry)[entry.arguments.index(name)]) or None
    return None


def whole_number(text: str, what: str, most: int = MOST) -> int:
    """A number from 1 on, written in digits. Raises `ValueError` otherwise."""
    return value(text, what, whole_option(what, "", most))


def budget(text: str, what: str) -> int | float:
    """A whole number, or a time in seconds such as `2s` or `0.5s` as a float. Raises `ValueError` otherwise."""
    if not re.fullmatch(r"([0-9]{1,9}|[0-9]{0,9}\.[0-9]{1,9})s", text):
        return whole_number(text, what)
    seconds = float(text[:-1])
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"{what} {text!r}: expected a time above 0 s, at most {MOST_SECONDS} s")
    return seconds


def budget_text(budget: int | float) -> str:
    """As it is read by `budget`."""
    return f"{budget:g}s" if isinstance(budget, float) else str(budget)


def number(text: str, what: str, most: float = MOST_NUMBER) -> float:
    """A number from 0 to `most`. Raises `ValueError` otherwise."""
    return value(text, what, number_option(what, "", most))


def read_arguments(spec: Spec, entry: PlayerEntry) -> list[str | int | float]:
    """The arguments. They are split from the right, because the first one may be a path with colons; but what follows
    `...` is the whole rest of the text.
    """
    if spec.rest is None and entry.usual:
        return list(entry.usual)
    kinds, most = entry.arguments, max(len(entry.arguments) - 1, 0)
    if kinds[-1:] == (REST,):
        texts = spec.text.split(":", most + 1)[1:]
    else:
        texts = [] if spec.rest is None else spec.rest.rsplit(":", most)
    complete = len(texts) == len(kinds) and all(texts)
    if kinds[:1] == (OPTIONAL_RUN,) and len(texts) == most and all(texts):
        texts, complete = ["", *texts], True
    if not complete:
        raise ValueError(f"{entry.usage}, not {spec.text!r}")
    read = {"N": whole_number, "BUDGET": budget}
    return [
        read[kind](text, f"player {spec.text!r}:") if kind in read else text
        for kind, text in zip(kinds, texts, strict=True)
    ]
