"""Requests that are not finished: each has a time, and only so many may wait for their end."""

import asyncio
from typing import Any, ClassVar

import h11
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_WAITING = 256
"""Connections without a whole request; one more closes the one that has waited longest."""
REQUEST_SECONDS = 10.0
"""From the connection, or from the first byte of a later request, to the end of its headers."""


class BoundedRequests(H11Protocol):
    """HTTP as uvicorn speaks it, but that a request must come to its end."""

    waiting: "ClassVar[dict[BoundedRequests, None]]" = {}
    """All connections without a whole request, in the order in which they began to wait."""
    _timer: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.get_protocol() is self and self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._has_come()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._has_come()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(REQUEST_SECONDS, self._close)
            self.waiting[self] = None
            if len(self.waiting) > MOST_WAITING:
                next(iter(self.waiting))._close()

    def _has_come(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            del self.waiting[self]

    def _close(self) -> None:
        self._has_come()
        self.transport.abort()
