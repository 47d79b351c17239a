"""Simple players of backgammon: no look-ahead and no learning, only a heuristic that counts things on the board.

A *block* is a point with two or more own checkers. A player compares the boards after its possible plays:

* `simple:1`: more blocks.
* `simple:2`: more blocks and pairs of neighbouring blocks together.
* `simple:3`: as `simple:2`; but in a race more checkers off, then fewer pips.

Among equally good plays it draws one at random. These players are Simple_001 to Simple_003 of L. D. Ebert,
*Sammenligning af tre typer neurale netværks indlæringsmetoder* (Aarhus, 2007), section 3.1.1, which gives their aims
but not how to add them up.

`tidy:1` to `tidy:3` are ours and play better: they break ties by fewer blots and fewer pips, so they always play in
the same way. `tidy:2` prefers pairs of neighbouring blocks to blocks. In a race `tidy:3` prefers checkers off, then
fewer pips to the home board, then fewer pips.

Pips are the sum of what the own checkers have to go, 25 for one on the bar. It is a race if before the move no checker
had to pass one of the opponent.
"""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.best import Score, apply_plays, best_plays
from jaxgames.envs.backgammon.board import Position, Side
from jaxgames.envs.backgammon.play_lists import after
from jaxgames.envs.core import Outcome
from jaxgames.ops import bits
from jaxgames.ops.random_bits import fold_in

_NUMBERED = np.array([sum(1 << p for p in range(32) if p >> k & 1) for k in range(5)], np.uint32)
"""Mask k: the points whose number has bit k."""


def contact(own: Side, opponent: Side) -> Bool[Array, "..."]:
    """Whether some checker of a player still has to pass one of the other; if not, it is a race."""
    rearmost = [bits.top_index(board.occupied(side) | jnp.uint32(1)) for side in (own, opponent)]
    return rearmost[0] + rearmost[1] >= board.BAR


def pips(side: Side, to: int = 0) -> Int32[Array, "..."]:
    """The pips that all checkers together need to reach point `to` or lower; with 0, to be off: at most 375."""
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


LEVELS = (1, 2, 3)
_HOME = 6
_MOST_PIPS = board.CHECKERS * board.BAR
_LOTS = np.uint32(11)  # bits of a lot: with the largest wish, 16 x 376, it stays below 2^24


def heuristic(own: Side, level: Int32[Array, ""]) -> Int32[Array, "..."]:
    """What a simple player thinks of a board after the move: higher is better."""
    return blocks(own) + jnp.where(level > 1, connected_blocks(own), 0)


def race_heuristic(own: Side) -> Int32[Array, "..."]:
    """What `simple:3` thinks of a board after a move of a race: higher is better."""
    return _in_order([(checkers_off(own), board.CHECKERS), (_MOST_PIPS - pips(own), _MOST_PIPS)])


def tidy_heuristic(own: Side, level: Int32[Array, ""]) -> Int32[Array, "..."]:
    """What a tidy player thinks of a board after the move: higher is better."""
    pairs = jnp.where(level > 1, connected_blocks(own), 0)
    few_blots, few_pips = board.CHECKERS - blots(own), _MOST_PIPS - pips(own)
    return _in_order([(pairs, 6), (blocks(own), 7), (few_blots, board.CHECKERS), (few_pips, _MOST_PIPS)])


def tidy_race_heuristic(own: Side) -> Int32[Array, "..."]:
    """What `tidy:3` thinks of a board after a move of a race: higher is better."""
    wishes = [checkers_off(own), _MOST_PIPS - pips(own, to=_HOME), _MOST_PIPS - pips(own)]
    return _in_order(list(zip(wishes, (board.CHECKERS, _MOST_PIPS, _MOST_PIPS), strict=True)))


def _in_order(wishes: list[tuple[Int32[Array, "..."], int]]) -> Int32[Array, "..."]:
    """Numbers that compare like lists of (value, largest possible value), first things first; below 2^24."""
    score = jnp.zeros_like(wishes[0][0])
    for value, largest in wishes:
        score = score * (largest + 1) + value
    return score


def score(positions: Position, level: Int32[Array, ""], lots: UInt32[Array, " batch"] | None) -> Score:
    """The score that `best_plays` takes: what the player of a level thinks of a list of plays.

    With `lots`, random bits for each position, it is a simple player; without, a tidy one.
    """
    bears_off = (level == 3) & ~contact(positions.own, positions.opponent)

    def of_plays(game: Int32[Array, " n"], code: UInt32[Array, " n"], moves: int) -> Float32[Array, " n"]:
        own, _ = after(positions, game, code, moves)
        if lots is None:
            liking = jnp.where(bears_off[game], tidy_race_heuristic(own), tidy_heuristic(own, level))
            return liking.astype(jnp.float32)
        # Equal plays have different codes, so each draws a lot of its own.
        liking = jnp.where(bears_off[game], race_heuristic(own), heuristic(own, level)).astype(jnp.uint32)
        drawn = fold_in(lots[game], code) >> (np.uint32(32) - _LOTS)
        return ((liking << _LOTS) | drawn).astype(jnp.float32)

    return of_plays


@dataclasses.dataclass(frozen=True)
class SimpleTurn:
    """The turns of the simple and the tidy players. Parameter: the level, 1, 2 or 3, so that they are one program."""

    tidy: bool = False

    def __call__(self, params: Any, positions: Position, bits: UInt32[Array, " batch"]) -> Outcome[Position]:
        """Plays the whole roll of each position."""
        lots = None if self.tidy else bits
        return apply_plays(positions, best_plays(positions, score(positions, params, lots)).code)
