"""Nothing that was played is lost: servers that end and begin again, and everybody's own list of games."""

import asyncio
import json
import sqlite3
import threading
from pathlib import Path

import pytest

from jaxgames.cli import main
from jaxgames.web.app import WebServer
from jaxgames.web.connection import Client
from jaxgames.web.kept_games import ChallengeGame, KeptGame, KeptGames
from jaxgames.web.limits import USUAL_LIMITS
from tests.web.pages import page, serving

ANN, BOB = "a" * 48, "b" * 48


@pytest.fixture
def file(tmp_path):
    return tmp_path / "state" / "games.db"


def two(http, ann, bob, game, **fields):
    """Ann and Bob at one board; the session and their tokens."""
    ann.create(game, name="Ann", owner=ANN, **fields)
    link = ann.ask("invite", seat=1)
    bob.join(link["session"], link["token"], name="Bob", owner=BOB)
    return link["session"], ann.welcome["token"], bob.welcome["token"]


def shown(state):
    """What must be the same after a restart."""
    seats = [(seat["kind"], seat["name"], seat["spec"]) for seat in state["seats"]]
    same = "game options position start to_move board turn over ply match paused speed".split()
    return {name: state[name] for name in same}, seats, [(turn["seat"], turn["text"]) for turn in state["history"]]


def test_a_server_that_was_restarted_goes_on_with_the_same_boards_seats_and_players(file):
    with serving(keep=file) as (server, http), page(http) as ann, page(http) as bob:
        session, *tokens = two(http, ann, bob, "backgammon", position="4HPwATDgc/ABMA:31")
        server.lobby.rooms[session].clock._since -= 100
        ann.do("turn", text="8/5 6/5")
        bob.wait(lambda s: s["ply"] == 1)
        begun = bob.do("step", actions=bob.state["moves"][0]["actions"])  # and the turn is not handed over
        bob.do("chat", text="a moment")
        file_ = json.loads(ann.ask("save", format="json")["text"])
    with serving(keep=file) as (server, http), page(http) as ann, page(http) as bob:
        assert not server.lobby.rooms
        ann.join(session, tokens[0])
        bob.join(session, tokens[1])
        assert shown(bob.state) == shown(begun)
        assert ann.state["you"]["seats"] == [0] and bob.state["you"]["seats"] == [1]
        assert bob.chats[-1]["text"] == "a moment"
        assert json.loads(ann.ask("save", format="json")["text"]) == file_
        assert 100 <= ann.state["seats"][0]["seconds"] < 1000 and ann.welcome["host"]
        assert "no seat" in ann.refuse("join", session=session, token="x" * 32)
        bob.do("undo_step")
        bob.do("resign")
    with serving(keep=file) as (_, http), page(http) as ann, page(http) as eve:
        ann.join(session, tokens[0])
        assert ann.state["over"]["reason"] == "resigned" and ann.state["over"]["winner"] == 0
        eve.join(session)
        assert eve.state["you"]["seats"] == []
        assert "no such session" in eve.refuse("join", session="another")


def test_chance_goes_on_as_it_would_have(file):
    def dice(http, page_):
        page_.do("undo")
        return page_.do("turn", text="8/5 6/5")["board"]["dice"]

    with serving(keep=file) as (_, http), page(http) as ann:
        ann.create("backgammon", position="4HPwATDgc/ABMA:31")
        rolled = ann.do("turn", text="8/5 6/5")["board"]["dice"]
        session, token = ann.welcome["session"], ann.welcome["token"]
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.join(session, token)
        assert ann.state["board"]["dice"] == rolled == dice(http, ann)


def test_who_comes_back_twice_while_a_session_is_read_finds_the_other_one_in_it(file):
    with serving(keep=file) as (_, http), page(http) as ann, page(http) as bob:
        session, *tokens = two(http, ann, bob, "tic_tac_toe")
        ann.do("turn", text="5")

    async def rooms():
        lobby = WebServer(keep=file).lobby

        def joins(token):
            client, message = Client(USUAL_LIMITS), {"type": "join", "id": 1, "session": session, "token": token}
            return client, asyncio.create_task(lobby.handle(client, json.dumps(message)))

        (_, gone), (bob, waits) = joins(tokens[0]), joins(tokens[1])
        await asyncio.sleep(0)
        gone.cancel()  # the page is loaded again
        await asyncio.sleep(0)
        ann, comes = joins(tokens[0])
        await asyncio.gather(waits, comes)
        found = [ann.room, bob.room, *lobby.rooms.values()]
        await lobby.close()
        return found

    found = asyncio.run(rooms())
    assert len(found) == 3 and len(set(found)) == 1


