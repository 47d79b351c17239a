"""Simple players of backgammon: no look-ahead and no learning, only a heuristic.

A *block* is a point with two or more own checkers. A player compares the boards after its possible plays in the order
below; what is still equal is settled by the order of the list of plays, always in the same way.

* `simple:1`: more blocks, fewer own blots, fewer own pips.
* `simple:2`: more pairs of neighbouring blocks, then as `simple:1`.
* `simple:3`: as `simple:2`; but in a race more checkers off, then fewer pips still to go to the home board, then fewer
  pips.

Pips are what the own checkers have to go together, 25 for one on the bar. It is a race where no checker had to pass one
of the opponent before the move.
"""

import dataclasses
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32, UInt32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.best import Score, apply_plays, best_plays
from jaxgames.envs.backgammon.board import Position, Side
from jaxgames.envs.backgammon.play_lists import after
from jaxgames.envs.core import Outcome
from jaxgames.players.backgammon.measures import blocks, blots, checkers_off, connected_blocks, contact, pips

LEVELS = (1, 2, 3)
_HOME = 6
_MOST_PIPS = board.CHECKERS * board.BAR


def heuristic(own: Side, level: Int32[Array, ""]) -> Float32[Array, "..."]:
    """What a simple player thinks of a board after the move: higher is better."""
    pairs = jnp.where(level > 1, connected_blocks(own), 0)
    few_blots, few_pips = board.CHECKERS - blots(own), _MOST_PIPS - pips(own)
    return _in_order([(pairs, 6), (blocks(own), 7), (few_blots, board.CHECKERS), (few_pips, _MOST_PIPS)])


def race_heuristic(own: Side) -> Float32[Array, "..."]:
    """What `simple:3` thinks of a board after a move of a race: higher is better."""
    wishes = [checkers_off(own), _MOST_PIPS - pips(own, to=_HOME), _MOST_PIPS - pips(own)]
    return _in_order(list(zip(wishes, (board.CHECKERS, _MOST_PIPS, _MOST_PIPS), strict=True)))


def _in_order(wishes: list[tuple[Int32[Array, "..."], int]]) -> Float32[Array, "..."]:
    """Numbers that compare like lists of (value, largest possible value), first things first; exact below 2^24."""
    score = jnp.zeros_like(wishes[0][0])
    for value, largest in wishes:
        score = score * (largest + 1) + value
    return score.astype(jnp.float32)


def score(positions: Position, level: Int32[Array, ""]) -> Score:
    """What `best_plays` asks for: what the simple player of a level thinks of a list of plays."""
    bears_off = (level == 3) & ~contact(positions.own, positions.opponent)

    def of_plays(game, code, moves):
        own, _ = after(positions, game, code, moves)
        return jnp.where(bears_off[game], race_heuristic(own), heuristic(own, level))

    return of_plays


@dataclasses.dataclass(frozen=True)
class SimpleTurn:
    """The turns of the simple players. Parameter: the level, 1, 2 or 3, so that they all are one program."""

    def __call__(self, params: Any, positions: Position, bits: UInt32[Array, " batch"]) -> Outcome[Position]:
        """Plays the whole roll of each position."""
        del bits
        return apply_plays(positions, best_plays(positions, score(positions, params)).code)
