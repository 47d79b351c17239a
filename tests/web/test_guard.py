"""Whom the server answers."""

import asyncio

import pytest

from jaxgames.web.guard import HEADERS, POLICY, Guard, is_loopback


async def _inner(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-frame-options", b"ALLOWALL")]})
    await send({"type": "http.response.body", "body": b"secret"})


def ask(guard, host="127.0.0.1:8000", origin=None, kind="http", method="GET", scheme=None, extra=(), path=b"/"):
    """The first message that is sent: status and headers, or what happens to a WebSocket."""
    headers = [(b"host", host.encode("latin-1"))] if host is not None else []
    headers += [(b"origin", origin.encode())] if origin is not None else []
    scheme = scheme or {"http": "http", "websocket": "ws"}[kind]
    scope = {"type": kind, "scheme": scheme, "headers": [*headers, *extra], "raw_path": path, "query_string": b""}
    if kind == "http":
        scope["method"] = method
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(guard(scope, None, send))
    return sent


def passes(guard, **request):
    first = ask(guard, **request)[0]
    return first.get("status", 200) == 200 and first["type"] != "websocket.close"


LOCAL = Guard(_inner)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "LOCALHOST:8000", "[::1]:8000", "127.0.0.2", "localhost."]
)
def test_own_names_pass(kind, host):
    assert passes(LOCAL, host=host, kind=kind)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        None,
        "192.168.1.7",
        "localhost:80a",
        "::1",
        "[localhost",
        "127.0.0.1:8000, evil.example",
        "evil@127.0.0.1",
        "2130706433",
        "0x7f.1",
        "[::ffff:8.8.8.8]",
        "8.8.8.8",
    ],
)
def test_foreign_hosts_are_refused(kind, host):
    assert not passes(LOCAL, host=host, kind=kind)


def test_two_hosts_are_refused():
    assert not passes(LOCAL, extra=[(b"host", b"localhost")])


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("origin", "good"),
    [
        ("http://127.0.0.1:8000", True),
        (None, True),
        ("null", False),
        ("http://127.0.0.1:8001", False),
        ("http://localhost:8000", False),
        ("https://127.0.0.1:8000", False),
        ("http://evil.example", False),
        ("http://127.0.0.1:8000.evil.example", False),
        ("", False),
    ],
)
def test_only_the_own_origin_passes(kind, origin, good):
    assert passes(LOCAL, origin=origin, kind=kind) == good


def test_a_server_of_a_network_answers_to_addresses_and_its_names():
    guard = Guard(_inner, ["play.example"], local=False)
    assert passes(guard, host="192.168.1.7:8000") and passes(guard, host="play.example:8000")
    assert not passes(guard, host="evil.example") and not passes(LOCAL, host="play.example")


def test_every_answer_says_what_the_page_may_do():
    for request in ({}, {"host": "evil.example"}, {"method": "POST"}):
        headers = ask(LOCAL, **request)[0]["headers"]
        for name, value in HEADERS:
            assert [v for n, v in headers if n == name.encode()] == [value.encode()]
    assert "unsafe" not in POLICY and "*" not in POLICY and "http" not in POLICY


def test_other_methods_and_bodies_are_refused():
    assert [ask(LOCAL, method=method)[0]["status"] for method in ("POST", "PUT", "DELETE", "TRACE")] == [405] * 4
    assert ask(LOCAL, extra=[(b"content-length", b"5")])[0]["status"] == 413
    assert ask(LOCAL, extra=[(b"transfer-encoding", b"chunked")])[0]["status"] == 413
    assert ask(LOCAL, path=b"/" * 3000)[0]["status"] == 414
    assert b"secret" not in b"".join(m.get("body", b"") for m in ask(LOCAL, host="evil.example"))


def test_what_is_this_machine_only():
    assert all(map(is_loopback, ("127.0.0.1", "::1", "[::1]", "::ffff:127.0.0.1", "localhost", "LOCALHOST.")))
    assert not any(map(is_loopback, ("0.0.0.0", "10.0.0.1", "::", "example.org")))
