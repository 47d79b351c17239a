"""Whole turns: every distinct position that a roll can lead to, for a batch of positions at once.

The plays of all positions go into one flat list, so no position is padded to the longest. There are two kinds of list.

*Pairs* are the plays of two different dice, a > b. A play moves a checker from s by a, and one from t by b.

- If the moves are independent, (s, t) determines the result, whatever the order. The order matters only for what is
  legal. So all plays that begin with a are listed, and those that begin with b only if s is not legal at once.
- If one checker makes both moves (a run: t = s - a or s = t - b), the result is "s moves a + b". The two orders differ
  only where one of them hits on the way.
- If both checkers are borne off, (s, t) and (t, s) give the same result. If s < t is legal then so is the other, since
  a > b: so s < t is left out.

Thus every play is one bit in 54 words of sources: 25 words with a first, 25 with b first, two for runs, and two for
plays of only one die.

*Repeats* are the plays of equal dice, and of a single die left. Every play can be ordered so that its sources never
increase, and then no two of them have the same result. They are found as a tree of up to four levels, level by level.
All plays of a double have the same number of moves: when no node of a game has a move left, its nodes are its plays.

A list has a fixed capacity, but its counts are exact. Games that did not fit are reported, and need another round.

For people and tests `list_plays` gives the plays of one state, as NumPy arrays of exact size, and `plays` those of a
batch, inside `jit`, with the actions that lead there. Both read these lists, as self-play does.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.board import Position, Side, high_low
from jaxgames.envs.checks import a_state
from jaxgames.envs.core import State
from jaxgames.ops import bits, checks, ragged
from jaxgames.ops.pytrees import take

LOW_FIRST = np.uint32(1 << 20)  # in a code: the smaller die is played first
STAY = np.uint32(1)  # as a set of sources: source 0, no checker moves
MOST_PAIRS = 1024  # no position has more plays of two dice: at most 25 * 25 sources, and 15 checkers
MOST_REPEATS = (15, 120, 680, 3060)  # nor of k = 1 .. 4 equal dice: C(14 + k, k) ways to give k steps to 15 checkers


class Plays(NamedTuple):
    """A flat list of plays, in the order of the games they belong to.

    `code` packs up to four sources, five bits each from the lowest; 0 means no further move. `first[g]` .. `first[g +
    1]` are the entries of game g. `complete[g]` is false if some of them did not fit; the entries of such a game are
    must be ignored.
    """

    game: Int32[Array, " capacity"]
    code: UInt32[Array, " capacity"]
    first: Int32[Array, " batch+1"]
    complete: Bool[Array, " batch"]


def pairs(positions: Position, wanted: Bool[Array, " batch"], capacity: int) -> Plays:
    """The plays of the wanted positions that have two different dice left (others have none here)."""
    rows = jnp.where(wanted[None, :], _pair_rows(positions), jnp.uint32(0))
    # How many plays each game has, and where they stand in the list.
    counts = ragged.cumsum_rows(bits.popcount(rows))
    ends = ragged.cumsum(counts[-1])
    # For each entry of the list: its game, its row among the 54, and its bit in that row.
    game, rank = ragged.owners(ends, counts[-1], capacity)
    row, rank = ragged.row_of(rank, counts, game)
    chosen = bits.nth_set(rows[row, game], rank.astype(jnp.uint32))
    high, low = high_low(positions.dice)
    first = jnp.concatenate([jnp.zeros(1, jnp.int32), ends])
    return Plays(game, _pair_code(row, chosen, high[game], low[game]), first, ends <= capacity)


def _pair_rows(positions: Position) -> UInt32[Array, "54 batch"]:
    """All plays of two different dice, each one bit.

    Row s - 1 holds the t that follow s with the larger die first, row 24 + t the s that follow t with the smaller die
    first. Rows 50 and 51 hold the s of runs that begin with the larger and the smaller die, rows 52 and 53 the sources
    where only the larger or only the smaller die can be played.
    """
    own, opponent, dice = positions
    barred, taken = board.blocked(opponent), board.occupied(own)
    high, low = high_low(dice)
    legal_high, legal_low = board.sources(taken, barred, high), board.sources(taken, barred, low)
    high_first, low_first = board.follow_ups(own, barred, high, low), board.follow_ups(own, barred, low, high)

    # Runs: the second move starts where the first one ends.
    source = jnp.asarray(board.SOURCES)[:, None]
    start = jnp.uint32(1) << source
    a, b = high[None, :], low[None, :]
    runs_high = bits.union(jnp.where(high_first & (start >> a) & board.POINTS != 0, start, jnp.uint32(0)), axis=0)
    runs_low = bits.union(jnp.where(low_first & (start >> b) & board.POINTS != 0, start, jnp.uint32(0)), axis=0)
    hits = board.mirror(board.blots(opponent))
    no_hit_on_way = ~(hits << high) & ~(hits << low)

    # Independent moves, the larger die first: without runs of either order, and without bearing off s < t.
    up_to_b = bits.below(b + jnp.uint32(1))
    not_run = ~(start >> a) & ~(start << b)
    both_off_again = jnp.where(source <= b, up_to_b & ~bits.below(source + jnp.uint32(1)), jnp.uint32(0))
    independent_high = high_first & not_run & ~both_off_again
    # The smaller die first: likewise, and only where the larger die could not have moved s first.
    not_run = ~(start >> b) & ~(start << a)
    both_off_again = jnp.where(source <= b, bits.below(source), jnp.uint32(0))
    independent_low = low_first & not_run & ~both_off_again & ~legal_high[None, :]

    # A run in the other order is another play only if one of them hits on the way.
    runs_low &= ~(runs_high & no_hit_on_way)
    # Where no two dice can be played: the larger one if possible, else the smaller one, else none.
    none = (bits.union(independent_high, axis=0) | bits.union(independent_low, axis=0) | runs_high | runs_low) == 0
    single_high = jnp.where(none, legal_high, jnp.uint32(0))
    single_low = jnp.where(none & (legal_high == 0), jnp.where(legal_low != 0, legal_low, STAY), jnp.uint32(0))
    rest = jnp.stack([runs_high, runs_low, single_high, single_low])
    rows = jnp.concatenate([independent_high, independent_low, rest])
    return jnp.where((high != low)[None, :], rows, jnp.uint32(0))


def _pair_code(
    row: Int32[Array, " n"], chosen: UInt32[Array, " n"], high: UInt32[Array, " n"], low: UInt32[Array, " n"]
) -> UInt32[Array, " n"]:
    """The two sources, in the order played, of bit `chosen` in row number `row`."""
    index = row.astype(jnp.uint32)
    low_first = ((row >= 25) & (row < 50)) | (row == 51) | (row == 53)
    first = jnp.where(row < 25, index + jnp.uint32(1), jnp.where(row < 50, index - jnp.uint32(24), chosen))
    onward = chosen - jnp.where(low_first, low, high)  # a run goes on from where its first move ends
    second = jnp.where(row < 50, chosen, jnp.where(row < 52, onward, jnp.uint32(0)))
    return first | (second << jnp.uint32(5)) | jnp.where(low_first, LOW_FIRST, jnp.uint32(0))


def repeats(
    positions: Position, wanted: Bool[Array, " batch"], capacity: int, rooms: Sequence[int] | None = None
) -> Plays:
    """The plays of the wanted positions that have one or more dice of one value left (others have none here).

    `rooms` says how many nodes each of the four levels can hold; by default one position always fits.
    """
    if rooms is None:
        rooms = [max(most, capacity * (level + 1) // 4) for level, most in enumerate(MOST_REPEATS)]
    high, low = high_low(positions.dice)
    wanted = wanted & (high == low)
    times = (positions.dice >> (jnp.uint32(4) * (low - jnp.uint32(1)))) & jnp.uint32(15)
    barred = board.blocked(positions.opponent)
    batch = wanted.shape[0]

    # The nodes of one level of the trees, all games in one list: the game, the moves so far, the last source, the side.
    game, code = jnp.arange(batch, dtype=jnp.int32), jnp.zeros(batch, jnp.uint32)
    first, complete = jnp.arange(batch + 1, dtype=jnp.int32), jnp.ones(batch, bool)
    last = jnp.full(batch, 31, jnp.uint32)
    own = positions.own
    for level, room in enumerate(rooms):
        inside = (jnp.arange(len(game), dtype=jnp.int32) < first[-1]) & wanted[game]
        # The sources of the next move, not above the last one; none where all dice are played.
        more = board.sources(board.occupied(own), barred[game], low[game]) & bits.below(last + jnp.uint32(1))
        more = jnp.where(inside & (times[game] > level), more, jnp.uint32(0))
        # Where no node of a game can go on, each stays as it is: it is a whole play.
        if batch == 1:
            stuck = jnp.all(more == 0)[None]
        else:
            stuck = jnp.ones(batch, bool).at[jnp.where(more != 0, game, batch)].set(False, mode="drop")
        more = jnp.where(inside & stuck[game], STAY, more)
        # Each source is a node of the next level; nodes that cannot go on while others can are dropped.
        counts = bits.popcount(more)
        ends = ragged.cumsum(counts)
        parent, rank = ragged.owners(ends, counts, room)
        chosen = bits.nth_set(more[parent], rank.astype(jnp.uint32))
        first, game, last = ragged.starts(ends, first), game[parent], chosen
        own = _step(take(own, parent), chosen, low[game])
        code = code[parent] | (chosen << jnp.uint32(5 * level))
        complete &= first[1:] <= room
    return Plays(game, code, first, complete)


def _step(own: Side, source: UInt32[Array, " n"], die: UInt32[Array, " n"]) -> Side:
    """Only the mover's own side after one move; a hit changes nothing that later moves of the turn depend on."""
    start = jnp.where(source != 0, bits.bit(source), jnp.uint32(0))
    return board.add(board.remove(own, start), (start >> die) & board.POINTS)


