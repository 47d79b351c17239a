"""What hand-made backgammon players look at, counted on the board's words."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.board import Side
from jaxgames.ops import bits

_NUMBERED = np.array([sum(1 << p for p in range(32) if p >> k & 1) for k in range(5)], np.uint32)
"""Mask k: the points whose number has bit k."""


def contact(own: Side, opponent: Side) -> Bool[Array, "..."]:
    """Whether some checker of a player still has to pass one of the other; if not, it is a race."""
    rearmost = [bits.top_index(board.occupied(side) | jnp.uint32(1)) for side in (own, opponent)]
    return rearmost[0] + rearmost[1] >= board.BAR


def pips(side: Side, to: int = 0) -> Int32[Array, "..."]:
    """How far all checkers together have to go to reach point `to` or less; with 0 until all are off, at most 375."""
    total = jnp.zeros(side.ones.shape, jnp.int32)
    for number, plane in enumerate(side):
        for digit, mask in enumerate(_NUMBERED):
            total += bits.popcount((plane >> jnp.uint32(to)) & jnp.uint32(mask)) << (number + digit)
    return total


def blocks(side: Side) -> Int32[Array, "..."]:
    """Points held by two or more checkers."""
    return bits.popcount(board.several(side) & board.POINTS)


def connected_blocks(side: Side) -> Int32[Array, "..."]:
    """Pairs of neighbouring points that are both held by two or more checkers."""
    held = board.several(side) & board.POINTS
    return bits.popcount(held & (held >> jnp.uint32(1)))


def blots(side: Side) -> Int32[Array, "..."]:
    """Points with exactly one checker."""
    return bits.popcount(board.blots(side) & board.POINTS)


def checkers_off(side: Side) -> Int32[Array, "..."]:
    """Checkers borne off."""
    return board.CHECKERS - board.total(side)
