"""The best play of each position of a batch, by the value of what it leads to.

The plays of all positions are in flat lists (`play_lists`). They are evaluated in chunks up to the last entry, so the
time depends on the number of plays and not on the capacity of the list. Positions whose plays did not fit into the list
get another round: no play is ever left out.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.board import Position, high_low
from jaxgames.envs.backgammon.play_lists import MOST_PAIRS, MOST_REPEATS, Plays, after, pairs, repeats, steps
from jaxgames.envs.core import Outcome, Value
from jaxgames.envs.turns.best import TopTurns
from jaxgames.ops.materialize import materialize
from jaxgames.ops.pytrees import equal, select, take

CHUNK = 1024  # entries evaluated at once: wide enough for the vector units, small enough to stay in the cache
LEAST_CHUNK, OF_EACH = 128, 32  # fewer entries if positions are few: those beyond the last one are wasted
FEW = 8  # this few positions first get short lists, and long ones only if their plays do not fit
SHORT_PAIRS, SHORT_REPEATS = 64, (16, 48, 96, 128)  # entries for each of them

Picked = TypeVar("Picked", bound=tuple)


class Score(Protocol):
    """How good plays are for the mover: `score(game, code, moves)` gives float32[n], as in `play_lists.after`."""

    def __call__(self, game: Int32[Array, " n"], code: UInt32[Array, " n"], moves: int) -> Float32[Array, " n"]:
        """Scores of n plays."""
        ...


class BestPlay(NamedTuple):
    """The best play of each position: its code (see `play_lists.Plays`) and its score."""

    code: UInt32[Array, " batch"]
    score: Float32[Array, " batch"]


def best_plays(positions: Position, score: Score) -> BestPlay:
    """The play with the highest score, for each of a batch of positions with dice; among equals the first in the list.

    NaN counts as minus infinity, so that a legal play is found even if all scores are NaN.
    """

    start = BestPlay(jnp.zeros_like(positions.dice), jnp.full(positions.dice.shape, -jnp.inf, jnp.float32))
    return _pick_in_rounds(positions, lambda plays, moves: _best_of_list(plays, moves, score), start)


def _best_of_list(plays: Plays, moves: int, score: Score) -> tuple[BestPlay, Bool[Array, " batch"]]:
    """The best entry of each game, and whether it has any."""
    capacity, batch = len(plays.game), len(plays.complete)
    if batch <= FEW:
        return _best_of_few(plays, moves, score)
    chunk = min(CHUNK, max(LEAST_CHUNK, OF_EACH * batch))
    total = jnp.minimum(plays.first[-1], capacity)

    # Score the list chunk by chunk, and keep the best score of each game.
    def evaluate(number, carry):
        values, top = carry
        start = jnp.minimum(number * chunk, capacity - chunk)
        game, code = (lax.dynamic_slice(x, (start,), (chunk,)) for x in (plays.game, plays.code))
        value = score(game, code, moves)
        value = jnp.where(jnp.isnan(value), -jnp.inf, value)  # NaN equals nothing, so no entry would be found again
        inside = start + jnp.arange(chunk, dtype=jnp.int32) < total
        top = top.at[jnp.where(inside, game, batch)].max(value, mode="drop")
        return lax.dynamic_update_slice(values, value, (start,)), top

    values = jnp.zeros(capacity, jnp.float32)
    top = jnp.full(batch, -jnp.inf, jnp.float32)
    values, top = lax.fori_loop(0, (total + chunk - 1) // chunk, evaluate, (values, top))

    # The first entry of each game that has its best score.
    entry = jnp.arange(capacity, dtype=jnp.int32)
    wins = (entry < total) & (values == top[plays.game])
    where = jnp.full(batch, capacity - 1, jnp.int32).at[jnp.where(wins, plays.game, batch)].min(entry, mode="drop")
    return BestPlay(plays.code[where], top), plays.first[1:] > plays.first[:-1]


def _best_of_few(plays: Plays, moves: int, score: Score) -> tuple[BestPlay, Bool[Array, " batch"]]:
    """As `_best_of_list` in fewer, smaller steps: the entries of each position are compared without any scatter."""
    # Every position looks at each chunk; entries of other positions count as minus infinity.
    capacity, batch = len(plays.game), len(plays.complete)
    chunk, total = min(OF_EACH * batch, capacity), jnp.minimum(plays.first[-1], capacity)
    numbers, place = jnp.arange(batch, dtype=jnp.int32)[:, None], jnp.arange(chunk, dtype=jnp.int32)

    def evaluate(number, best):
        start = jnp.minimum(number * chunk, capacity - chunk)
        game, code = (lax.dynamic_slice(x, (start,), (chunk,)) for x in (plays.game, plays.code))
        value = score(game, code, moves)
        own = (game[None, :] == numbers) & (start + place < total)[None, :]
        value = jnp.where(own & ~jnp.isnan(value)[None, :], value[None, :], -jnp.inf)
        here = jnp.argmax(value, axis=1)
        top = jnp.max(value, axis=1)
        better = top > best.score
        return BestPlay(jnp.where(better, code[here], best.code), jnp.where(better, top, best.score))

    begin = jnp.minimum(plays.first[:-1], capacity - 1)
    best = BestPlay(plays.code[begin], jnp.full(batch, -jnp.inf, jnp.float32))
    best = lax.fori_loop(0, (total + chunk - 1) // chunk, evaluate, best)
    return best, plays.first[1:] > plays.first[:-1]


def random_plays(positions: Position, bits: UInt32[Array, " batch"]) -> UInt32[Array, " batch"]:
    """The code of a play drawn uniformly from the distinct plays of each position, by 32 random bits each."""

    def draw(plays, moves):
        begin, number = plays.first[:-1], plays.first[1:] - plays.first[:-1]
        rank = (bits % jnp.maximum(number, 1).astype(jnp.uint32)).astype(jnp.int32)
        return (plays.code[jnp.minimum(begin + rank, len(plays.code) - 1)],), number > 0

    return _pick_in_rounds(positions, draw, (jnp.zeros_like(bits),))[0]


def top_plays(positions: Position, score: Score, count: int) -> TopTurns:
    """The `count` best plays of each position: repeatedly the best of those not yet chosen.

    NaN and minus infinity count as the lowest number, above the minus infinity of those that were chosen.
    """
    batch, lowest = len(positions.dice), jnp.finfo(jnp.float32).min

    def choose(
        number: Array, chosen: tuple[UInt32[Array, "count batch"], Float32[Array, "count batch"]]
    ) -> tuple[UInt32[Array, "count batch"], Float32[Array, "count batch"]]:
        codes, scores = chosen
        earlier = jnp.arange(count, dtype=jnp.int32) < number

        def others(game, code, moves):
            again = jnp.any((codes[:, game] == code[None, :]) & earlier[:, None], axis=0)
            value = score(game, code, moves)
            return jnp.where(again, -jnp.inf, jnp.where(value > lowest, value, lowest))

        best = best_plays(positions, others)
        return codes.at[number].set(best.code), scores.at[number].set(best.score)

    nothing = jnp.zeros((count, batch), jnp.uint32), jnp.zeros((count, batch), jnp.float32)
    codes, scores = lax.fori_loop(0, count, choose, nothing)
    outcomes = jax.vmap(lambda code: apply_plays(positions, code))(codes)
    first = jnp.arange(count, dtype=jnp.int32)[:, None] == 0
    return TopTurns(outcomes, scores, first | (scores > -jnp.inf))


def actions_to(
    positions: Position, target: Position, wanted: Bool[Array, " batch"], otherwise: Position
) -> tuple[Int32[Array, " batch"], Bool[Array, " batch"]]:
    """See `Game.turn_actions`: the first checker of the one play that leads to the position."""

    # A play scores 2 if it leads to the target, 1 if it leads to the other position.
    def score(number, code, moves):
        own, opponent = after(positions, number, code, moves)

        def is_result(goal):
            goal = take(goal, number)
            return equal((own, opponent), (goal.opponent, goal.own)).astype(jnp.float32)

        return 2 * is_result(target) * wanted[number].astype(jnp.float32) + is_result(otherwise)

    best = best_plays(positions, score)
    return first_action(positions, best.code), best.score >= 2


def _pick_in_rounds(
    positions: Position, pick: Callable[[Plays, int], tuple[Picked, Bool[Array, " batch"]]], start: Picked
) -> Picked:
    """What `pick` finds in lists of the plays of all positions, in as many rounds as the lists need to hold them.

    `pick(plays, moves)` gives a tuple of arrays with one entry for each position, and where it has any plays.
    """
    # Lists of two kinds: of rolls with different dice, and of doubles. Short ones are tried first for few positions.
    batch = positions.dice.shape[0]
    if not batch:
        return start
    high, low = high_low(positions.dice)
    of_pairs, of_repeats = max(MOST_PAIRS, 20 * batch), max(MOST_REPEATS[-1], 12 * batch)
    long = (
        (high != low, lambda wanted: pairs(positions, wanted, of_pairs), 2),
        (high == low, lambda wanted: repeats(positions, wanted, of_repeats), 4),
    )
    short = (
        (high != low, lambda wanted: pairs(positions, wanted, SHORT_PAIRS * batch), 2),
        (high == low, lambda wanted: repeats(positions, wanted, 0, [room * batch for room in SHORT_REPEATS]), 4),
    )

    def a_round(carry, kinds=long):
        wanted, taken = carry
        results = []
        for of_kind, make, moves in kinds:

            def look(make=make, moves=moves):
                plays = make(wanted)
                return *pick(plays, moves), plays.complete

            def skip():
                return start, jnp.zeros(batch, bool), jnp.ones(batch, bool)

            # A search that goes through the rolls one by one has only one kind at a time, which saves half of the work.
            results.append(lax.cond(jnp.any(wanted & of_kind), look, skip))

        # A position is done if its plays were all in the list; the others wait for the next round.
        done = results[0][2] & results[1][2]
        for picked, some, _ in results:
            taken = select(wanted & done & some, picked, taken)
        return wanted & ~done, taken

    # Rounds until no position waits.
    carry = jnp.ones(batch, bool), start
    if batch <= FEW:
        carry = a_round(carry, short)
    return lax.while_loop(lambda carry: jnp.any(carry[0]), a_round, carry)[1]


def apply_plays(positions: Position, code: UInt32[Array, " batch"]) -> Outcome[Position]:
    """What one play of each position leads to, before the roll of the opponent."""
    game = jnp.arange(len(code), dtype=jnp.int32)
    own, opponent = after(positions, game, code, 4)
    if len(code) <= FEW:  # where this is most of the work, the moves are not made anew for each that uses the board
        own, opponent = jax.tree.map(lambda word: materialize(word, positions.dice), (own, opponent))
    over = board.occupied(own) == 0
    reward = board.result(opponent).astype(jnp.float32)
    return Outcome(Position(opponent, own, jnp.zeros_like(positions.dice)), jnp.ones_like(over), over, reward)


def first_action(positions: Position, code: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
    """The action with which one play of each position begins; 0, the pass, where no checker can move."""
    source, die = next(steps(positions, jnp.arange(len(code), dtype=jnp.int32), code, 1))
    action = (jnp.uint32(board.BAR + 1) - source) * jnp.uint32(6) + die - jnp.uint32(1)
    return jnp.where(source == 0, jnp.uint32(0), action).astype(jnp.int32)


def score_by(positions: Position, value: Value) -> Score:
    """A score from any `value(positions) -> float32[n]`, the expected points of the player about to roll."""

    def score(game, code, moves):
        own, opponent = after(positions, game, code, moves)
        theirs = value(Position(opponent, own, jnp.zeros_like(code))).astype(jnp.float32)
        return jnp.where(board.occupied(own) == 0, board.result(opponent).astype(jnp.float32), -theirs)

    return score
