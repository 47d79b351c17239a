"""Backgammon: rules (`game`), the board as words (`board`), whole turns (`plays`), notation, drawing, network inputs."""

from jaxgames.envs.backgammon.game import ROLLS, Backgammon, Position

__all__ = ["ROLLS", "Backgammon", "Position"]
