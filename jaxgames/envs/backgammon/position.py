"""A backgammon position: two sides and the dice still to play."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, UInt32

from jaxgames.envs.backgammon.board import Side
from jaxgames.ops import bits


class Position(NamedTuple):
    """Both sides, each in its own numbering, and the dice still to play, one count in each hex digit.

    `own` belongs to the player to act. Hex digit d - 1 of `dice` says how many dice of value d are left; 0 awaits a
    roll.
    """

    own: Side
    opponent: Side
    dice: UInt32[Array, "..."]


def rolled(high: UInt32[Array, "..."], low: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """The dice word of a fresh roll: four of a double, else one of each."""
    both = one_die(high) | one_die(low)
    return jnp.where(high == low, both << jnp.uint32(2), both)


def one_die(value: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """The dice word of a single die."""
    return jnp.uint32(1) << (jnp.uint32(4) * (value - jnp.uint32(1)))


def high_low(dice: UInt32[Array, "..."]) -> tuple[UInt32[Array, "..."], UInt32[Array, "..."]]:
    """The largest and the smallest die left; both are 8 where none is."""
    none = dice == 0
    high = bits.top_index(dice) // jnp.uint32(4) + jnp.uint32(1)
    low = bits.bottom_index(dice) // jnp.uint32(4) + jnp.uint32(1)
    return jnp.where(none, jnp.uint32(8), high), jnp.where(none, jnp.uint32(8), low)
