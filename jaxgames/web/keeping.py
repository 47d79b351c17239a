"""Sessions to the disk and back, and games to the browser and back.

Kept is what it takes for a room to go on. A saved game is a text that comes from a page or goes there; for these
nothing is written or read on the server's disk.
"""

import asyncio
import json
import logging
import re
import time
import weakref
from collections.abc import Mapping
from typing import Any

from jaxgames.records import FORMATS, GameRecord, dumps, loads
from jaxgames.records.json_lines import from_dict, to_dict
from jaxgames.sessions.session import Session
from jaxgames.web.boards import VIEWS
from jaxgames.web.clocks import control_of
from jaxgames.web.engine import Engine
from jaxgames.web.games import GameChoice, choose_game
from jaxgames.web.kept_games import ChallengeGame, KeptGame, KeptGames
from jaxgames.web.rooms import Room
from jaxgames.web.seats import FIRST, Chair, MatchScore

PROGRAMS_SECONDS = 1.0
"""Seconds between two writes of a game between programs."""
_LOG = logging.getLogger("jaxgames.web")


class RoomKeeper:
    """Writes rooms as they change: each as soon as the disk is free, and then as it is."""

    def __init__(self, games: KeptGames):
        self.games = games
        self._changed: dict[Room, None] = {}
        self._left: list[tuple[KeptGame, ChallengeGame | None]] = []
        self._written: weakref.WeakKeyDictionary[Room, float] = weakref.WeakKeyDictionary()
        self._work: asyncio.Task[None] | None = None

    def note(self, room: Room) -> None:
        """Notes that a room has changed. If only programs play, which may be fast, some changes are skipped.

        A game that has just ended is taken as it is: in a challenge it counts, even if it is taken up again at once.
        """
        if room.is_watched and time.monotonic() - self._written.get(room, -PROGRAMS_SECONDS) < PROGRAMS_SECONDS:
            return
        self._changed[room] = None
        if room.over and room.counted is None:
            self._left += self._taken(room)
        self._begin_to_write()

    def leave(self, room: Room) -> None:
        """Keeps a room's present game, before another game replaces it."""
        if room in self._changed:
            self._left += self._taken(room)
            self._begin_to_write()

    def _begin_to_write(self) -> None:
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._write())

    async def written(self) -> KeptGames:
        """The games on the disk, once all that has changed so far is written."""
        changed = list(self._changed)
        while self._left:
            await self.games.put(*self._left.pop(0))
        for room in changed:
            for game in self._taken(room):
                await self.games.put(*game)
        return self.games

    async def close(self) -> None:
        """Writes everything, and ends."""
        if self._work is not None:
            self._work.cancel()
        (await self.written()).close()

    async def _write(self) -> None:
        while self._left or self._changed:
            for game in [self._left.pop(0)] if self._left else self._taken(next(iter(self._changed))):
                await self.games.put(*game)

    def _taken(self, room: Room) -> list[tuple[KeptGame, ChallengeGame | None]]:
        """What is to be written of a changed room as it is now: its game, if it can be kept."""
        self._changed.pop(room, None)
        self._written[room] = time.monotonic()
        try:
            return [(kept(room), challenge_game(room))]
        except ValueError as error:  # the moves to a start that was set up are too hard to find again
            _LOG.warning("a game was not kept: %s", error)
            return []


def kept(room: Room) -> KeptGame:
    """The kept data of a room. A game is listed once one of its players has a list and something has been played."""
    session, chairs = room.session, room.chairs
    names = [chair.name or side for chair, side in zip(chairs, room.view.sides, strict=True)]
    content = {
        "record": to_dict(session.record([names[room.first], names[1 - room.first]], room.tags)),
        "options": dict(room.choice.options),
        "game": room.choice.game.id,
        "host": room.host,
        "chairs": [
            {"spec": c.spec, "token": c.token, "name": c.name, "came": c.came, "owner": c.owner} for c in chairs
        ],
        "seconds": room.clock.seconds(),
        "clock": room.clock.shown(),
        "seed": session.seed,
        "chance": "" if session.end else session.chance,
        "actions": list(session.actions),
        "undone": _undone(session),
        "offer": None if room.offer is None else room.offer.what,
        "first": room.first,
        "drawn_start": room.drawn_start,
        "loaded": room.loaded,
        "furthest": room.furthest,
        "broken_off": room.broken_off,
        "match": None if room.match is None else room.match.shown(),
        "speed": room.chosen_speed,
        "paused": room.paused,
        "display": room.display,
        "chats": list(room.chats),
        "over": room.result(),
    }
    owners = [chair.owner if chair.is_person else None for chair in chairs]
    played = any(owners) and len(session.turns) > room.loaded
    return KeptGame(room.id, room.number, time.time(), played, (owners[0], owners[1]), content)