def after(positions: Position, game: Int32[Array, " n"], code: UInt32[Array, " n"], moves: int) -> tuple[Side, Side]:
    """Both sides, the mover's first, after each play of a list of at most `moves` moves: 2 for pairs, 4 for repeats."""
    own, opponent = take((positions.own, positions.opponent), game)
    for source, die in steps(positions, game, code, moves):
        own, opponent = board.move(own, opponent, source, die, source != 0)
    return own, opponent


def steps(
    positions: Position, game: Int32[Array, " n"], code: UInt32[Array, " n"], moves: int
) -> Iterator[tuple[UInt32[Array, " n"], UInt32[Array, " n"]]]:
    """The moves of each play, in order, as (source, die); source 0 for no move."""
    high, low = high_low(positions.dice)
    high, low = high[game], low[game]
    low_first = (code & LOW_FIRST) != 0
    for number in range(moves):
        source = (code >> jnp.uint32(5 * number)) & jnp.uint32(31)
        yield source, jnp.where(low_first == (number == 0), low, high)


def of_backgammon(states: State) -> State:
    """A state of backgammon, or a batch of them."""
    if not isinstance(a_state(states, "states")._position, Position):
        raise ValueError(f"this state is of {states._game.id}, this game is backgammon")
    return states


MOST_PLAYS = MOST_REPEATS[-1]
"""No position and roll have more distinct plays than this."""


