"""Players: anything that picks moves for a batch of positions; a spec string names one (`make`)."""

from jaxgames.players import champions
from jaxgames.players.generic import by_policy, greedy, random
from jaxgames.players.host import jax_player, python_player
from jaxgames.players.mcts import by_search
from jaxgames.players.player import LearningTurnPolicy, Player, PlayerMemory, TurnPolicy
from jaxgames.players.registry import FROM_FOLDER, PLAYERS, as_players, available_players, game_of, make, register
from jaxgames.players.specs import PlayerEntry

__all__ = [
    "FROM_FOLDER",
    "PLAYERS",
    "LearningTurnPolicy",
    "Player",
    "PlayerEntry",
    "PlayerMemory",
    "TurnPolicy",
    "as_players",
    "available_players",
    "by_policy",
    "by_search",
    "champions",
    "game_of",
    "greedy",
    "jax_player",
    "make",
    "python_player",
    "random",
    "register",
]
