"""Thousands of board games played, searched and learned at once, as pure jitted JAX functions."""

from jaxgames.envs import Game, State, available_games, check_game, make, random_action, rollout

__version__ = "0.1.0"
__all__ = ["Game", "State", "available_games", "check_game", "make", "random_action", "rollout"]
