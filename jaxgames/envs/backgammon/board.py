"""The backgammon board as words, how one checker moves on it, and positions from and to plain numbers.

Each player counts points from their own side: 24 is farthest, 1 is the ace point, 25 stands for the bar, and checkers
below 1 are off. Point p of one player is point 25 - p of the other. A `Side` holds one player's checkers as
bit-sliced counters: bit p of its four words is the number of checkers on point p. So to add a checker is a ripple carry
over four words, "two or more here" is an or, and the other player's turn is a swap of names.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int32, UInt32

from jaxgames.envs.backgammon.notation import check_position
from jaxgames.ops import bits

BAR = 25
CHECKERS = 15
POINTS = np.uint32(0x01FFFFFE)  # bits 1..24
BAR_BIT = np.uint32(1 << BAR)
SOURCES = np.arange(1, 26, dtype=np.uint32)  # every place a checker can start from

Word = UInt32[jax.Array, "..."]


class Side(NamedTuple):
    """One player's checkers, bit-sliced: bit p of `ones`, `twos`, `fours`, `eights` spell the count on point p."""

    ones: Word
    twos: Word
    fours: Word
    eights: Word


class Position(NamedTuple):
    """Both sides, each in its own numbering, and the dice still to play, one count in each hex digit.

    `own` belongs to the player to act. Hex digit d - 1 of `dice` says how many dice of value d are left; 0 awaits a
    roll.
    """

    own: Side
    opponent: Side
    dice: Word


def from_counts(counts: Int32[jax.Array, "... 25"]) -> Side:
    """A side from its checkers on points 1..24 and the bar."""
    counts = jnp.asarray(counts, jnp.uint32)
    shifts = jnp.broadcast_to(jnp.asarray(SOURCES), counts.shape)
    return Side(*(bits.union(((counts >> jnp.uint32(k)) & jnp.uint32(1)) << shifts) for k in range(4)))


def to_counts(side: Side) -> Int32[jax.Array, "... 25"]:
    """Checkers on points 1..24 and the bar."""
    total = jnp.zeros((*side.ones.shape, 25), jnp.uint32)
    for k, plane in enumerate(side):
        total += _unpack(plane) << jnp.uint32(k)
    return total.astype(jnp.int32)


def _unpack(words: Word) -> UInt32[jax.Array, "... 25"]:
    shifts = jnp.asarray(SOURCES).reshape((1,) * words.ndim + (25,))
    return (words[..., None] >> shifts) & jnp.uint32(1)


def occupied(side: Side) -> Word:
    """Points (and bar) with at least one checker."""
    return side.ones | side.twos | side.fours | side.eights


def several(side: Side) -> Word:
    """Points (and bar) with at least two checkers."""
    return side.twos | side.fours | side.eights


def blots(side: Side) -> Word:
    """Points (and bar) with exactly one checker."""
    return side.ones & ~several(side)


def total(side: Side) -> Int32[jax.Array, "..."]:
    """Checkers still in play, 0..15."""
    ones, twos, fours, eights = (bits.popcount(plane) for plane in side)
    return ones + 2 * twos + 4 * fours + 8 * eights


def count(side: Side, point: Word) -> Word:
    """Checkers on one point."""
    ones, twos, fours, eights = ((plane >> point) & jnp.uint32(1) for plane in side)
    return ones | (twos << jnp.uint32(1)) | (fours << jnp.uint32(2)) | (eights << jnp.uint32(3))


def add(side: Side, where: Word) -> Side:
    """One more checker at the set bit of `where` (none if 0)."""
    planes = []
    for plane in side:
        planes.append(plane ^ where)
        where = plane & where
    return Side(*planes)


def remove(side: Side, where: Word) -> Side:
    """One checker less at the set bit of `where` (none if 0)."""
    planes = []
    for plane in side:
        planes.append(plane ^ where)
        where = ~plane & where
    return Side(*planes)


