"""Perft: the number of games of a given length, in turns, from a position. It certifies the rules of a game.

The name is that of chess programmers ("performance test", Robert Hyatt's Crafty). Turns are counted, not actions: a
multiple jump is one turn. A game that ends earlier counts up to its last turn and no further. A limit that truncates
games (`step_limit`) is not a rule, and is ignored.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float32, UInt64

from jaxgames.envs.checks import one_state
from jaxgames.envs.core import Game, State
from jaxgames.envs.registry import as_game
from jaxgames.envs.turns.expand import SIZE, Expansion, batches, single_actions, turns
from jaxgames.ops import checks
from jaxgames.ops.pytrees import add_batch_axis, as_bytes, concatenate, num_rows, take, unique_rows

MOST_DEPTH = 10_000
"""The greatest depth; counts overflow 64 bits long before."""
Report = Callable[[Sequence[int]], None]


def perft(
    game: Game | str,
    depth: int,
    state: State | None = None,
    *,
    distinct: bool = False,
    report: Report | None = None,
    size: int = SIZE,
) -> list[int]:
    """The number of games of 0, 1, ... `depth` turns of a `game` from a `state` (by default the opening), exactly.

    Every way to jump counts, as in OEIS A133046; with `distinct`, ways that lead to the same position are one turn, as
    in other published counts (in draughts: the same piece captures the same pieces and ends on the same square).
    `report` is called with the counts so far, now and then. At most `size` positions are expanded at once, those
    nearest to the end first, so that memory does not grow with the count. Raises `ValueError` for a game with chance or
    a depth below 0, and `TypeError` or `ValueError` for arguments of another kind.
    """
    game, depth, start, size = _checked(game, depth, state, size)
    counts = [0] * (depth + 1)
    counts[0] = 1
    frontier = _Frontier(depth, size)
    if not bool(start.terminated):
        frontier.add(0, add_batch_axis(start._position))
    while (popped := frontier.pop()) is not None:
        ply, positions = popped
        if ply + 1 == depth and single_actions(game):
            counts[depth] += Expansion(game, positions, size).total
        elif distinct:
            after = turns(game, positions, size, distinct=True)
            counts[ply + 1] += len(after.parent)
            if ply + 1 < depth:
                frontier.add(ply + 1, take(after.position, ~after.over))
        else:
            for page in Expansion(game, positions, size).pages():
                counts[ply + 1] += int(np.count_nonzero(page.complete))
                frontier.add(ply, take(page.position, ~page.complete))
                if ply + 1 < depth:
                    frontier.add(ply + 1, take(page.position, page.complete & ~page.over))
        if report is not None:
            report(counts)
    return counts


def divide(
    game: Game | str,
    depth: int,
    state: State | None = None,
    *,
    distinct: bool = False,
    report: Report | None = None,
    size: int = SIZE,
) -> dict[str, int]:
    """`perft` to this depth by the first turn: its actions' names, and how many games begin with it.

    `report` is called with the counts within each first turn. Raises `ValueError` as `perft`, and for a depth below 1.
    """
    game, depth, start, size = _checked(game, depth, state, size, least=1)
    counts: dict[str, int] = {}
    seen: set[bytes] = set()
    for names, after, over in _first_turns(game, start, size):
        if distinct and as_bytes(after._position) in seen:
            continue
        seen.add(as_bytes(after._position))
        after = after.replace(terminated=np.bool_(over))
        counts[names] = perft(game, depth - 1, after, distinct=distinct, report=report, size=size)[-1]
    return counts


class PlyPositions(NamedTuple):
    """The distinct positions of one ply: in how many ways each is reached, and which of them end the game.

    `reward` is what the player who moved last has won there.
    """

    position: Any
    ways: UInt64[np.ndarray, " n"]
    over: Bool[np.ndarray, " n"]
    reward: Float32[np.ndarray, " n"]


def plies(game: Game | str, depth: int, state: State | None = None, *, size: int = SIZE) -> Iterator[PlyPositions]:
    """All positions that are reached in 0, 1, ... `depth` turns, each once a ply; ends early after the last game.

    Memory grows with their number. Positions differ by all that the rules need (in draughts also by the moves since the
    last capture). Raises `ValueError` as `perft`, and `OverflowError` if there are more than 2^63 ways.
    """
    game, depth, start, size = _checked(game, depth, state, size)
    over = np.array([bool(start.terminated)])
    ply = PlyPositions(add_batch_axis(start._position), np.ones(1, np.uint64), over, np.zeros(1, np.float32))
    for number in range(depth + 1):
        yield ply
        if number == depth or ply.over.all():
            return
        live = take(ply, ~ply.over)
        parts: list[PlyPositions] = []
        for index, batch in batches(np.arange(len(live.ways)), live.position, size):
            after = turns(game, batch, size)
            parts.append(PlyPositions(after.position, live.ways[index[after.parent]], after.over, after.reward))
            if sum(len(part.ways) for part in parts[1:]) > 64 * size:
                parts = [_merge(concatenate(parts))]
        ply = _merge(concatenate(parts))


def count_positions(game: Game | str, depth: int, state: State | None = None, *, size: int = SIZE) -> list[int]:
    """The number of different positions after 0, 1, ... `depth` turns, as `plies` finds them."""
    game, depth, start, size = _checked(game, depth, state, size)
    counts = [len(ply.ways) for ply in plies(game, depth, start, size=size)]
    return counts + [0] * (depth + 1 - len(counts))


class _Frontier:
    """The positions still to expand, by ply."""

    def __init__(self, depth: int, size: int):
        self._plies: list[list] = [[] for _ in range(depth)]
        self._size = size

    def add(self, ply: int, positions: Any) -> None:
        if ply < len(self._plies) and num_rows(positions):
            self._plies[ply].append(positions)

    def pop(self) -> tuple[int, Any] | None:
        """A full batch of the last ply that has one, otherwise all of the first ply; None if there is nothing."""
        numbers = [sum(map(num_rows, parts)) for parts in self._plies]
        filled = [ply for ply, number in enumerate(numbers) if number >= self._size]
        begun = [ply for ply, number in enumerate(numbers) if number]
        if not begun:
            return None
        ply = filled[-1] if filled else begun[0]
        parts, number = self._plies[ply], 0
        taken = []
        while parts and number < self._size:
            taken.append(parts.pop())
            number += num_rows(taken[-1])
        if number > self._size:
            cut = num_rows(taken[-1]) - (number - self._size)
            parts.append(take(taken[-1], slice(cut, None)))
            taken[-1] = take(taken[-1], slice(cut))
        return ply, concatenate(taken)


def _checked(
    game: Game | str, depth: int, state: State | None, size: int, least: int = 0
) -> tuple[Game, int, State, int]:
    """The arguments, with the opening where no state is given."""
    game = as_game(game)
    if game.outcome_probabilities:
        raise ValueError(f"{game.id} has chance: perft counts the games of games without it")
    depth, size = checks.whole("depth", depth, least, MOST_DEPTH), checks.whole("size", size)
    if state is None:
        state = game.state(game.init_position(jax.random.key(0)))
    return game, depth, one_state(game, state), size


def _first_turns(game: Game, state: State, size: int) -> Iterator[tuple[str, State, bool]]:
    """The turns of one state: the names of the actions, the state after it, whether the game is over."""
    if bool(state.terminated):
        return
    for page in Expansion(game, add_batch_axis(state._position), size).pages():
        for index, action in enumerate(page.action.tolist()):
            name, complete = game.action_to_string(state, action), bool(page.complete[index])
            player = 1 - state.current_player if complete else state.current_player
            after = game.state(take(page.position, index), player)
            if complete:
                yield name, after, bool(page.over[index])
            else:
                for names, last, over in _first_turns(game, after, size):
                    # Where each action goes on from the square where the last one ended: 22x15 15x8 is 22x15x8.
                    yield re.sub(r"([0-9]+) \1(?=[x-])", r"\1", f"{name} {names}"), last, over


def _merge(ply: PlyPositions) -> PlyPositions:
    first, kind = unique_rows(ply.position)
    if ply.ways.astype(np.float64).sum() > 2.0**63:
        raise OverflowError("more than 2^63 ways; enumerate to a smaller depth")
    ways = np.zeros(len(first), np.uint64)
    np.add.at(ways, kind, ply.ways)
    return take(ply, first)._replace(ways=ways)
