"""English draughts (checkers): rules (`game`), boards as words (`board`), whole moves, PDN, drawing."""

from jaxgames.envs.checkers.board import Position
from jaxgames.envs.checkers.game import Checkers
from jaxgames.envs.checkers.notation import parse, unparse
from jaxgames.envs.checkers.pdn import PDNGame, read_games, write_game
from jaxgames.envs.checkers.plain_board import START, Board, Move, legal_moves, move_to_actions, move_to_string

__all__ = [
    "START",
    "Board",
    "Checkers",
    "Move",
    "PDNGame",
    "Position",
    "legal_moves",
    "move_to_actions",
    "move_to_string",
    "parse",
    "read_games",
    "unparse",
    "write_game",
]
