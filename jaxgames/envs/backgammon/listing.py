"""Whole turns for people and tests: every distinct position that a roll can lead to, and the actions that lead there.

`list_plays` is for one state and gives NumPy arrays of exact size; `plays` is for a batch, inside `jit`. Both read the
flat lists of `play_lists`, as self-play does.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.board import Position, Side, high_low
from jaxgames.envs.backgammon.play_lists import MOST_REPEATS, pairs, repeats, steps
from jaxgames.envs.core import State
from jaxgames.ops import checks, ragged
from jaxgames.ops.pytrees import take

MOST_PLAYS = MOST_REPEATS[-1]
"""No position and roll have more distinct plays than this."""


class PlayList(NamedTuple):
    """The distinct plays of one state.

    `mover` and `opponent` are the checkers after each play on points 1..24 and the bar, of the player to act in the
    state and of the other one, each in the own numbering. `actions` are the numbers to step through, padded with -1;
    they end with the pass (0) if dice are left that cannot be played.
    """

    mover: Int32[np.ndarray, "n 25"]
    opponent: Int32[np.ndarray, "n 25"]
    actions: Int32[np.ndarray, "n 4"]


class BatchPlays(NamedTuple):
    """The distinct plays of a batch of states in one list, in the order of the states.

    `first[i]` .. `first[i + 1]` are the entries of state i: at least one, which is the pass where no checker can move.
    They count only if `complete[i]`: else the list was too short for them. Entries from `first[-1]` on are void. The
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

    By default there is room for 32 plays a state, twice the average, and for `MOST_PLAYS` at least, so that the first
    wanted state is always complete. To get the plays of all states, ask again for the rest::

        wanted = ~states.terminated
        while wanted.any():
            found = plays(states, wanted=wanted)
            ...  # use the states that are wanted & found.complete
            wanted &= ~found.complete

    Ended games have no plays. Raises `ValueError` if `capacity` is below `MOST_PLAYS`, and for any batch shape but [n].
    """
    positions: Position = states._position if isinstance(states, State) else states
    if positions.dice.ndim != 1:
        raise ValueError(
            f"a batch with one axis is needed here, not of shape {positions.dice.shape}; use list_plays for one state"
        )
    batch = len(positions.dice)
    if wanted is None:
        wanted = jnp.ones(batch, bool)
    if isinstance(states, State):
        wanted &= ~states.terminated
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

    There is nothing to list (n = 0) where no checker can move, and in an ended game. Raises `ValueError` for a batch,
    and where a roll is awaited.
    """
    if state.terminated.ndim:
        raise ValueError(f"one state is needed here, not {checks.batch_of(state.terminated.shape)}; for a batch: plays")
    if not state.terminated and not state._position.dice:
        raise ValueError("the position awaits a roll: there are no plays before game.resolve(state, outcome)")
    *arrays, number = jax.device_get(_spelled(state._position))
    idle = state.terminated | (arrays[2][0, 0] <= 0)
    return PlayList(*(x[: 0 if idle else number].copy() for x in arrays))
