"""One browser at the other end of a WebSocket: messages to send, what it may do, how much it has sent."""

import asyncio
import json
from typing import Any

from jaxgames.web.limits import Limits, Rate


class Client:
    """A connection. `put` never waits: a reader that is too slow is disconnected, and what waits for it is dropped."""

    def __init__(self, limits: Limits):
        self.name = ""
        self.token: str | None = None
        self.owner: str | None = None
        self.room: Any = None
        self.here = False
        """Whether it comes from this machine."""
        self.analyst: str | None = None
        self.evaluations = set[str]()
        """What it has asked for that is being calculated."""
        self.rate = Rate(limits.messages_per_second, limits.burst)
        self.creations = Rate(limits.creations_per_minute / 60, limits.creations_per_minute)
        self._faults = Rate(limits.faults / 60, limits.faults)
        self.closed: tuple[int, str] | None = None
        self._limits = limits
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._bytes = 0

    def put(self, message: dict[str, Any] | str) -> None:
        """A message to be sent."""
        if self.closed is None:
            text = message if isinstance(message, str) else to_text(message)
            if self._queue.qsize() >= self._limits.queue or self._waits_for_too_much():
                self._drop()
                self.close(1008, "this page reads too slowly")
                return
            self._bytes += len(text)
            self._queue.put_nowait(text)

    def _waits_for_too_much(self) -> bool:
        """Whether all in the session together exceed the bound, and this one more than its share."""
        clients, most = self.room.clients if self.room is not None else (self,), self._limits.queue_bytes
        return self._bytes * len(clients) > most and sum(client._bytes for client in clients) > most

    def _drop(self) -> None:
        while not self._queue.empty():
            self._queue.get_nowait()
        self._bytes = 0

    def answer(self, message_id: int | None) -> None:
        """Says that a message was understood."""
        self.put({"type": "ok", "id": message_id})

    def error(self, message_id: int | None, text: str) -> None:
        """Says what was wrong with a message."""
        self.put({"type": "error", "id": message_id, "message": text})

    def fault(self, reason: str) -> None:
        """Counts a wrong message; a page that sends too many is disconnected."""
        if not self._faults.allows():
            self.close(1008, reason)

    def close(self, code: int, reason: str) -> None:
        """Closes the connection after what waits has been sent."""
        if self.closed is None:
            self.closed = (code, reason[:120])
            self._queue.put_nowait(None)

    async def next(self) -> str | None:
        """The next message to be sent; None when the connection is to be closed."""
        text = await self._queue.get()
        self._bytes -= len(text or "")
        return text


def to_text(message: dict[str, Any]) -> str:
    """A message as JSON."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False)
