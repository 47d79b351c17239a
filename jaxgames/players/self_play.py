"""The networks that learn by self-play as players: they choose moves as in their training."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import UInt32

from jaxgames.algos.self_play_backprop import Params, SelfPlayBackprop, SelfPlaySettings
from jaxgames.envs.core import Outcome
from jaxgames.players.player import Player


@dataclasses.dataclass(frozen=True)
class SelfPlayTurn:
    """Plays what one network values most, ended games included; the parameters are its weights and settings."""

    learner: SelfPlayBackprop

    def __call__(self, params: Any, positions: Any, bits: UInt32[jax.Array, " batch"]) -> Outcome:
        """As `TurnPolicy`."""
        del bits
        game, (weights, settings) = self.learner.game, params
        squares = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)
        own, other = (jnp.sum(squares[..., plane], axis=(1, 2), dtype=jnp.int32) for plane in (0, 1))
        player = other - own  # the second player is one square behind when it is to act
        action = self.learner.best_action(weights, settings, positions, player)
        return jax.vmap(game.play)(positions, action)


def self_play(name: str, params: Params, settings: SelfPlaySettings, learner: SelfPlayBackprop) -> Player:
    """The player of one network's weights; the learner is one of a single member."""
    return Player(name, learner.game, SelfPlayTurn(learner), (params, settings))
