"""Players: anything that picks moves for a batch of positions, named by a spec string (`make`)."""

import warnings
from typing import Any

from jaxgames.players.entries import jax_player, python_player
from jaxgames.players.generic import greedy
from jaxgames.players.player import LearningTurnPolicy, Player, PlayerMemory, TurnPolicy
from jaxgames.players.registry import as_players, available_players, game_of, make, register

__all__ = [
    "LearningTurnPolicy",
    "Player",
    "PlayerMemory",
    "TurnPolicy",
    "as_players",
    "available_players",
    "game_of",
    "greedy",
    "jax_player",
    "make",
    "python_player",
    "register",
]

_RENAMED = {"Memory": "PlayerMemory", "Turn": "TurnPolicy"}


def __getattr__(name: str) -> Any:
    """The old names, for one version."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _RENAMED[name]
    warnings.warn(f"jaxgames.players.{name} is now jaxgames.players.{new}", DeprecationWarning, stacklevel=2)
    return globals()[new]
