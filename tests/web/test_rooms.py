"""Games in a row: who begins, what counts; and answers that come when people have gone on otherwise."""

import asyncio
import threading

import pytest

from jaxgames.web.engine import Engine, Lane
from jaxgames.web.rooms import Room
from tests.web.pages import PERSON, RANDOM, page, serving


def test_games_in_a_row_swap_sides_and_are_counted(ann):
    ann.create("tic_tac_toe", [RANDOM, RANDOM])
    ann.do("pause", on=True)
    ann.do("speed", seconds=0)
    ann.do("match", games=6)
    ann.do("display", on=False)
    ann.send("pause", on=False)
    state = ann.wait(lambda s: s["match"] and s["match"]["played"] == 6)
    match = state["match"]
    assert match["swapped"] and match["wins"][0] + match["wins"][1] + match["draws"] == 6
    assert match["points"] == match["wins"] and state["over"]


@pytest.mark.parametrize("kind", ["undo", "new"])
def test_no_next_game_begins_once_people_have_gone_on_otherwise(ann, monkeypatch, kind):
    """Its start is made outside of the event loop; meanwhile somebody may take the end back, or begin another game."""
    begun, go, made, fresh, next_game = *(threading.Event() for _ in range(3)), Room.fresh, Room._next_game

    def slowly(self):
        begun.set()
        go.wait(60)
        return fresh(self)

    async def watched(self):
        await next_game(self)
        made.set()

    ann.create("tic_tac_toe", [PERSON, RANDOM])
    ann.do("match", games=3)
    monkeypatch.setattr(Room, "_next_game", watched)
    monkeypatch.setattr(Room, "fresh", slowly)
    ann.do("resign")
    begun.wait(60)
    ann.do(kind, **({"game": "connect_four"} if kind == "new" else {}))
    go.set()
    made.wait(60)
    assert ann.do("pause", on=True)["game"] == ("connect_four" if kind == "new" else "tic_tac_toe")
    assert ann.state["over"] is None and [seat["kind"] for seat in ann.state["seats"]] == ["person", "player"]


@pytest.mark.parametrize(
    ("kind", "fields", "waits"), [("match", {"games": 3}, "run"), ("seat", {"seat": 1, "to": RANDOM}, "lane")]
)
def test_what_was_asked_for_one_game_is_not_done_in_another(ann, bob, monkeypatch, kind, fields, waits):
    """Where the answer takes time, and somebody begins another game in another tab meanwhile."""
    begun, go, original = threading.Event(), threading.Event(), getattr(Engine, waits)

    async def slowly(*arguments):
        if not begun.is_set():
            begun.set()
            await asyncio.to_thread(go.wait, 60)
        return await original(*arguments)

    ann.create("tic_tac_toe")
    bob.join(ann.welcome["session"], ann.welcome["token"])
    monkeypatch.setattr(Engine, waits, slowly)
    number = ann.send(kind, **fields)
    begun.wait(60)
    assert bob.do("new")["ply"] == 0
    go.set()
    assert ann.until(lambda message: message.get("id") == number)["message"] == "another game has begun meanwhile"


def test_a_player_that_fails_does_not_stop_the_game_that_has_begun_meanwhile(ann, monkeypatch):
    begun, go, choose = threading.Event(), threading.Event(), Lane.choose

    async def fails_late(self, state, bits):
        if begun.is_set():
            return await choose(self, state, bits)
        begun.set()
        await asyncio.to_thread(go.wait, 60)
        raise ValueError("the player has failed")

    monkeypatch.setattr(Lane, "choose", fails_late)
    ann.create("tic_tac_toe", [RANDOM, PERSON])
    begun.wait(60)
    ann.do("new")
    go.set()
    state = ann.wait(lambda state: state["ply"] or state["paused"])
    assert state["ply"] == 1 and not state["paused"]


def test_the_pause_that_is_shown_is_kept_and_rows_of_programs_wait_for_nobody(ann):
    ann.create("tic_tac_toe", [RANDOM, RANDOM])
    assert ann.state["speed"] == 1
    ann.do("pause", on=True)
    assert ann.do("match", games=3)["speed"] == 0
    ann.send("pause", on=False)
    assert ann.wait(lambda s: s["match"]["played"] == 3)["speed"] == 1
    ann.do("speed", seconds=5)
    assert ann.do("match", games=3)["speed"] == 5
    ann.do("seat", seat=0, to=PERSON)


def test_a_game_in_a_row_that_is_taken_up_again_counts_as_it_ends_then(ann):
    ann.create("tic_tac_toe")
    ann.do("match", games=3)
    ann.do("speed", seconds=10)  # until the next one begins
    ann.do("resign", seat=0)
    assert ann.state["match"]["points"] == [0, 1]
    assert "begin another" in ann.refuse("swap") and not ann.state["can"]["swap"]
    ann.do("undo")
    assert (ann.state["match"]["played"], ann.state["match"]["points"]) == (0, [0, 0])
    ann.do("resign", seat=1)
    match = ann.state["match"]
    assert (match["played"], match["points"], match["wins"]) == (1, [1, 0], [1, 0])


def test_chance_says_who_begins_in_games_in_a_row():
    with serving() as (server, http), page(http) as ann:
        ann.create("backgammon")
        for word in (6, 7):
            ann.do("resign")
            server.engine.bits = lambda word=word: word
            assert ann.do("match", games=3)["to_move"] == word & 1
