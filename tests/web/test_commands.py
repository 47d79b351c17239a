"""Commands that the page starts: by whom, one at a time, with an end; a tiny script stands for them."""

import signal
import subprocess
import sys
import time

import pytest

from jaxgames.runs import Run
from jaxgames.web import attended, commands
from jaxgames.web.guard import is_here
from tests.web.pages import page, serving

HERE, PROXY = "127.0.0.1", {"x-forwarded-for": "198.51.100.7"}
SCRIPT = """
import json, pathlib, sys
folder = pathlib.Path(next(a for a in sys.argv if a.startswith("--out="))[6:])
if "--fail" in sys.argv:
    sys.exit("jaxgames: it failed")
if "--resume" not in sys.argv:
    folder.mkdir(parents=True)
    config = {"game": "tic_tac_toe", "recipe": "td"}
    (folder / "config.json").write_text(json.dumps({"format": 1, "config": config}))
    (folder / "metrics.jsonl").write_text('{"step": 1, "games": 5, "progress": 0.25}\\n')
print("\\x1b[1mit goes on\\x1b[0m" if "--resume" in sys.argv else "it begins", flush=True)
if "--short" not in sys.argv:
    sys.stdin.read()
    sys.exit(130)
"""
STANDS_FOR_JAXGAMES = """
import sys, time
try:
    print(sys.argv[1:], flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("stopped")
    sys.exit(130)
"""
ASKED = {"fields": {"recipe": "td"}}
MESSAGES = {
    "form": {"what": "training", "asked": ASKED},
    "start": {"what": "training", "name": "mine", "asked": ASKED},
    "stop": {"what": "training", "name": "mine"},
    "resume": {"what": "training", "name": "mine"},
}


class Form:
    verb = "train"

    def form(self, asked):
        return {"name": "mine", "fields": [], "error": None}

    def arguments(self, asked):
        if asked["fields"].get("recipe") == "wrong":
            raise ValueError("this cannot be")
        return [f"--{name}" for name in asked["set"]]


