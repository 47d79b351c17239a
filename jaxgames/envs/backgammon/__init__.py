"""Backgammon: rules (`game`), the board as words (`board`), whole turns (`plays`), notation, drawing, network inputs."""

from jaxgames.envs.backgammon.game import ROLLS, Backgammon
from jaxgames.envs.backgammon.position import Position

__all__ = ["ROLLS", "Backgammon", "Position"]
