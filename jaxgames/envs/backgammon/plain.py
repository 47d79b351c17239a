"""Between positions as words and positions as plain numbers, which notation, drawings and people use."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from jaxgames.envs.backgammon.board import SOURCES, Side
from jaxgames.envs.backgammon.notation import check_position
from jaxgames.envs.backgammon.position import Position


def from_plain(mover: Sequence[int], opponent: Sequence[int], dice: Sequence[int] | None) -> Position:
    """The position with these checkers (25 counts each, as in `notation`) and dice left, None where a roll is awaited.

    Raises `ValueError` for checkers that no game in progress can have.
    """
    mover, opponent = check_position(mover, opponent)
    for name, side in (("mover", mover), ("opponent", opponent)):
        if not sum(side):
            raise ValueError(f"the {name} has no checkers left: the game is over")
    word = sum(1 << 4 * (die - 1) for die in dice or ())
    return Position(_side(mover), _side(opponent), jnp.asarray(np.uint32(word)))


def to_plain(position: Position) -> tuple[list[int], list[int], tuple[int, ...] | None]:
    """The checkers of both sides, the mover's first, and the dice left, largest first, None where a roll is awaited."""
    word = int(position.dice)
    dice = [die for die in range(6, 0, -1) for _ in range(word >> 4 * (die - 1) & 15)]
    return _counts(position.own), _counts(position.opponent), tuple(dice) or None


def _side(counts: Sequence[int]) -> Side:
    numbers = np.asarray(counts, np.uint32)
    return Side(*(jnp.asarray(((numbers >> k & 1) << SOURCES).sum(dtype=np.uint32)) for k in range(4)))


def _counts(side: Side) -> list[int]:
    planes = np.stack([np.asarray(plane) >> SOURCES & 1 for plane in side])
    return (planes << np.arange(4, dtype=np.uint32)[:, None]).sum(axis=0).tolist()
