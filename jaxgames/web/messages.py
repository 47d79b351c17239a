"""The messages of a page: each with its fields, read from text and checked.

`parse` gives a dictionary with all fields of the type, missing ones with their default, or raises `ValueError`.
"""

import contextlib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jaxgames.web.clocks import KINDS
from jaxgames.web.limits import Limits

Check = Callable[[str, Any], Any]
"""`check(name, value)` gives the value as it is used, or raises `ValueError`."""

MOST_VERSION = 2**31


class Field(NamedTuple):
    """A field: how it is checked, and its default; `needed` fields must not be missing."""

    check: Check
    default: Any = None
    needed: bool = False


def flag(name: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}: expected true or false, not {shown(value)}")
    return value


def whole(least: int, most: int) -> Check:
    """A whole number in a range."""

    def check(name: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"{name}: expected a whole number from {least} to {most}, not {shown(value)}")
        return value

    return check


def number(least: float, most: float) -> Check:
    """A number in a range."""

    def check(name: str, value: Any) -> float:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        if not real or not least <= value <= most:
            raise ValueError(f"{name}: expected a number from {least:g} to {most:g}, not {shown(value)}")
        return float(value)

    return check


def text(most: int, least: int = 0, lines: bool = False) -> Check:
    """A text of so many characters that can be shown; only with `lines` of several lines."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{name}: expected a text, not {shown(value)}")
        if len(value) > most:
            raise ValueError(f"{name} has {len(value)} characters: expected at most {most}")
        if len(value) < least:
            raise ValueError(f"{name} has {len(value)} characters: expected at least {least}")
        for character in value:
            if not character.isprintable() and not (lines and character in "\n\r\t\ufeff"):
                raise ValueError(f"{name}: the character U+{ord(character):04X} cannot be shown; leave it out")
        return value

    return check


def choice(*values: str) -> Check:
    """One of some texts."""

    def check(name: str, value: Any) -> str:
        if value not in values or not isinstance(value, str):
            raise ValueError(f"{name}: expected one of {', '.join(values)}, not {shown(value)}")
        return value

    return check


def optional(check: Check) -> Check:
    """What may be null."""
    return lambda name, value: None if value is None else check(name, value)


def listing(check: Check, least: int, most: int) -> Check:
    """A list of so many entries."""

    def checked(name: str, value: Any) -> list[Any]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            size = f"{least}" if least == most else f"{least} to {most}"
            raise ValueError(f"{name}: expected a list of {size} entries, not {shown(value)}")
        return [check(f"{name}[{place}]", entry) for place, entry in enumerate(value)]

    return checked


def record(fields: Mapping[str, Field]) -> Check:
    """An object with these fields and no others."""

    def check(name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"{name}: expected an object, not {shown(value)}")
        for key in value:
            if key not in fields:
                known = ", ".join(fields) or "none"
                raise ValueError(f"{name}: unknown field {shown(key)}; its fields are {known}")
        checked = {}
        for key, field in fields.items():
            if key in value:
                checked[key] = field.check(f"{name}.{key}", value[key])
            elif field.needed:
                raise ValueError(f"{name} needs the field {key!r}")
            else:
                checked[key] = field.default
        return checked

    return check


def named(check: Check, most: int, what: str) -> Check:
    """An object of at most so many values by names that are not known here; `what` is one in words."""

    def checked(name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > most:
            raise ValueError(f"{name}: expected an object of {what}, not {shown(value)}")
        return {text(40)(f"{name}: a name", key): check(f"{name}.{key[:40]}", entry) for key, entry in value.items()}

    return checked


def board(name: str, value: Any) -> dict[str, Any]:
    """A board set up by hand: an object of lists of whole numbers; the game checks what is on it."""
    if not isinstance(value, dict) or len(value) > 16:
        raise ValueError(f"{name}: expected a board as in `state`, not {shown(value)}")
    return value


def shown(value: Any) -> str:
    """A value in an error: short, whatever it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)} entries"
    if isinstance(value, int) and abs(value) > 10**12:
        return "a huge number"
    written = ascii(value)
    return written if len(written) <= 60 else written[:57] + "..."


class Messages:
    """The messages that a server with some limits understands."""

    def __init__(self, limits: Limits):
        self._types = {kind: record({**fields, **_COMMON}) for kind, fields in _fields(limits).items()}

    def check(self, message: Any) -> dict[str, Any]:
        """The message, with all its fields. Raises `ValueError` that says what is wrong."""
        if not isinstance(message, dict):
            raise ValueError("a message is a JSON object with a type")
        kind = message.get("type")
        if not isinstance(kind, str) or kind not in self._types:
            raise ValueError(f"unknown type of message: {shown(kind)}; known are {', '.join(self._types)}")
        return self._types[kind](kind, message)


