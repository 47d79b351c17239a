"""What strong players count on the board, besides the checkers themselves: 63 numbers for a network.

The ideas come from published programs, the formulas are our own: H. J. Berliner, *Experiences in evaluation with
BKG* (1977) and *Computer backgammon* (1980); G. Tesauro, *Neurogammon* (1990), *Practical issues in temporal difference
learning* (1992), *Temporal difference learning and TD-Gammon* (1995), *Programming backgammon using self-teaching
neural nets* (2002); and the list of inputs in the manual of GNU Backgammon. Each is a few operations on the board's
words, except for one table. `SIDE` describes each number.
"""

import functools
import operator
from collections.abc import Iterable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.board import Position, Side, Word
from jaxgames.ops import bits

SIDE = {
    "pips": "pip count / 167 (Berliner 1980)",
    "contact": "pips until all own checkers have passed the rearmost one of the other player, / 167 (Tesauro 1992)",
    "free": "pips of the own checkers that have passed it, / 100",
    "spread": "variance of the distances of the own checkers to the end, / 100 (gnubg's moment)",
    "timing": "pips to play before points break, / 60: checkers on 7 to 18 to 6, third and further ones at home to 1",
    "mobility": "sum over own checkers beyond 6 of pips to 6 times `escapes` / 36, / 100 (Berliner 1980; Tesauro 1992)",
    "rear": "the rearmost own checker's distance / 24",
    "anchor": "the rearmost point beyond 12 with two or more own checkers, / 24 (0 for none)",
    "advanced": "in the other player's home the foremost point with two or more own checkers, (25 - point) / 6",
    "two_anchors": "1 with two such points or more in the other player's home: a back game",
    "hits": "the share of the 36 rolls that hit (Berliner 1977; Tesauro 1992)",
    "double_hits": "the share of rolls from which two or more blots are in reach",
    "loss": "pips that the other player loses by the hit that costs most, mean over the rolls, / 12",
    "escapes": "the share of rolls that the rearmost own checker can play whole (Tesauro 1992; gnubg)",
    "least_escapes": "the least such share on any place from 15 to 25",
    "least_ahead": "the least such share from 15 to the rearmost own checker (1 if it is before 15)",
    "closed": "the square of the share of the other player's home points that are closed: rolls that do not enter",
    "shut_out": "the same, if own checkers are on the bar; 0 else",
    "window_3": "1 if three own points lie within six places (Berliner 1977: blockades)",
    "window_4": "four",
    "window_5": "five",
    "window_6": "six: a prime",
    "run_3": "1 if three own points in a row",
    "run_4": "four",
    "run_5": "five",
    "front": "own points among the six before the rearmost checker of the other player, / 6",
    "backbone": "the share of own points with another own point at most six places ahead",
    "none_off": "1 if no own checker is off: a gammon can be lost",
    "off_early": "own checkers off, at most 5, / 5",
    "off_late": "own checkers off beyond ten, / 5",
}
"""The numbers of one side, by name. "Points" are those held by two or more checkers."""

BOTH = ("race", "crashed", "other_crashed")
"""The numbers of both: 1 if nobody can hit any more; 1 if of the own, or the other's, at most six are alive."""

SIZE = 2 * len(SIDE) + len(BOTH)
SWAPPED = np.concatenate([np.arange(len(SIDE), 2 * len(SIDE)), np.arange(len(SIDE)), SIZE - 3 + np.array([0, 2, 1])])
"""The order of the numbers with the names of the two players exchanged."""
ALIVE = 6
"""A side has crashed if so many checkers or fewer are in play beyond its points 1 and 2."""
_ROLLS = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))


@functools.cache
def escapes() -> Int32[np.ndarray, " 4096"]:
    """How many of the 36 rolls a checker can play in full, by which of the 12 places ahead are closed.

    Bit 12 - d of the index says that the place d ahead is closed. A checker plays a roll in full if the place after
    both dice is open, and so is one of the two in between.
    """
    closed = np.arange(4096)[:, None] >> (12 - np.arange(1, 13)) & 1
    free = np.zeros(4096, np.int32)
    for high, low in _ROLLS:
        blocked = closed[:, high + low - 1] | (closed[:, high - 1] & closed[:, low - 1])
        free += (1 - blocked) * (2 if high != low else 1)
    return free


