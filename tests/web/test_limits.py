"""Every bound says in one clear line that it was met, and the others go on."""

import asyncio
import json
import time
from types import SimpleNamespace

import jax
import pytest

from jaxgames.envs.registry import make
from jaxgames.players import make as make_player
from jaxgames.web import keeping
from jaxgames.web.connection import Client
from jaxgames.web.engine import Engine
from jaxgames.web.limits import Limits, Rate
from jaxgames.web.lobby import Lobby
from jaxgames.web.offered_players import OfferedPlayers
from tests.web.pages import page, serving

SMALL = Limits(
    message_bytes=2000,
    sessions=2,
    connections=3,
    watchers=1,
    chat=20,
    name=5,
    turns=3,
    creations_per_minute=4,
)


@pytest.fixture(scope="module")
def small():
    with serving(limits=SMALL) as found:
        yield found


def test_sessions_connections_watchers_and_texts_are_bounded(small):
    server, http = small
    with page(http) as ann, page(http) as bob:
        ann.create("tic_tac_toe", name="Ann")
        bob.create("tic_tac_toe")
        assert "holds 2 sessions already" in bob.refuse("create", game="tic_tac_toe")
        with page(http) as eve:
            assert http.get("/api/status").json()["connections"] == 3
            with page(http) as fourth:
                assert "3 connections already" in fourth.until("error")["message"]
                assert fourth.socket.receive()["code"] == 1013
            eve.join(ann.welcome["session"])
            assert "1 people watch" in bob.refuse("join", session=ann.welcome["session"], token=None)
            assert "expected at most 20" in eve.refuse("chat", text="x" * 21)
            assert "expected at most 5" in eve.refuse("name", name="x" * 6)
            eve.socket.send_text('{"type":"ping","x":"' + "y" * 2000 + '"}')
            assert "longer than 2000 bytes" in eve.until("error")["message"]
            eve.do("chat", text="still here")
        for text in "123":
            ann.do("turn", text=text)
        assert ann.state["over"]["reason"] == "too many turns" and ann.state["over"]["points"] == [0, 0]
        for _ in range(2):
            bob.refuse("create", game="tic_tac_toe")
        assert "4 new sessions a minute" in bob.refuse("create", game="tic_tac_toe")
    asyncio.run(server.lobby.close())


def test_a_session_that_was_left_makes_room_for_a_new_one(small):
    server, http = small
    with page(http) as ann:
        ann.create("tic_tac_toe")
    with page(http) as bob, page(http) as eve:
        bob.create("tic_tac_toe")
        assert "holds 2 sessions already" in eve.refuse("create", game="tic_tac_toe")  # Ann may come back
        server.lobby.rooms[ann.welcome["session"]].left -= 60
        eve.create("tic_tac_toe")
        assert ann.welcome["session"] not in server.lobby.rooms and len(server.lobby.rooms) == 2
    asyncio.run(server.lobby.close())


def test_an_idle_session_ends_and_says_so(small):
    server, http = small
    with page(http) as ann:
        ann.create("tic_tac_toe")
        room = server.lobby.rooms[ann.welcome["session"]]
        room.used -= 60 * SMALL.idle_minutes + 1
        assert asyncio.run(_in_loop_of(http, server.lobby.end_idle)) == 1  # a day
        closed = ann.socket.receive()
        while closed["type"] != "websocket.close":
            closed = ann.socket.receive()
        assert (closed["code"], closed["reason"]) == (4000, "the session has ended, as nothing happened in it")
    with page(http) as bob:
        assert "no such session" in bob.refuse("join", session=room.id, token=room.host)


def test_an_open_page_is_enough_for_a_session_to_stay(small):
    server, http = small
    with page(http) as ann:
        ann.create("tic_tac_toe")
        server.lobby.rooms[ann.welcome["session"]].used -= 12 * 3600
        assert asyncio.run(_in_loop_of(http, server.lobby.end_idle)) == 0
        assert ann.do("turn", text="5")["ply"] == 1
    asyncio.run(server.lobby.close())


