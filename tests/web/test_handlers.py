"""Games over the WebSocket: persons, programs, tokens, offers, saved games."""

import json
import re
import threading

import pytest

from jaxgames.web.programs import Programs
from tests.web.pages import PERSON, RANDOM, page, serving


@pytest.fixture(scope="module")
def served():
    with serving() as both:
        yield both


@pytest.fixture(scope="module")
def http(served):
    return served[1]


def two_people(ann, bob, game="tic_tac_toe", **fields):
    """Ann on seat 0, Bob on seat 1."""
    ann.create(game, name="Ann", **fields)
    token = ann.ask("invite", seat=1)
    bob.join(ann.welcome["session"], token["token"], name="Bob")
    ann.wait(lambda s: s["you"]["seats"] == [0] and s["seats"][1]["online"])


def test_a_game_alone_on_both_seats(ann):
    ann.create("tic_tac_toe", name="Ann")
    assert ann.welcome["host"] and ann.welcome["seats"] == [0, 1] and ann.state["to_move"] == 0
    for text in ("5", "1", "3", "7"):
        ann.do("turn", text=text)
    assert ann.state["position"] == "O.X/.X./O.." and ann.state["last"]["steps"] == [{"from": None, "to": 6}]
    assert ann.refuse("turn", text="5") == "cell 5 is taken by X"
    ann.do("turn", text="4")
    ann.do("turn", text="6")
    ann.do("turn", text="2")
    ann.do("turn", text="8")
    state = ann.do("turn", text="9")
    assert state["over"]["winner"] is None and state["to_move"] is None and state["moves"] == []
    assert ann.refuse("turn", text="9") == "the game is over"


def test_a_step_is_refused_if_the_position_has_changed_and_for_nothing_else(ann):
    ann.create("connect_four")
    version = ann.state["version"]
    ann.do("speed", seconds=0)  # a state of another version, of the same board
    assert "changed meanwhile" in ann.refuse("step", actions=[3], version=ann.state["version"] + 1)
    ann.do("step", actions=[3], version=version)
    ann.do("undo")
    for before in (version, version + 1, version + 2):
        assert "changed meanwhile" in ann.refuse("step", actions=[3], version=before)
    assert ann.state["ply"] == 0 and ann.do("step", actions=[3], version=ann.state["version"])["ply"] == 1


def test_against_a_program_it_answers_and_undo_goes_back_to_the_person(ann):
    ann.create("tic_tac_toe", [PERSON, RANDOM])
    ann.do("speed", seconds=0)
    ann.step()
    state = ann.wait(lambda s: s["ply"] == 2)
    assert state["seats"][1]["name"] == "random" and state["history"][1]["seat"] == 1
    position = state["position"]
    state = ann.do("undo")
    assert (state["ply"], state["redo"], state["to_move"]) == (0, 2, 0)
    state = ann.do("redo")
    assert (state["ply"], state["redo"], state["position"]) == (2, 0, position)
    ann.do("undo")
    assert "nothing that could be taken back" in ann.refuse("undo")


def test_a_player_gets_ready_while_one_thinks_and_says_so(ann, monkeypatch):
    """It is compiled as soon as it is chosen; when it is done everybody is told, and a move chosen before is good."""
    prepare, go = Programs.prepare, threading.Event()
    monkeypatch.setattr(Programs, "prepare", lambda *arguments: go.wait(60) and prepare(*arguments))
    ann.create("tic_tac_toe", [PERSON, {"kind": "player", "spec": "weak:0.3:random"}])
    assert [seat["compiling"] is None for seat in ann.state["seats"]] == [True, False]
    seen = ann.state["version"]
    go.set()
    assert ann.wait(lambda s: s["seats"][1]["compiling"] is None)["version"] == seen
    ann.step()
    ann.wait(lambda s: s["ply"] == 2)


def test_a_program_may_begin_and_change_seats_in_mid_game(ann):
    ann.create("connect_four", [RANDOM, PERSON])
    state = ann.wait(lambda s: s["ply"] == 1 and s["to_move"] == 1)
    ann.do("swap")  # now the program has the turn
    state = ann.wait(lambda s: s["ply"] == 2)
    assert [seat["kind"] for seat in state["seats"]] == ["person", "player"] and state["you"]["seats"] == [0]
    ann.do("seat", seat=1, to=PERSON)
    ann.step()
    assert ann.do("seat", seat=0, to=RANDOM)["seats"][0]["spec"] == "random"
    assert ann.state["to_move"] == 1 and ann.state["ply"] == 3


