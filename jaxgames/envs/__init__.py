"""Board games as pure functions: `make` a game, then `init` and `step` it."""

from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.registry import available_games, make
from jaxgames.envs.rollout import Transition, random_action, rollout
from jaxgames.envs.symmetry import Symmetry
from jaxgames.envs.testing.conformance import ConformanceError, check_game
from jaxgames.envs.wrappers import auto_reset, time_limit

__all__ = [
    "ConformanceError",
    "Game",
    "Outcome",
    "State",
    "Symmetry",
    "Transition",
    "auto_reset",
    "available_games",
    "check_game",
    "make",
    "random_action",
    "rollout",
    "time_limit",
]
