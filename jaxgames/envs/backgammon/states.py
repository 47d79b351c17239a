"""States from and to what people write: checkers and a roll, plays such as `8/5 6/5*`, boards as text."""

from collections.abc import Sequence

import numpy as np

from jaxgames.envs.backgammon.board import from_plain
from jaxgames.envs.backgammon.game import Backgammon
from jaxgames.envs.core import State


def make_position(
    mover_points: Sequence[int], opponent_points: Sequence[int], dice: Sequence[int], current_player: int = 0
) -> State:
    """The state where `current_player` is to play `dice`, with these checkers on points 1..24 and the bar.

    Each side has its own numbering, the player to act comes first: 25 counts each, at most 15 checkers; those missing
    are off. `dice` is the roll, two numbers from 1 to 6. Raises `ValueError` for a position or a roll that cannot be.
    """
    mover, opponent, roll = (np.asarray(x) for x in (mover_points, opponent_points, dice))
    for name, side in (("mover_points", mover), ("opponent_points", opponent)):
        if side.shape != (25,) or side.dtype.kind not in "iuf":
            what = f"{side.dtype}{list(side.shape)}"
            raise ValueError(f"{name} must be 25 numbers, points 1 to 24 and the bar, not {what}")
    if roll.shape != (2,) or roll.dtype.kind not in "iu" or not all(1 <= die <= 6 for die in roll):
        raise ValueError(f"dice must be two numbers from 1 to 6, not {dice}")
    if current_player not in (0, 1):
        raise ValueError(f"current_player must be 0 or 1, not {current_player}")
    left = roll.tolist() * (2 if roll[0] == roll[1] else 1)
    return Backgammon().state(from_plain(mover.tolist(), opponent.tolist(), left), current_player)


def play_to_string(state: State, actions: Sequence[int]) -> str:
    """A whole turn as players write it, `8/5 6/5*`: `actions` from `state` on, in order, as in `PlayList.actions`."""
    return Backgammon().turn_to_string(state, actions)


def string_to_play(state: State, text: str) -> list[int]:
    """The actions of the legal turn that `text` describes. Raises `ValueError` that names what is wrong with it."""
    return list(Backgammon().string_to_turn(state, text))


def board_text(state: State) -> str:
    """The board of one state as lines of text; player 0 has the X checkers and sits at the bottom."""
    return Backgammon().board_text(state)
