"""Evaluations, hints and curves: as the players think, and shown for the right seat."""

import asyncio
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from jaxgames.envs.registry import make
from jaxgames.players import make as make_player
from jaxgames.sessions.session import Session
from jaxgames.web import analysis, hints
from jaxgames.web.analysis import Finding, RatedTurn, analyse, has_values
from jaxgames.web.hints import _known_turn
from jaxgames.web.programs import ProgramCache
from tests.web.pages import PERSON, RANDOM, page, serving

CACHE = ProgramCache(8)


def last(player, text, **options):
    game = make(player[0], **options)
    session = Session(game, text)
    found = list(analyse(CACHE, make_player(player[1], game), session.state, 5))
    assert [one.final for one in found] == [False] * (len(found) - 1) + [True]
    return found[-1], found


def test_a_network_sees_a_win_and_a_loss():
    # X to move wins at once by 3; the champion knows it, and what it leads to.
    found, all_ = last(("tic_tac_toe", "champion"), "XX./OO./...")
    assert found.turns[0].text == "3" and found.value > 0.9 and found.line[0] == "3"
    assert all_[0].depth == "1 ply" and found.simulations == 5000 and found.turns[0].visits > 1000
    lost, _ = last(("tic_tac_toe", "champion"), "X.X/OO./.X.")  # O to move wins by 6, else X wins by 2
    assert lost.turns[0].text == "6" and lost.value > 0.9
    values = {turn.text: turn.value for turn in lost.turns}
    assert values["2"] < 0.5 and min(values, key=values.get) != "6"


def test_alpha_beta_counts_forced_wins_in_points_and_material_as_a_share():
    found, _ = last(("tic_tac_toe", "alphabeta:3"), "XX./O../..O")
    assert found.turns[0].text == "3" and found.turns[0].value == 1.0 and found.depth == "3 plies"
    game = make("checkers")
    for text, men in (("B:W32,31:B1,2,3,4,5", 3), ("W:W32,31:B1,2,3,4,5", -3)):  # all of it quiet
        session = Session(game, text)
        quick = next(analyse(CACHE, make_player("alphabeta:1", game), session.state, 0))
        assert quick.value == pytest.approx(np.tanh(men / 4), abs=1e-6)


def test_a_search_by_simulations_goes_on_and_shows_visits():
    found, all_ = last(("connect_four", "uct:50"), "112233")
    assert len(all_) == 25 and all_[0].simulations == 200 and found.simulations == 5000
    assert found.turns[0].text == "4" and found.turns[0].visits > 2500
    assert sum(turn.visits for turn in found.turns) == 5000 and found.line == ["4"]


def test_backgammon_values_every_play_and_the_best_is_what_the_player_plays():
    game = make("backgammon")
    assert not has_values(make_player("pubeval", game)) and not has_values(make_player("random", game))
    session = Session(game, "4HPwATDgc/ABMA:31")
    found = list(analyse(CACHE, make_player("random", game), session.state, 0))
    assert found[-1].final and found[-1].value is None and len(found[-1].turns) == 16


def test_the_ten_best_turns_are_looked_into_and_all_others_stay_after_them(monkeypatch):
    found = [RatedTurn((turn,), str(turn), -turn / 100, None) for turn in range(12)]
    again = []

    def rated(cache, player, state, turns, bits):
        again.extend(turns)
        return Finding(0.5, found[9::-1], [], "2 plies", 0, False)

    monkeypatch.setattr(analysis, "_rated", rated)
    better = analysis._looked_into(None, None, None, 0, Finding(0.0, found, [], "1 ply", 0, False))
    assert again == [(turn,) for turn in range(10)] and better.depth == "2 plies"
    assert [turn.text for turn in better.turns] == [*"9876543210", "10", "11"]
    assert [turn.value for turn in better.turns[10:]] == [None, None]


def test_evaluations_of_an_ended_game_are_none():
    game = make("tic_tac_toe")
    session = Session(game, "XX./OO./...")
    session.play("3")
    found = list(analyse(CACHE, make_player("champion", game), session.turn_start, 0))
    assert len(found) == 1 and found[0].value is None and found[0].turns == [] and found[0].final


