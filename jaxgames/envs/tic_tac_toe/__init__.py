"""Tic-tac-toe: rules (`game`), positions as words, notation, drawing."""

from jaxgames.envs.tic_tac_toe.game import TicTacToe
from jaxgames.envs.tic_tac_toe.position import Position

__all__ = ["Position", "TicTacToe"]
