"""The players of a server: loaded once, compiled once, run in threads, positions of many games together.

The event loop never waits for a program. Requests for a player that arrive while it thinks are answered together
in its next run.
"""

import asyncio
import collections
import concurrent.futures
import contextlib
import dataclasses
import random
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

import jax

from jaxgames.envs.core import Game, State
from jaxgames.players.host import PlayerFailed
from jaxgames.players.player import Player
from jaxgames.sessions.session import Session
from jaxgames.web.limits import USUAL_LIMITS, Limits
from jaxgames.web.offered_players import NEWEST, OfferedPlayers
from jaxgames.web.programs import ProgramCache, batches_of

T = TypeVar("T")
MOST_PLAYERS = 128
THREADS = {"play": 2, "compile": 2, "analysis": 1, "file": 1, "setup": 1, "plugin": 1}
REST_SECONDS = 0.5


@dataclasses.dataclass(eq=False)
class _Request:
    position: Any
    bits: int
    answer: asyncio.Future[list[int]]


class Lane:
    """One player at work: what waits for it, and since when it is being compiled, None if it is not."""

    def __init__(self, engine: "Engine", player: Player):
        self.player = player
        self.compiling: float | None = None
        self.refused = ""
        self._engine = engine
        self._programs = engine.programs.of(player)
        self._batches = batches_of(player)
        self._waiting: collections.deque[_Request] = collections.deque()
        self._work: asyncio.Task[None] | None = None
        self._growing: set[int] = set()

    def compiling_for(self) -> float | None:
        """For how many seconds compiling the player has taken so far; None if it is not being compiled."""
        return None if self.compiling is None else round(time.monotonic() - self.compiling, 1)

    def is_ready(self, batch: int | None = None) -> bool:
        """Whether the program for so many positions, by default the fewest, is compiled."""
        return self.player.on_host or (batch or self._batches[0]) in self._programs.ready

    async def choose(self, state: State, bits: int) -> list[int]:
        """The next actions of the player in a state; raises `ValueError` if it is too slow."""
        if self.refused:
            raise ValueError(self.refused)
        request = _Request(state._position, bits, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._run())
        return await request.answer

    async def begin(self) -> asyncio.Task[None] | None:
        """Compiles the player in advance: returns the task that does, None if it is already compiled or at work.

        Returns when other Python no longer holds it up, or after a moment.
        """
        if self.is_ready() or not (self._work is None or self._work.done()):
            return None
        lowered = asyncio.Event()
        work = self._work = self._engine.spawn(self._prepare(lowered))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(lowered.wait(), REST_SECONDS)
        return work

    async def _prepare(self, lowered: asyncio.Event) -> None:
        self.compiling = time.monotonic()
        with contextlib.suppress(Exception):  # whoever asks will be told
            self._programs = self._engine.programs.of(self.player)
            await self._engine.run("compile", self._programs.lower, self.player, self._batches[0])
            lowered.set()
            await self._engine.run("compile", self._programs.prepare, self.player, self._batches[0])
        lowered.set()
        self.compiling = None
        self._engine.compiled(self)
        await self._run()

    async def _run(self) -> None:
        while self._waiting:
            batch = self._batch(len(self._waiting))
            requests = [self._waiting.popleft() for _ in range(min(batch, len(self._waiting)))]
            requests = [request for request in requests if not request.answer.done()]  # who asked may be gone
            if not requests:
                continue
            began, was_ready = time.monotonic(), self.is_ready(batch)
            self.compiling = None if was_ready else began
            try:
                positions, bits = [r.position for r in requests], [r.bits for r in requests]
                self._programs = self._engine.programs.of(self.player)
                work = (self._programs.choose, self.player, positions, bits, batch)
                pool = "plugin" if self.player.on_host else "play" if was_ready else "compile"
                answers = await self._engine.run(pool, *work)
                failure: ValueError = PlayerFailed(f"{self.player.name}: illegal action")
            except PlayerFailed as error:
                answers, failure = [[]] * len(requests), error
            except Exception as error:  # the game that asked is told, the server goes on
                answers, failure = [[]] * len(requests), ValueError(f"{self.player.name}: {_line(error)}")
            self.compiling = None
            for request, actions in zip(requests, answers, strict=True):
                if not request.answer.done() and actions:
                    request.answer.set_result(actions)
                elif not request.answer.done():
                    request.answer.set_exception(type(failure)(str(failure)))
            took, most = time.monotonic() - began, self._engine.limits.move_seconds
            if was_ready and took > most:
                self.refused = f"{self.player.name} took {took:.0f} s for a turn, more than {most:g} s: choose another"

    def _batch(self, waiting: int) -> int:
        """The batch size of the next program; a larger one is compiled meanwhile if it would help."""
        sizes = self._batches
        wanted = next((size for size in sizes if size >= waiting), sizes[-1])
        if self.is_ready(wanted) or not self.is_ready():
            return wanted if self.is_ready(wanted) else sizes[0]
        if wanted not in self._growing:
            self._growing.add(wanted)
            self._engine.spawn(self._engine.run("compile", self._programs.prepare, self.player, wanted))
        return max(size for size in sizes if self.is_ready(size) and size <= wanted)