def challenge_game(room: Room) -> ChallengeGame | None:
    """What counts of a room in which a challenge is played."""
    person = next((seat for seat, chair in enumerate(room.chairs) if chair.is_person), 0)
    owner, spec = room.chairs[person].owner, room.chairs[1 - person].spec
    if room.match is None or not room.match.challenge or owner is None or spec is None:
        return None
    points = room.points()[person] if room.over else None
    return ChallengeGame(room.id, room.number, owner, room.choice.game.id, spec, points)


async def restore(engine: Engine, game: KeptGame) -> Room:
    """A room restored from its kept data. Raises `ValueError` if that is impossible."""
    try:
        return await _restored(engine, game)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this game was kept by another version of jaxgames ({type(error).__name__})") from None


async def _restored(engine: Engine, game: KeptGame) -> Room:
    content = game.content
    choice = choose_game(content["game"], content["options"])
    await engine.prepare(choice.game)
    session = await engine.run("file", _replayed, content)
    room = Room(engine)
    room.id, room.host, room.number = game.session, content["host"], game.number - 1
    clock = content.get("clock")  # games that were kept before there were clocks have none
    room.control = control_of(clock)
    room.begin(choice, session, content["first"], content["drawn_start"])
    room.tags |= content["record"]["tags"]
    room.clock.spent = list(content.get("seconds", room.clock.spent))
    if clock is not None:
        room.clock.left, room.clock.free = list(clock["left"]), clock["free"]
    room.loaded, room.broken_off, room.display = content["loaded"], content["broken_off"], content["display"]
    room.chosen_speed, room.paused = content["speed"], content["paused"]
    room.match = None if content["match"] is None else MatchScore.of(content["match"])
    room.furthest = content.get("furthest", len(session.turns) + len(session.undone))
    room.counted = room.points() if room.over else None
    room.chats.extend(content["chats"])
    room.chairs = [await _chair(engine, room, fields) for fields in content["chairs"]]
    if content["offer"] is not None:
        _say(room, f"the offer ({content['offer']}) is gone, as the server began again; make it once more")
    if content["actions"]:
        room.play(content["actions"])
    return room


def _undone(session: Session) -> list[Any]:
    """The turns that were taken back and can be played again, as in a record; none if people ended the game."""
    turns = [] if session.end is not None else session.undone[::-1]
    return [[turn.chance, turn.text] if turn.chance else turn.text for turn in turns]


def _replayed(content: Mapping[str, Any]) -> Session:
    """The game that was kept, with the turns that were taken back."""
    record, undone = content["record"], content["undone"]
    whole = from_dict({**record, "turns": [*record["turns"], *undone]})
    session = Session.replay(whole, content["seed"], chance="" if undone else content["chance"])
    for _ in undone:
        session.undo()
    return session


def _say(room: Room, text: str) -> None:
    room.chats.append({"name": "", "seat": None, "text": text, "at": int(time.time())})


async def _chair(engine: Engine, room: Room, fields: Mapping[str, Any]) -> Chair:
    """Who sat there; the host, if the player is no longer offered."""
    chair = Chair(token=fields["token"] or room.host, name=fields["name"], came=fields["came"])
    if fields["spec"] is not None:
        try:
            lane = await engine.lane(fields["spec"], room.choice.game)
            await lane.begin()
            chair = Chair(lane, fields["spec"])
        except ValueError as error:
            room.paused = True
            _say(room, str(error)[:200])
            chair.name = ""
    chair.owner = fields["owner"]
    return chair