def test_checkers_jump_by_jump(ann):
    ann.create("checkers", position="W:W31,32,K30:B27,19,10")
    assert ann.state["to_move"] == 1  # White, who is on seat 1, is to move
    state = ann.state
    state = ann.do("step", actions=state["moves"][0]["actions"], version=state["version"])
    while state["to_move"] == 1:
        assert state["turn"]["steps"] and state["board"]["jumper"]
        state = ann.do("step", actions=state["moves"][0]["actions"], version=state["version"])
    assert state["last"]["captured"] and state["turn"]["steps"] == []


def test_backgammon_checkers_are_taken_back_before_the_turn_is_handed_over(ann):
    ann.create("backgammon", position="4HPwATDgc/ABMA:31", to_move=1)
    assert ann.state["to_move"] == 1 and ann.state["board"]["dice"] == [3, 1]
    both = next(m for m in ann.state["moves"] if m["text"] == "8/4")
    assert (both["from"], both["to"], len(both["actions"])) == (17, 21, 2)
    state = ann.do("step", actions=both["actions"])
    assert state["turn"]["confirm"] and state["can"]["end_turn"] and state["to_move"] == 1 and not state["moves"]
    assert state["board"]["dice"] == [3, 1] and state["board"]["left"] == []
    state = ann.do("undo_step")
    assert len(state["turn"]["steps"]) == 1 and len(state["board"]["left"]) == 1
    state = ann.do("undo_step")
    assert state["position"] == "4HPwATDgc/ABMA:31" and not state["can"]["undo_step"]
    assert "finished" in ann.refuse("end_turn")
    ann.do("step", actions=next(m["actions"] for m in state["moves"] if m["text"] == "8/5"))
    ann.do("step", actions=next(m["actions"] for m in ann.state["moves"] if m["text"] == "6/5"))
    state = ann.do("end_turn")
    assert state["to_move"] == 0 and state["history"][0]["text"] == "8/5 6/5" and state["board"]["dice"]
    assert "no checker" in ann.refuse("turn", text="3/1 3/1")


def test_an_illegal_step_changes_nothing_even_after_legal_ones(ann):
    ann.create("backgammon", position="4HPwATDgc/ABMA:31")
    first = next(m for m in ann.state["moves"] if m["text"] == "8/5")["actions"]
    assert "not legal" in ann.refuse("step", actions=[*first, 7])
    ann.do("speed", seconds=1)
    assert ann.state["turn"]["steps"] == [] and ann.state["position"] == "4HPwATDgc/ABMA:31"


def test_a_pass_is_the_only_move_and_hands_over(ann):
    # The mover's checker is on the bar before a closed board.
    points = [[0, 0] for _ in range(24)]
    for point in range(19, 25):
        points[point - 1] = [0, 2]
    points[0] = [1, 0]
    ann.create("backgammon")
    answer = ann.ask("check_setup", board={"points": points, "bar": [1, 0]}, to_move=0, dice=[6, 5])
    assert answer["type"] == "setup" and answer["position"].endswith(":65")
    state = ann.do("setup", board={"points": points, "bar": [1, 0]}, to_move=0, dice=[6, 5])
    assert state["moves"] == [{"actions": [0], "from": None, "to": None, "text": "pass"}]
    assert ann.do("step", actions=[0])["to_move"] == 1


def test_points_count_at_most_as_agreed(ann):
    # White bears off the last checker; Black has all 15 left on the bar side: a backgammon.
    points = [[0, 0] for _ in range(24)]
    points[0], points[2] = [1, 0], [0, 15]
    for most, points_won, reason in ((3, 3, "backgammon"), (1, 1, "backgammon")):
        ann.create("backgammon", options={"points": most})
        ann.do("setup", board={"points": points, "bar": [0, 0]}, to_move=0, dice=[2, 1])
        state = ann.do("turn", text="1/off")
        assert state["over"]["points"] == [points_won, -points_won] and state["over"]["reason"] == reason


