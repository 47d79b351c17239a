"""Listens on a port, opens a browser, ends at Ctrl-C."""

import asyncio
import contextlib
import errno
import socket
import sys
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from jaxgames.ops.jax_internals import setting
from jaxgames.web.app import MISSING, WebServer
from jaxgames.web.commands import CommandForm
from jaxgames.web.guard import is_loopback
from jaxgames.web.kept_games import state_folder, user_folder
from jaxgames.web.limits import USUAL_LIMITS


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises `ValueError` if the port is taken, or the host is none of this machine."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):
        raise ValueError(f"--host {host}: no such address; expected 127.0.0.1, or 0.0.0.0 for all networks") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ValueError(f"port {port} is in use; choose another one: --port {min(port + 1, 65535)}") from None
        if error.errno == errno.EACCES:
            raise ValueError(f"port {port} is not for everybody; choose one from 1024 on: --port 8000") from None
        if error.errno == errno.EADDRNOTAVAIL:
            raise ValueError(f"--host {host} is no address of this machine; expected 127.0.0.1 or 0.0.0.0") from None
        raise
    return listener


def use_disk_cache() -> Path | None:
    """Keeps compiled programs on the disk for the next start: where JAX is told to, or in ~/.cache/jaxgames.

    Returns the folder for programs that are traced; None if there is nowhere to keep them.
    """
    import jax

    if setting("jax_compilation_cache_dir") is None:
        with contextlib.suppress(OSError, ValueError):
            folder = user_folder("XDG_CACHE_HOME", ".cache") / "xla"
            folder.mkdir(parents=True, exist_ok=True)
            jax.config.update("jax_compilation_cache_dir", str(folder))
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
            jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    used = setting("jax_compilation_cache_dir")
    return None if used is None or "://" in used else Path(used) / "jaxgames"


def serve(
    runs: Sequence[str],
    host: str,
    port: int,
    open_browser: bool = False,
    warm: bool = True,
    plugins: Sequence[str] = (),
    keep: Path | None = None,
    forms: Mapping[str, CommandForm] | None = None,
    trust_guests: bool = False,
) -> None:
    """Serves until Ctrl-C; games are kept in the file `keep`, and what the page starts is asked for by `forms`.

    Raises `ValueError` for what cannot be, `ImportError` without the extra `web`."""
    try:
        import uvicorn
        import websockets  # noqa: F401  # uvicorn would say only at the first WebSocket that it has none
    except ImportError as error:
        raise ImportError(MISSING) from error
    listener = listen(host, port)
    folder = use_disk_cache()
    try:
        folder = None if plugins else folder  # what is kept is known by names, and those of plug-ins may mean anything
        kept = folder, keep, state_folder()
        server = WebServer(runs, USUAL_LIMITS, [host], is_loopback(host), warm, plugins, *kept, forms, trust_guests)
    except BaseException:
        listener.close()
        raise
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    print(f"playing at {address} (Ctrl-C ends it)", file=sys.stderr, flush=True)
    if not is_loopback(host):
        print("whoever reaches this machine over the network may play, too", file=sys.stderr, flush=True)
    if open_browser:
        threading.Timer(0.5, webbrowser.open, (address,)).start()
    asyncio.run(uvicorn.Server(configure(uvicorn, server)).serve(sockets=[listener]))


def configure(uvicorn: Any, server: WebServer) -> Any:
    """How uvicorn serves: with the limits of the server, and without naming itself."""

    return uvicorn.Config(
        server.app,
        http=bounded_http(),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="websockets-sansio",
        ws_max_size=server.limits.message_bytes,
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=16_384,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=1,
        limit_concurrency=2 * server.limits.connections,
    )


# Requests that are not finished: each has a time, and only so many may wait for their end.

MOST_WAITING = 256
"""Connections without a whole request; one more closes the one that has waited longest."""
REQUEST_SECONDS = 10.0
"""From the connection, or from the first byte of a later request, to the end of its headers."""


def bounded_http() -> Any:
    """HTTP for one server, as uvicorn speaks it, except that a request must be complete in time."""
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