def test_a_session_that_all_have_left_ends_later(small):
    server, http = small
    with page(http) as ann:
        ann.create("tic_tac_toe")
        room = server.lobby.rooms[ann.welcome["session"]]
    deadline = time.monotonic() + 10
    while room.clients and time.monotonic() < deadline:
        time.sleep(0.01)
    assert asyncio.run(_in_loop_of(http, server.lobby.end_idle)) == 0
    room.left -= 60 * SMALL.left_minutes + 1
    assert asyncio.run(_in_loop_of(http, server.lobby.end_idle)) == 1 and room.id not in server.lobby.rooms


@pytest.mark.parametrize("meanwhile", ["ended", "joined"])
def test_what_happens_while_an_idle_session_is_closed_is_seen(meanwhile):
    class Idle:
        def __init__(self, name):
            self.id, self.clients, self.used, self.left, self.closed = name, set(), -1e9, -1e9, False

        async def close(self, reason):
            await asyncio.sleep(0)
            self.closed = True

    async def run():
        lobby, one, other = Lobby(SimpleNamespace(limits=SMALL)), Idle("one"), Idle("other")
        lobby.rooms = {"one": one, "other": other}
        ending = asyncio.create_task(lobby.end_idle())
        await asyncio.sleep(0)
        if meanwhile == "ended":
            assert await lobby._make_room()
        else:
            other.clients.add("Ann")
            other.used = other.left = time.monotonic()
        assert await ending == 1 and one.closed
        assert list(lobby.rooms.values()) == [other] * (meanwhile == "joined") and other.closed == (not lobby.rooms)

    asyncio.run(run())


async def _in_loop_of(http, function):
    """A coroutine function in the event loop of the application."""
    return http.portal.call(function)


def test_a_flood_is_slowed_down_and_then_cut_off():
    with serving(limits=Limits(messages_per_second=50, burst=5, faults=8)) as (_, http), page(http) as ann:
        ann.create("tic_tac_toe")
        for _ in range(40):
            ann.send("ping")
        errors, event = [], ann.socket.receive()
        while event["type"] != "websocket.close":
            errors += [json.loads(event["text"])] * ("too many messages" in event["text"])
            event = ann.socket.receive()
        assert event["code"] == 1008 and event["reason"] == "too many messages"
        assert len(errors) == 9 and "at most 50 a second" in errors[0]["message"]
        assert all(number > 1 for number in (error["id"] for error in errors))  # whoever waits for it is answered


def test_many_wrong_messages_end_the_connection():
    with serving(limits=Limits(faults=5)) as (_, http), page(http) as ann:
        for _ in range(6):
            ann.socket.send_text("{")
        events = [ann.socket.receive() for _ in range(7)]
        assert [event["type"] for event in events] == ["websocket.send"] * 6 + ["websocket.close"]


