"""Players: anything that picks moves for a batch of positions, named by a spec string (`make`)."""

from jaxgames.players.generic import greedy
from jaxgames.players.player import Memory, Player, Turn
from jaxgames.players.registry import available_players, game_of, make

__all__ = ["Memory", "Player", "Turn", "available_players", "game_of", "greedy", "make"]