def test_resign_and_draw(ann):
    ann.create("checkers")
    state = ann.do("resign", seat=1)
    assert (state["over"]["winner"], state["over"]["reason"]) == (0, "resigned")
    state = ann.do("undo")
    assert state["over"] is None
    state = ann.do("offer", what="draw")
    assert state["over"]["winner"] is None and state["over"]["reason"] == "draw agreed"
    ann.do("new", game="backgammon")
    assert "no draws" in ann.refuse("offer", what="draw")


def test_alone_on_both_seats_it_is_who_is_to_move_that_resigns_and_the_last_turn_that_is_taken_back(ann):
    ann.create("tic_tac_toe")
    for text in "51":
        ann.do("turn", text=text)
    ann.ask("invite", seat=1)  # nobody has come yet
    assert ann.do("undo")["ply"] == 1
    ann.create("tic_tac_toe")
    ann.do("turn", text="5")
    assert ann.do("resign")["over"]["winner"] == 0
    ann.do("undo")
    assert ann.state["ply"] == 1 and ann.do("match", games=1)["ply"] == 0  # games in a row begin anew
    assert ann.do("resign")["match"]["played"] == 1 and ann.do("new")["match"] is None


def test_programs_wait_after_what_is_taken_back_or_loaded(ann):
    ann.create("connect_four", [RANDOM, RANDOM])
    ann.do("pause", on=True)
    ann.do("speed", seconds=0)
    if not ann.state["ply"]:
        ann.do("play_on")
        ann.wait(lambda s: s["ply"] > 0)
    ann.do("speed", seconds=10)
    file = ann.ask("save", format="json")["text"]
    for kind, fields in (("undo", {}), ("load", {"text": file})):
        ann.do("pause", on=False)
        assert not ann.state["paused"] and ann.do(kind, **fields)["paused"], kind


def test_two_people_a_spectator_and_a_foreign_token(ann, bob, eve):
    two_people(ann, bob)
    session = ann.welcome["session"]
    assert ann.state["you"]["seats"] == [0] and bob.state["you"]["seats"] == [1] and not bob.state["you"]["host"]
    assert ann.state["seats"][1]["name"] == "Bob"
    eve.join(session)
    assert eve.welcome["token"] is None and eve.state["you"]["seats"] == []
    assert "only watch" in eve.refuse("turn", text="5") and "only watch" in eve.refuse("resign")
    assert "only watch" in eve.refuse("new") and "only watch" in eve.refuse("speed", seconds=1)
    assert "turn of X" in bob.refuse("turn", text="5")
    ann.do("turn", text="5")
    bob.wait(lambda s: s["ply"] == 1)
    bob.do("turn", text="1")
    assert eve.wait(lambda s: s["ply"] == 2)["spectators"] == 1
    assert "no seat" in eve.refuse("join", session=session, token="x" * 32)
    eve.do("chat", text="well played")
    assert bob.until("chat")["text"] == "well played"
    texts = [str(eve.state), str(bob.state), str(ann.state)]
    assert all(ann.welcome["token"] not in text and bob.welcome["token"] not in text for text in texts)


def test_what_both_must_want_is_offered(served, ann, bob):
    two_people(ann, bob)
    ann.do("turn", text="5")
    bob.wait(lambda s: s["ply"] == 1)
    bob.do("turn", text="1")
    ann.wait(lambda s: s["ply"] == 2)
    ann.do("undo")
    assert ann.state["offer"] == {"what": "undo", "by": 0} and ann.state["ply"] == 2
    assert "nothing has been offered to you" in ann.refuse("answer", accept=True)
    bob.wait(lambda s: s["offer"])
    bob.do("answer", accept=False)
    ann.wait(lambda s: s["offer"] is None)
    assert ann.state["ply"] == 2
    ann.do("undo")
    bob.wait(lambda s: s["offer"])
    bob.do("answer", accept=True)
    assert ann.wait(lambda s: s["ply"] == 0)["to_move"] == 0  # back to Ann's own turn
    ann.do("swap")
    bob.wait(lambda s: s["offer"])
    served[0].lobby.rooms[ann.welcome["session"]].offer.accept = lambda: int("too late")
    assert "too late" in bob.refuse("answer", accept=True) and bob.state["offer"] is None
    ann.do("offer", what="draw")
    bob.wait(lambda s: s["offer"])
    assert bob.do("answer", accept=True)["over"]["reason"] == "draw agreed"
    assert bob.do("new", game="connect_four")["game"] == "connect_four"  # the game was over


