"""Bad requests and messages for the page's server; it counts what must never happen, and each count has to be 0.

    python benchmarks/web_fuzz.py [--requests 20000] [--messages 100000] [--seed 0] [--out FILE]

The application runs in this process, without a network: requests and messages are given to it as a web server would.
Some are noise, most are messages of the page with something wrong in them: wrong types, huge numbers, illegal moves,
tokens of other people's seats, paths instead of names. Meanwhile two people play; nobody else may move, see their
tokens, or stop their game.
"""

import argparse
import asyncio
import collections
import copy
import gc
import json
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from jaxgames.web.app import WebServer  # noqa: E402
from jaxgames.web.limits import Limits  # noqa: E402

HOST = "127.0.0.1:8000"
GENEROUS = Limits(
    messages_per_second=10**6, burst=10**7, faults=10**9, creations_per_minute=10**6, sessions=200, queue=10**5
)
"""Without the bounds of rates, so that every message reaches what it is about. Those have tests of their own."""

HUGE = 10**40
PATHS = (
    "/etc/passwd", "../../etc/passwd", "..\\..\\windows", "file:///etc/passwd", "~/.ssh/id_rsa",
    "/proc/self/environ", "C:\\",
    "static/../app.py", "a/../../b", "%2e%2e%2f", "..%00", "\\\\host\\share", "http://example.com/",
    "//example.com", "./.",
    "$(id)", "`id`", "; ls", "| cat", "{{7*7}}", "<script>alert(1)</script>", "' OR 1=1 --", "\u202e", "x" * 5000, "",
)  # fmt: skip
SPECS = ("random", "random", "random", "simple:1", "uct:50", "champion:easy", "uct:5001", "alphabeta:99", "hub:ls",
         "gnubg:0", "weak:0.2:random", "weak:2:random", "weak:0.2:/etc/passwd", "newest:..", "puct:..:10",
         "random,x=1", "@2",
         "champion@99", "runs/a", "plugin:/tmp/x.py", "uct:-1", "uct:1e9", "uct:٣", "weak:" * 40)  # fmt: skip
GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon", "chess", "", "__class__", "../checkers")
POSITIONS = (
    None, "", "4453", "1212121", "XO./.../...", "B:W21,22:B1,2", "W:W32:B1:H99", "4HPwATDgc/ABMA:31",
    "4HPwATDgc/ABMA:77",
    "B:W" + "1," * 500, "9" * 2000, "4HPwATDgc/ABMA:" + "1" * 50, "X" * 11, "....", "B:WK1:BK32:J32",
)  # fmt: skip
FILES = (
    "", "[]", "{}", "1. 11-15 *", "1. 11-16 9-13 *", "(;GM[6];W[31hefe])", "(;GM[6];W[99zz])", "(" * 5000,
    "4453", "4" * 3000,
    "# game connect_four rows=99\n44", "# game tic_tac_toe\n5 1",
    ' 1 point match\n\n Game 1\n a : 0  b : 0\n  1) 31: 8/5 6/5',
    '{"game":"checkers","start":"B:W21:B1","turns":["1-5"]}', '{"game":["x"],"turns":{}}',
    '[Event "' + "x" * 9000, "\u0000",
)  # fmt: skip


def noise(rng):
    """A text that is hardly a message."""
    kind = rng.randrange(7)
    if kind == 0:
        codes = (rng.choice((rng.randrange(32, 127), rng.randrange(0xD7FF))) for _ in range(rng.randrange(200)))
        return "".join(map(chr, codes))
    if kind == 1:
        return json.dumps(message(rng, {}))[: rng.randrange(1, 40)]
    if kind == 2:
        return rng.choice("[{") * rng.randrange(1, 50_000)
    if kind == 3:
        return '{"type":"step","actions":[' + "9" * rng.randrange(1, 6000) + "]}"
    if kind == 4:
        return rng.choice(("NaN", "[Infinity]", "1e999", "null", '"step"', "[]", "{}", "0", "-", '{"type":1e999}'))
    if kind == 5:
        return '{"type":"ping","type":"resign","a":' + "[" * 900 + "]" * 900 + "}"
    return "x" * rng.choice((10, 262_143, 262_144, 262_145, 300_000))


