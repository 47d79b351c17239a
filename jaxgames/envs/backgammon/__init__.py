"""Backgammon: rules (`game`), positions as words (`board`), whole turns (`listing`), notation, drawing, encodings."""

from jaxgames.envs.backgammon.board import Position
from jaxgames.envs.backgammon.game import ROLLS, Backgammon
from jaxgames.envs.backgammon.listing import BatchPlays, PlayList, list_plays, plays
from jaxgames.envs.backgammon.states import board_text, make_position, play_to_string, string_to_play

__all__ = [
    "ROLLS",
    "Backgammon",
    "BatchPlays",
    "PlayList",
    "Position",
    "board_text",
    "list_plays",
    "make_position",
    "play_to_string",
    "plays",
    "string_to_play",
]
