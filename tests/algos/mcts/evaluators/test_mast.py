"""Rollouts by move averages at the lowest temperature, where all legal moves were lost."""

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from jaxgames.algos import mcts
from jaxgames.envs.core import Game, Outcome


class Steps(NamedTuple):
    """How many were made, and whether one of them was illegal."""

    number: Int32[Array, "..."]
    illegal: Bool[Array, "..."]


@dataclasses.dataclass(frozen=True)
class Lost(Game[Steps]):
    """Four steps of one player, then a loss; action 0 is never legal, and would win."""

    id: ClassVar[str] = "lost"
    num_actions: ClassVar[int] = 3
    observation_shape: ClassVar[tuple[int, ...]] = (1,)
    alternates: ClassVar[bool] = False

    def init_position(self, key):
        return Steps(jnp.int32(0), jnp.bool_(False))

    def legal(self, position):
        return jnp.arange(3, dtype=jnp.int32) > 0

    def play(self, position, action):
        after = Steps(position.number + 1, position.illegal | (action == 0))
        reward = jnp.where(after.illegal, jnp.float32(1), jnp.float32(-1))
        return Outcome(after, jnp.bool_(False), after.number >= 4, reward)

    def observe_position(self, position, acting):
        return position.number[None].astype(jnp.float32)


def test_no_illegal_move_is_played_where_all_others_were_lost():
    game = Lost()
    states = game.state(Steps(jnp.zeros(2, jnp.int32), jnp.zeros(2, bool)), np.zeros(2, np.int32))
    found = mcts.search(game, states, jax.random.key(0), 24, evaluate=mcts.mast(0.01))
    assert found.values.tolist() == [-1, -1]