def anything(rng, depth=0):
    """A value of JSON."""
    plain = (None, True, False, 0, 1, -1, 2**31, HUGE, -HUGE, 0.5, 1e308, "", "0", "\ud800", "\x00", "a" * 600)
    kind = rng.randrange(6)
    if kind < 3 or depth > 3:
        return rng.choice(plain)
    if kind == 3:
        return rng.choice(PATHS + SPECS)
    if kind == 4:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {rng.choice(("kind", "spec", "cells", "type", "__proto__", "")): anything(rng, depth + 1) for _ in range(3)}


def board(rng):
    """A board set up by hand, mostly a wrong one."""
    numbers = lambda count, low, high: [rng.randint(low, high) for _ in range(count)]  # noqa: E731
    return rng.choice(
        (
            {"cells": numbers(9, 0, 2)},
            {"cells": [numbers(7, 0, 2) for _ in range(6)]},
            {"squares": numbers(32, -2, 2), "quiet": rng.choice((0, 5, HUGE))},
            {"squares": [rng.choice((0, 0, 0, 1, -1, 2, -2)) for _ in range(32)]},
            {"points": [numbers(2, 0, 2) for _ in range(24)], "bar": numbers(2, 0, 1)},
            {"points": [[numbers(1, 0, 1)[0], 0] for _ in range(12)] + [[0, *numbers(1, 0, 1)] for _ in range(12)]},
            anything(rng),
        )
    )


def message(rng, known, sizes=True):
    """A message of the page; `known` are the session and tokens of people who play, and the state last seen."""
    specs = SPECS if sizes else [spec for spec in SPECS if spec not in ("uct:50", "champion:easy", "simple:1")]
    someone = lambda: rng.choice(({"kind": "person"}, {"kind": "player", "spec": rng.choice(specs)}))  # noqa: E731
    wrong = [{"rows": 11}, {"cols": -1}, {"points": 4}, {"x": 1}]
    variants = [{}, {}, {}, *wrong, *[{"rows": 4}, {"draw_after": 10}] * sizes]
    options = rng.choice(variants)
    legal = [move["actions"] for move in known.get("moves", ())]
    actions = (
        rng.choice(legal) if legal and rng.random() < 0.7 else [rng.randrange(-1, 160) for _ in range(rng.randrange(6))]
    )
    start = {
        "game": rng.choice(GAMES),
        "options": options,
        "position": rng.choice(POSITIONS),
        "to_move": rng.choice((None, 0, 1, 2)),
        "seats": [someone(), someone()],
    }
    kinds = {
        "create": {**start, "name": rng.choice(("Eve", "x" * 41, "", None))},
        "join": {"session": rng.choice((*[known.get("session", "x")] * 9, "x", "..", "")), "token": guess(rng, known)},
        "step": {"actions": actions, "version": rng.choice((None, None, 0, known.get("version", 1)))},
        "turn": {
            "text": rng.choice(("1", "4", "8/5 6/5", "11-15", "pass", "bar/off(9)", "x" * 300, "11x18x25", "٣", "-1"))
        },
        "resign": {"seat": rng.choice((None, 0, 1, 2))},
        "offer": {"what": rng.choice(("draw", "undo", "all"))},
        "answer": {"accept": rng.choice((True, False, 1))},
        "look": {"ply": rng.choice((0, 1, 5, 2000, 2001, -1, HUGE))},
        "analyse": {"ply": rng.choice((2000, -1, HUGE))},
        "analysis": {"on": True, "spec": rng.choice(("random", "simple:1", *PATHS))},
        "new": {**start, "from_ply": rng.choice((None, None, 0, 1, 99))},
        "seat": {"seat": rng.choice((0, 1, 2)), "to": someone()},
        "invite": {"seat": rng.choice((0, 1, -1))},
        "setup": {
            "board": board(rng),
            "to_move": rng.choice((0, 1)),
            "dice": rng.choice((None, [3, 1], [7], [1, 2, 3, 4])),
        },
        "check_setup": {"board": board(rng), "to_move": 0, "dice": rng.choice((None, [6, 6], []))},
        "load": {"format": rng.choice((None, "pdn", "json", "mat", "sgf", "txt", "../x")), "text": rng.choice(FILES)},
        "save": {"format": rng.choice(("pdn", "json", "mat", "sgf", "txt", *PATHS))},
        "match": {"games": rng.choice((0, 2, 1001, -1))},
        "speed": {"seconds": rng.choice((0, 0.1, 11, -1, HUGE))},
        "pause": {"on": rng.choice((True, False))},
        "display": {"on": rng.choice((True, False))},
        "name": {"name": rng.choice(PATHS)},
        "chat": {"text": rng.choice(PATHS)},
        **{name: {} for name in ("undo", "redo", "swap", "undo_step", "end_turn", "play_on", "ping")},
    }
    name = rng.choice(list(kinds) + ["step"] * 20 + ["turn", "end_turn"] * 3 + ["join"])
    return {"type": name, **kinds[name]}


