"""Board games as pure functions: `make` a game, then `init` and `step` it."""

from jaxgames.envs import svg
from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.encodings import Cells, Marks, Stones
from jaxgames.envs.heads import ActionHead, ArgmaxHead, heads_of
from jaxgames.envs.registry import as_game, available_games, make, register
from jaxgames.envs.rollout import Transition, auto_reset, random_action, rollout, time_limit
from jaxgames.envs.svg import save_svg_animation
from jaxgames.envs.symmetry import Symmetry, of_grid, square_grid
from jaxgames.envs.testing.conformance import ConformanceError, ConformanceReport, check_game
from jaxgames.envs.testing.perft import count_positions, divide, perft

__all__ = [
    "ActionHead",
    "ArgmaxHead",
    "Cells",
    "ConformanceError",
    "ConformanceReport",
    "Game",
    "Marks",
    "Outcome",
    "State",
    "Stones",
    "Symmetry",
    "Transition",
    "as_game",
    "auto_reset",
    "available_games",
    "check_game",
    "count_positions",
    "divide",
    "heads_of",
    "make",
    "of_grid",
    "perft",
    "random_action",
    "register",
    "rollout",
    "save_svg_animation",
    "square_grid",
    "svg",
    "time_limit",
]