def test_what_was_taken_back_can_be_played_again_after_a_restart_and_an_offer_is_said_to_be_gone(file):
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.create("backgammon", position="4HPwCQTgc/BBBA:31", to_move=1, owner=ANN)
        session, token = ann.welcome["session"], ann.welcome["token"]
        ann.do("speed", seconds=2)
        while ann.state["ply"] < 3:
            ann.do("end_turn") if ann.state["can"]["end_turn"] else ann.step()
        states = [shown(ann.state), shown(ann.do("undo")), shown(ann.do("undo"))]
    with serving(keep=file) as (_, http), page(http) as ann, page(http) as bob:
        ann.join(session, token)
        assert ann.state["redo"] == 2
        assert [shown(ann.state), shown(ann.do("redo")), shown(ann.do("redo"))] == states[::-1]
        again = ann.do("match", games=2)  # from the position that was set up
        assert (again["position"], again["to_move"]) == ("4HPwCQTgc/BBBA:31", 1)
        link = ann.ask("invite", seat=1)
        bob.join(link["session"], link["token"])
        ann.do("swap")
        bob.wait(lambda s: s["offer"])
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.join(session, token)
        assert ann.state["offer"] is None and "the offer (swap) is gone" in ann.chats[-1]["text"]


def test_the_end_of_a_game_is_kept_when_the_next_one_begins_before_the_disk_is_free(file):
    with serving(keep=file) as (server, http), page(http) as ann:
        games, free = server.lobby.keeper.games, threading.Event()
        write = games._put
        games._put = lambda *arguments: free.wait(60) and write(*arguments)
        ann.create("tic_tac_toe", owner=ANN)
        for text in "51238":
            ann.do("turn", text=text)
        ann.do("new")
        ann.do("turn", text="1")
        free.set()
        kept = [(game["number"], game["over"], game["turns"]) for game in ann.ask("games", owner=ANN)["games"]]
        assert kept == [(2, None, 1), (1, "X wins", 5)]


def test_everybody_lists_opens_saves_and_deletes_what_they_have_played(file):
    with serving(keep=file) as (_, http), page(http) as ann, page(http) as bob, page(http) as eve:
        session, *_ = two(http, ann, bob, "tic_tac_toe")
        assert ann.ask("games", owner=ANN)["games"] == []  # nothing has been played yet
        for player, text in ((ann, "5"), (bob, "1"), (ann, "2"), (bob, "3"), (ann, "8")):
            player.wait(lambda s, player=player: s["to_move"] in s["you"]["seats"])
            player.do("turn", text=text)
        ann.do("new")  # the game before stays
        bob.wait(lambda s: s["ply"] == 0 and s["over"] is None)
        ann.do("turn", text="1")
        new, old = ann.ask("games", owner=ANN)["games"]
        assert (old["number"], old["over"], old["turns"], old["seats"]) == (1, "X wins", 5, [0])
        assert (new["number"], new["over"], new["turns"], new["under_way"]) == (2, None, 1, True)
        assert new["players"] == ["Ann", "Bob"] and bob.ask("games", owner=BOB)["games"][1]["seats"] == [1]
        assert eve.ask("games", owner="e" * 48)["games"] == []
        for kind, fields in (("open", {}), ("export", {"format": "json"})):
            assert "none of your" in eve.refuse(kind, owner="e" * 48, session=session, number=1, **fields)
        eve.ask("forget", owner="e" * 48, session=session, number=1)
        file_ = bob.ask("export", owner=BOB, session=session, number=1, format="txt")
        assert file_["name"] == "tic_tac_toe.txt" and "51238 1-0" in file_["text"]
        # An old game is looked at in a session of its own, with all that helps; the one under way goes on.
        old_one = eve.ask("open", owner=BOB, session=session, number=1)
        eve.until("state")
        assert old_one["session"] != session and eve.state["over"]["text"] == "X wins" and old_one["seats"] == [0, 1]
        assert eve.ask("look", ply=2)["position"] == "O../.X./..."
        assert len(bob.ask("games", owner=BOB)["games"]) == 2  # looking makes no game
        again = eve.ask("open", owner=ANN, session=session, number=2)
        assert (again["session"], again["seats"]) == (session, [0])
        # Who deletes a game takes it from the own list only.
        assert bob.ask("forget", owner=BOB, session=session, number=1)["type"] == "ok"
        assert [game["number"] for game in bob.ask("games", owner=BOB)["games"]] == [2]
        assert [game["number"] for game in ann.ask("games", owner=ANN)["games"]] == [2, 1]
        ann.ask("forget", owner=ANN, session=session, number=1)
        ann.ask("forget", owner=ANN, session=session, number=2)
        assert ann.ask("games", owner=ANN)["games"] == []
        bob.wait(lambda s: s["ply"] == 1)
        bob.do("turn", text="5")  # the game goes on
    base = sqlite3.connect(file)
    rows = base.execute("SELECT number, owner0, owner1 FROM games WHERE session = ?", (session,)).fetchall()
    base.close()
    assert rows == [(2, None, BOB)]