def test_a_lost_connection_goes_on_where_it_was(http, ann):
    with page(http) as bob:
        two_people(ann, bob)
        ann.do("turn", text="5")
        token, session = bob.welcome["token"], bob.welcome["session"]
    ann.wait(lambda s: not s["seats"][1]["online"])
    with page(http) as again:
        again.join(session, token)
        assert again.state["you"]["seats"] == [1] and again.state["position"] == ".../.X./..."
        ann.wait(lambda s: s["seats"][1]["online"])
        assert again.state["seats"][1]["name"] == "Bob"
        again.do("turn", text="1")


def test_an_invitation_gives_the_seat_away(ann, bob):
    ann.create("tic_tac_toe")
    first = ann.ask("invite", seat=1)["token"]
    second = ann.ask("invite", seat=1)["token"]
    assert first != second and len(second) >= 32
    assert "no seat" in bob.refuse("join", session=ann.welcome["session"], token=first)
    bob.join(ann.welcome["session"], second)
    assert bob.state["you"]["seats"] == [1]
    assert "only the person who sits there" in ann.refuse("invite", seat=1)
    assert "another person" in bob.refuse("seat", seat=0, to=RANDOM)


def test_no_such_session(http):
    with page(http) as one:
        assert "no such session" in one.refuse("join", session="nowhere")
        assert one.socket.receive()["code"] == 4001


def test_play_again_exchanges_sides(ann, bob):
    two_people(ann, bob)
    ann.do("resign")
    bob.wait(lambda s: s["over"])
    state = bob.do("new", exchange=True)
    assert [seat["name"] for seat in state["seats"]] == ["Bob", "Ann"] and state["you"]["seats"] == [0]
    ann.create("tic_tac_toe", [PERSON, RANDOM])
    state = ann.do("new", exchange=True)
    assert state["you"]["seats"] == [1] and state["seats"][0]["spec"] == "random"


def test_a_win_is_claimed_from_who_is_gone_for_a_minute(served, ann):
    server, http = served
    with page(http) as bob:
        two_people(ann, bob)
        assert not ann.state["can"]["claim"] and "nobody has left" in ann.refuse("claim")
    ann.wait(lambda s: s["can"]["claim"])
    assert re.fullmatch("they may come back: a win can be claimed in (59|60) s", ann.refuse("claim"))
    server.lobby.rooms[ann.welcome["session"]].chairs[1].gone -= 60
    over = ann.do("claim")["over"]
    assert (over["winner"], over["reason"]) == (0, "left the game") and not ann.state["can"]["claim"]
    ann.create("tic_tac_toe", [PERSON, RANDOM])
    assert "nobody has left" in ann.refuse("claim")


def test_pause_and_one_turn_at_a_time(ann):
    ann.create("connect_four", [RANDOM, RANDOM])
    ann.do("pause", on=True)
    ann.do("new", position="")
    ply = ann.state["ply"]
    ann.do("play_on")
    ann.wait(lambda s: s["ply"] == ply + 1)
    assert ann.state["paused"] and ann.state["busy"] is None
    ann.do("undo")
    assert ann.state["ply"] == ply


def test_look_back_and_start_from_there(ann):
    ann.create("connect_four")
    for text in "4453":
        ann.do("turn", text=text)
    assert ann.state["position"] == "4453"
    seen = ann.ask("look", ply=2)
    assert seen["type"] == "look" and seen["position"] == "44" and seen["to_move"] == 0 and seen["last"]["text"] == "4"
    assert "only 4 turns" in ann.refuse("look", ply=5)
    state = ann.do("new", from_ply=3)
    assert (state["start"], state["ply"], state["to_move"]) == ("445", 0, 1)
    assert "leave game and position out" in ann.refuse("new", from_ply=0, position="4")


