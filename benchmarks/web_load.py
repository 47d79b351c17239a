"""The page's server under load: sessions at once against a program, how long their turns and the answers take.

    python benchmarks/web_load.py [--sessions 200] [--seconds 30] [--against SPEC] [--games GAME...] [--out FILE]

Starts `jaxgames web` as a process of its own and plays over real WebSockets, without a browser. Each session is a
person who thinks for some seconds, moves at random, and waits for the program. Measured are, in one run: from the start
of the process until the page has all that it asks for, until the first answer of a program; in sessions: from the
person's move until the server shows it (`shown`), and until the program has answered (`answered`). Several calls, for a
game each, fill the same file.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
from _machine import load_average, machine

EARLY = 3.0
"""Seconds in which 200 sessions begin; reported by themselves."""
GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon")


class Person:
    """One session: a person who moves at random."""

    def __init__(self, socket, rng, times):
        self.socket, self.rng, self.times = socket, rng, times
        self.state = None

    async def next_state(self):
        while True:
            message = json.loads(await self.socket.recv())
            if message["type"] == "error":
                raise RuntimeError(message["message"])
            if message["type"] == "notice" and message["kind"] == "error":
                raise RuntimeError(message["text"])
            if message["type"] == "state":
                self.state = message
                return message

    async def create(self, game, against):
        seats = [{"kind": "person"}, {"kind": "player", "spec": against}]
        await self.send(type="create", game=game, seats=seats)
        await self.next_state()
        await self.send(type="speed", seconds=0)
        return await self.next_state()

    async def send(self, **message):
        await self.socket.send(json.dumps(message))

    async def turn(self):
        """One turn of the person and of the program."""
        while self.state["to_move"] != 0 and not self.state["over"]:
            await self.next_state()
        if self.state["over"]:
            await self.send(type="new")
            while self.state["over"] or self.state["to_move"] != 0:
                await self.next_state()
        began = time.perf_counter()
        while True:
            asked, version = time.perf_counter(), self.state["version"]
            if self.state["turn"]["confirm"]:
                await self.send(type="end_turn")
            else:
                await self.send(type="step", actions=self.rng.choice(self.state["moves"])["actions"], version=version)
            while self.state["version"] == version:
                await self.next_state()
            self.times["shown"].append(time.perf_counter() - asked)
            if self.state["to_move"] != 0 or self.state["over"]:
                began = asked  # of the step that handed the turn over
                break
        while self.state["to_move"] != 0 and not self.state["over"]:
            await self.next_state()
        self.times["answered"].append(time.perf_counter() - began)


async def play(address, number, game, against, until, think, times, early=None, counted=0.0):
    import websockets

    rng = random.Random(number)
    async with websockets.connect(address, max_size=None, compression=None) as socket:
        person = Person(socket, rng, times)
        await person.create(game, against)
        await asyncio.sleep(rng.uniform(0, think))
        while time.perf_counter() < until:
            person.times = times if early is None or time.perf_counter() > counted else early
            await person.turn()
            person.times["turns"] += 1
            await asyncio.sleep(max(0, min(rng.uniform(0.5, 1.5) * think, until - time.perf_counter())))


async def load(address, game, against, sessions, seconds, think):
    """The times of many sessions at once."""
    await play(address, 0, game, against, time.perf_counter() + 1.5, 0.05, new_times())
    times, early, counted = new_times(), new_times(), time.perf_counter() + EARLY
    numbers = game, against, counted + seconds, think, times, early, counted
    await asyncio.gather(*(play(address, n, *numbers) for n in range(sessions)))
    return summary(times) | {"early": summary(early)}


def new_times():
    return {"shown": [], "answered": [], "turns": 0}


def summary(times):
    """Milliseconds: median, 95 of 100, the longest."""
    result = {"turns": times["turns"]}
    for name in ("shown", "answered"):
        values = np.array(times[name] or [np.nan]) * 1000
        result[name] = {
            "median_ms": round(float(np.median(values)), 1),
            "p95_ms": round(float(np.percentile(values, 95)), 1),
            "max_ms": round(float(values.max()), 1),
        }
    return result


class ServerProcess:
    """`jaxgames web` in a process of its own."""

    def __init__(self, *arguments):
        self.began = time.perf_counter()
        command = [sys.executable, "-m", "jaxgames", "web", "--port", "0", *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.address = line.split()[2]
        self.listening = time.perf_counter() - self.began
        while True:
            try:
                with urllib.request.urlopen(self.address, timeout=30) as answer:
                    answer.read()
                break
            except OSError:
                time.sleep(0.02)
        with urllib.request.urlopen(self.address + "api/games", timeout=30) as answer:
            answer.read()
        self.page = time.perf_counter() - self.began

    @property
    def socket(self):
        return self.address.replace("http", "ws") + "ws"

    def memory(self):
        """MiB that the process holds."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return None
        return round(int(status.read_text().split("VmRSS:")[1].split()[0]) / 1024)

    def stop(self):
        self.process.terminate()
        self.process.communicate()


async def first_move(address, game, against):
    """Until a program has answered the first move of a person."""
    import websockets

    async with websockets.connect(address, max_size=None, compression=None) as socket:
        person = Person(socket, random.Random(0), {"shown": [], "answered": []})
        await person.create(game, against)
        await person.turn()
        return person.times["shown"][0]


def starts(games, against):
    """Seconds from the start of a new process to the first answer, for each game; the disk has what was compiled."""
    found = {}
    for game in games:
        rows = []
        for _ in range(4):
            server = ServerProcess()
            shown = asyncio.run(first_move(server.socket, game, against))
            rows.append([server.listening, server.page, time.perf_counter() - server.began, shown])
            server.stop()
        listening, page, answered, shown = np.median(np.array(rows[1:]), axis=0).round(3).tolist()
        found[game] = {
            "listening_s": listening,
            "page_s": page,
            "first_answer_s": answered,
            "first_move_shown_s": shown,
            "first_answer_of_the_first_process_s": round(rows[0][2], 3),
        }
        print(game, found[game], file=sys.stderr, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--think", type=float, default=4.0, help="seconds that a person thinks, on average")
    parser.add_argument("--against", default="champion:easy")
    parser.add_argument("--games", nargs="*", default=GAMES)
    parser.add_argument("--no-starts", action="store_true", help="do not time new processes")
    parser.add_argument("--no-load", action="store_true", help="only time new processes")
    parser.add_argument("--out", type=Path, help="a file to which the figures of these games are added")
    options = parser.parse_args()
    settings = {"machine": machine(), "against": options.against, "sessions": options.sessions}
    settings["think_s"] = options.think
    known = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    parts = {name: known.get(name, {}) for name in ("starts", "load")}
    if not options.no_starts:
        parts["starts"] |= starts(options.games, options.against)
    if not options.no_load:
        parts["load"] |= under_load(options)
    text = json.dumps(settings | parts, indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


def under_load(options):
    """Each game on a server of its own, with what the machine did before and the memory it took."""
    found = {}
    for game in options.games:
        before, server = load_average(), ServerProcess()
        numbers = options.against, options.sessions, options.seconds, options.think
        memory = {"load_average_before": before, "memory_before_mib": server.memory()}
        times = asyncio.run(load(server.socket, game, *numbers))
        memory["memory_after_mib"] = server.memory()
        with urllib.request.urlopen(server.address + "api/status", timeout=30) as answer:
            memory["sessions_after"] = json.load(answer)["sessions"]
        server.stop()
        found[game] = times | memory | {"seconds": options.seconds}
        print(game, found[game], file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    main()
