"""Board games as pure functions: `make` a game, then `init` and `step` it."""

from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.registry import available_games, make

__all__ = ["Game", "Outcome", "State", "available_games", "make"]