def read_json(content: str, most: int) -> Any:
    """The JSON in a text of at most so many bytes, numbers finite. Raises `ValueError` that says what is wrong."""
    if len(content) > most or len(content.encode("utf-8", "surrogatepass")) > most:
        raise ValueError(f"the message is longer than {most} bytes; shorten it")
    try:
        return json.loads(content, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("the message is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"the message is no JSON: {error}") from None
    except ValueError as error:
        said = str(error)
        raise ValueError(said if "message" in said else "the message is no JSON: a number is too long") from None


def message_id(message: Any) -> int | None:
    """The id of a possible message, for the answer to it."""
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < MOST_VERSION else None


def id_in(content: str | None, most: int) -> int | None:
    """The id in a text that is otherwise not read."""
    with contextlib.suppress(ValueError):
        return message_id(read_json(content or "", most))
    return None


def _no_constant(name: str) -> Any:
    raise ValueError(f"the message is no JSON: {name} is no number of JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("the message is no JSON: a number is too large")
    return value


_COMMON = {
    "type": Field(lambda _, value: value),
    "id": Field(optional(whole(0, MOST_VERSION - 1))),
}


def _fields(limits: Limits) -> dict[str, dict[str, Field]]:
    """The fields of each type of message."""
    seat, ply, yes = whole(0, 1), whole(0, limits.turns), Field(flag, needed=True)
    spec, name = text(limits.spec), Field(optional(text(limits.name)))
    position = Field(optional(text(limits.text)))
    session, owner, key = Field(text(64), needed=True), Field(optional(text(64, 32))), Field(text(64, 32), needed=True)
    game_number = Field(whole(1, 10**6), needed=True)
    someone = record({"kind": Field(choice("person", "player"), needed=True), "spec": Field(optional(spec))})
    clock = record(
        {
            "kind": Field(choice(*KINDS), needed=True),
            "seconds": Field(optional(number(1, 3 * 3600))),
            "bonus": Field(number(0, 300), 0.0),
        }
    )
    options = named(optional(whole(0, 10**6)), 8, "a game's options")
    answers = Field(named(text(limits.plan_text), 60, "at most 60 texts"), {})
    command = Field(choice("training", "tournament"), needed=True)
    asked = record({"fields": answers, "set": answers, "players": Field(listing(spec, 0, limits.entrants), [])})
    setup = {
        "board": Field(board, needed=True),
        "to_move": Field(optional(seat)),
        "dice": Field(optional(listing(whole(1, 6), 1, 4))),
    }
    return {
        "create": {
            "game": Field(text(40), needed=True),
            "options": Field(options, {}),
            "position": position,
            "to_move": Field(optional(seat)),
            "seats": Field(listing(someone, 2, 2), [{"kind": "person", "spec": None}] * 2),
            "clock": Field(optional(clock)),
            "name": name,
            "owner": owner,
            "challenge": Field(flag, False),
        },
        "challenges": {"owner": key},
        "join": {"session": session, "token": Field(optional(text(64))), "name": name, "owner": owner},
        "games": {"owner": key},
        "open": {"owner": key, "session": session, "number": Field(optional(whole(1, 10**6))), "name": name},
        "export": {"owner": key, "session": session, "number": game_number, "format": Field(text(10), needed=True)},
        **dict.fromkeys(("stop", "resume"), {"what": command, "name": Field(text(40), needed=True)}),
        "form": {"what": command, "asked": Field(asked, needed=True)},
        "start": {"what": command, "name": Field(text(40), needed=True), "asked": Field(asked, needed=True)},
        "forget": {"owner": key, "session": session, "number": game_number},
        "step": {
            "actions": Field(listing(whole(0, 1000), 1, 4), needed=True),
            "version": Field(optional(whole(0, MOST_VERSION))),
        },
        "turn": {"text": Field(text(200), needed=True)},
        "undo_step": {},
        "end_turn": {},
        "undo": {},
        "redo": {},
        "resign": {"seat": Field(optional(seat))},
        "claim": {},
        "offer": {"what": Field(choice("draw"), needed=True)},
        "answer": {"accept": yes},
        "hint": {},
        "look": {"ply": Field(ply, needed=True)},
        "analysis": {"on": yes, "spec": Field(optional(spec))},
        "analyse": {"ply": Field(ply, needed=True)},
        "curve": {},
        "new": {
            "game": Field(optional(text(40))),
            "options": Field(optional(options)),
            "position": position,
            "to_move": Field(optional(seat)),
            "seats": Field(optional(listing(someone, 2, 2))),
            "clock": Field(optional(clock)),
            "from_ply": Field(optional(ply)),
            "exchange": Field(flag, False),
        },
        "swap": {},
        "seat": {"seat": Field(seat, needed=True), "to": Field(someone, needed=True)},
        "invite": {"seat": Field(seat, needed=True)},
        "setup": setup,
        "check_setup": setup,
        "load": {
            "format": Field(optional(text(10))),
            "text": Field(text(limits.file, lines=True), needed=True),
            "game_number": Field(whole(1, 10**6), 1),
        },
        "save": {"format": Field(text(10), needed=True)},
        "match": {"games": Field(whole(0, limits.games), needed=True)},
        "speed": {"seconds": Field(number(0, 10), needed=True)},
        "pause": {"on": yes},
        "play_on": {},
        "display": {"on": yes},
        "name": {"name": Field(text(limits.name), needed=True)},
        "chat": {"text": Field(text(limits.chat), needed=True)},
        "ping": {},
    }