def features(positions: Position) -> Float32[Array, "... 63"]:
    """The numbers of positions that wait for a roll: `SIDE` of the player about to roll, of the other, then `BOTH`."""
    own, opponent = positions.own, positions.opponent
    race = _rear(own) + _rear(opponent) < jnp.uint32(board.BAR)
    crashed = [_alive(side) <= ALIVE for side in (own, opponent)]
    both, others = (jax.tree.map(lambda *x: jnp.stack(x), *pair) for pair in ((own, opponent), (opponent, own)))
    sides = jnp.stack(list(_side(both, others)))  # in one program for both sides: it takes half as long to compile
    rest = jnp.stack([_number(flag) for flag in (race, *crashed)])
    rows = jnp.concatenate([sides[:, 0], sides[:, 1], rest])
    return jnp.moveaxis(rows, 0, -1)  # in this order XLA:CPU makes vector code of it


CLASSES = 3


def position_class(positions: Position) -> Int32[Array, "..."]:
    """0 with contact; 1 where a player has crashed, with contact; 2 in a race."""
    own, opponent = positions.own, positions.opponent
    crashed = (_alive(own) <= ALIVE) | (_alive(opponent) <= ALIVE)
    race = _rear(own) + _rear(opponent) < jnp.uint32(board.BAR)
    return jnp.where(race, 2, jnp.where(crashed, jnp.int32(1), 0)).astype(jnp.int32)


def _side(own: Side, opponent: Side) -> Iterator[Float32[Array, "..."]]:
    """The numbers in `SIDE` of one player."""
    taken, held, barred = board.occupied(own), board.several(own) & board.POINTS, board.blocked(opponent)
    counts = [_number(board.count(own, jnp.uint32(p))) for p in range(26)]
    rear, target = _rear(own), jnp.uint32(board.BAR) - _rear(opponent)  # `target`: the place of their rearmost checker
    goal = _number(target)

    pips = _sum(counts[p] * p for p in range(1, 26))
    yield pips / 167
    beyond = _sum(counts[p] * jnp.maximum(p - goal, 0) for p in range(1, 26))
    yield beyond / 167
    yield _sum(jnp.where(p <= goal, counts[p] * p, 0) for p in range(1, 25)) / 100
    number = jnp.maximum(_sum(counts), 1)
    yield (_sum(counts[p] * p**2 for p in range(1, 26)) / number - (pips / number) ** 2) / 100
    spare = _sum(jnp.maximum(counts[p] - 2, 0) * (p - 1) for p in range(2, 7))
    yield (spare + _sum(counts[p] * (p - 6) for p in range(7, 19))) / 60

    free = {p: _escapes(barred, jnp.uint32(p)) for p in range(7, 26)}
    yield _sum(counts[p] * (p - 6) * free[p] for p in range(7, 26)) / 100
    yield _number(rear) / 24
    back = held >> jnp.uint32(13)
    yield jnp.where(back != 0, _number(bits.top_index(back) + jnp.uint32(13)), 0) / 24
    anchors = held >> jnp.uint32(19)
    yield jnp.where(anchors != 0, 6 - _number(bits.bottom_index(anchors)), 0) / 6
    yield _number(anchors & (anchors - jnp.uint32(1)) != 0)

    yield from _shots(own, opponent)

    yield _escapes(barred, jnp.maximum(rear, jnp.uint32(7)))
    yield functools.reduce(jnp.minimum, (free[p] for p in range(15, 26)))
    reached = (jnp.where(rear >= jnp.uint32(p), free[p], 1) for p in range(15, 26))
    yield functools.reduce(jnp.minimum, reached)
    closed = (_number(bits.popcount(barred >> jnp.uint32(19))) / 6) ** 2
    yield closed
    yield jnp.where(taken >= board.BAR_BIT, closed, 0)

    windows = _windows(held)
    yield from (_number(words != 0) for words in windows)
    run = held & (held >> jnp.uint32(1))
    for length in (2, 3, 4):
        run = run & (held >> jnp.uint32(length))
        yield _number(run != 0)
    yield _number(bits.popcount((held >> (target + jnp.uint32(1))) & jnp.uint32(63))) / 6
    ahead = functools.reduce(operator.or_, (held << jnp.uint32(d) for d in range(1, 7)))
    yield _number(bits.popcount(held & ahead)) / jnp.maximum(_number(bits.popcount(held)), 1)
    off = 15 - _sum(counts)
    yield _number(off == 0)
    yield jnp.minimum(off, 5) / 5
    yield jnp.maximum(off - 10, 0) / 5


