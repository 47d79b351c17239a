"""Listening, the page's files, and a little of the fuzzing."""

import asyncio
import importlib.util
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import uvicorn

import jaxgames.web.server as server_module
from jaxgames.cli import main
from jaxgames.web.app import WebServer
from jaxgames.web.guard import HEADERS
from jaxgames.web.limits import Limits
from jaxgames.web.server import listen


def test_a_port_in_use_is_one_line(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["web", "--port", str(port)]) == 2
    assert (
        capsys.readouterr().err
        == f"jaxgames: port {port} is in use; choose another one: --port {min(port + 1, 65535)}\n"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--port", "70000"], "expected a port from 0 to 65535"),
        (["--port", "-1"], "expected"),
        (["--host", "a..b", "--port", "0"], "no such address"),
        (["--host", "8.8.8.8", "--port", "0"], "is no address of this machine"),
        (["no-run", "--port", "0"], "no-run does not exist; expected the folder of a training"),
    ],
)
def test_bad_arguments_are_one_line(arguments, says, capsys):
    try:
        status = main(["web", *arguments])
    except SystemExit as end:
        status = end.code
    lines = capsys.readouterr().err.splitlines()
    assert status == 2 and says in lines[-1] and len(lines) == 1


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    assert main(["web", "--port", "0"]) == 2
    assert "pip install 'jaxgames[web]'" in capsys.readouterr().err


def test_the_page_and_its_files(http):
    for path in ("/", "/train", "/challenge", "/tournaments"):
        answer = http.get(path)
        assert answer.status_code == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
        assert (
            "<script>" not in answer.text
            and "style=" not in answer.text
            and "http://" not in answer.text.replace("http://www.w3.org", "")
        )
        for name, value in HEADERS:
            assert answer.headers[name] == value
    assert http.get("/static/main.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert "server" not in http.get("/").headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/boards",
        "/static/",
        "/docs",
        "/openapi.json",
    ],
)
def test_no_other_file_is_served(http, path):
    answer = http.get(path)
    assert answer.status_code == 404 and set(answer.json()) == {"error"}


def test_what_the_page_asks_first(http):
    found = http.get("/api/games").json()
    assert [game["id"] for game in found["games"]] == ["tic_tac_toe", "connect_four", "checkers", "backgammon"]
    assert all(game["analyst"] == "champion" == game["players"][0]["name"] for game in found["games"])
    assert found["games"][3]["options"][0] == {
        "name": "points",
        "type": "int",
        "default": 3,
        "help": "Most points of a game",
        "least": 1,
        "most": 3,
    }
    assert found["limits"]["simulations"] == Limits().simulations


def test_a_real_server_plays_and_bounds_the_size_of_messages():
    import httpx
    import uvicorn
    from websockets.exceptions import ConnectionClosed, InvalidStatus
    from websockets.sync.client import connect

    found = listen("127.0.0.1", 0)
    address = f"127.0.0.1:{found.getsockname()[1]}"
    running = {}

    def run():
        loop = asyncio.new_event_loop()
        config = server_module.configure(uvicorn, WebServer(limits=Limits(message_bytes=3000)))
        running["server"] = uvicorn.Server(config)
        loop.run_until_complete(running["server"].serve(sockets=[found]))
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        with connect(f"ws://{address}/ws") as ann:
            ann.send(json.dumps({"type": "create", "game": "tic_tac_toe"}))
            kinds = []
            while "state" not in kinds:
                kinds.append(json.loads(ann.recv(timeout=60))["type"])
            began = time.perf_counter()
            ann.send(json.dumps({"type": "turn", "text": "5"}))
            while (message := json.loads(ann.recv(timeout=60)))["type"] != "state":
                continue
            assert message["position"] == ".../.X./..." and time.perf_counter() - began < 5
            with pytest.raises(ConnectionClosed) as closed:
                ann.send("x" * 4000)
                while True:
                    ann.recv(timeout=60)
            assert closed.value.rcvd.code == 1009
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://{address}/ws", additional_headers={"Origin": "http://evil.example"})
        assert refused.value.response.status_code == 403
        assert httpx.get(f"http://{address}/", headers={"Host": "evil.example"}).status_code == 403
    finally:
        running["server"].should_exit = True
        thread.join(30)


def test_some_fuzzing():
    """Some of the requests and messages of `benchmarks/web_fuzz.py`; its report has 100,000."""
    file = Path(__file__).parents[2] / "benchmarks" / "web_fuzz.py"
    spec = importlib.util.spec_from_file_location("web_fuzz", file)
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    report = asyncio.run(fuzz.fuzz(500, 1000, seed=7, sizes=False))
    assert report["must_be_empty"] == {}, report["examples"]
    assert report["answers"]["state"] > 25 and report["answers"]["error"] > 500


BUSY = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background has it ignored
from jaxgames.cli import main
from jaxgames.web.app import WebServer
WebServer.games = lambda self: time.sleep(1000)  # what is computed does not end
sys.exit(main(["web", "--port", "0", "--no-keep"]))
"""


def test_ctrl_c_ends_the_server_whatever_it_computes():
    with subprocess.Popen([sys.executable, "-c", BUSY], stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline()
            port = int(line.split("127.0.0.1:")[1].split("/")[0])
            with socket.create_connection(("127.0.0.1", port)) as asking:
                asking.sendall(b"GET /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                with socket.create_connection(("127.0.0.1", port)) as other:  # is answered while the first one waits
                    other.sendall(b"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                    assert other.recv(100).startswith(b"HTTP/1.1 200")
                process.send_signal(signal.SIGINT)
                assert process.wait(timeout=120) == 130
        finally:
            process.kill()


async def _answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def beside_server(work):
    """What some work gives beside a server; it is given the port and the configuration."""

    async def run():
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            _answer, http=server_module.bounded_http(), log_level="error", lifespan="off", limit_concurrency=20
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
    monkeypatch.setattr(server_module, "MOST_WAITING", 8)

    async def work(port):
        halves = [await half(port) for _ in range(40)]
        closed = [await is_closed(reader) for reader, _ in halves[:30]]
        answers = await ask(port, times=2)
        halves[-1][1].write(b"host\r\n\r\n")  # the youngest may still end theirs
        last = await halves[-1][0].readuntil(b"ok")
        for _, writer in halves:
            writer.close()
        return closed, answers, last

    closed, answers, last = beside_server(work)
    assert closed == [True] * 30 and answers == [b"HTTP/1.1 200 OK"] * 2 and last.startswith(b"HTTP/1.1 200")


def test_a_request_has_a_time_and_so_has_the_next_one(monkeypatch):
    monkeypatch.setattr(server_module, "REQUEST_SECONDS", 0.3)

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

    assert beside_server(work) == (True, True)
