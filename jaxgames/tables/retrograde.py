"""Retrograde analysis: the exact value of every position of a slice, from the ends of games backwards.

A slice holds positions of one kind, each with a number. Slices that lead to each other by turns are solved together,
after those that their captures, promotions or bear-offs lead to (Thompson, Retrograde analysis of certain endgames,
ICCA Journal 9(3), 1986). It uses only the rules of the game: whole turns of batches of positions.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jaxtyping import Bool, Int, Int16, UInt8

from jaxgames.envs.core import Game
from jaxgames.envs.turns.expand import SIZE, turns
from jaxgames.ops.pytrees import in_chunks, take

DRAW, WIN, LOSS, NOTHING = range(4)
"""Values for the player to move; numbers without a position have the last one."""

MOST_TURNS = np.iinfo(np.int16).max
"""The longest way to the end that can be stored."""


class Index(Protocol):
    """Numbers the positions of a game: slices, and in each of them numbers from 0 on."""

    game: Game
    name: str
    groups: Sequence[Sequence[Any]]
    """The slices that are solved together, in an order in which turns lead only to the same or earlier groups."""
    slices: Sequence[Any]
    """All of them in this order, each with a `size`."""
    longest_turn: int
    """The most actions of one turn."""

    def positions(self, part: Any, numbers: Any) -> tuple[Any, Any]:
        """The positions with these numbers in a slice, and which of them exist.

        A position in which the game is over counts as lost for the player to move; a drawn end does not exist.
        """

    def locate(self, positions: Any) -> tuple[Any, Any]:
        """The slice of each position, as an index of `slices`, and its number there; -1 if it has none."""

    def covers(self, positions: Any) -> Any:
        """Which positions are in a slice, or will be at the end of the present turn."""


class Values(NamedTuple):
    """The positions of one slice.

    `value`: for the player to move. `turns`: to the end of the game if the winner hurries and the loser does not, -1
    for draws.
    """

    value: UInt8[np.ndarray, " n"]
    turns: Int16[np.ndarray, " n"]


def solve(index: Index, group: Sequence[Any], known: Callable[[int], Values]) -> list[Values]:
    """The values of all positions of a group of slices.

    Args:
        index: Numbers the positions.
        group: The slices, each with a `size`.
        known: Returns the values of a slice of an earlier group, by its index in `index.slices`.

    Raises `ValueError` if a turn leads to a position that is in no slice of this group or an earlier one.
    """
    sizes = [part.size for part in group]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ways = _Ways(int(starts[-1]))
    here = {index.slices.index(part): int(start) for part, start in zip(group, starts[:-1], strict=True)}
    for part, start, size in zip(group, starts[:-1], sizes, strict=True):
        for first in range(0, size, SIZE):
            numbers = np.arange(first, min(first + SIZE, size), dtype=np.int32)
            ways.add(_turns_of(index, part, numbers, here, known), start + numbers)
    value, length = _backwards(ways)
    return [Values(value[a:b], length[a:b]) for a, b in zip(starts[:-1], starts[1:], strict=True)]


def solve_all(index: Index) -> list[Values]:
    """The values of all slices, in memory."""
    values: list[Values] = []
    for group in index.groups:
        values += solve(index, group, values.__getitem__)
    return values


def totals(values: Values) -> dict[str, int]:
    """How many positions of a slice there are, how many are won, lost and drawn, and the turns of the longest win."""
    draws, wins, losses, _ = (int(count) for count in np.bincount(values.value, minlength=4))
    longest = int(values.turns.max(initial=0))
    return {"positions": draws + wins + losses, "wins": wins, "losses": losses, "draws": draws, "longest": longest}


class _Turns(NamedTuple):
    """What the turns of some positions lead to. The positions themselves are given by their place in the batch."""

    exists: Bool[np.ndarray, " n"]
    stuck: Bool[np.ndarray, " n"]
    """Where the game is over."""
    parent: Int[np.ndarray, " turns"]
    child: Int[np.ndarray, " turns"]
    """The position of the group that a turn leads to; -1 for one outside of it."""
    value: UInt8[np.ndarray, " turns"]
    """Of the child for the player to move there, if it is outside."""
    length: Int16[np.ndarray, " turns"]


def _turns_of(index: Index, part: Any, numbers: np.ndarray, here: dict[int, int], known: Callable) -> _Turns:
    """The turns of the positions with these numbers in a slice. `here` says where each slice of the group begins."""

    def seen(numbers: np.ndarray) -> tuple[Any, Any, Any]:
        positions, exists = index.positions(part, numbers)
        return positions, exists, _ended(index.game, positions)

    positions, exists, over = in_chunks(seen, numbers, SIZE)
    rows = np.flatnonzero(exists & ~over)
    if not len(rows):
        nothing = np.zeros(0, np.int64)
        return _Turns(exists, exists & over, nothing, nothing, nothing.astype(np.uint8), nothing.astype(np.int16))
    children = turns(index.game, take(positions, rows))
    child = np.full(len(children.parent), -1, np.int64)
    value = np.where(children.over, np.where(children.reward > 0, LOSS, np.where(children.reward < 0, WIN, DRAW)), DRAW)
    length = np.zeros(len(child), np.int16)
    slices, places = in_chunks(index.locate, children.position, SIZE)
    for slice_number in np.unique(slices[~children.over]):
        chosen = (slices == slice_number) & ~children.over
        if slice_number < 0:
            text = index.game.unparse(take(take(children.position, chosen), 0))
            raise ValueError(f"a turn leads to {text}, which is in no slice of {index.name}")
        if slice_number in here:
            child[chosen] = here[slice_number] + places[chosen]
        else:
            table = known(int(slice_number))
            value[chosen], length[chosen] = table.value[places[chosen]], table.turns[places[chosen]]
    return _Turns(exists, exists & over, rows[children.parent], child, value.astype(np.uint8), length)


class _Ways:
    """The turns of a whole group: its positions' children within the group, and the best turn out of it."""

    def __init__(self, size: int):
        self.value = np.full(size, NOTHING, np.uint8)
        """`LOSS` if the game is over, `NOTHING` if there is no position, otherwise `DRAW` so far."""
        self.wins_at = np.full(size, MOST_TURNS, np.int16)
        """Turns to a win by a turn out of the group."""
        self.holds = np.zeros(size, bool)
        """Whether a turn out of the group leads to a draw."""
        self.loses_at = np.zeros(size, np.int16)
        """Turns to the end, if all turns lose and the longest way leads out of the group."""
        self.edges: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, turns: _Turns, numbers: np.ndarray) -> None:
        """Adds the turns of the positions with these numbers in the group."""
        self.value[numbers] = np.where(turns.stuck, LOSS, np.where(turns.exists, DRAW, NOTHING))
        parent, inside = numbers[turns.parent], turns.child >= 0
        for what, sign, kept in ((LOSS, np.minimum, self.wins_at), (WIN, np.maximum, self.loses_at)):
            chosen = ~inside & (turns.value == what)
            sign.at(kept, parent[chosen], turns.length[chosen] + np.int16(1))
        self.holds[parent[~inside & (turns.value == DRAW)]] = True
        self.edges.append((parent[inside].astype(np.int32), turns.child[inside].astype(np.int32)))


