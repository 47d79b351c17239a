"""Boards as networks of the nineties saw them: one number for each square."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32

from jaxgames.envs.core import Game, Position


@dataclasses.dataclass(frozen=True)
class Cells:
    """One input for each square, from the player to act: own piece 1, the other's -1, nothing `empty`.

    With `side` one more input says whose turn it is: 1 for the player whose pieces are the 1s. For games that are
    observed as bool[rows, cols, 2].
    """

    game: Game
    empty: float = 0.0
    side: bool = False

    @property
    def size(self) -> int:
        """Number of inputs."""
        rows, columns, _ = self.game.observation_shape
        return rows * columns + self.side

    def __call__(self, positions: Position) -> Float32[Array, "n size"]:
        """float32[n, size] for n positions."""
        planes = jax.vmap(lambda position: self.game.view(position, jnp.bool_(True)))(positions)
        own, other = planes[..., 0], planes[..., 1]
        values = jnp.where(own, 1.0, jnp.where(other, -1.0, self.empty)).astype(jnp.float32)
        values = values.reshape(len(values), -1)
        return jnp.concatenate([values, jnp.ones((len(values), 1), jnp.float32)], axis=1) if self.side else values

    def swap(self, inputs: Float32[Array, "n size"]) -> Float32[Array, "n size"]:
        """The same inputs with the names of the players exchanged."""
        return jnp.where(jnp.abs(inputs) == 1, -inputs, inputs)
