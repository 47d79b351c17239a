"""Board games as pure functions: `make` a game, then `init` and `step` it."""

from jaxgames.envs.conformance import ConformanceError, check_game
from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.registry import available_games, make
from jaxgames.envs.rollout import random_action, rollout

__all__ = [
    "ConformanceError",
    "Game",
    "Outcome",
    "State",
    "available_games",
    "check_game",
    "make",
    "random_action",
    "rollout",
]
