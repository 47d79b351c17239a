"""All sessions of a server: they begin, are joined and left, and end when nobody is there or nothing happens."""

import asyncio
import contextlib
import logging
import time
from typing import Any

from jaxgames.records.json_lines import from_dict
from jaxgames.web.boards import VIEWS
from jaxgames.web.clocks import control_of
from jaxgames.web.commands import Commands
from jaxgames.web.connection import Client
from jaxgames.web.consent import decide
from jaxgames.web.engine import Engine, Lane
from jaxgames.web.games import choose_game
from jaxgames.web.handlers import ANSWERED, EVALUATIONS, HANDLERS, chairs_for, start
from jaxgames.web.hints import Analyses
from jaxgames.web.keeping import RoomKeeper, file_of, listed, restore
from jaxgames.web.messages import Messages, message_id, read_json
from jaxgames.web.rooms import Room
from jaxgames.web.seats import GAMES, MatchScore, check_challenge, standings

SWEEP_SECONDS = 20.0
_LOG = logging.getLogger("jaxgames.web")


class Lobby:
    """The sessions of a server.

    Args:
        engine: the players, with the bounds of the server.
        keeper: where games are kept; None: nowhere.
        commands: what the page may start; None: nothing.

    Attributes:
        failures: messages that ended in an error of the server itself.
    """

    def __init__(self, engine: Engine, keeper: RoomKeeper | None = None, commands: Commands | None = None):
        self.engine, self.limits, self.keeper = engine, engine.limits, keeper
        self.rooms: dict[str, Room] = {}
        self.clients: set[Client] = set()
        self.failures = 0
        self._messages = Messages(self.limits)
        self._beginning = 0
        self._returning: dict[str, asyncio.Future[Room | None]] = {}
        engine.compiled = self._compiled
        self._outside = {
            "create": self._create,
            "join": self._join,
            "games": self._games,
            "challenges": self._challenges,
            "open": self._open,
            "export": self._export,
            "forget": self._forget,
            **(commands or Commands({}, self.limits)).handlers,
        }

    async def handle(self, client: Client, content: str) -> None:
        """Does what a message says, and answers it; an error is one line.

        Evaluations are calculated beside what is said next.
        """
        raw: Any = None
        try:
            raw = read_json(content, self.limits.message_bytes)
            message = self._messages.check(raw)
            kind = message["type"]
            if kind in self._outside:
                await self._outside[kind](client, message)
            else:
                room = client.room
                if room is None or room.id not in self.rooms:
                    raise ValueError("this connection is in no session; create or join one first")
                room.used = time.monotonic()
                decide(room, client, message)
                if kind in EVALUATIONS:
                    self._begin_to_evaluate(room, client, message)
                    return
                await HANDLERS[kind](room, client, message)
                if kind not in ANSWERED:
                    client.answer(message["id"])
        except Exception as error:
            self._refuse(client, message_id(raw), content, error)

    def _refuse(self, client: Client, number: int | None, content: str, error: Exception) -> None:
        """Answers a message that cannot be done."""
        if isinstance(error, ValueError):
            client.error(number, " ".join(str(error).split())[:500])
            client.fault("too many messages that are wrong")
        else:  # a fault of ours: it is written down, the server goes on
            self.failures += 1
            _LOG.error("a message failed: %.300r", content, exc_info=error)
            client.error(number, "the server failed to do this; its log says why")

    def _begin_to_evaluate(self, room: Room, client: Client, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind in client.evaluations:
            raise ValueError(f"the {kind} asked for before is not there yet; wait for it")
        client.evaluations.add(kind)

        async def evaluate() -> None:
            try:
                await HANDLERS[kind](room, client, message)
            except Exception as error:
                self._refuse(client, message["id"], kind, error)
            finally:
                client.evaluations.discard(kind)

        self.engine.spawn(evaluate())

    async def _create(self, client: Client, message: dict[str, Any]) -> None:
        await self._check_room(client)
        if message["challenge"]:
            self._kept()
            check_challenge(message["seats"], message["options"], message["position"])
        self._beginning += 1
        try:
            choice = choose_game(message["game"], message["options"])
            room = Room(self.engine)
            if not self.engine.is_prepared(choice.game):
                client.put({"type": "notice", "kind": "compiling", "text": f"preparing {VIEWS[choice.game.id].title}"})
            client.name, client.owner = message["name"] or client.name, message["owner"] or client.owner
            room.chairs = await chairs_for(room, client, choice.game, message["seats"])
            session, first, drawn = await start(room, choice, message["position"], message["to_move"])
            room.control = control_of(message["clock"])
        finally:
            self._beginning -= 1
        for chair in room.chairs:
            if chair.is_person:
                chair.name = client.name
        room.begin(choice, session, first, drawn)
        room.match = MatchScore(GAMES, challenge=True) if message["challenge"] else None
        self._add(room)
        self._enter(client, room, room.host, message["id"])

    def _compiled(self, lane: Lane) -> None:
        """Tells all who wait for a player that it is ready."""
        for room in self.rooms.values():
            if any(chair.lane is lane for chair in room.chairs):
                room.broadcast()

    def _add(self, room: Room) -> None:
        room.analyses = Analyses(room)
        self.rooms[room.id] = room
        if self.keeper is not None:
            room.keep, room.leave = self.keeper.note, self.keeper.leave

    async def _check_room(self, client: Client) -> None:
        """Raises `ValueError` if there is no room for another session."""
        if not client.creations.allows():
            raise ValueError(f"at most {self.limits.creations_per_minute} new sessions a minute; wait a little")
        if len(self.rooms) + self._beginning >= self.limits.sessions and not await self._make_room():
            raise ValueError(f"the server holds {self.limits.sessions} sessions already; try again later")

    async def _make_room(self) -> bool:
        """Ends the session that was left longest ago; False if people are in all of them."""
        before = time.monotonic() - self.limits.left_seconds_if_full
        left = [room for room in self.rooms.values() if not room.clients and room.left < before]
        if not left:
            return False
        oldest = min(left, key=lambda room: room.left)
        del self.rooms[oldest.id]
        await oldest.close("the session has ended, as nobody was in it")
        return True

    async def _join(self, client: Client, message: dict[str, Any]) -> None:
        room, token = await self._find(client, message["session"]), message["token"]
        if room is None:
            client.error(message["id"], "there is no such session; it may have ended")
            client.close(4001, "unknown session")
            return
        if token is not None and not room.knows(token):
            raise ValueError("this token opens no seat of the session; ask for a new link")
        watchers = sum(not room.knows(other.token) for other in room.clients)
        if token is None and watchers >= self.limits.watchers or len(room.clients) >= 4 * self.limits.watchers:
            raise ValueError(f"{self.limits.watchers} people watch this session already")
        client.name = message["name"] if message["name"] is not None else client.name
        client.owner = message["owner"] or client.owner
        for seat in room.seats_of(token):
            room.chairs[seat].came = True
            room.chairs[seat].name = client.name = client.name or room.chairs[seat].name
        self._enter(client, room, token, message["id"])

    async def _find(self, client: Client, session: str) -> Room | None:
        """The session, from the disk if it is not in memory; None if there is none."""
        if session in self.rooms or self.keeper is None:
            return self.rooms.get(session)
        if session not in self._returning:
            await self._check_room(client)
        returning = self._returning.get(session)  # who asks for it meanwhile waits for the same one
        if returning is None:
            returning = self._returning[session] = asyncio.ensure_future(self._return(self.keeper, session))
            returning.add_done_callback(lambda _: self._returning.pop(session))
        return await asyncio.shield(returning)

    async def _return(self, keeper: RoomKeeper, session: str) -> Room | None:
        if session in self.rooms:
            return self.rooms[session]
        games = await keeper.written()
        kept = await games.newest(session)
        if kept is None:
            return None
        room = await restore(self.engine, kept)
        self._add(room)
        return room

    def _kept(self) -> RoomKeeper:
        if self.keeper is None:
            raise ValueError("this server keeps no games")
        return self.keeper

    async def _games(self, client: Client, message: dict[str, Any]) -> None:
        games, owner = await self._kept().written(), message["owner"]
        shown = []
        for game in await games.of(owner):
            room = self.rooms.get(game.session)
            under_way = room is not None and room.number == game.number
            with contextlib.suppress(KeyError, TypeError):  # of another version
                shown.append(listed(game, owner, under_way))
        client.put({"type": "games", "id": message["id"], "games": shown})

    async def _challenges(self, client: Client, message: dict[str, Any]) -> None:
        games = await self._kept().written()
        players = await self.engine.run("file", standings, await games.challenges_of(message["owner"]))
        client.put({"type": "challenges", "id": message["id"], "players": players})

    async def _open(self, client: Client, message: dict[str, Any]) -> None:
        games, owner = await self._kept().written(), message["owner"]
        game = await games.find(owner, message["session"], message["number"])
        newest = await games.newest(game.session)
        client.name, client.owner = message["name"] or client.name, owner
        if newest is not None and newest.number == game.number:
            room = await self._find(client, game.session)
            if room is not None:
                mine = [chair.token for chair in room.chairs if chair.is_person and chair.owner == owner]
                self._enter(client, room, mine[0] if mine else None, message["id"])
                return
        await self._check_room(client)
        room = await restore(self.engine, game)
        room.again()
        self._add(room)
        self._enter(client, room, room.host, message["id"])

    async def _export(self, client: Client, message: dict[str, Any]) -> None:
        games = await self._kept().written()
        game = await games.find(message["owner"], message["session"], message["number"])
        file = await self.engine.run("file", file_of, from_dict(game.content["record"]), message["format"])
        client.put({"type": "file", "id": message["id"], **file})

    async def _forget(self, client: Client, message: dict[str, Any]) -> None:
        keeper, owner, session = self._kept(), message["owner"], message["session"]
        room = self.rooms.get(session)
        if room is not None and room.number == message["number"]:
            for chair in room.chairs:
                chair.owner = None if chair.owner == owner else chair.owner
        games = await keeper.written()
        await games.forget(owner, session, message["number"])
        if room is not None:  # it goes on, for the other one
            room.keep(room)
        client.answer(message["id"])

    def _enter(self, client: Client, room: Room, token: str | None, number: int | None) -> None:
        if client.room is not None:
            self._leave(client)
        client.room, client.token, client.analyst = room, token, None
        seats = room.seats_of(token)
        for seat in seats:
            room.chairs[seat].owner = client.owner or room.chairs[seat].owner
        if seats and not any(other.token == token for other in room.clients):
            room.notice(f"{client.name or room.view.sides[seats[0]]} is here")
        room.clients.add(client)
        room.used = room.left = time.monotonic()
        welcome = {"type": "welcome", "id": number, "session": room.id, "token": token}
        client.put({**welcome, "host": room.is_host(token), "seats": seats})
        client.put({"type": "chats", "lines": list(room.chats)})
        room.changed()

    def _leave(self, client: Client) -> None:
        room, client.room, client.analyst = client.room, None, None
        if room is None or client not in room.clients:
            return
        room.clients.discard(client)
        room.left = time.monotonic()
        for seat in room.seats_of(client.token):
            room.chairs[seat].gone = room.left
        if room.id in self.rooms and room.clients:
            room.changed()
        elif room.analyses is not None:
            room.analyses.restart()

    def enter(self, client: Client) -> str | None:
        """A new connection; the reason if there is no room for it."""
        if len(self.clients) >= self.limits.connections:
            return f"the server has {self.limits.connections} connections already; try again later"
        self.clients.add(client)
        return None

    def leave(self, client: Client) -> None:
        """A connection that is gone."""
        self.clients.discard(client)
        self._leave(client)

    async def sweep(self) -> None:
        """Ends sessions that nobody uses, for ever."""
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, self.limits.left_minutes * 20))
            await self.end_idle()

    async def end_idle(self) -> int:
        """Ends the sessions in which nothing happens; how many there were."""
        ended = 0
        for room in list(self.rooms.values()):  # while one is closed, others may end otherwise, or be joined
            now = time.monotonic()
            idle = now - room.used > 60 * self.limits.idle_minutes
            left = not room.clients and now - room.left > 60 * self.limits.left_minutes
            if self.rooms.get(room.id) is room and (idle or left):
                del self.rooms[room.id]
                await room.close("the session has ended, as nothing happened in it")
                ended += 1
        return ended

    async def close(self) -> None:
        """Ends all sessions."""
        for room in list(self.rooms.values()):
            await room.close("the server has ended")
        self.rooms.clear()
        if self.keeper is not None:
            await self.keeper.close()
        for client in list(self.clients):
            client.close(1001, "the server has ended")
