"""Networks that were evolved, as players."""

import dataclasses
from typing import Any

import jax
from jaxtyping import Array, Float32, UInt32

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.envs.core import Outcome
from jaxgames.envs.registry import make
from jaxgames.players.generic import greedy
from jaxgames.players.player import Player


@dataclasses.dataclass(frozen=True)
class EvolvedTurn:
    """The turn that a network's outputs name, the best legal one; the parameters are its row of numbers."""

    network: NetworkConfig

    def __call__(self, params: Any, positions: Any, words: UInt32[Array, " batch"]) -> Outcome:
        """Plays a turn in each position."""
        rows = jax.tree.map(lambda x: x[None], (params, positions, words))
        return jax.tree.map(lambda x: x[0], self.network.policy().turn(*rows).outcome)


def player(name: str, genome: Float32[Array, " dimension"], network: NetworkConfig) -> Player:
    """An evolved network as a player. One that was allowed to name illegal actions plays the best legal one here."""
    game = make(network.game)
    if network.plays != "outputs":
        return greedy(game, name, genome, network.value)
    return Player(name, game, EvolvedTurn(dataclasses.replace(network, strict=False)), genome)
