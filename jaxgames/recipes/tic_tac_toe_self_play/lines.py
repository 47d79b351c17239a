"""The networks of `tic-tac-toe-self-play` as players, and how many lines of play each of them loses."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, UInt32

from jaxgames.algos.self_play_backprop import SelfPlayBackprop, SelfPlayState
from jaxgames.arena.exhaustive import every_line
from jaxgames.envs.core import Outcome
from jaxgames.players.player import Player
from jaxgames.recipes.tic_tac_toe_self_play.population import Populations


@dataclasses.dataclass(frozen=True)
class NetworkTurn:
    """Plays what one network values most, as in training; the parameters are its weights and settings."""

    learner: SelfPlayBackprop

    def __call__(self, params: Any, positions: Any, words: UInt32[Array, " batch"]) -> Outcome:
        """Plays a turn in each position."""
        del words
        game, (weights, settings) = self.learner.game, params
        squares = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)
        own, other = (jnp.sum(squares[..., plane], axis=(1, 2), dtype=jnp.int32) for plane in (0, 1))
        player = other - own  # the second player is one square behind when it is to act
        action = self.learner.best_action(weights, settings, positions, player)
        return jax.vmap(game.play)(positions, action)


def lines_lost(populations: Populations, states: SelfPlayState) -> Int32[np.ndarray, "variants seeds"]:
    """How many of all possible lines of play each network loses, from both sides."""
    states = jax.device_get(states)
    turn = NetworkTurn(dataclasses.replace(populations.learner, members=1))

    def of_network(block: int, member: int) -> int:
        params = jax.tree.map(lambda x: x[block, ..., member : member + 1], states.params)
        settings = jax.tree.map(lambda x: x[block], states.settings)
        return every_line(Player("network", turn.learner.game, turn, (params, settings))).lost

    return populations.by_variant(
        [[of_network(block, member) for member in range(populations.width)] for block in range(populations.blocks)]
    )
