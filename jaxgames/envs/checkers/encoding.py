"""What networks see of a draughts board: 64 inputs."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float32

from jaxgames.envs import bits
from jaxgames.envs.checkers import board
from jaxgames.envs.checkers.board import Position


@dataclasses.dataclass(frozen=True)
class Pieces:
    """The men on the 32 squares, then the kings: own 1, the other's -1, squares in the frame of the player to act."""

    size: int = 64

    def __call__(self, positions: Position) -> Float32[Array, "n 64"]:
        """float32[n, 64] for n positions."""
        own, other, kings = (word[:, None] for word in positions[:3])
        places = jnp.where(board.white(positions)[:, None], 11 - board.PLACE[None], board.PLACE[None]) & 31

        def signed(kind):
            return bits.has(own & kind, places).astype(jnp.float32) - bits.has(other & kind, places).astype(jnp.float32)

        return jnp.concatenate([signed(~kings), signed(kings)], axis=1)

    def swap(self, inputs: Float32[Array, "n 64"]) -> Float32[Array, "n 64"]:
        """The same inputs with the names of the players exchanged."""
        return -inputs
