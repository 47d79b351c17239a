"""The game of a tutorial: its rules against plain lists, and what people read of it."""

import sys
from pathlib import Path

import numpy as np
import pytest

from jaxgames.envs import perft
from jaxgames.sessions import Session

FOLDER = Path(__file__).parents[2] / "docs" / "tutorials"


@pytest.fixture
def game(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from breakthrough import Breakthrough

    yield Breakthrough()
    sys.modules.pop("breakthrough")


def counted(board, turns):
    """The games of so many moves: rows of 1 and -1, the player to act going up."""
    found = 0
    for row, column in np.argwhere(np.asarray(board[:-1]) == 1).tolist():
        for side in (-1, 0, 1):
            target = column + side
            if 0 <= target < 5 and board[row + 1][target] in ((0,) if side == 0 else (0, -1)):
                after = [list(cells) for cells in board]
                after[row][column], after[row + 1][target] = 0, 1
                over = row == 3 or not any(-1 in cells for cells in after)
                turned = [[-cell for cell in cells[::-1]] for cells in after[::-1]]
                found += counted(turned, turns - 1) if turns > 1 and not over else turns == 1
    return found


def test_breakthrough(game):
    start = [[1] * 5, [1] * 5, [0] * 5, [-1] * 5, [-1] * 5]
    assert perft(game, 3)[1:] == [counted(start, turns) for turns in (1, 2, 3)] == [13, 156, 1924]
    state = game.from_string("...../w..../..b../.b.../..... b")
    assert game.to_string(state) == "...../w..../..b../.b.../..... b"
    names = [game.action_to_string(state, action) for action in np.flatnonzero(state.legal_action_mask)]
    assert sorted(names) == ["b2-a1", "b2-b1", "b2-c1", "c3-c2", "c3-d2"]
    won = game.step(state, game.string_to_action(state, "b2-c1"))
    assert won.terminated and won.rewards[state.current_player] == 1
    with pytest.raises(ValueError, match="'b2-b4' is no action here; expected one of"):
        game.string_to_action(state, "b2-b4")
    assert game.board_text(state).splitlines() == [".....", "w....", "..b..", ".b...", ".....", "b to move"]
    with pytest.raises(ValueError, match="finished|legal|no action"):
        Session(game).play("b2-b3 c4-c3")  # a turn and the other player's
    assert state.observation.shape == (5, 5, 2) and state.observation[3, 3, 0]  # as Black sees b2