def guess(rng, known):
    """A token that somebody without one may try."""
    tokens = known.get("tokens", ("x",))
    token = rng.choice(tokens)
    letter = rng.randrange(len(token))
    return rng.choice((None, None, "", token[:-1], token + "A", token.swapcase(), token[::-1], "x" * 32,
                       token[:letter] + chr(33 + rng.randrange(90)) + token[letter + 1 :] + "=", HUGE,
                       [token]))  # fmt: skip


def mutated(rng, found):
    """A message with something wrong in it."""
    found = copy.deepcopy(found)
    keys = list(found)
    for _ in range(rng.randrange(1, 3)):
        kind, key = rng.randrange(4), rng.choice(keys)
        if kind == 0:
            found.pop(key, None)
        elif kind == 1:
            found[key] = anything(rng)
        elif kind == 2:
            found[rng.choice(("extra", "__class__", "Type", ""))] = anything(rng)
        else:
            found["id"] = anything(rng)
    return found


class Line:
    """A WebSocket to the application, as a web server would hold it."""

    def __init__(self, server, seen):
        self.server, self.seen = server, seen
        self.inbox, self.taken = asyncio.Queue(), 0
        self.closed, self.task, self.state, self.welcome = False, None, None, None
        self._progress = asyncio.Event()

    async def open(self):
        scope = {"type": "websocket", "scheme": "ws", "path": "/ws", "raw_path": b"/ws", "query_string": b"",
                 "headers": [(b"host", HOST.encode())], "subprotocols": [], "client": ("127.0.0.1", 1),
                 "server": ("127.0.0.1", 8000), "asgi": {"version": "3.0"}, "state": {}, "root_path": ""}  # fmt: skip
        await self.inbox.put({"type": "websocket.connect"})
        self.task = asyncio.create_task(self.server.app(scope, self._receive, self._send))
        await self._handled(1)
        return self

    async def _receive(self):
        self._progress.set()
        found = await self.inbox.get()
        self.taken += 1
        self._progress.set()
        return found

    async def _send(self, event):
        if event["type"] == "websocket.close":
            self.closed = True
            self._progress.set()
        elif event["type"] == "websocket.send":
            text = event["text"]
            found = json.loads(text)
            self.seen(self, found, text)
            if found["type"] == "state":
                self.state = found
            elif found["type"] == "welcome":
                self.welcome = found

    async def _handled(self, count):
        """Waits until so many events were taken and the application asks for the next one."""
        while not self.closed and not self.task.done() and (self.taken < count or not self._asks()):
            self._progress.clear()
            try:
                await asyncio.wait_for(self._progress.wait(), 0.005)
            except TimeoutError:
                continue

    def _asks(self):
        return bool(self.inbox._getters)

    async def say(self, text):
        count = self.taken + self.inbox.qsize() + 1
        await self.inbox.put({"type": "websocket.receive", "text": text})
        await self._handled(count)
        await asyncio.sleep(0)

    async def close(self):
        await self.inbox.put({"type": "websocket.disconnect", "code": 1001})
        await asyncio.wait_for(asyncio.gather(self.task, return_exceptions=True), 60)


