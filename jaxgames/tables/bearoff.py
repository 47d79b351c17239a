"""Bear-offs of backgammon: how many rolls a player needs, and who is off first, exactly.

A bear-off here has all checkers of a side on its first points and no contact. One side alone: the number of rolls until
all are off, by turns that minimise its mean. Two sides: the probability to win without a cube. Both are computed from
the plays that the game lists, in order of pip counts, as every play lowers them.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Float64, Int32

from jaxgames.envs.backgammon.board import BAR, CHECKERS, Position, Side, dice_of_roll, from_counts, to_counts
from jaxgames.envs.backgammon.game import ROLLS, Backgammon
from jaxgames.envs.backgammon.play_lists import plays
from jaxgames.ops import checks, subsets

BATCH = 8192
"""Positions with a roll whose plays are listed at once."""
MOST_ROLLS = 64
"""Room for the distribution of rolls: 15 checkers on 10 points need more with a probability below 1e-9."""
ROOM = 24
"""Room for plays, as an average over a batch; what does not fit is listed again."""


class OneSided(NamedTuple):
    """All bear-offs of one side, by number: the mean number of rolls that it needs, and the distribution.

    `chances[i, n]` is the probability to be off after exactly n rolls.
    """

    mean: Float64[np.ndarray, " positions"]
    chances: Float32[np.ndarray, "positions rolls"]


@dataclasses.dataclass(frozen=True)
class BearOffs:
    """All ways to have at most `checkers` checkers on the first `points` points, numbered.

    A position is a row of stars for checkers and bars for points (stars and bars): the bars' places are a subset, which
    has a number. Raises `ValueError` for more than 10 points or 15 checkers.
    """

    points: int = 6
    checkers: int = CHECKERS

    def __post_init__(self) -> None:
        checks.native_fields(self)
        for name, most in (("points", 10), ("checkers", CHECKERS)):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"{name}={getattr(self, name)}: expected 1 to {most}")

    @property
    def size(self) -> int:
        """All positions, the empty one too: it is number 0."""
        return math.comb(self.points + self.checkers, self.points)

    @functools.cached_property
    def counts(self) -> Int32[np.ndarray, "positions points"]:
        """The checkers on each point of every position."""
        numbers = jnp.arange(self.size, dtype=jnp.int32)
        row = jnp.full(self.size, (1 << self.points + self.checkers) - 1, jnp.uint32)
        bars = np.asarray(subsets.subset_of(numbers, jnp.full(self.size, self.points), row, most=self.points))
        places = np.nonzero(bars[:, None] >> np.arange(32, dtype=np.uint32) & 1)[1].reshape(self.size, self.points)
        return _fixed(np.diff(places, axis=1, prepend=-1).astype(np.int32) - 1)

    @functools.cached_property
    def pips(self) -> Int32[np.ndarray, " positions"]:
        """The pip count of every position."""
        return _fixed(self.counts @ np.arange(1, self.points + 1, dtype=np.int32))

    def number(self, counts: Int32[Array, "... 25"]) -> Int32[Array, "..."]:
        """The number of a side, given its checkers on points 1 .. 24 and the bar; -1 if it is not such a bear-off."""
        bars = jnp.zeros(counts.shape[:-1], jnp.uint32)
        place = jnp.zeros(counts.shape[:-1], jnp.int32)
        for point in range(self.points):
            place = place + counts[..., point]
            bars = bars | jnp.uint32(1) << (place + point).astype(jnp.uint32)
        number = subsets.number_of(bars, jnp.full(bars.shape, 0xFFFFFFFF, jnp.uint32), most=self.points)
        inside = (jnp.sum(counts[..., self.points :], axis=-1) == 0) & (place <= self.checkers)
        return jnp.where(inside, number, -1)


def _fixed(array: np.ndarray) -> np.ndarray:
    """An array that is kept, so that nobody may write in it."""
    array.flags.writeable = False
    return array


class Replies(NamedTuple):
    """What some positions may become with each roll: entries `first[i, r]` to `first[i, r + 1]` of `after`."""

    first: Int32[np.ndarray, "positions rolls+1"]
    after: Int32[np.ndarray, " entries"]


def one_sided(offs: BearOffs, report: Callable[[int, int], None] = lambda *_: None) -> OneSided:
    """The rolls that each bear-off needs. `report` is called with the number of finished and of all positions."""
    mean, chances = np.zeros(offs.size), np.zeros((offs.size, MOST_ROLLS), np.float32)
    chances[0, 0] = done = 1  # nobody is left
    weights = np.array(Backgammon.outcome_probabilities)
    for numbers, replies in _levels(offs):
        after = best_replies(mean, replies)
        mean[numbers] = 1 + mean[after] @ weights
        chances[numbers, 1:] = np.einsum("r,prn->pn", weights.astype(np.float32), chances[after])[:, :-1]
        done += len(numbers)
        report(done, offs.size)
    return OneSided(mean, chances)


def best_replies(mean: Float64[np.ndarray, " positions"], replies: Replies) -> Int32[np.ndarray, "positions rolls"]:
    """The best reply of each position to each roll: the one with the least mean, among equals the first."""
    means, starts = mean[replies.after], replies.first[:, :-1].ravel()
    owner = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(means))))
    at_best = np.flatnonzero(means == np.minimum.reduceat(means, starts)[owner])
    chosen = np.empty(len(starts), np.int32)
    chosen[owner[at_best][::-1]] = replies.after[at_best[::-1]]
    return chosen.reshape(len(replies.first), -1)


def two_sided(offs: BearOffs) -> Float64[np.ndarray, "positions positions"]:
    """The probability that the player to roll is off first, by the numbers of both bear-offs."""
    win = np.zeros((offs.size, offs.size))
    weights = np.array(Backgammon.outcome_probabilities)
    replies = [
        (number, first - first[0], level.after[first[0] : first[-1]])
        for numbers, level in _levels(offs)
        for number, first in zip(numbers, level.first, strict=True)
    ]
    by_pips = [np.flatnonzero(offs.pips == pips) for pips in range(int(offs.pips.max()) + 1)]
    for total in range(2, 2 * int(offs.pips.max()) + 1):
        for number, first, after in replies:
            left = total - offs.pips[number]
            if not 1 <= left < len(by_pips):
                continue
            others = by_pips[left]
            other_wins = win[np.ix_(others, after)]  # of the other player, to roll; 0 if the first is off
            best = 1 - np.minimum.reduceat(other_wins, first[:-1], axis=1)
            win[number, others] = best @ weights
    return win


def _levels(offs: BearOffs) -> Iterator[tuple[np.ndarray, Replies]]:
    """The positions of each pip count from 1 on, with what they may become."""
    order = np.argsort(offs.pips, kind="stable")[1:]  # without the empty position
    rolls = len(ROLLS)
    owners, drawn = np.repeat(order, rolls), np.tile(np.arange(rolls), len(order))
    counts, after = [], []
    ends = np.cumsum(np.bincount(offs.pips)[1:])
    level, done = 0, 0
    for first in range(0, len(owners), BATCH):
        for number, entries in _list(offs, owners[first : first + BATCH], drawn[first : first + BATCH]):
            counts.append(number)
            after.append(entries)
        have = sum(map(len, counts)) // rolls
        if level < len(ends) and done + have >= ends[level]:
            each, entries = np.concatenate(counts), np.concatenate(after)
            while level < len(ends) and done + len(each) // rolls >= ends[level]:
                size = int(ends[level]) - done
                here, each = each[: size * rolls], each[size * rolls :]
                total = int(here.sum())
                starts = np.concatenate([[0], np.cumsum(here)])
                rows = np.arange(size)[:, None] * rolls + np.arange(rolls + 1)
                yield order[done : done + size], Replies(starts[rows], entries[:total])
                entries, done, level = entries[total:], done + size, level + 1
            counts, after = [each], [entries]


def _list(offs: BearOffs, owners: np.ndarray, rolls: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """How many plays each position with its roll has, and what they lead to, for as many positions as there is room."""
    while len(owners):
        filled = [np.concatenate([x, np.full(BATCH - len(x), x[-1])]) for x in (owners, rolls)]
        first, after, complete = map(
            np.asarray, _after(offs, jnp.asarray(offs.counts[filled[0]]), jnp.asarray(filled[1]))
        )
        ready = min(len(owners), len(complete) if complete.all() else int(np.argmin(complete)))
        yield np.diff(first[: ready + 1]), after[: first[ready]]
        owners, rolls = owners[ready:], rolls[ready:]


@functools.partial(jax.jit, static_argnums=0)
def _after(offs: BearOffs, counts: Array, rolls: Array) -> tuple[Array, Array, Array]:
    own = from_counts(jnp.pad(counts, ((0, 0), (0, BAR - offs.points))))
    nobody = jnp.zeros(len(counts), jnp.uint32)
    far = Side(nobody + 2, nobody, nobody, nobody)  # the other's last checker, on its first point
    high, low = (jnp.asarray(np.array(dice, np.uint32))[rolls] for dice in zip(*ROLLS, strict=True))
    reached = plays(Position(own, far, dice_of_roll(high, low)), ROOM * len(counts))
    return reached.first, offs.number(to_counts(reached.mover)), reached.complete
