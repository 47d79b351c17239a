"""Players made weaker: now and then they take a random turn."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from jaxgames.envs.core import Game, Outcome
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import fold_in
from jaxgames.players.player import Player, TurnPolicy


@dataclasses.dataclass(frozen=True)
class WeakTurn:
    """The turn of another player or, with a probability, one drawn uniformly from all.

    The parameters are the probability as a number out of 2^24, and those of the other player.
    """

    game: Game
    turn: TurnPolicy

    @property
    def on_host(self) -> bool:
        """As of the other player."""
        return getattr(self.turn, "on_host", False)

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """As `TurnPolicy`."""
        threshold, inner = params
        errs = (fold_in(bits, jnp.uint32(1)) >> 8) < threshold
        drawn = self.game.random_turn(positions, fold_in(bits, jnp.uint32(2)))
        return select(errs, drawn, self.turn(inner, positions, bits))


def weak(player: Player, name: str, probability: float) -> Player:
    """The player that takes a random turn with a probability, and else that of `player`.

    Keller, "Entwicklung einer Künstlichen Intelligenz für Tic-Tac-Toe" (2018), section 3.2, proposes it: who never
    errs is soon no fun to play against.
    """
    params = (np.uint32(round(probability * 2**24)), player.params)
    return Player(name, player.game, WeakTurn(player.game, player.turn), params)