def _backwards(ways: _Ways) -> tuple[np.ndarray, np.ndarray]:
    """Value and length of every position, in order of length: first those that end at once, then one turn away, ..."""
    size = len(ways.value)
    parent, child = (np.concatenate([edge[k] for edge in ways.edges]) for k in (0, 1))
    order = np.argsort(child, kind="stable")
    parents, ends = parent[order], np.cumsum(np.bincount(child, minlength=size))
    left = np.bincount(parent, minlength=size).astype(np.int32)  # turns within the group not known to lose
    value, length = ways.value.copy(), np.full(size, -1, np.int16)
    open_ = value == DRAW
    loses_at = np.where(open_ & (left == 0) & ~ways.holds & (ways.wins_at == MOST_TURNS), ways.loses_at, MOST_TURNS)
    loses_at[value == LOSS], wins_at = 0, ways.wins_at
    open_ |= value == LOSS
    last = max(int(np.max(x[x < MOST_TURNS], initial=0)) for x in (loses_at, wins_at))
    turn = 0
    while turn <= last:
        won, lost = np.flatnonzero(open_ & (wins_at == turn)), np.flatnonzero(open_ & (loses_at == turn))
        value[won], value[lost], open_[won], open_[lost] = WIN, LOSS, False, False
        length[won], length[lost] = turn, turn
        if turn + 1 == MOST_TURNS:
            raise ValueError(f"a game takes {MOST_TURNS} turns or more")
        before = _parents(lost, parents, ends)
        before = before[open_[before]]
        wins_at[before] = np.minimum(wins_at[before], turn + 1)
        after = _parents(won, parents, ends)
        left -= np.bincount(after, minlength=size).astype(np.int32) if len(after) else 0
        done = np.unique(after)
        done = done[open_[done] & (left[done] == 0) & ~ways.holds[done] & (wins_at[done] == MOST_TURNS)]
        loses_at[done] = np.maximum(ways.loses_at[done], turn + 1)
        for reached, at in ((before, wins_at), (done, loses_at)):
            last = max(last, int(at[reached].max(initial=0)))
        turn += 1
    return value, length


def _parents(children: np.ndarray, parents: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The positions with a turn to one of `children`, once for each such turn."""
    starts = np.where(children > 0, ends[children - 1], 0)
    counts = ends[children] - starts
    offsets = np.repeat(starts + counts - np.cumsum(counts), counts)
    return parents[np.arange(len(offsets)) + offsets]


@functools.partial(jax.jit, static_argnums=0)
def _ended(game: Game, positions: Any) -> Any:
    return jax.vmap(game.ended)(positions)
