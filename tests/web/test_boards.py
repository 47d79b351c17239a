"""Boards as the page sees them, against the rules of the games."""

import numpy as np
import pytest

from jaxgames.envs.registry import make
from jaxgames.sessions.session import Session
from jaxgames.web.boards import VIEWS

GAMES = list(VIEWS)


def random_game(game_id, seed, turns, options=None):
    """The states in which turns of a random game begin, and the turns."""
    session, draw = Session(make(game_id, **(options or {})), seed=seed), np.random.default_rng(seed)
    while not session.over and len(session.turns) < turns:
        legal = list(session.game.legal_turns(session.state))
        session.play(legal[draw.integers(len(legal))])
    return session


@pytest.fixture(scope="module")
def games():
    return {game_id: random_game(game_id, seed, 40) for seed, game_id in enumerate(GAMES)}


def colours(session, view):
    """The seat of each turn as the page counts them."""
    first = view.first(session.start) or 0
    return [turn.seat ^ first for turn in session.turns]


@pytest.mark.parametrize("game_id", GAMES)
def test_moves_are_all_legal_steps(games, game_id):
    session, view = games[game_id], VIEWS[game_id]
    for turn, seat in zip(session.turns, colours(session, view), strict=True):
        legal = np.flatnonzero(np.asarray(turn.before.legal_action_mask)).tolist()
        moves = view.moves(turn.before, legal, seat)
        single = {move["actions"][0] for move in moves if len(move["actions"]) == 1}
        shown = {(move["from"], move["to"]) for move in moves}
        assert len(shown) == len(moves)  # a square and a target name one move
        assert single <= set(legal)
        # Two dice may bear the same checker off, or the same way be gone with either first: one of them is shown.
        assert game_id == "backgammon" or single == set(legal)
        assert {action for move in moves for action in move["actions"][:1]} <= set(legal)


def test_a_checker_may_use_both_dice_and_what_follows_is_legal(games):
    session, view = games["backgammon"], VIEWS["backgammon"]
    longer = 0
    for turn, seat in zip(session.turns, colours(session, view), strict=True):
        legal = np.flatnonzero(np.asarray(turn.before.legal_action_mask)).tolist()
        for move in view.moves(turn.before, legal, seat):
            trial = Session(session.game, turn.before)
            for action in move["actions"]:
                trial.play_action(action, hand_over=False)  # raises where one is not legal
            longer += len(move["actions"]) > 1
    assert longer > 20


@pytest.mark.parametrize("game_id", GAMES)
def test_a_board_set_up_is_the_board_that_was_shown(games, game_id):
    session, view, game = games[game_id], VIEWS[game_id], games[game_id].game
    for turn, seat in list(zip(session.turns, colours(session, view), strict=True))[::5]:
        board = view.board(turn.before, seat)
        dice = board.get("left")
        text = view.text(board, game, seat, dice and sorted(dice)[: 2 if len(dice) == 4 else None])
        again = game.from_string(text)
        assert view.board(again, seat) == board
        assert view.first(again) in (None, seat)


@pytest.mark.parametrize("game_id", GAMES)
def test_steps_of_a_turn_lead_from_board_to_board(games, game_id):
    session, view = games[game_id], VIEWS[game_id]
    for turn, seat in zip(session.turns, colours(session, view), strict=True):
        steps, captured = view.steps(turn.before, turn.actions, turn.text, seat)
        before, after = view.board(turn.before, seat), view.board(turn.after, seat)
        if game_id == "checkers":
            assert before["squares"][steps[0]["from"] - 1] and after["squares"][steps[-1]["to"] - 1]
            assert len(captured) == sum(map(bool, before["squares"])) - sum(map(bool, after["squares"]))
            assert all(not after["squares"][square - 1] and before["squares"][square - 1] for square in captured)
        elif game_id == "tic_tac_toe":
            assert [cell for cell in range(9) if before["cells"][cell] != after["cells"][cell]] == [steps[0]["to"]]
        elif game_id == "connect_four":
            changed = np.argwhere(np.array(before["cells"]) != np.array(after["cells"]))
            assert changed[:, 1].tolist() == [steps[0]["to"]]