def listed(game: KeptGame, owner: str, under_way: bool) -> dict[str, Any]:
    """A kept game in somebody's list."""
    content = game.content
    view = VIEWS[content["game"]]
    return {
        "session": game.session,
        "number": game.number,
        "under_way": under_way,
        "changed": int(game.changed),
        "game": content["game"],
        "title": view.title,
        "players": [chair["name"] or side for chair, side in zip(content["chairs"], view.sides, strict=True)],
        "seats": [seat for seat, key in enumerate(game.owners) if key == owner],
        "turns": len(content["record"]["turns"]),
        "over": None if content["over"] is None else content["over"]["text"],
    }


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
    if name is None:
        name = next(name for name, sign in _SIGNS.items() if sign.match(text))
    _check_format(name)
    if name in _GAMES and len(_GAMES[name].findall(text)) > 2 * MOST_GAMES:
        raise ValueError(f"the file holds more than {MOST_GAMES} games: leave some out")
    try:
        records = await room.engine.run("file", loads, text, name, _Bounds(room.engine))
    except ValueError as error:
        raise ValueError(f"the file cannot be read as {name}: {error}") from None
    except (TypeError, KeyError, AttributeError, RecursionError, IndexError) as error:
        raise ValueError(f"the file cannot be read as {name}: {type(error).__name__}") from None
    if not 1 <= number <= len(records):
        raise ValueError(f"game {number}: the file holds {len(records)} games")
    return records[number - 1]


class _Bounds:
    """The checks before each game of a file is replayed: their number, the time taken, their options.

    The engine is told of the rules of each game, as they are compiled even if the file is refused.
    """

    def __init__(self, engine: Engine):
        self._engine, self._loop = engine, asyncio.get_running_loop()
        self._games, self._seconds = 0, engine.limits.load_seconds
        self._until = time.monotonic() + self._seconds

    def __call__(self, game: str, options: Mapping[str, Any]) -> None:
        self._games += 1
        if self._games > MOST_GAMES:
            raise ValueError(f"the file holds more than {MOST_GAMES} games: leave some out")
        if time.monotonic() > self._until:
            raise ValueError(f"the file takes more than {self._seconds:g} s to read: leave some games out")
        self._loop.call_soon_threadsafe(self._engine.count, choose_game(game, options).game)


async def replay(room: Room, record: GameRecord) -> tuple[GameChoice, Session, int]:
    """The game of a record as a session, and who moves first in it."""
    choice = choose_game(record.game, record.options)
    if len(record.turns) > room.limits.turns:
        raise ValueError(f"the game has {len(record.turns)} turns: expected at most {room.limits.turns}")
    await room.engine.prepare(choice.game)
    session = await room.engine.run("file", Session.replay, record, room.engine.bits())
    view = VIEWS[record.game]
    first, named = view.first(session.start), record.tags.get(FIRST)
    return choice, session, (view.sides.index(named) if named in view.sides else 0) if first is None else first


async def write(room: Room, name: str) -> dict[str, Any]:
    """The game so far as a file in one of the formats."""
    names = [chair.name or side for chair, side in zip(room.chairs, room.view.sides, strict=True)]
    record = room.session.record([_plain(names[room.first]), _plain(names[1 - room.first])], room.tags)
    return await room.engine.run("file", file_of, record, name)


def file_of(record: GameRecord, name: str) -> dict[str, Any]:
    """A game as a file in one of the formats. Raises `ValueError` for an unknown one, and for what it cannot say."""
    _check_format(name)
    media = "application/json" if name == "json" else "text/plain"
    return {"format": name, "name": f"{record.game}.{name}", "media": media, "text": dumps([record], name)}


def _check_format(name: str) -> None:
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}")


def _plain(name: str) -> str:
    """A name without what the formats use as marks."""
    return json.dumps(name)[1:-1].replace("\\", "").replace("|", "").replace("]", "")[:40] or "somebody"
