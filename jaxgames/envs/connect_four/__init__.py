"""Connect Four and Connect X: rules (`game`), boards as words (`board`), notation, drawing."""

from jaxgames.envs.connect_four.board import Position
from jaxgames.envs.connect_four.game import ConnectFour

__all__ = ["ConnectFour", "Position"]