def test_a_rate_gives_back_with_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    rate = Rate(per_second=2, burst=3)
    assert [rate.allows() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5
    assert [rate.allows(), rate.allows()] == [True, False]
    now[0] = 100.0
    assert sum(rate.allows() for _ in range(10)) == 3


def test_a_page_that_reads_too_slowly_is_disconnected():
    client = Client(Limits(queue=4))
    for number in range(6):
        client.put({"n": number})
    assert client.closed == (1008, "this page reads too slowly")
    client = Client(Limits(queue_bytes=100))
    for _ in range(3):
        client.put({"text": "x" * 60})
    assert client.closed == (1008, "this page reads too slowly")


def test_the_pages_of_a_session_hold_no_more_than_its_bound_together():
    limits = Limits(queue_bytes=1000)
    clients = [Client(limits) for _ in range(10)]
    for client in clients:
        client.room = SimpleNamespace(clients=clients)
    one, other, third, *_ = clients
    for client in (one, other) * 3 + (one,):
        client.put("x" * 150)
    assert one.closed is other.closed is None  # 1,050 wait
    third.put("a word")  # who has less than a tenth is not to blame
    other.put("x" * 150)
    assert other.closed == (1008, "this page reads too slowly") and other._bytes == 0 and other._queue.qsize() == 1
    one.put("x" * 150)
    assert one.closed is third.closed is None  # there is room again


def test_a_board_that_takes_too_long_to_check_is_refused(monkeypatch):
    with serving(limits=Limits(setup_seconds=0.05)) as (_, http), page(http) as ann:
        ann.create("tic_tac_toe")
        monkeypatch.setattr("jaxgames.web.boards.MarksView.text", lambda *_: time.sleep(0.3))
        assert "too long to check" in ann.refuse("check_setup", board={"cells": [0] * 9}, to_move=0, dice=None)


def test_a_fault_of_the_server_is_counted_and_the_page_is_told(monkeypatch, caplog):
    with serving() as (server, http), page(http) as ann:
        ann.create("tic_tac_toe")
        room = server.lobby.rooms[ann.welcome["session"]]
        with monkeypatch.context() as broken:
            broken.setattr(room, "hand_over", lambda text: 1 / 0)
            assert "failed to do this" in ann.refuse("turn", text="1")
        assert server.lobby.failures == 1 and "ZeroDivisionError" in caplog.text
        ann.do("step", actions=[0])


# The engine.


class Recorder:
    """Programs that note how many positions each of their runs had."""

    def __init__(self, programs, seconds=0.0, error=None):
        self.programs, self.ready, self.sizes = programs, programs.ready, []
        self.seconds, self.error = seconds, error

    def lower(self, player, batch):
        self.programs.lower(player, batch)

    def prepare(self, player, batch):
        self.programs.prepare(player, batch)

    def choose(self, player, positions, bits, batch):
        self.sizes.append((len(positions), batch))
        if self.error:
            raise self.error
        time.sleep(self.seconds)
        return self.programs.choose(player, positions, bits, batch)


def engine_with(recorded, limits=Limits(), **settings):  # noqa: B008
    engine = Engine(OfferedPlayers(), limits)
    original = engine.programs.of
    engine.programs.of = lambda player: recorded.setdefault("r", Recorder(original(player), **settings))
    return engine


def test_positions_that_wait_are_answered_together_and_each_gets_its_own():
    game, recorded = make("tic_tac_toe"), {}
    start = [game.from_string("XX./OO./..."), game.from_string(".../OO./XX."), game.from_string("X.X/OO./...")]

    async def run():
        engine = engine_with(recorded)
        lane = await engine.lane("alphabeta:2", game)
        assert not lane.is_ready()
        await lane.choose(start[0], 0)
        assert lane.is_ready()
        answers = await asyncio.gather(*(lane.choose(start[n % 3], n) for n in range(9)))
        await asyncio.gather(*engine._tasks)
        await asyncio.gather(*(lane.choose(start[n % 3], n) for n in range(6)))
        engine.close()
        return answers

    answers = asyncio.run(run())
    assert answers == [[2], [8], [1]] * 3  # each wins at once
    assert recorded["r"].sizes[0] == (1, 1)
    assert (6, 8) in recorded["r"].sizes  # once compiled for eight, six that wait are one run


def test_a_player_that_does_not_search_has_one_program_which_is_compiled_before_it_is_asked():
    game, recorded = make("tic_tac_toe"), {}

    async def run():
        engine = engine_with(recorded)
        lane = await engine.lane("weak:0:champion@1", game)
        await (await lane.begin())
        assert lane.is_ready() and await lane.begin() is None and recorded["r"].sizes == []
        answers = await asyncio.gather(*(lane.choose(game.from_string("XX./OO./..."), n) for n in range(6)))
        engine.close()
        return answers

    assert asyncio.run(run()) == [[2]] * 6
    assert recorded["r"].sizes == [(6, 16)]


def test_what_nobody_waits_for_waits_until_others_have_what_they_asked_for():
    async def run():
        engine = Engine(OfferedPlayers())
        slow = asyncio.create_task(engine.run("file", time.sleep, 0.7))
        await asyncio.sleep(0.05)
        began = time.monotonic()
        await engine.rest()
        assert slow.done() and time.monotonic() - began > 1
        engine.close()

    asyncio.run(run())


def test_a_player_that_fails_or_is_slow_is_said_to_whom_asked():
    game = make("tic_tac_toe")

    async def failing():
        engine = engine_with({}, error=RuntimeError("out\nof memory"))
        lane = await engine.lane("random", game)
        with pytest.raises(ValueError, match="random: out of memory"):
            await lane.choose(game.from_string(".../.../..."), 0)
        engine.close()

    async def slow():
        engine = engine_with({}, Limits(move_seconds=0.01), seconds=0.02)
        lane = await engine.lane("random", game)
        state = game.from_string(".../.../...")
        await lane.choose(state, 0)  # the first time it is compiled
        await lane.choose(state, 0)
        with pytest.raises(ValueError, match="more than 0.01 s: choose another"):
            await lane.choose(state, 0)
        with pytest.raises(ValueError, match="choose another"):
            await engine.lane("random", game)
        engine.close()

    asyncio.run(failing())
    asyncio.run(slow())


def test_few_programs_are_kept():
    engine = Engine(OfferedPlayers(), Limits(programs=2))
    game = make("tic_tac_toe")
    players = [make_player(spec, game) for spec in ("random", "uct:5", "uct:6")]
    first = [engine.programs.of(player) for player in players]
    assert engine.programs.of(players[2]) is first[2] and engine.programs.of(players[0]) is not first[0]
    assert engine.programs.of(make_player("uct:6", game)) is first[2]
    engine.close()


def test_the_programs_of_one_kind_of_player_are_its_own():
    """JAX frees programs by their function: that of another kind would be compiled again."""
    engine, game = Engine(OfferedPlayers()), make("tic_tac_toe")
    one, other = (engine.programs.of(make_player(spec, game)) for spec in ("uct:5", "uct:6"))
    for name in ("_values", "_search"):
        assert getattr(one, name).__wrapped__ != getattr(other, name).__wrapped__
    engine.close()


def test_the_rules_of_all_games_of_a_file_are_counted(monkeypatch):
    """Also of a file that is refused: they are compiled when it is read."""
    cleared = []
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(1))

    def loads(text, name, accept):
        for cols in range(4, 4 + int(text)):
            accept("connect_four", {"cols": cols})
        raise ValueError("as it says")

    monkeypatch.setattr(keeping, "loads", loads)

    async def run():
        engine = Engine(OfferedPlayers(), Limits(programs=1))
        for games, counted in (("3", 3), ("3", 3), ("4", 4), ("5", 1)):
            with pytest.raises(ValueError, match="^the file cannot be read as json: as it says$"):
                await keeping.read(SimpleNamespace(engine=engine), games, "json", 1)
            assert len(engine._counted) == counted
        engine.close()

    asyncio.run(run())
    assert cleared == [1]


def test_the_lobby_needs_no_network():
    async def run():
        lobby = Lobby(Engine(OfferedPlayers()))
        client = Client(lobby.limits)
        assert lobby.enter(client) is None
        await lobby.handle(client, '{"type":"undo","id":3}')
        await lobby.handle(client, '{"type":"create","game":"tic_tac_toe","id":4}')
        texts = [await client.next() for _ in range(3)]
        lobby.leave(client)
        await lobby.close()
        return texts

    error, notice, welcome = asyncio.run(run())
    assert '"id":3' in error and "in no session" in error and '"welcome"' in welcome + notice
