"""Saved games through the browser: text in, text out; nothing is written or read on the server's disk."""

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from jaxgames.envs.registry import make
from jaxgames.records import FORMATS, GameRecord, dumps, loads
from jaxgames.sessions.session import Session
from jaxgames.web.boards import VIEWS
from jaxgames.web.games import GameChoice, choose_game, options_of
from jaxgames.web.limits import Limits
from jaxgames.web.rooms import Room

MOST_CHARACTERS = 65_536
MOST_GAMES = 20
_SIGNS = {
    "json": re.compile(r"\s*(\{|\[\s*[{\]])"),
    "sgf": re.compile(r"\s*\(\s*;"),
    "pdn": re.compile(r"\s*(\[[A-Za-z]+\s+\"|1\.\s*[0-9]+[-x])"),
    "mat": re.compile(r".*\b(point match|Game 1)\b", re.S),
    "txt": re.compile(r""),
}
"""How a text of each format begins, asked in this order."""
_GAMES = {
    "json": re.compile(r'"turns"'),
    "sgf": re.compile(r"\(\s*;"),
    "pdn": re.compile(r"1-0|0-1|1/2-1/2|\*"),
    "mat": re.compile(r"\bGame\s+[0-9]+"),
    "txt": re.compile(r"^[^#\s]", re.M),
}
"""What every game of a format has, so that they can be counted before anything is read."""


async def read(room: Room, text: str, name: str | None, number: int) -> GameRecord:
    """One game of a text. Raises `ValueError` that points at what is wrong."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"the file has {len(text)} characters: expected at most {MOST_CHARACTERS}")
    if name is None:
        name = next(name for name, sign in _SIGNS.items() if sign.match(text))
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}")
    if name in _GAMES and len(_GAMES[name].findall(text)) > 2 * MOST_GAMES:
        raise ValueError(f"the file holds more than {MOST_GAMES} games: leave some out")
    try:
        records = await room.engine.run("file", loads, text, name, _Bounds(room.limits))
    except ValueError as error:
        raise ValueError(f"the file cannot be read as {name}: {error}") from None
    except (TypeError, KeyError, AttributeError, RecursionError, IndexError) as error:
        raise ValueError(f"the file cannot be read as {name}: {type(error).__name__}") from None
    if not 1 <= number <= len(records):
        raise ValueError(f"game {number}: the file holds {len(records)} games")
    return records[number - 1]


class _Bounds:
    """What is asked before each game of a file is replayed: how many there are, how long it takes, their options."""

    def __init__(self, limits: Limits):
        self._games, self._seconds = 0, limits.load_seconds
        self._until = time.monotonic() + limits.load_seconds

    def __call__(self, game: str, options: Mapping[str, Any]) -> None:
        self._games += 1
        if self._games > MOST_GAMES:
            raise ValueError(f"the file holds more than {MOST_GAMES} games: leave some out")
        if time.monotonic() > self._until:
            raise ValueError(f"the file takes more than {self._seconds:g} s to read: leave some games out")
        choose_game(game, {**options_of(make(game)), **dict(options)})


async def replay(room: Room, record: GameRecord) -> tuple[GameChoice, Session, int]:
    """The game of a record as a session, and who moves first in it."""
    choice = choose_game(record.game, {**options_of(make(record.game)), **dict(record.options)})
    if len(record.turns) > room.limits.turns:
        raise ValueError(f"the game has {len(record.turns)} turns: expected at most {room.limits.turns}")
    await room.engine.prepare(choice.game)
    session = await room.engine.run("file", Session.replay, record, room.engine.bits())
    return choice, session, VIEWS[record.game].first(session.start) or 0


async def write(room: Room, name: str) -> dict[str, Any]:
    """The game so far as a text in one of the formats."""
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}")
    names = [chair.name or side for chair, side in zip(room.chairs, room.view.sides, strict=True)]
    record = room.session.record([_plain(names[room.first]), _plain(names[1 - room.first])], room.tags)
    text = await room.engine.run("file", dumps, [record], name)
    media = "application/json" if name == "json" else "text/plain"
    return {"format": name, "name": f"{record.game}.{name}", "media": media, "text": text}


def _plain(name: str) -> str:
    """A name without what the formats use as marks."""
    return json.dumps(name)[1:-1].replace("\\", "").replace("|", "").replace("]", "")[:40] or "somebody"
