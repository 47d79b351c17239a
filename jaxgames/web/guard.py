"""Which requests are answered: checks `Host` and `Origin`; every answer says what the page may load and do.

A page of another site may make a browser send requests here. Its `Origin` gives it away; and a name that was made to
point here (DNS rebinding) is not a name of this machine. Numeric addresses cannot be made to point elsewhere.
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
)
MOST_TARGET = 2048
"""Bytes of a path and its query."""


class Guard:
    """An ASGI application around another one.

    Args:
        app: what answers the requests that pass.
        names: host names of this server besides `localhost` and its own name.
        local: whether it listens on this machine only; then other addresses in digits are refused, too.
    """

    def __init__(self, app: Any, names: Iterable[str] = (), local: bool = True):
        self._app, self._local = app, local
        given = {name.lower().strip("[]") for name in names}
        own = {"localhost"} if local else {"localhost", socket.gethostname().lower(), socket.getfqdn().lower()}
        self._names = own | given

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, or refuses it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if scope["type"] == "websocket":
            if refusal:
                await send({"type": "websocket.close", "code": 1008, "reason": refusal[1][:120]})
            else:
                await self._app(scope, receive, send)
            return

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in _OURS]
                message = {**message, "headers": [*kept, *_HEADER_BYTES]}
            await send(message)

        if refusal:
            from starlette.responses import JSONResponse

            status, reason = refusal
            headers = {"allow": "GET, HEAD"} if status == 405 else None
            await JSONResponse({"error": reason}, status, headers)(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the reason why a request is refused; None if it is answered."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope.get("headers", ()):
            headers.setdefault(name.lower(), []).append(value)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or not self.is_own(host := hosts[0].decode("latin-1")):
            return 403, "this server answers to its own address only; open the address that it printed when it started"
        origins = headers.get(b"origin", [])
        scheme = {"ws": "http", "wss": "https"}.get(scope.get("scheme", "http"), scope.get("scheme", "http"))
        if origins and origins != [f"{scheme}://{host}".encode("latin-1")]:
            return 403, "requests from pages of other sites are not answered"
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string", b"")) > MOST_TARGET:
            return 414, f"the address is longer than {MOST_TARGET} bytes"
        if scope["type"] == "http":
            if scope["method"] not in ("GET", "HEAD"):
                return 405, "only GET and HEAD are answered; games are played over the WebSocket /ws"
            if headers.get(b"content-length", [b"0"]) != [b"0"] or b"transfer-encoding" in headers:
                return 413, "no request has a body here"
        return None

    def is_own(self, host: str) -> bool:
        """Whether a `Host` header names this server."""
        name, port = _split_port(host)
        if port is None:
            return False
        if name.lower().rstrip(".") in self._names:
            return True
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return address.is_loopback or not self._local


def is_here(scope: Scope) -> bool:
    """Whether a request comes from this machine itself, and not through a server in front of this one."""
    headers = {name.lower() for name, _ in scope.get("headers", ())}
    if headers & {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"}:
        return False
    hosts = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name.lower() == b"host"]
    client = scope.get("client")
    return client is not None and all(is_loopback(name) for name in (client[0], *(_split_port(h)[0] for h in hosts)))


def is_loopback(name: str) -> bool:
    """Whether a name or an address is this machine only."""
    try:
        address = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name.lower().rstrip(".") == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _split_port(host: str) -> tuple[str, str | None]:
    """A host and its port, which is None if the text is no host."""
    name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if not colon:
        name, port = host, ""
    good = bool(name) and (not colon or (port.isascii() and port.isdecimal())) and name.count(":") in (0, *range(2, 8))
    good = good and (":" not in name or (name[0], name[-1]) == ("[", "]"))
    return name, port if good else None


_HEADER_BYTES = [(name.encode(), value.encode()) for name, value in HEADERS]
_OURS = {name for name, _ in _HEADER_BYTES}
