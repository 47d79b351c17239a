"""What networks see of a draughts board: 64 inputs, or one square only."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32

from jaxgames.envs.checkers import board
from jaxgames.envs.checkers.board import Position
from jaxgames.ops import bits


@dataclasses.dataclass(frozen=True)
class Pieces:
    """The men on the 32 squares, then the kings: own 1, the other's -1, squares in the frame of the player to act."""

    size: int = 64

    def __call__(self, positions: Position) -> Float32[Array, "n 64"]:
        """float32[n, 64] for n positions."""
        return self.inputs_first(positions).T

    def inputs_first(self, positions: Position) -> Float32[Array, "64 *batch"]:
        """The same for positions of any batch shape, the inputs first."""
        own, other, kings = (word[None] for word in positions[:3])
        squares = board.PLACE.reshape(-1, *(1,) * positions.own.ndim)
        places = jnp.where(board.white(positions)[None], 11 - squares, squares) & 31

        def signed(kind):
            return bits.has(own & kind, places).astype(jnp.float32) - bits.has(other & kind, places).astype(jnp.float32)

        return jnp.concatenate([signed(~kings), signed(kings)])

    def from_observation(self, observation: Bool[Array, "n 8 8 5"]) -> Float32[Array, "n 64"]:
        """The same from observations."""
        rows, columns = np.divmod(np.arange(32), 4)
        seen = observation[:, rows, 2 * columns + 1 - rows % 2].astype(jnp.float32)
        return jnp.concatenate([seen[..., 0] - seen[..., 2], seen[..., 1] - seen[..., 3]], axis=1)

    def swap(self, inputs: Float32[Array, "n 64"]) -> Float32[Array, "n 64"]:
        """The same inputs with the names of the players exchanged."""
        return -inputs


@dataclasses.dataclass(frozen=True)
class Board64:
    """The 8 x 8 board, one number for each square: own man 1, own king `king`, the other's negative, else 0.

    Row by row from the side of the player to act, as in the observation; on every other square nothing ever stands.
    """

    king: float = 2.0
    size: int = 64

    def __call__(self, positions: Position) -> Float32[Array, "n 64"]:
        """float32[n, 64] for n positions."""
        return self.inputs_first(positions).T

    def inputs_first(self, positions: Position) -> Float32[Array, "64 *batch"]:
        """The same for positions of any batch shape, the inputs first."""
        own, other, kings = (word[None] for word in positions[:3])
        each = (64, *(1,) * positions.own.ndim)
        rows, columns = np.indices((8, 8))
        seen = ((18 + 4 * rows - 3 * columns) % 32).reshape(each)
        places = jnp.where(board.white(positions)[None], 11 - seen, seen).astype(jnp.uint32) & 31
        piece = bits.has(own, places).astype(jnp.float32) - bits.has(other, places).astype(jnp.float32)
        piece = piece * jnp.where(bits.has(kings, places), jnp.float32(self.king), jnp.float32(1))
        return jnp.where(((rows + columns) % 2 == 1).reshape(each), piece, jnp.float32(0))

    def swap(self, inputs: Float32[Array, "n 64"]) -> Float32[Array, "n 64"]:
        """The same inputs with the names of the players exchanged."""
        return -inputs


@dataclasses.dataclass(frozen=True)
class OneSquare:
    """32 inputs that all show the same one square: own piece 1, the other's -1, empty 0.

    A published program had this defect, and its networks evolved nonetheless: they give one of only three answers to
    any position, so they are fixed preferences for squares. `square` is numbered as in actions, from the side of the
    player to act; the program's loop never advances its index, so it reads the first one.
    """

    square: int = 0
    size: int = 32

    def __call__(self, positions: Position) -> Float32[Array, "n 32"]:
        """float32[n, 32] for n positions."""
        return self.inputs_first(positions).T

    def inputs_first(self, positions: Position) -> Float32[Array, "32 *batch"]:
        """The same for positions of any batch shape, the inputs first."""
        seen = int(board.PLACE[self.square])
        place = jnp.where(board.white(positions), jnp.uint32((11 - seen) % 32), jnp.uint32(seen))
        own, other = (bits.has(word, place).astype(jnp.float32) for word in positions[:2])
        return jnp.broadcast_to((own - other)[None], (self.size, *own.shape))

    def swap(self, inputs: Float32[Array, "n 32"]) -> Float32[Array, "n 32"]:
        """The same inputs with the names of the players exchanged."""
        return -inputs
