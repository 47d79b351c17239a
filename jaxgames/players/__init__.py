"""Players: anything that picks moves for a batch of positions, named by a spec string (`make`)."""

from jaxgames.players.generic import greedy
from jaxgames.players.host import jax_player, python_player
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
