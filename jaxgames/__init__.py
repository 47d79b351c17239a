"""Thousands of board games played, searched and learned at once, as pure jitted JAX functions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """What is named here is loaded, with JAX, when it is asked for; the command line hears Ctrl-C meanwhile."""
    if name not in (*__all__, "envs"):
        raise AttributeError(f"module 'jaxgames' has no attribute {name!r}")
    envs = import_module("jaxgames.envs")
    return envs if name == "envs" else getattr(envs, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