def _shots(own: Side, opponent: Side) -> tuple[Array, Array, Array]:
    """`hits`, `double_hits` and `loss`, roll by roll on words.

    A checker may move by either die, or by both over an open place; checkers on the bar enter first. Doubles
    go up to four steps. (This ignores that other checkers might have to use a die.)
    """
    taken, barred, blots = board.occupied(own), board.blocked(opponent), board.mirror(board.blots(opponent))
    on_bar = board.count(own, jnp.uint32(board.BAR))
    first = jnp.where(on_bar > 0, board.BAR_BIT, taken)
    others = jnp.where((on_bar == 0) | (on_bar > 3), jnp.uint32(0), taken & board.POINTS)  # may move after entering
    every, nothing = jnp.uint32(0xFFFFFFFF), jnp.uint32(0)
    up_to = [jnp.where(on_bar <= number, every, nothing) for number in (1, 2, 3)]
    to = [(first >> jnp.uint32(die)) & board.POINTS & ~barred for die in range(7)]
    after = [word | jnp.where(word != 0, others, nothing) for word in to]  # what moves by the next die
    hits, double_hits, loss = nothing, nothing, nothing
    for high, low in _ROLLS:
        a, b = jnp.uint32(high), jnp.uint32(low)
        if high == low:
            reach, word = to[high], after[high]
            for allowed in reversed(up_to):
                word = (word >> a) & ~barred & allowed
                reach = reach | word
        else:
            reach = to[high] | to[low] | (((after[high] >> b) | (after[low] >> a)) & up_to[0])
        hit = reach & blots
        weight = jnp.uint32(1 if high == low else 2)
        hits += jnp.where(hit != 0, weight, nothing)
        double_hits += jnp.where(hit & (hit - jnp.uint32(1)) != 0, weight, nothing)
        loss += jnp.where(hit != 0, weight * bits.top_index(hit), nothing)
    return _number(hits) / 36, _number(double_hits) / 36, _number(loss) / (36 * 12)


def _windows(held: Word) -> list[Word]:
    """Words of the places from which three, four, five, six of the six places on are `held`, by an adder on words."""
    shifted = [held >> jnp.uint32(d) for d in range(6)]
    sums = []
    for x, y, z in (shifted[:3], shifted[3:]):
        sums.append((x ^ y ^ z, (x & y) | (z & (x ^ y))))  # ones and twos of three
    (a, c), (b, d) = sums
    ones, carry = a ^ b, a & b
    twos, fours = c ^ d ^ carry, (c & d) | (carry & (c ^ d))
    three = (ones & twos) | fours
    return [three, fours, fours & (ones | twos), fours & twos]


def _escapes(barred: Word, place: Word) -> Float32[Array, "..."]:
    """The share of rolls that a checker on place 7 or further can play in full."""
    pattern = ((barred << jnp.uint32(7)) >> (place - jnp.uint32(5))) & jnp.uint32(4095)
    table = jnp.asarray(escapes().astype(np.float32) / 36)
    return table.at[pattern.astype(jnp.int32)].get(mode="promise_in_bounds")


def _rear(side: Side) -> Word:
    """The place of the rearmost checker, 0 if all are off."""
    return bits.top_index(board.occupied(side) | jnp.uint32(1))


def _alive(side: Side) -> Int32[Array, "..."]:
    """Checkers in play beyond points 1 and 2."""
    return board.total(Side(*(plane >> jnp.uint32(3) for plane in side)))


def _number(value: UInt32[Array, "..."] | Bool[Array, "..."] | Int32[Array, "..."]) -> Float32[Array, "..."]:
    return value.astype(jnp.int32).astype(jnp.float32)


def _sum(terms: Iterable[Array]) -> Array:
    return functools.reduce(operator.add, terms)
