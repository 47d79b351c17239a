"""Backgammon: rules (`game`), positions as words (`board`), whole turns (`listing`), notation, drawing, encodings."""

from jaxgames.envs.backgammon.board import Position
from jaxgames.envs.backgammon.game import ROLLS, Backgammon, make_position
from jaxgames.envs.backgammon.listing import BatchPlays, PlayList, list_plays, plays

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