def test_backgammon_is_shown_as_seat_0_counts():
    game, view = make("backgammon"), VIEWS["backgammon"]
    state = game.from_string("4HPwATDgc/ABMA:31")
    white, black = view.board(state, 0), view.board(state, 1)
    assert white["points"][5] == [5, 0] and white["points"][23] == [2, 0] and white["points"][0] == [0, 2]
    assert white["points"] == [row[::-1] for row in black["points"][::-1]] and white["pips"] == [167, 167]
    legal = np.flatnonzero(np.asarray(state.legal_action_mask)).tolist()
    named = {(m["from"], m["to"]): m["text"] for m in view.moves(state, legal, 0)}
    assert named[8, 5] == "8/5" and named[24, 20] == "24/20"
    assert ("8/5", 17, 20) in [(m["text"], m["from"], m["to"]) for m in view.moves(state, legal, 1)]


def test_hits_and_the_bar_are_named():
    game, view = make("backgammon"), VIEWS["backgammon"]
    mover, opponent = [0] * 25, [0] * 25
    mover[24], mover[5], opponent[2] = 1, 2, 1  # one on the bar; a blot of the other one on 22
    points = [[mover[p], opponent[23 - p]] for p in range(24)]
    text, double = (view.text({"points": points, "bar": [1, 0]}, game, 0, dice) for dice in ([3, 1], [3, 3]))
    assert double == text.replace(":31", ":3333")
    state = game.from_string(text)
    legal = np.flatnonzero(np.asarray(state.legal_action_mask)).tolist()
    moves = {(m["from"], m["to"]): m for m in view.moves(state, legal, 0)}
    assert {"bar"} == {start for start, _ in moves} and moves["bar", 21]["text"] == "bar/22*/21"
    assert view.steps(state, moves["bar", 22]["actions"], "", 0).captured == [22]


def test_connect_x_of_other_sizes():
    game, view = make("connect_four", rows=3, cols=4, connect=3), VIEWS["connect_four"]
    state = game.from_string("1213")
    assert view.board(state, 0)["cells"] == [[0] * 4, [1, 0, 0, 0], [1, 2, 2, 0]]
    won = view.board(game.from_string("12131"), 1)
    assert won["line"] == [[0, 0], [1, 0], [2, 0]]


@pytest.mark.parametrize(
    ("game_id", "board", "says"),
    [
        ("tic_tac_toe", {}, "cells: expected a list of 9 entries, not None"),
        ("tic_tac_toe", {"cells": [1] * 9}, "9 X and 0 O"),
        ("tic_tac_toe", {"cells": [3] + [0] * 8}, r"cells\[0\]: expected a whole number from 0 to 2"),
        ("connect_four", {"cells": [[0] * 7] * 5}, "expected a list of 6 entries"),
        ("connect_four", {"cells": [[1] + [0] * 6] + [[0] * 7] * 5}, "lies above a free cell"),
        ("checkers", {"squares": [0] * 32}, "Black has no move"),
        ("checkers", {"squares": [1] + [0] * 31}, "Black has no move"),
        ("checkers", {"squares": [0] * 31 + [1]}, "Black has no move"),
        ("checkers", {"squares": [2] * 13 + [0] * 18 + [-2]}, "Black has 13 pieces"),
        ("checkers", {"squares": [1, *[0] * 30, -1], "quiet": 100}, "quiet: expected a whole number from 0 to 99"),
        ("backgammon", {"points": [[0, 0]] * 24}, "White has 0 checkers"),
        ("backgammon", {"points": [[1, 1]] + [[0, 0]] * 23}, "both"),
        ("backgammon", {"points": [[15, 0]] + [[0, 0]] * 22 + [[0, 15]], "bar": [1, 0]}, "White has 16 checkers"),
    ],
)
def test_impossible_boards_are_refused_in_one_line(game_id, board, says):
    with pytest.raises(ValueError, match=says) as error:
        VIEWS[game_id].text(board, make(game_id), 0, None)
    assert "\n" not in str(error.value)