class Engine:
    """All players of a server.

    Args:
        offered: the players there are.
        limits: the bounds of the server.
        folder: where programs are kept for the next start; None: nowhere.

    Attributes:
        compiled: called with a player that can play from now on.
    """

    def __init__(self, offered: OfferedPlayers, limits: Limits = USUAL_LIMITS, folder: Path | None = None):
        self.offered, self.limits = offered, limits
        self.programs = ProgramCache(limits.programs, folder)
        self._asked, self._running = time.monotonic(), 0
        self.warming: set[str] = set()
        self.compiled: Callable[[Lane], None] = lambda lane: None
        self._players: collections.OrderedDict[Hashable, Lane] = collections.OrderedDict()
        self._pools = {
            name: concurrent.futures.ThreadPoolExecutor(count, f"jaxgames-{name}") for name, count in THREADS.items()
        }
        self._rules: dict[Game, asyncio.Future[None]] = {}
        self._counted: set[Game] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._random = random.SystemRandom()

    async def run(self, pool: str, function: Callable[..., T], *arguments: Any) -> T:
        """A function in a thread."""
        self._running += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pools[pool], function, *arguments)
        finally:
            self._running -= 1
            self._asked = time.monotonic()

    async def rest(self) -> None:
        """Waits until there has been no request for a moment."""
        while self._running or time.monotonic() - self._asked < REST_SECONDS:
            await asyncio.sleep(REST_SECONDS / 4)

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        """A task that is kept until it is done; its exceptions are ignored."""
        task = asyncio.create_task(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def bits(self) -> int:
        """32 random bits."""
        return self._random.getrandbits(32)

    async def prepare(self, game: Game) -> None:
        """Compiles the rules of a game, unless they are; afterwards its sessions answer at once."""
        if game not in self._rules:
            self.count(game)
            self._rules[game] = asyncio.ensure_future(self.run("compile", _play_a_turn, game))
        try:
            await asyncio.shield(self._rules[game])
        except Exception:
            self._rules.pop(game, None)
            raise

    def count(self, game: Game) -> None:
        """Counts rules that are about to be compiled. Of many, as of boards of many sizes, all memory is freed."""
        if game not in self._counted and len(self._counted) >= 4 * self.limits.programs:
            self._counted.clear()
            self._rules.clear()
            self.programs.clear()
            jax.clear_caches()
        self._counted.add(game)

    def is_prepared(self, game: Game) -> bool:
        """Whether the rules of a game are compiled."""
        return game in self._rules and self._rules[game].done()

    async def lane(self, spec: str, game: Game) -> Lane:
        """The player of a spec, loaded. Raises `ValueError` for one that is not offered."""
        resolved = self.offered.resolve(spec, game)
        key = (resolved, game)
        if key not in self._players:
            player = await self.run("compile", self.offered.make, spec, game)
            if key not in self._players:
                name = spec if spec.partition(":")[0] in (NEWEST, *self.offered.runs) else player.name
                self._players[key] = Lane(self, dataclasses.replace(player, name=name))
        self._players.move_to_end(key)
        while len(self._players) > MOST_PLAYERS:
            self._players.popitem(last=False)
        lane = self._players[key]
        if lane.refused:
            raise ValueError(lane.refused)
        return lane

    async def warm(self, spec: str, game: Game) -> None:
        """Compiles a player before anybody plays it."""
        self.warming.add(spec)
        try:
            await self.prepare(game)
            lane = await self.lane(spec, game)
            if work := await lane.begin():
                await work
        finally:
            self.warming.discard(spec)

    def close(self) -> None:
        """Ends the threads; what is being computed is finished first."""
        for task in self._tasks:
            task.cancel()
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


def _play_a_turn(game: Game) -> None:
    """One turn there and back, so that every program of a session is compiled."""
    session = Session(game)
    turn = game.legal_turns(session.state)[0]
    session.play(turn)
    session.undo()
    jax.block_until_ready(session.state)


async def _quietly(work: Any) -> None:
    with contextlib.suppress(Exception):
        await work


def _line(error: Exception) -> str:
    """What an error says, in one line."""
    return " ".join((str(error) or type(error).__name__).split())[:300]
