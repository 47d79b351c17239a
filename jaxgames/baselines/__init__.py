"""Trained networks to compare with, each in one line as `apply(params, observation) -> (logits, value)`."""

from jaxgames.baselines.network import available_baselines, card, from_player, load

__all__ = ["available_baselines", "card", "from_player", "load"]