class PlayList(NamedTuple):
    """The distinct plays of one state.

    `mover` and `opponent` are the checkers on points 1..24 and the bar after each play, of the player to act in the
    state and of the other one, each in its own numbering. `actions` are the actions to step through, padded with -1;
    they end with the pass (0) if some dice cannot be played.
    """

    mover: Int32[np.ndarray, "n 25"]
    opponent: Int32[np.ndarray, "n 25"]
    actions: Int32[np.ndarray, "n 4"]


class BatchPlays(NamedTuple):
    """The distinct plays of a batch of states in one list, in the order of the states.

    `first[i]` .. `first[i + 1]` are the entries of state i: at least one, which is the pass where no checker can move.
    They are valid only if `complete[i]`: otherwise the list was too short. Entries from `first[-1]` on are void. The
    other fields are as in `PlayList`, with the checkers as words (`board.to_counts` spells them out).
    """

    game: Int32[Array, " capacity"]
    mover: Side
    opponent: Side
    actions: Int32[Array, "capacity 4"]
    first: Int32[Array, " batch+1"]
    complete: Bool[Array, " batch"]

    @property
    def positions(self) -> Position:
        """The afterstates as the next player sees them, before the roll: what values and encodings take."""
        return Position(self.opponent, self.mover, jnp.zeros_like(self.mover.ones))


