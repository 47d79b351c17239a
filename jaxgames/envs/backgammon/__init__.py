"""Backgammon: rules (`game`), the board as words (`board`), whole turns (`listing`), notation, drawing, network inputs.

`position` is a function here; `Position` and the words of dice are in the module of the same name.
"""

from jaxgames.envs.backgammon.board import Position
from jaxgames.envs.backgammon.game import ROLLS, Backgammon
from jaxgames.envs.backgammon.listing import BatchPlays, PlayList, list_plays, plays
from jaxgames.envs.backgammon.states import board_text, play_to_string, position, string_to_play

__all__ = [
    "ROLLS",
    "Backgammon",
    "BatchPlays",
    "PlayList",
    "Position",
    "board_text",
    "list_plays",
    "play_to_string",
    "plays",
    "position",
    "string_to_play",
]
