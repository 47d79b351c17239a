"""Nim as somebody may write it: a plug-in with a game that has a tuple as its option. Who takes the last match wins."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Int8

from jaxgames.envs import Game, Outcome


@dataclasses.dataclass(frozen=True)
class Nim(Game[Int8[Array, " heaps"]]):
    """Matches in heaps; an action is a heap and how many to take, up to 3."""

    id = "nim"
    heaps: tuple[int, ...] = (1, 2)

    @property
    def num_actions(self):
        return 3 * len(self.heaps)

    @property
    def observation_shape(self):
        return (len(self.heaps),)

    def init_position(self, key):
        return jnp.array(self.heaps, jnp.int8)

    def legal(self, position):
        over = ~position.any()
        return (position[:, None] >= jnp.arange(1, 4, dtype=jnp.int8)[None]).reshape(-1) | over

    def play(self, position, action):
        left = position.at[action // 3].add(-(action % 3 + 1).astype(jnp.int8))
        over = ~left.any()
        return Outcome(left, jnp.bool_(True), over, over.astype(jnp.float32))

    def observe_position(self, position, acting):
        return position.astype(jnp.float32)


GAMES = [Nim]
