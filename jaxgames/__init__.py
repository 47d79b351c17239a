"""Thousands of board games played, searched and learned at once, as pure jitted JAX functions."""

from jaxgames.envs import (
    Game,
    State,
    auto_reset,
    available_games,
    check_game,
    make,
    random_action,
    rollout,
    save_svg_animation,
    time_limit,
)

__version__ = "1.0.0"
__all__ = [
    "Game",
    "State",
    "auto_reset",
    "available_games",
    "check_game",
    "make",
    "random_action",
    "rollout",
    "save_svg_animation",
    "time_limit",
]
