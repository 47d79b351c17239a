"""Keys of all positions of a small board of Connect X."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, UInt32

from jaxgames.envs.connect_four import board
from jaxgames.envs.connect_four.board import Position
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.ops import bits
from jaxgames.tables.connect_four.threats import Threats

MOST_BITS = 30
"""The board of 5 x 5."""


@dataclasses.dataclass(frozen=True)
class SmallBoard:
    """All positions of a board whose keys, as of `Threats.key`, fit in 30 bits.

    Raises `ValueError` for a larger board.
    """

    game: ConnectFour

    def __post_init__(self) -> None:
        if self.bits > MOST_BITS:
            size = f"{self.game.rows} x {self.game.cols}"
            raise ValueError(f"a board of {size} has too many positions; expected one of 5 x 5 at most")

    @property
    def bits(self) -> int:
        """Of a key."""
        return (self.game.rows + 1) * self.game.cols

    def key(self, positions: Position) -> UInt32[Array, "..."]:
        """As of `WholeIndex`."""
        return Threats(self.game).key(positions.own, board.either(*positions))[0]

    def position(self, keys: UInt32[Array, "..."]) -> Position:
        """As of `WholeIndex`: the highest bit of a column stands above its stones."""
        height = self.game.rows + 1
        own = taken = jnp.zeros_like(keys)
        for column in range(self.game.cols):
            bits_of = (keys >> (column * height)) & jnp.uint32((1 << height) - 1)
            above = bits.highest(bits_of)
            own = own | (bits_of ^ above) << (column * height)
            taken = taken | (above - 1) << (column * height)
        return Position((own,), (taken ^ own,))
