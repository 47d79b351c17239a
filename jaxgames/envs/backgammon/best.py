"""The best play of each position of a batch, by the value of what it leads to.

The plays of all positions lie in flat lists (`plays`), which are evaluated in chunks as long as there are entries, so neither
the width of a position's tree nor the capacity of the list is paid for. Positions whose plays did not fit into the list are
done in a further round: no play is ever left out.
"""

from typing import NamedTuple, Protocol


import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.game import Position
from jaxgames.envs.backgammon.plays import MOST_PAIRS, MOST_REPEATS, Plays, after, pairs, repeats

CHUNK = 1024  # entries evaluated at once: wide enough for the vector units, small enough to stay in the cache


class Score(Protocol):
    """How good plays are for the mover: `score(game, code, moves)` gives float32[n], as in `plays.after`."""

    def __call__(self, game: Int32[Array, " n"], code: UInt32[Array, " n"], moves: int) -> Float32[Array, " n"]: ...


class Best(NamedTuple):
    """The best play of each position: its code (see `plays.Plays`) and its score."""

    code: UInt32[Array, " batch"]
    score: Float32[Array, " batch"]


def best_plays(positions: Position, score: Score) -> Best:
    """The play with the highest score, for each of a batch of positions with dice; the first in list order among equals."""
    batch = positions.dice.shape[0]

    def unfinished(carry):
        return jnp.any(carry[0])

    def a_round(carry):
        wanted, best = carry
        lists = (
            (pairs(positions, wanted, max(MOST_PAIRS, 20 * batch)), 2),
            (repeats(positions, wanted, max(MOST_REPEATS[-1], 12 * batch)), 4),
        )
        done = lists[0][0].complete & lists[1][0].complete
        for plays, moves in lists:
            code, value, some = _best_of_list(plays, moves, score)
            take = wanted & done & some
            best = Best(jnp.where(take, code, best.code), jnp.where(take, value, best.score))
        return wanted & ~done, best

    start = Best(jnp.zeros(batch, jnp.uint32), jnp.full(batch, -jnp.inf, jnp.float32))
    return lax.while_loop(unfinished, a_round, (jnp.ones(batch, bool), start))[1]


def _best_of_list(plays: Plays, moves: int, score: Score):
    """(code, score, whether there is any) of the best entry of each game."""
    capacity, batch = len(plays.game), len(plays.complete)
    total = jnp.minimum(plays.first[-1], capacity)

    def evaluate(number, carry):
        values, top = carry
        start = jnp.minimum(number * CHUNK, capacity - CHUNK)
        game, code = (lax.dynamic_slice(x, (start,), (CHUNK,)) for x in (plays.game, plays.code))
        value = score(game, code, moves)
        inside = start + jnp.arange(CHUNK, dtype=jnp.int32) < total
        top = top.at[jnp.where(inside, game, batch)].max(value, mode="drop")
        return lax.dynamic_update_slice(values, value, (start,)), top

    values = jnp.zeros(capacity, jnp.float32)
    top = jnp.full(batch, -jnp.inf, jnp.float32)
    values, top = lax.fori_loop(0, (total + CHUNK - 1) // CHUNK, evaluate, (values, top))
    entry = jnp.arange(capacity, dtype=jnp.int32)
    wins = (entry < total) & (values == top[plays.game])
    where = jnp.full(batch, capacity - 1, jnp.int32).at[jnp.where(wins, plays.game, batch)].min(entry, mode="drop")
    return plays.code[where], top, plays.first[1:] > plays.first[:-1]


def random_plays(positions: Position, words: UInt32[Array, " batch"]) -> UInt32[Array, " batch"]:
    """The code of a play drawn uniformly from the distinct plays of each position, by one random word each."""
    batch = positions.dice.shape[0]

    def a_round(carry):
        wanted, code = carry
        lists = (
            pairs(positions, wanted, max(MOST_PAIRS, 20 * batch)),
            repeats(positions, wanted, max(MOST_REPEATS[-1], 12 * batch)),
        )
        done = lists[0].complete & lists[1].complete
        for plays in lists:
            begin, number = plays.first[:-1], plays.first[1:] - plays.first[:-1]
            entry = begin + jnp.int32(words % jnp.maximum(number, 1).astype(jnp.uint32))
            take = wanted & done & (number > 0)
            code = jnp.where(take, plays.code[jnp.minimum(entry, len(plays.code) - 1)], code)
        return wanted & ~done, code

    start = (jnp.ones(batch, bool), jnp.zeros(batch, jnp.uint32))
    return lax.while_loop(lambda carry: jnp.any(carry[0]), a_round, start)[1]


def play_out(positions: Position, code: UInt32[Array, " batch"]) -> tuple[Position, Bool[Array, " batch"], Float32[Array, " batch"]]:
    """The positions after one play each, seen by the opponent and waiting for a roll; whether they are over, and for how much."""
    game = jnp.arange(len(code), dtype=jnp.int32)
    own, opponent = after(positions, game, code, 4)
    over = board.occupied(own) == 0
    return Position(opponent, own, jnp.zeros_like(positions.dice)), over, board.result(opponent).astype(jnp.float32)


def score_by(positions: Position, value) -> Score:
    """A score from any `value(positions) -> float32[n]`, the expected points of the player about to roll."""

    def score(game, code, moves):
        own, opponent = after(positions, game, code, moves)
        theirs = value(Position(opponent, own, jnp.zeros_like(code)))
        return jnp.where(board.occupied(own) == 0, board.result(opponent).astype(jnp.float32), -theirs)

    return score


__all__ = ["Best", "Score", "best_plays", "play_out", "random_plays", "score_by"]