async def ask(server, rng):
    """The status of a bad request, and the body."""
    paths = ("/", "/train", "/challenge", "/tournaments", "/api/commands", "/api/tournaments", "/api/games",
             "/api/runs", "/api/status", "/ws", "/static/main.js", "/static/../app.py", "/api/runs/x",
             "/static/", "/static/boards", "//", "/api", "/docs", "/openapi.json", "/.git/config",
             "/favicon.ico")  # fmt: skip
    path = rng.choice(paths) if rng.random() < 0.5 else rng.choice(("/", "/static/", "/api/runs/")) + rng.choice(PATHS)
    if rng.random() < 0.2:
        path += rng.choice(("/", "?", "%00", "..;/", "\x00", "é", "%ff"))
    hosts = (
        *[HOST] * 60,
        "localhost",
        "evil.example",
        "",
        "127.0.0.1:99999",
        "[::1]",
        "[",
        "a" * 3000,
        "0x7f.1",
        "é",
    )
    headers = [(b"host", rng.choice(hosts).encode())] * rng.choice((*[1] * 30, 0, 2))
    for name in (
        "origin",
        "content-length",
        "transfer-encoding",
        "range",
        "cookie",
        "x-forwarded-host",
        "accept",
        "upgrade",
    ):
        if rng.random() < 0.1:
            values = (
                "http://" + HOST,
                "http://evil.example",
                "null",
                "-1",
                "5",
                "chunked",
                "bytes=0-",
                "x" * 500,
                "*/*",
            )
            headers.append((name.encode(), rng.choice(values).encode()))
    raw = path.encode("utf-8", "surrogatepass")
    scope = {"type": "http", "scheme": "http", "http_version": "1.1",
    "method": rng.choice(("GET",) * 6 + ("HEAD", "POST", "PUT", "X")),
             "path": path.partition("?")[0], "raw_path": raw, "query_string": rng.choice((b"", b"a=1", b"%ff",
             b"x" * 3000)),
             "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
             "asgi": {"version": "3.0"},
             "state": {}, "root_path": ""}  # fmt: skip
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"x" * rng.choice((0, 10)), "more_body": False}

    async def send(event):
        sent.append(event)

    await server.app(scope, receive, send)
    return sent[0]["status"], b"".join(event.get("body", b"") for event in sent)


class Report:
    """What happened, and what must not have happened."""

    def __init__(self):
        self.statuses, self.answers = collections.Counter(), collections.Counter()
        self.errors = collections.Counter()
        self.wrong = collections.Counter()
        self.examples = []

    def note(self, what, example):
        self.wrong[what] += 1
        if len(self.examples) < 20:
            self.examples.append([what, str(example)[:300]])


SECRETS = ("root:x:", "Traceback (most recent", "site-packages", "BEGIN OPENSSH", "/jaxgames/web/")
"""What no answer may hold: other people's files, or our code's."""