def test_a_page_gets_analyses_of_each_position_for_seat_0(http):
    with page(http) as ann:
        ann.create("tic_tac_toe", position="X.X/OO./.X.")
        assert ann.state["to_move"] == 1
        ann.do("analysis", on=True)
        found = ann.until(lambda m: m["type"] == "analysis" and m["final"])
        assert found["value"] < -0.9 and found["ply"] == 0 and found["spec"] == "champion"  # O, seat 1, wins
        best = found["moves"][0]
        assert (best["text"], best["to"], best["from"], best["best"]) == ("6", 5, None, True) and best["value"] > 0.9
        assert ann.ask("hint")["text"] == "6"
        ann.do("turn", text="2")
        found = ann.until(lambda m: m["type"] == "analysis" and m["ply"] == 1 and m["final"])
        assert found["value"] > 0.9 or found["moves"][0]["visits"]
        ann.do("analysis", on=False)
        ann.do("speed", seconds=1)
        assert not ann.state["analysis"] and ann.state["history"][0]["value"] is not None
        assert "does not say" in ann.refuse("analysis", on=True, spec="random")
        assert "unknown player" in ann.refuse("analysis", on=True, spec="tests")


def test_a_hint_says_that_it_takes_a_moment_the_first_time():
    with serving() as (_, client), page(client) as ann:
        ann.create("connect_four", position="112233")  # not one that is known exactly
        for told in (["compiling", "hint"], ["hint"]):
            ann.send("hint")
            seen = [ann.until(lambda m: m["type"] in ("notice", "hint")) for _ in told]
            assert [one.get("kind", one["type"]) for one in seen] == told and seen[-1]["text"] == "4"


def test_a_hint_prefers_what_is_known_exactly():
    """Whoever is asked: only the corners keep the draw, only 3 wins. Elsewhere nothing is known."""
    game = make("tic_tac_toe")
    corners = {(0,), (2,), (6,), (8,)}
    assert {
        tuple(_known_turn(make_player("random", game), Session(game, ".../.X./...", n))) for n in range(9)
    } <= corners
    assert _known_turn(make_player("random", game), Session(game, "XX./OO./...")) == [2]
    four = make("connect_four")
    assert _known_turn(make_player("random", four), Session(four, "112233")) == []


def test_hints_are_whole_turns_of_the_analyst(http):
    with page(http) as ann:
        ann.create("tic_tac_toe", position="XX./OO./...")
        hint = ann.ask("hint")
        assert (hint["type"], hint["text"], hint["actions"], hint["steps"]) == (
            "hint",
            "3",
            [2],
            [{"from": None, "to": 2}],
        )
        assert ann.state["ply"] == 0
        ann.do("turn", text="3")
        assert ann.refuse("hint") == "the game is over"


def test_the_curve_of_a_game_has_its_result_at_the_end(http):
    with page(http) as ann:
        ann.create("tic_tac_toe", position="XX./OO./...")
        ann.do("turn", text="7")  # a blunder: O wins by 6
        ann.do("turn", text="6")
        number = ann.send("curve")
        curve = ann.until(lambda m: m["type"] == "curve" and m["final"])
        assert curve["id"] == number and len(curve["values"]) == 3
        assert curve["values"][0] > 0.9 and curve["values"][1] < -0.9 and curve["values"][2] == -1
        ann.do("undo")
        ann.do("undo")
        ann.do("turn", text="3")  # what was said of the turns that were taken back is no more
        number = ann.send("curve")
        assert ann.until(lambda m: m.get("id") == number and m["final"])["values"][1:] == [1]


def held_analyses(monkeypatch, number=1):
    """Events: this analysis has begun; it may go on."""
    begun, go, analyse_, asked = threading.Event(), threading.Event(), hints.analysis.analyse, []

    def slowly(*arguments, **options):
        asked.append(arguments)
        if len(asked) == number:
            begun.set()
            go.wait(60)
        yield from analyse_(*arguments, **options)

    monkeypatch.setattr(hints.analysis, "analyse", slowly)
    return begun, go


def test_the_page_goes_on_while_something_is_evaluated_and_hears_that_it_is_of_no_use_any_more(monkeypatch):
    begun, go = held_analyses(monkeypatch)
    with serving() as (_, http), page(http) as ann:
        ann.create("tic_tac_toe", position="XX./OO./...")
        curve = ann.send("curve")
        begun.wait(60)
        assert "not there yet" in ann.refuse("curve")
        assert ann.do("turn", text="7")["ply"] == 1
        assert ann.do("undo")["ply"] == 0
        ann.do("new")
        go.set()
        answer = ann.until(lambda message: message.get("id") == curve)
        assert "changed meanwhile" in answer["message"]
        assert len(ann.ask("curve")["values"]) == 1


