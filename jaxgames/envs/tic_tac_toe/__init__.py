"""Tic-tac-toe: rules (`game`), positions as words, notation, drawing."""

from jaxgames.envs.tic_tac_toe.game import Position, TicTacToe

__all__ = ["Position", "TicTacToe"]
