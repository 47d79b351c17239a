"""Clocks: what each kind takes and gives, by a clock that the test sets; flags, records, restarts, programs."""

import asyncio
import functools
import math
import time

import pytest

from jaxgames.web.clocks import Clock, TimeControl, control_of
from jaxgames.web.engine import Lane
from tests.web.pages import PERSON, RANDOM, page, serving

BLITZ = {"kind": "increment", "seconds": 300, "bonus": 3}


class Watch:
    """A clock that only the test moves."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds

    def pause(self):
        self.seconds += 5


@pytest.fixture
def watch():
    return Watch()


@pytest.mark.parametrize(
    ("kind", "bonus", "left"),
    [("sudden death", 0, [290, 260]), ("increment", 3, [293, 263]), ("delay", 12, [300, 272])],
)
def test_what_turns_take(watch, kind, bonus, left):
    """A turn of 10 s by one side in two parts, one of 40 s by the other; then thought that does not count."""
    clock = Clock(TimeControl(kind, 300, bonus), watch)
    clock.run(0)
    watch.seconds += 4
    clock.run(0)
    watch.seconds += 6
    clock.end_turn(0, True)
    watch.seconds += 1000  # nobody's
    clock.run(1)
    watch.seconds += 40
    clock.end_turn(1, True)
    assert clock.left == left and clock.seconds() == [10, 40]
    clock.run(0, counts=False)
    watch.seconds += 7
    assert clock.until_flag() == math.inf and clock.seconds() == [17, 40]
    clock.end_turn(0, False)
    assert clock.left == left
    clock.run(1)
    watch.seconds += 100
    assert clock.until_flag() == left[1] + (bonus if kind == "delay" else 0) - 100
    clock.exchange()
    assert clock.left[1] == left[0] and clock.seconds() == [140, 17]


def test_what_a_page_may_ask_for():
    assert control_of({"kind": "none", "seconds": None, "bonus": 0}) is None is control_of(None)
    for kind, bonus, text in (("sudden death", 0, "90"), ("increment", 2, "90+2"), ("delay", 2.5, "90d2.5")):
        assert str(control_of({"kind": kind, "seconds": 90, "bonus": bonus})) == text
    for fields, says in (
        (("increment", None, 3), "needs seconds"),
        (("increment", 60, 0), "a bonus of at least"),
        (("sudden death", 60, 3), "no bonus"),
    ):
        with pytest.raises(ValueError, match=says):
            control_of(dict(zip(("kind", "seconds", "bonus"), fields, strict=True)))


@pytest.fixture
def timed(monkeypatch, watch):
    """Rooms have clocks that the test moves."""
    monkeypatch.setattr("jaxgames.web.rooms.Clock", functools.partial(Clock, now=watch))


def two(http, ann, bob, game, **fields):
    ann.create(game, name="Ann", **fields)
    link = ann.ask("invite", seat=1)
    bob.join(link["session"], link["token"], name="Bob")
    ann.wait(lambda s: s["seats"][1]["online"])


def play(ann, bob, *texts):
    """Both play in turns."""
    for number, text in enumerate(texts):
        player, other = (ann, bob) if number % 2 == 0 else (bob, ann)
        player.wait(lambda s: s["to_move"] in s["you"]["seats"])
        ply = player.do("turn", text=text)["ply"]
        other.wait(lambda s, ply=ply: s["ply"] == ply)


def test_a_game_is_lost_on_time(timed, watch):
    """The first turns are free; afterwards who is too late has lost, whatever is played, and the record says so."""
    with serving() as (_, http), page(http) as ann, page(http) as bob, page(http) as eve:
        two(http, ann, bob, "checkers", clock=BLITZ)
        watch.seconds += 1000
        play(ann, bob, "11-15", "22-18")
        assert ann.state["clock"] == {**BLITZ, "left": [300, 300], "free": 0, "running": 0}
        eve.join(ann.welcome["session"])
        watch.seconds += 103
        play(ann, bob, "15x22")
        seen = eve.wait(lambda s: s["ply"] == 3)["clock"]
        assert (seen["left"], seen["running"]) == ([200, 300], 1)
        watch.seconds += 300
        assert bob.refuse("turn", text="25x18") == "the game is over"
        over = eve.wait(lambda s: s["over"])["over"]
        assert (over["winner"], over["reason"]) == (0, "time forfeit")
        assert over["text"] == "Black wins: White has lost on time"
        assert "cannot be taken back" in ann.refuse("undo")
        file = ann.ask("save", format="pdn")["text"]
        assert '[Termination "time forfeit"]' in file and '[TimeControl "300+3"]' in file
        ann.do("new", exchange=True, clock=BLITZ)
        assert ann.state["clock"]["left"] == [300, 300] and ann.state["you"]["seats"] == [1]
        ann.do("load", text=file)
        bob.wait(lambda s: s["offer"])
        bob.do("answer", accept=True)
        assert ann.wait(lambda s: s["over"])["over"]["text"] == over["text"]
        ann.do("new", clock={"kind": "none"})  # a rematch needs no word, but this one
        assert ann.state["offer"] == {"what": "new", "by": 1}
        bob.wait(lambda s: s["offer"])
        bob.do("answer", accept=True)
        assert ann.wait(lambda s: not s["over"])["clock"] is None


def test_the_flag_falls_by_itself_and_gammons_are_not_lost_by_it():
    with serving() as (server, http), page(http) as ann:
        ann.create("backgammon", position="4HPwATDgc/ABMA:31", clock={**BLITZ, "kind": "sudden death", "bonus": 0})
        while ann.state["ply"] < 2:
            ann.do("end_turn") if ann.state["can"]["end_turn"] else ann.step()
        ann.step()  # a part of a turn
        server.lobby.rooms[ann.welcome["session"]].clock.left[0] = 0.05
        began = time.monotonic()
        ann.do("speed", seconds=1)  # any change looks at the clock anew
        over = ann.wait(lambda s: s["over"])["over"]
        assert over["points"] == [-1, 1] and over["reason"] == "time forfeit" and time.monotonic() - began < 5
        assert "RE[B+1T]" in ann.ask("save", format="sgf")["text"]
        ann.do("load", text=ann.ask("save", format="sgf")["text"])
        assert ann.state["over"]["reason"] == "time forfeit"


def test_time_stands_still_while_the_server_is_down(timed, watch, tmp_path):
    with serving(keep=tmp_path / "games.db") as (_, http), page(http) as ann:
        ann.create("tic_tac_toe", clock={"kind": "delay", "seconds": 60, "bonus": 5})
        session, token = ann.welcome["session"], ann.welcome["token"]
        for text in ("5", "1"):
            ann.do("turn", text=text)
        watch.seconds += 25
    watch.seconds += 10_000
    with serving(keep=tmp_path / "games.db") as (_, http), page(http) as ann:
        ann.join(session, token)
        assert ann.state["clock"]["left"] == [40, 60] and ann.state["clock"]["free"] == 0
        watch.seconds += 39
        ann.do("turn", text="2")
        assert ann.state["clock"]["left"] == [1, 60] and ann.state["clock"]["free"] == 5


def test_a_turn_earns_its_bonus_once_and_a_game_its_points(timed, tmp_path):
    """However often it is taken back and played again, and whether the server was restarted meanwhile."""
    file = tmp_path / "games.db"
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.create("tic_tac_toe", clock=BLITZ)
        ann.do("match", games=3)
        ann.do("speed", seconds=10)  # until the next game begins
        for text in ("5", "1", "2"):
            ann.do("turn", text=text)
        ann.do("undo")
        ann.do("redo")
        ann.do("undo")
        assert ann.do("turn", text="3")["clock"]["left"] == [303, 300]
        ann.do("undo")
    for ply in (2, 3):
        with serving(keep=file) as (_, http), page(http) as again:
            again.join(ann.welcome["session"], ann.welcome["token"])
            if again.state["over"]:
                assert again.state["match"]["points"] == [0, 1]
                again.do("undo")
            assert again.state["match"]["points"] == [0, 0] and again.state["match"]["played"] == 0
            assert again.do("turn", text=f"{ply}")["clock"]["left"] == [303, 300 + 3 * (ply - 2)]
            again.do("resign", seat=0)


def test_a_program_has_a_clock_too(timed, watch, monkeypatch):
    """It takes what the program thinks, not the pause that follows; a program that thinks too long has lost."""
    choose, took = Lane.choose, []

    async def slow(self, state, bits):
        actions = await choose(self, state, bits)
        watch.seconds += 40
        asyncio.get_running_loop().call_later(0.1, watch.pause)  # half a second passes before the move is shown
        took.append(40)
        return actions

    monkeypatch.setattr(Lane, "choose", slow)
    with serving() as (_, http), page(http) as ann:
        ann.create("connect_four", [PERSON, RANDOM], clock={"kind": "sudden death", "seconds": 60})
        for ply in (0, 2):
            ann.step(ply)
            ann.wait(lambda s, ply=ply: s["ply"] == ply + 2)
        assert ann.state["clock"]["left"] == [60, 20] and len(took) == 2
        ann.step(4)
        over = ann.wait(lambda s: s["over"])["over"]
        assert over["text"] == "Red wins: Yellow has lost on time"