@pytest.mark.parametrize(("kind", "evaluated"), [("analyse", 1), ("curve", 3)])
def test_what_is_known_of_a_turn_that_was_taken_back_is_not_noted_of_the_next(monkeypatch, http, kind, evaluated):
    with page(http) as ann:
        ann.create("tic_tac_toe", position="XX./OO./...")
        ann.do("turn", text="7")
        ann.do("turn", text="8")
        begun, go = held_analyses(monkeypatch, evaluated)
        number = ann.send(kind, **({"ply": 2} if kind == "analyse" else {}))
        begun.wait(60)
        ann.do("undo")
        assert ann.do("turn", text="6")["over"]["text"] == "O wins"
        go.set()
        assert "changed meanwhile" in ann.until(lambda message: message.get("id") == number)["message"]
        assert ann.ask("look", ply=2)["value"] is None


def test_no_help_while_two_people_play(http):
    with page(http) as ann, page(http) as bob, page(http) as eve:
        ann.create("tic_tac_toe")
        ann.do("analysis", on=True)
        token = ann.ask("invite", seat=1)["token"]
        assert ann.wait(lambda state: state["you"]["seats"] == [0])["analysis"]
        bob.join(ann.welcome["session"], token)
        assert not ann.wait(lambda state: state["seats"][1]["online"])["analysis"]
        for kind, fields in (("hint", {}), ("analysis", {"on": True}), ("curve", {}), ("analyse", {"ply": 0})):
            assert "while two people play" in bob.refuse(kind, **fields)
        eve.join(ann.welcome["session"])
        assert eve.ask("hint")["type"] == "hint"
        bob.do("resign")
        assert ann.ask("analyse", ply=0)["type"] == "analysis"
        assert ann.state["analysis"]


def test_a_program_takes_a_draw_only_if_it_is_not_better(http):
    with page(http) as ann:
        program = {"kind": "player", "spec": "champion"}
        ann.create("tic_tac_toe", [PERSON, program], position="X.X/.../.O.")  # seat 1 to move: X threatens
        ann.do("pause", on=True)
        ann.create("tic_tac_toe", [program, PERSON], position="XX./OO./...")
        ann.do("pause", on=True)
        assert "declines the draw" in ann.refuse("offer", what="draw")
        ann.create("tic_tac_toe", [RANDOM, PERSON])
        assert "declines the draw" in ann.refuse("offer", what="draw")  # it cannot say


@pytest.mark.parametrize(("kind", "fields"), [("turn", {"text": "1"}), ("new", {}), ("resign", {})])
def test_a_draw_is_not_taken_for_a_board_that_has_changed_since(monkeypatch, kind, fields):
    """As whoever plays on in another tab could offer it just before a blunder."""
    begun, go = held_analyses(monkeypatch)
    with serving() as (_, http), page(http) as ann, page(http) as tab:
        ann.create("tic_tac_toe", [PERSON, {"kind": "player", "spec": "champion"}])
        tab.join(ann.welcome["session"], ann.welcome["token"])
        tab.do("pause", on=True)
        number = ann.send("offer", what="draw")
        begun.wait(60)
        tab.do(kind, **fields)
        go.set()
        answer = ann.until(lambda message: message.get("id") == number)
        assert answer["message"] == "the board has changed meanwhile; offer again"
        assert (ann.state["over"] is not None) == (kind == "resign")


def test_a_hint_is_what_the_analysis_shows_as_best():
    with serving() as (server, http), page(http) as ann:
        ann.create("tic_tac_toe")
        room = server.lobby.rooms[ann.welcome["session"]]
        (client,) = room.clients
        client.analyst = "alphabeta:1"
        found = [RatedTurn((cell,), str(cell + 1), 0.0, None) for cell in (7, 4)]
        room.analyses.newest["alphabeta:1"] = Finding(0.0, found, [], "", 0, False)
        answer = ann.ask("hint")
        assert (answer["text"], answer["actions"]) == ("8", [7])  # not the middle, which it would take
        client.analyst = None
        ann.do("turn", text="5")
        assert "alphabeta:1" not in room.analyses.newest  # that was of the position before


def test_few_players_evaluate_one_session_at_a_time(monkeypatch):
    monkeypatch.setattr(hints, "has_values", lambda player: True)

    async def lane(spec, game):
        return SimpleNamespace(player=None)

    one, *others = clients = [SimpleNamespace(analyst=spec) for spec in (None, "uct:1", "uct:2", "uct:3")]
    room = SimpleNamespace(
        engine=SimpleNamespace(lane=lane),
        choice=SimpleNamespace(game=None),
        clients=clients,
        analyses=SimpleNamespace(again=lambda spec: None),
    )
    asyncio.run(hints.set_analysis(room, one, {"on": True, "spec": "uct:2"}))  # which somebody else looks at
    with pytest.raises(ValueError, match="at most 3 players evaluate a game at a time; use one of uct:"):
        asyncio.run(hints.set_analysis(room, one, {"on": True, "spec": "uct:4"}))
    assert one.analyst == "uct:2"