@pytest.mark.parametrize(
    ("game", "format", "turns"),
    [
        ("checkers", "pdn", ["11-15", "22-18", "15x22"]),
        ("connect_four", "txt", ["4", "4", "5"]),
        ("backgammon", "mat", ["8/5 6/5"]),
        ("backgammon", "sgf", ["8/5 6/5"]),
        ("backgammon", "json", ["8/5 6/5"]),
        ("tic_tac_toe", "json", ["5", "1"]),
    ],
)
def test_games_are_saved_and_loaded(ann, game, format, turns):
    ann.create(game, **({"position": "4HPwATDgc/ABMA:31"} if game == "backgammon" else {}))
    for text in turns:
        ann.do("turn", text=text)
    file = ann.ask("save", format=format)
    assert file["type"] == "file" and file["name"] == f"{game}.{format}"
    board = ann.state["board"]
    ann.do("new", position=None)
    state = ann.do("load", format=None, text=file["text"])
    assert [turn["text"] for turn in state["history"]] == turns
    for kind in ("cells", "squares", "points"):
        assert state["board"].get(kind) == board.get(kind)


def test_who_has_moved_first_in_backgammon_does_so_in_the_game_that_was_saved(ann):
    ann.create("backgammon", position="4HPwATDgc/ABMA:31", to_move=1)
    ann.do("turn", text="8/5 6/5")
    file = json.loads(ann.ask("save", format="json")["text"])
    assert file["tags"]["First"] == "Black"
    board = ann.do("load", format=None, text=json.dumps(file))["board"]["points"]
    assert ann.state["history"][0]["seat"] == 1 and board[19] == [0, 2]
    del file["tags"]  # as files of before were
    assert ann.do("load", format="json", text=json.dumps(file))["history"][0]["seat"] == 0


def test_a_broken_file_is_one_line(ann):
    ann.create("checkers")
    assert "line 1" in ann.refuse("load", format="pdn", text="1. 11-16 9-13 *")
    assert "expected one of" in ann.refuse("load", format="exe", text="x")
    assert "holds 0 games" in ann.refuse("load", format="pdn", text="")
    assert "expected at most 65536" in ann.refuse("load", format="pdn", text="* " * 32_769)
    assert "more than 20 games" in ann.refuse("load", format="pdn", text="* " * 100)
    for text in ("[]", "{}", '{"game": 5}', "[[]]", "(;", "(;GM[1])", "1-0"):
        assert "\n" not in ann.refuse("load", format=None, text=text)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"game": "chess"}, "unknown game 'chess'; available: tic_tac_toe"),
        ({"game": "connect_four", "options": {"rows": 11}}, "rows 11: expected a whole number from 2 to 10"),
        ({"game": "connect_four", "options": {"size": 4}}, "unknown option 'size'"),
        ({"game": "connect_four", "options": {"rows": 2, "cols": 2, "connect": 8}}, "nobody can win on this board"),
        ({"game": "connect_four", "position": "48"}, "no such column"),
        ({"game": "connect_four", "position": "1212121"}, "the game is over there"),
        ({"game": "connect_four", "position": "4", "to_move": 0}, "it is the turn of Yellow"),
        ({"game": "checkers", "seats": [PERSON, {"kind": "player"}]}, "a player needs a spec"),
        ({"game": "checkers", "seats": [PERSON, {"kind": "player", "spec": "pubeval"}]}, "pubeval plays backgammon"),
        ({"game": "checkers", "seats": [PERSON, {"kind": "player", "spec": "/etc/passwd"}]}, "expected a name"),
        ({"game": "checkers", "seats": [PERSON, {"kind": "player", "spec": "uct:5001"}]}, "from 1 to 5000"),
        ({"game": "checkers", "seats": [{"kind": "person", "spec": "random"}, RANDOM]}, "a person has no spec"),
    ],
)
def test_a_bad_session_is_refused_in_one_line(ann, fields, says):
    assert says in ann.refuse("create", **fields)
    assert "in no session" in ann.refuse("undo")


def test_other_sizes_of_the_board(ann):
    ann.create("connect_four", options={"rows": 4, "cols": 5, "connect": 3})
    assert len(ann.state["moves"]) == 5 and ann.state["board"]["rows"] == 4
    for text in "11223":
        ann.do("turn", text=text)
    assert ann.state["over"]["winner"] == 0