def test_without_a_file_nothing_is_kept():
    with serving() as (_, http), page(http) as ann:
        assert http.get("/api/games").json()["keeps"] is False
        assert "keeps no games" in ann.refuse("games", owner=ANN)


def test_a_file_that_cannot_be_used_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "jaxgames").mkdir()
    (tmp_path / "jaxgames" / "games.db").write_text("no database at all" * 100)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(["web", "--port", "0"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "games cannot be kept in" in line and "--no-keep" in line


def test_a_user_without_a_home(monkeypatch, capsys):
    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", home)
    monkeypatch.setattr("jaxgames.web.server.setting", lambda name: None)  # no cache of JAX's
    assert main(["web", "--port", "0", "--no-keep"]) == 2
    said = "jaxgames: this user has no home folder; set XDG_STATE_HOME to a folder that can be written\n"
    assert capsys.readouterr().err == said


def test_a_damaged_row_is_no_game_and_a_full_disk_stops_no_game(file, caplog, monkeypatch):
    with serving(keep=file) as (_, http), page(http) as ann:
        ann.create("tic_tac_toe", owner=ANN)
        ann.do("turn", text="5")
        assert len(ann.ask("games", owner=ANN)["games"]) == 1
        session, token = ann.welcome["session"], ann.welcome["token"]
        refuse = monkeypatch.setattr
        refuse(KeptGames, "_put", lambda self, *game: (_ for _ in ()).throw(sqlite3.OperationalError("disk is full")))
        assert ann.do("turn", text="1")["ply"] == 2
        assert ann.ask("games", owner=ANN)["games"][0]["turns"] == 1 and "disk is full" in caplog.text
    monkeypatch.undo()
    assert file.stat().st_mode & 0o777 == 0o600
    base = sqlite3.connect(file)
    for content, said in (("{", "no such session"), ('{"game": "checkers"}', "kept by another version")):
        base.execute("UPDATE games SET content = ?", (content,))
        base.commit()
        with serving(keep=file) as (_, http), page(http) as ann:
            assert said in ann.refuse("join", session=session, token=token)
    base.close()


def test_old_rows_go(file, monkeypatch):
    monkeypatch.setattr("jaxgames.web.kept_games.MOST_GAMES", 3)
    KeptGames(file).close()
    base = sqlite3.connect(file)
    for number in range(6):
        base.execute("INSERT INTO games VALUES ('s', ?, ?, 1, ?, NULL, '{}')", (number, 1e12 + number, ANN))
    base.execute("INSERT INTO games VALUES ('unlisted', 1, 0, 0, NULL, NULL, '{}')")
    base.commit()
    KeptGames(file).close()
    assert [row[0] for row in base.execute("SELECT number FROM games ORDER BY number")] == [3, 4, 5]
    # While a server goes on, too.
    monkeypatch.setattr("jaxgames.web.kept_games.CLEARED_EVERY", 2)
    monkeypatch.setattr("jaxgames.web.kept_games.MOST_CHALLENGES", 1)
    games = KeptGames(file)
    for number in (1, 2):
        kept = KeptGame("t", number, 2e12 + number, True, (ANN, None), {})
        games._put(kept, ChallengeGame("t", number, ANN, "checkers", "random", None))
    games.close()
    assert [row[0] for row in base.execute("SELECT number FROM games ORDER BY changed")] == [5, 1, 2]
    assert base.execute("SELECT count(*) FROM challenges").fetchone() == (1,)
    base.close()
