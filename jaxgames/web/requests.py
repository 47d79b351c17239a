"""Requests that are not finished: each has a time, and only so many may wait for their end."""

import asyncio
from typing import Any

from typing_extensions import override

MOST_WAITING = 256
"""Connections without a whole request; one more closes the one that has waited longest."""
REQUEST_SECONDS = 10.0
"""From the connection, or from the first byte of a later request, to the end of its headers."""


def bounded_http() -> Any:
    """HTTP for one server, as uvicorn speaks it, but that a request must come to its end."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    waiting: dict[BoundedRequests, None] = {}  # in the order in which they began to wait

    class BoundedRequests(H11Protocol):
        """One connection."""

        timer: asyncio.TimerHandle | None = None

        @override
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.wait()

        @override
        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.transport.get_protocol() is self and self.conn.their_state is h11.IDLE:
                self.wait()
            else:
                self.has_come()

        @override
        def connection_lost(self, exc: Exception | None) -> None:
            self.has_come()
            super().connection_lost(exc)

        def wait(self) -> None:
            """Begins to wait for a whole request."""
            if self.timer is None:
                self.timer = self.loop.call_later(REQUEST_SECONDS, self.close)
                waiting[self] = None
                if len(waiting) > MOST_WAITING:
                    next(iter(waiting)).close()

        def has_come(self) -> None:
            """Waits no longer."""
            if self.timer is not None:
                self.timer.cancel()
                self.timer = None
                del waiting[self]

        def close(self) -> None:
            """Closes the connection."""
            self.has_come()
            self.transport.abort()

    return BoundedRequests