async def fuzz(requests, messages, seed, server=None, progress=None, sizes=True):
    """The report of so many requests and messages; without `sizes` only usual boards, and players quick to compile."""
    rng, report = random.Random(seed), Report()
    server = server or WebServer(limits=GENEROUS)
    people = {}

    def seen(line, found, text):
        report.answers[found["type"]] += 1
        if found["type"] == "error":
            report.errors[" ".join(found["message"].split()[:4])[:60]] += 1
            if "\n" in found["message"] or len(found["message"]) > 600:
                report.note("errors of several lines", found)
            if "the server failed" in found["message"]:
                report.note("failures of the server", found)
        for name, token in people.items():
            if line is not name and token in text:
                report.note("tokens seen by others", found["type"])
        if any(secret in text for secret in SECRETS):
            report.note("secrets in messages", text)

    ann, bob = await Line(server, seen).open(), await Line(server, seen).open()
    await ann.say(json.dumps({"type": "create", "game": "connect_four", "name": "Ann"}))
    invited = []
    before = seen

    def catch(line, found, text):
        if found["type"] == "invitation":
            invited.append(found["token"])
        before(line, found, text)

    ann.seen = catch
    await ann.say(json.dumps({"type": "invite", "seat": 1}))
    session = ann.welcome["session"]
    await bob.say(json.dumps({"type": "join", "session": session, "token": invited[0], "name": "Bob"}))
    people.update({ann: ann.welcome["token"], bob: invited[0]})
    tokens = tuple(people.values())
    played = ""
    rooms, began = server.lobby.rooms, time.monotonic()
    memory = []

    for _ in range(requests):
        status, body = await ask(server, rng)
        report.statuses[status] += 1
        if status >= 500:
            report.note("answers 5xx", body)
        text = body.decode("utf-8", "replace")
        if any(secret in text for secret in (*SECRETS, *tokens)):
            report.note("secrets in answers", text)

    lines = [await Line(server, seen).open() for _ in range(8)]
    for number in range(messages):
        place = rng.randrange(len(lines))
        line = lines[place]
        if line.closed or line.task.done() or rng.random() < 0.002:
            if not line.closed and not line.task.done():
                await line.close()
            elif line.task.done() and not line.task.cancelled() and line.task.exception():
                report.note("crashes of a connection", line.task.exception())
            lines[place] = line = await Line(server, seen).open()
        if line.welcome is None and rng.random() < 0.5:  # a session of its own, in which it can go far
            seats = [{"kind": "person"}, rng.choice(({"kind": "person"}, {"kind": "player", "spec": "random"}))]
            await line.say(json.dumps({"type": "create", "game": rng.choice(GAMES[:4]), "seats": seats}))
        state = line.state or {}
        known = {
            "session": session,
            "tokens": tokens,
            "moves": state.get("moves", ()),
            "version": state.get("version", 0),
        }
        kind = rng.random()
        found = message(rng, known, sizes) if kind > 0.05 else None
        text = noise(rng) if found is None else json.dumps(mutated(rng, found) if kind < 0.3 else found)
        try:
            await asyncio.wait_for(line.say(text), 120)
        except TimeoutError:
            report.note("messages without an end", text)
        if number % 500 == 0:
            if number % 1000 == 0 and len(played) < 40:  # Ann and Bob go on
                mover = ann if len(played) % 2 == 0 else bob
                column = next(c for c in "4352617" if played.count(c) < 6)
                await mover.say(json.dumps({"type": "turn", "text": column}))
                if mover.state["ply"] == len(played) + 1:
                    played += column
            if rooms[session].position() != played or rooms[session].over:
                if not rooms[session].over:
                    report.note("moves by others", rooms[session].position())
                await ann.say(json.dumps({"type": "new"}))
                await bob.say(json.dumps({"type": "answer", "accept": True}))
                played = ""
        if number % max(1, messages // 10) == 0:
            gc.collect()
            memory.append(resident())
            if len(rooms) > 100:  # what sessions without anybody are for: their end
                await end_left(server, session)
            if progress is not None:
                progress(f"{number:,} messages, {len(rooms)} sessions, {memory[-1]} MiB, {dict(report.wrong)}")

    if not (ann.state and rooms[session].chairs[0].token == tokens[0] and rooms[session].chairs[1].token == tokens[1]):
        report.note("seats taken by others", "")
    for line in [*lines, ann, bob]:
        if not line.closed and not line.task.done():
            await line.close()
    await end_left(server, None)
    left = {"sessions": len(server.lobby.rooms), "connections": len(server.lobby.clients)}
    await asyncio.sleep(0.5)
    tasks = len(asyncio.all_tasks()) - 1
    memory.append(resident())
    if any(left.values()) or tasks > 3:
        report.note("sessions, connections or tasks left", {**left, "tasks": tasks})
    if server.lobby.failures:
        report.note("failures of the server", server.lobby.failures)
    return {
        "requests": requests,
        "messages": messages,
        "seed": seed,
        "must_be_empty": dict(report.wrong),
        "examples": report.examples,
        "statuses": {str(status): count for status, count in sorted(report.statuses.items())},
        "answers": dict(report.answers.most_common()),
        "commonest_errors": dict(report.errors.most_common(40)),
        "left_over": {**left, "tasks": tasks},
        "memory_mib": memory,
        "seconds": round(time.monotonic() - began, 1),
    }


async def end_left(server, kept):
    """Ends the sessions that nobody is in, as the server does after some minutes."""
    for room in list(server.lobby.rooms.values()):
        if room.id != kept and not room.clients:
            room.left -= 3600
    await server.lobby.end_idle()


def resident():
    """MiB of memory that this process holds."""
    status = Path("/proc/self/status")
    return round(int(status.read_text().split("VmRSS:")[1].split()[0]) / 1024) if status.exists() else 0


def main():
    from _machine import machine

    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()

    def show(line):
        print(line, file=sys.stderr, flush=True)

    report = asyncio.run(fuzz(options.requests, options.messages, options.seed, progress=show))
    text = json.dumps({"machine": machine(), **report}, indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")
    return 1 if report["must_be_empty"] else 0


if __name__ == "__main__":
    sys.exit(main())
