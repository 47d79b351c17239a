"""English draughts (checkers): rules (`game`), boards as words (`board`), whole moves, PDN, drawing."""

from jaxgames.envs.checkers.board import Position
from jaxgames.envs.checkers.game import Checkers

__all__ = ["Checkers", "Position"]
