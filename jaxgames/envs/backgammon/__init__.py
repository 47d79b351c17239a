"""Backgammon: rules (`game`), positions as words (`board`), turns (`play_lists`), notation, drawing, encodings."""

from jaxgames.envs.backgammon.board import Position
from jaxgames.envs.backgammon.game import ROLLS, Backgammon, make_position
from jaxgames.envs.backgammon.play_lists import BatchPlays, PlayList, list_plays, plays

__all__ = [
    "ROLLS",
    "Backgammon",
    "BatchPlays",
    "PlayList",
    "Position",
    "list_plays",
    "make_position",
    "plays",
]
