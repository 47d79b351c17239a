"""Requests that never end: they are closed, and others are answered."""

import asyncio

import pytest
import uvicorn

import jaxgames.web.requests as requests
from jaxgames.web.server import listen


async def _answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def serving(work):
    """What some work gives beside a server; it is given the port and the configuration."""

    async def run():
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            _answer, http=requests.bounded_http(), log_level="error", lifespan="off", limit_concurrency=20
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            return await work(port)
        finally:
            server.should_exit = True
            await serving

    return asyncio.run(run())


async def half(port):
    """A connection that has sent half a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: local")
    return reader, writer


async def ask(port, times=1):
    """What is answered to whole requests over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = []
    for _ in range(times):
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answers.append((await reader.readuntil(b"\r\n\r\nok")).split(b"\r\n")[0])
    writer.close()
    return answers


async def is_closed(reader):
    """Whether the other side closes a connection."""
    with pytest.raises((ConnectionError, AssertionError)):
        async with asyncio.timeout(60):
            assert await reader.read(100)
    return True


def test_many_half_requests_keep_nobody_out(monkeypatch):
    monkeypatch.setattr(requests, "MOST_WAITING", 8)

    async def work(port):
        halves = [await half(port) for _ in range(40)]
        closed = [await is_closed(reader) for reader, _ in halves[:30]]
        answers = await ask(port, times=2)
        halves[-1][1].write(b"host\r\n\r\n")  # the youngest may still end theirs
        last = await halves[-1][0].readuntil(b"ok")
        for _, writer in halves:
            writer.close()
        return closed, answers, last

    closed, answers, last = serving(work)
    assert closed == [True] * 30 and answers == [b"HTTP/1.1 200 OK"] * 2 and last.startswith(b"HTTP/1.1 200")


def test_a_request_has_a_time_and_so_has_the_next_one(monkeypatch):
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.3)

    async def work(port):
        first, begun = await half(port)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"\r\n\r\nok")
        writer.write(b"GET / HT")
        closed = await is_closed(first), await is_closed(reader)
        begun.close()
        writer.close()
        return closed

    assert serving(work) == (True, True)