@pytest.fixture
def work(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    monkeypatch.setattr(commands, "RUN", (sys.executable, "-S", "-E", str(script)))
    monkeypatch.setattr("jaxgames.web.training.KEPT_SECONDS", 0.0)
    return {"work": tmp_path / "state", "forms": {"training": Form()}}


def until(http, holds, address="/api/commands"):
    """What an address says, once a function of it holds."""
    limit = time.monotonic() + 60
    while not holds(found := http.get(address).json()):
        assert time.monotonic() < limit, found
        time.sleep(0.01)
    return found


def ended(http, status):
    return until(http, lambda c: c["last"] and c["last"]["status"] == status)["last"]


def test_a_training_is_started_watched_stopped_and_gone_on_with(work):
    with serving(HERE, **work) as (server, http), page(http) as ann:
        assert http.get("/api/commands").json() == {"may": True, "last": None}
        assert ann.ask("form", what="training", asked=ASKED)["name"] == "mine-1"
        ann.ask("start", what="training", name="mine", asked=ASKED)
        until(http, lambda c: c["last"]["says"] == ["it begins"])
        run = until(http, lambda r: r["runs"], "/api/runs")["runs"][0]
        assert (run["name"], run["under_way"], run["goes_on"], run["progress"]) == ("mine", True, False, 0.25)
        assert "one at a time: the training mine is under way" in ann.refuse(
            "start", **MESSAGES["start"] | {"name": "b"}
        )
        assert "one at a time" in ann.refuse("resume", what="training", name="mine")
        assert "no training 'b' is under way" in ann.refuse("stop", what="training", name="b")
        ann.ask("stop", what="training", name="mine")
        ended(http, "stopped")
        run = http.get("/api/runs/mine").json()
        assert (run["under_way"], run["goes_on"]) == (False, True)
        assert "something called mine already" in ann.refuse("start", **MESSAGES["start"])
        ann.ask("resume", what="training", name="mine")
        until(http, lambda c: c["last"]["says"] == ["it goes on"])
        process = server.commands.current._process
    assert process.wait(5) == 130  # the end of the server is its end
    with serving(HERE, **work) as (server, http):  # and the next server has it
        assert http.get("/api/runs/mine").json()["goes_on"]
        assert list(server.offered.runs) == ["mine"]


def test_what_fails_or_is_done_is_told_and_what_cannot_be_is_refused(work):
    with serving(HERE, **work) as (_, http), page(http) as ann:
        ann.ask("start", what="training", name="bad", asked={"set": {"fail": "x"}})
        assert ended(http, "failed")["says"] == ["jaxgames: it failed"]
        ann.ask("start", what="training", name="good", asked={"set": {"short": "x"}})
        ended(http, "done")
        assert ann.refuse("start", what="training", name="c", asked={"fields": {"recipe": "wrong"}}) == "this cannot be"
        for name in ("../up", "", "a b", ".hidden", "random"):
            assert "name" in ann.refuse("start", what="training", name=name, asked=ASKED)
        assert "no training 'x' here" in ann.refuse("resume", what="training", name="x")
        assert "expected at most 100" in ann.refuse("form", what="training", asked={"fields": {"recipe": "x" * 101}})


@pytest.mark.parametrize("kind", MESSAGES)
def test_who_may_send_each_message(work, kind):
    """Who is at the server's machine; all, those by a server in front of it too, where guests are trusted."""
    for address, headers, trusted in (
        (HERE, {}, False),
        ("198.51.100.7", {}, False),
        (HERE, PROXY, False),
        (HERE, PROXY, True),
    ):
        with serving(address, **work, trust_guests=trusted) as (server, http), page(http, **headers) as ann:
            may = (address == HERE and not headers) or trusted
            answer = ann.ask(kind, **MESSAGES[kind])
            assert (answer.get("message") == commands.ELSEWHERE) is not may
            assert may or server.commands.last is None
            if not headers:
                assert http.get("/api/commands").json()["may"] is may
        for path in list(work["work"].rglob("*.json*")):
            path.unlink()
            path.parent.rmdir() if not any(path.parent.iterdir()) else None
    with serving(HERE) as (_, http), page(http) as ann:  # a server that starts nothing
        assert ann.refuse(kind, **MESSAGES[kind]) == commands.ELSEWHERE


def test_the_number_of_folders_is_bounded(work, monkeypatch):
    for number in range(3):
        Run.create(work["work"] / "trainings" / f"r{number}", {})
    with serving(HERE, **work) as (server, http), page(http) as ann:
        monkeypatch.setattr(server.commands, "_limits", server.limits.__class__(folders=3))
        assert "there are 3 of them already" in ann.refuse("start", **MESSAGES["start"])


@pytest.mark.parametrize(
    ("client", "host", "headers", "here"),
    [
        ("127.0.0.1", "localhost:80", {}, True),
        ("127.9.0.1", "127.0.0.1", {}, True),
        ("::1", "[::1]:8000", {}, True),
        ("::ffff:127.0.0.1", "localhost", {}, True),
        ("192.0.2.4", "localhost", {}, False),
        ("127.0.0.1", "games.example", {}, False),
        ("127.0.0.1", "localhost", {"Forwarded": "for=1"}, False),
        ("127.0.0.1", "localhost", {"X-Real-IP": "1"}, False),
    ],
)
def test_who_is_here(client, host, headers, here):
    pairs = [(name.encode(), value.encode()) for name, value in {"host": host, **headers}.items()]
    assert is_here({"client": (client, 1), "headers": pairs}) is here
    assert not is_here({"headers": pairs})


def test_a_command_ends_with_the_pipe_of_whoever_has_started_it(tmp_path):
    """Also where interrupts were ignored, as a shell has it for what runs in the background."""
    (tmp_path / "jaxgames").mkdir()
    (tmp_path / "jaxgames" / "__main__.py").write_text(STANDS_FOR_JAXGAMES)
    ignoring = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(
            [sys.executable, "-S", attended.__file__, "train", "--out=x"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(tmp_path)},
        )
    finally:
        signal.signal(signal.SIGINT, ignoring)
    assert process.stdout.readline() == "['train', '--out=x']\n"
    process.stdin.close()
    assert process.stdout.read() == "stopped\n" and process.wait(20) == 130
    process.stdout.close()