@partial(jax.jit, static_argnames="capacity")
def plays(
    states: State | Position, capacity: int | None = None, wanted: Bool[Array, " batch"] | None = None
) -> BatchPlays:
    """Every distinct position that the `wanted` states of a batch (default all) can reach in this turn.

    By default there is room for 32 plays for each state, twice the average, and at least for `MOST_PLAYS`, so that the
    first wanted state is always complete. To get the plays of all states, call it again for the rest::

        wanted = ~(states.terminated | states.truncated)
        while wanted.any():
            listed = plays(states, wanted=wanted)
            ...  # use the states that are wanted & listed.complete
            wanted &= ~listed.complete

    Games that have ended or await a roll have no plays; positions that are passed without a state must have
    dice. Raises `ValueError` if `capacity` is below `MOST_PLAYS`, and unless the batch has shape [n], n above 0.
    """
    positions = states if isinstance(states, Position) else of_backgammon(states)._position
    if positions.dice.ndim != 1:
        raise ValueError(
            f"a batch with one axis is needed here, not of shape {positions.dice.shape}; use list_plays for one state"
        )
    batch = len(positions.dice)
    if not batch:
        raise ValueError("states: a batch of 0: expected one or more")
    if wanted is None:
        wanted = jnp.ones(batch, bool)
    if isinstance(states, State):
        wanted &= ~(states.terminated | states.truncated) & (positions.dice != 0)
    if capacity is None:
        capacity = max(MOST_PLAYS, 32 * batch)
    if capacity < MOST_PLAYS:
        raise ValueError(f"capacity {capacity} is too small: one position may have {MOST_PLAYS} plays")
    lists = pairs(positions, wanted, capacity), repeats(positions, wanted, capacity)
    first = lists[0].first + lists[1].first  # a state has its plays in only one of the two
    game, rank = ragged.owners(first[1:], first[1:] - first[:-1], capacity)
    high, low = high_low(positions.dice)
    entries = [one.code[jnp.minimum(one.first[game] + rank, len(one.code) - 1)] for one in lists]
    code = jnp.where((high != low)[game], entries[0], entries[1])
    complete = lists[0].complete & lists[1].complete & (first[1:] <= capacity)
    sources, dice = (jnp.stack(words) for words in zip(*steps(positions, game, code, 4), strict=True))
    inside = jnp.arange(capacity, dtype=jnp.int32) < first[-1]
    sources = jnp.where(inside[None, :], sources, jnp.uint32(0))
    mover, opponent = _played(positions, game, sources, dice)
    must_play = inside & (board.occupied(mover) != 0)
    actions = _actions(sources, dice, jnp.where(must_play, _dice_left(positions.dice)[game], 0))
    return BatchPlays(game, mover, opponent, actions, first, complete)


def _played(
    positions: Position, game: Int32[Array, " n"], sources: UInt32[Array, "4 n"], dice: UInt32[Array, "4 n"]
) -> tuple[Side, Side]:
    """Both sides after four moves each. (In a loop, to compile fast.)"""
    start = take((positions.own, positions.opponent), game)

    def move(sides, step):
        (own, opponent), (source, die) = sides, step
        return board.move(own, opponent, source, die, source != 0), None

    return lax.scan(move, start, (sources, dice))[0]


def _dice_left(dice: UInt32[Array, " n"]) -> Int32[Array, " n"]:
    digits = dice[:, None] >> (jnp.uint32(4) * jnp.arange(6, dtype=jnp.uint32))[None, :]
    return jnp.sum(digits & jnp.uint32(15), axis=-1, dtype=jnp.uint32).astype(jnp.int32)


def _actions(
    sources: UInt32[Array, "4 n"], dice: UInt32[Array, "4 n"], left: Int32[Array, " n"]
) -> Int32[Array, "n 4"]:
    """The action numbers of each play, with the forced pass if not all of the dice `left` at its start are played."""
    moves = sources != 0
    number = jnp.arange(4, dtype=jnp.int32)[:, None]
    moved = jnp.sum(moves, axis=0, dtype=jnp.int32)[None, :]
    passes = (number == moved) & (moved < left[None, :])
    actions = (jnp.uint32(26) - sources) * jnp.uint32(6) + dice - jnp.uint32(1)
    return jnp.where(moves, actions.astype(jnp.int32), jnp.where(passes, jnp.int32(0), -1)).T


@jax.jit
def _spelled(position: Position) -> tuple[Array, Array, Array, Array]:
    listed = plays(jax.tree.map(lambda x: x[None], position))
    return board.to_counts(listed.mover), board.to_counts(listed.opponent), listed.actions, listed.first[-1]


def list_plays(state: State) -> PlayList:
    """Every distinct position that `state` can lead to in the rest of this turn, and the actions that lead there.

    The list is empty (n = 0) if no checker can move or the game has ended. Raises `ValueError` for a batch,
    and if the position awaits a roll.
    """
    if of_backgammon(state).terminated.ndim:
        raise ValueError(f"one state is needed here, not {checks.batch_of(state.terminated.shape)}; for a batch: plays")
    ended = state.terminated | state.truncated
    if not ended and not state._position.dice:
        raise ValueError("the position awaits a roll: there are no plays before game.resolve(state, outcome)")
    *arrays, number = jax.device_get(_spelled(state._position))
    idle = ended | (arrays[2][0, 0] <= 0)
    return PlayList(*(x[: 0 if idle else number].copy() for x in arrays))
