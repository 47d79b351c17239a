"""Whatever a page sends, nobody else waits for it: the worst of each message beside another person's ping."""

import asyncio
import json
import time

import pytest

from jaxgames.cli.training_form import TrainingForm
from jaxgames.web.handlers import HANDLERS
from jaxgames.web.limits import Limits
from tests.web.pages import page, serving

LONG = 65_536
MOST = Limits().message_bytes - 200
STACKS = ("XXXOXXOOX", "XXXXXOXOXX", "OXOOOOOOX", "OXOXXXOOXX", "OOXXXOXXX", "XXXOOOOOX", "OOOXXX", "OOXOXOOOOX")
HARD = [stack.ljust(10, ".") for stack in (*STACKS, "OOXOXOOX", "OOXOOXOOXX")]
"""A board to which the search for moves finds none."""
BOARD = [[".XO".index(stack[9 - row]) for stack in HARD] for row in range(10)]
TEN = {"game": "connect_four", "options": {"rows": 10, "cols": 10, "connect": 8}}
NESTED = "weak:0:" * 16 + "random"
RULES = [
    json.dumps({"game": "connect_four", "start": "", "turns": [], "options": {"rows": r, "cols": c}})
    for r in range(4, 11)
    for c in range(4, 11)
]
FILES = [
    ("mat", "0 point match" + " " * LONG),
    ("mat", "a : 0  " * (LONG // 7)),
    ("mat", " a : 0  b : 0\n" * (LONG // 15)),
    ("sgf", "(;GM[6]()" + "(()" * (LONG // 3 - 9)),
    ("sgf", "(;GM[6])" * (LONG // 8)),
    ("pdn", "1. " + "1-" * (LONG // 2 - 3)),
    ("pdn", "1. 11-15 *\n" * (LONG // 11)),
    ("pdn", "9" * LONG),
    ("txt", "# game connect_four" + " a=1" * (LONG // 4 - 5)),
    ("txt", "# game tic_tac_toe\n" + "123456789\n" * (LONG // 10 - 3)),
    ("json", "[" * LONG),
    ("json", "9" * LONG),
    ("json", "".join(RULES).replace("turns", "t\\u0075rns")),
    (None, "{" + " " * (LONG - 1)),
    (None, "x" * MOST),
]
WORST = {
    "step": [{"actions": [1000] * 4}, {"actions": [0] * (MOST // 3)}],
    "turn": [{"text": "1x" * 100}, {"text": "9" * 200}, {"text": "8/5 " * 50}],
    "new": [{**TEN, "position": "1" * 2000}, {"game": "checkers", "position": "B:W" + "1," * 998}, {"game": "x" * 40}],
    "setup": [{"board": {"cells": BOARD}}, {"board": {"cells": [[1] * 10] * 9000}}],
    "check_setup": [{"board": {"cells": BOARD}}, {"board": {str(n): [n] * 4000 for n in range(16)}}],
    "load": [{"format": form, "text": text} for form, text in FILES],
    "seat": [{"seat": 1, "to": {"kind": "player", "spec": spec}} for spec in (NESTED, "a" * 120, "uct:" + "9" * 110)],
    "analysis": [{"on": True, "spec": NESTED}, {"on": True, "spec": "9" * 120}],
    "match": [{"games": 1000}],
    "chat": [{"text": "x" * 500}, {"text": "x" * MOST}],
    "name": [{"name": "x" * 40}, {"name": "\u202e" * 10_000}],
    "look": [{"ply": 2000}],
    "analyse": [{"ply": 2000}],
    "save": [{"format": "json"}, {"format": "x" * 10}],
    "resign": [{"seat": 1}],
    "invite": [{"seat": 1}],
}
RAW = [
    "[" * MOST,
    '{"a":' * (MOST // 5),
    '{"type":"ping","id":' + "9" * MOST + "}",
    "[" + "1e5," * (MOST // 4) + "1]",
    "[" + "[]," * (MOST // 3) + "1]",
    '"' + "\\u0041" * (MOST // 6) + '"',
    "{" + ",".join(f'"k{n}":1' for n in range(MOST // 12)) + "}",
    "\ud7ff" * (MOST // 3),
]
"""What no message is."""
BARE = set(HANDLERS) - set(WORST) - {"hint", "curve", "speed", "pause", "display", "offer", "answer"}


@pytest.fixture(scope="module")
def turns_of_the_loop():
    """How long each turn of the event loop has taken, in seconds of its own thread: nobody is answered meanwhile."""
    took, run = [], asyncio.Handle._run

    def timed(handle):
        begun = time.thread_time()
        run(handle)
        took.append(time.thread_time() - begun)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.Handle, "_run", timed)
        yield took


@pytest.fixture(scope="module")
def people(turns_of_the_loop, tmp_path_factory):
    many = 10_000
    limits = Limits(faults=many, messages_per_second=many, burst=many, creations_per_minute=many, load_seconds=0.2)
    forms = {"training": TrainingForm()}
    serves = serving("127.0.0.1", limits=limits, work=tmp_path_factory.mktemp("work"), forms=forms)
    with serves as (_, http), page(http) as ann, page(http) as eve:
        ann.create("tic_tac_toe")
        eve.create(**TEN)
        yield ann, eve


def flood(people, took, send):
    """Eve sends something, Ann is answered, and no turn of the loop is long; then Eve is answered, too."""
    ann, eve = people
    took.clear()
    send(eve)
    assert ann.ask("ping")["type"] == "pong"
    number = eve.send("ping")
    while (message := eve.socket.receive_json()).get("id") != number:
        assert message["type"] != "error" or len(message["message"]) < 700
    assert max(took) < 0.5, max(took)


@pytest.mark.parametrize("kind", [*WORST, *sorted(BARE)])
def test_the_worst_of_each_message(people, turns_of_the_loop, kind):
    for fields in WORST.get(kind, [{}]):
        flood(people, turns_of_the_loop, lambda eve, fields=fields: eve.send(kind, **fields))


@pytest.mark.parametrize("place", range(len(RAW)))
def test_what_is_no_message(people, turns_of_the_loop, place):
    flood(people, turns_of_the_loop, lambda eve: eve.socket.send_text(RAW[place]))


@pytest.mark.parametrize("name", ["tic-tac-toe-alphazero", "evolution", "td-gammon"])
def test_forms_of_trainings_at_their_worst(people, turns_of_the_loop, name):
    """Deep networks, which are traced to be checked, long texts and very many of them."""
    fields = {"recipe": name, "game": "tic_tac_toe" if name == "evolution" else ""}
    for changes in ({"hidden": ",".join(["1"] * 50)}, {f"{n}": "9" * 100 for n in range(60)}, {"batch": "9" * 100}):
        asked = {"fields": fields, "set": changes}
        flood(people, turns_of_the_loop, lambda eve, asked=asked: eve.send("form", what="training", asked=asked))


def test_forms_of_tournaments_at_their_worst(people, turns_of_the_loop):
    specs = [f"weak:0.{number}:champion" for number in range(12)], ["a" * 120] * 12, [NESTED] * 12
    for players in specs:
        asked = {"fields": {"game": "backgammon", "games": "9" * 100}, "players": players}
        flood(people, turns_of_the_loop, lambda eve, asked=asked: eve.send("form", what="tournament", asked=asked))


def test_sessions_at_their_worst(people, turns_of_the_loop):
    for fields in ({**TEN, "position": "1" * 2000}, {"game": "checkers", "position": "(" * 2000}, {"game": "x"}):
        flood(people, turns_of_the_loop, lambda eve, fields=fields: eve.send("create", **fields))