def mirror(words: Word) -> Word:
    """The same points in the other player's numbering: bit p goes to bit 25 - p; the bar is dropped."""
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        keep, step = jnp.uint32(mask), jnp.uint32(shift)
        words = ((words >> step) & keep) | ((words & keep) << step)
    words = (words >> jnp.uint32(16)) | (words << jnp.uint32(16))  # now bit p is at 31 - p
    return (words >> jnp.uint32(6)) & POINTS


def blocked(opponent: Side) -> Word:
    """Points, in the mover's numbering, where the opponent has two or more checkers."""
    return mirror(several(opponent))


def sources(taken: Word, barred: Word, die: Word) -> Word:
    """Where a checker may start with `die`, for a player on the points `taken` (bar included) against `barred` points.

    Bar first; a landing point must not be barred; bearing off needs all checkers on points 1..6 and either the exact
    number or, with a larger one, the rearmost checker.
    """
    movers = jnp.where((taken & BAR_BIT) != 0, BAR_BIT, taken)
    steps = movers & ~(barred << die) & ~bits.below(die + jnp.uint32(1))
    exact = taken & bits.bit(die)
    overshoot = jnp.where((taken >> die) == 0, bits.highest(taken), jnp.uint32(0))
    all_home = (taken >> jnp.uint32(7)) == 0
    return steps | jnp.where(all_home, exact | overshoot, jnp.uint32(0))


def follow_ups(own: Side, barred: Word, first: Word, second: Word) -> UInt32[jax.Array, "25 ..."]:
    """The sources of the second die after each source 1..25 of the first (on the first axis); 0 where it is illegal."""
    taken, many = occupied(own), several(own)
    start = jnp.asarray(1 << SOURCES).reshape((25,) + (1,) * taken.ndim)
    legal = sources(taken, barred, first)[None]
    taken, many, barred, first, second = (x[None] for x in (taken, many, barred, first, second))
    after = (taken & (~start | many)) | ((start >> first) & POINTS)
    return jnp.where((start & legal) != 0, sources(after, barred, second), jnp.uint32(0))


def move(
    own: Side, opponent: Side, source: Word, die: Word, active: Bool[jax.Array, "..."] | bool = True
) -> tuple[Side, Side]:
    """Both sides after one checker goes from `source` by `die`, sending a blot it lands on to the bar.

    Nothing changes where `active` is false. The move is not checked.
    """
    start = jnp.where(active, bits.bit(source), jnp.uint32(0))
    landing = (start >> die) & POINTS
    there = jnp.where(landing != 0, bits.bit(jnp.uint32(BAR) - source + die), jnp.uint32(0))
    hit = there & blots(opponent)
    sent = jnp.where(hit != 0, BAR_BIT, jnp.uint32(0))
    return add(remove(own, start), landing), add(remove(opponent, hit), sent)


def result(loser: Side) -> Int32[jax.Array, "..."]:
    """Points won against `loser` by bearing off all.

    A single game is 1; a gammon, with none of the loser's checkers off, is 2; a backgammon, with one of them also on
    the bar or in the winner's home board, is 3.
    """
    none_off = total(loser) == CHECKERS
    behind = (occupied(loser) >> jnp.uint32(19)) != 0  # points 19..24 are the winner's home, 25 the bar
    return 1 + none_off.astype(jnp.int32) + (none_off & behind).astype(jnp.int32)


def dice_of_roll(high: Word, low: Word) -> Word:
    """The dice word of a fresh roll: four of a double, else one of each."""
    both = one_die(high) | one_die(low)
    return jnp.where(high == low, both << jnp.uint32(2), both)


def one_die(value: Word) -> Word:
    """The dice word of a single die."""
    return jnp.uint32(1) << (jnp.uint32(4) * (value - jnp.uint32(1)))


def high_low(dice: Word) -> tuple[Word, Word]:
    """The largest and the smallest die left; both are 8 where none is."""
    none = dice == 0
    high = bits.top_index(dice) // jnp.uint32(4) + jnp.uint32(1)
    low = bits.bottom_index(dice) // jnp.uint32(4) + jnp.uint32(1)
    return jnp.where(none, jnp.uint32(8), high), jnp.where(none, jnp.uint32(8), low)


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
