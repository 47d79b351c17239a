"""Records of all games of a match, made of the turns that `match(..., trace=log.add)` reports."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from jaxgames.envs.core import Game
from jaxgames.matches.match import TracedTurns
from jaxgames.ops.pytrees import concatenate, equal, num_rows, take
from jaxgames.players import Player
from jaxgames.sessions.record import GameRecord, RecordedTurn, game_options

CHUNK = 1024
"""Turns looked into at once."""


class GameLog:
    """The turns of the games of `a` against `b`, in memory: about 200 bytes each in backgammon."""

    def __init__(self, a: Player, b: Player):
        self.game, self.names = a.game, (a.name, b.name)
        self._parts: list[TracedTurns] = []

    def add(self, turns: TracedTurns) -> None:
        """Takes the turns of some plies."""
        where = np.nonzero(turns.moved)  # ply by ply, as they were played
        self._parts.append(jax.tree.map(lambda x: np.asarray(x)[where], turns))

    def records(self) -> list[GameRecord]:
        """The games in the order of their pairs, that which `a` begins first; stopped ones have no result."""
        if not self._parts:
            return []
        turns = concatenate(self._parts)
        order = np.lexsort((np.arange(len(turns.pair)), ~turns.a_began, turns.pair))
        turns = take(turns, order)
        forfeited = np.asarray(turns.over) & np.asarray(equal(turns.position, turns.target))
        actions = _single_actions(self.game, turns.position, turns.target, ~forfeited)
        chances = _chances(self.game, turns.position, turns.target)
        first = np.flatnonzero(np.diff(2 * turns.pair + ~turns.a_began, prepend=-1))
        ends = np.append(first[1:], len(turns.pair))
        return [
            self._record(take(turns, slice(a, b)), actions[a:b], chances[a:b]) for a, b in zip(first, ends, strict=True)
        ]

    def _record(self, turns: TracedTurns, actions: list[list[int]], chances: list[str]) -> GameRecord:
        began, game = bool(turns.a_began[0]), self.game
        points = None
        if turns.over[-1]:
            points = float(turns.reward[-1]) * (1 if bool(turns.a_moved[-1]) == began else -1) + 0.0
        starts = [i for i in range(len(actions)) if i == 0 or chances[i] or turns.a_moved[i] != turns.a_moved[i - 1]]
        played = []
        for start, end in zip(starts, [*starts[1:], len(actions)], strict=True):
            whole = [action for part in actions[start:end] for action in part]
            if whole:
                text = game.turn_to_string(game.state(take(turns.position, start)), whole)
                played.append(RecordedTurn(text, chances[start] if start else ""))
        return GameRecord(
            game=game.id,
            options=game_options(game),
            players=self.names if began else self.names[::-1],
            start=game.to_string(game.state(take(turns.position, 0))),
            turns=tuple(played),
            points=points,
            reason="forfeit" if turns.over[-1] and not actions[-1] else "",
        )


def _single_actions(game: Game, positions: Any, targets: Any, played: Bool[np.ndarray, " n"]) -> list[list[int]]:
    """The actions of each turn; none for turns that were not `played`."""
    actions: list[list[int]] = [[] for _ in played]
    positions, going = jax.tree.map(np.array, positions), np.flatnonzero(played)
    while len(going):
        left = []
        for rows in chunks_of(going):
            action, after, there = jax.device_get(next_actions(game, take(positions, rows), take(targets, rows)))
            jax.tree.map(lambda all_rows, new, rows=rows: all_rows.__setitem__(rows, new), positions, after)
            for row, one, done in _once(rows, action, there):
                actions[row].append(one)
                if not done:
                    left.append(row)
        going = np.array(left, int)
    return actions


def _once(rows: np.ndarray, action: np.ndarray, there: np.ndarray) -> Iterator[tuple[int, int, bool]]:
    """The entries of a chunk without those that fill it up."""
    _, index = np.unique(rows, return_index=True)
    yield from zip(rows[index].tolist(), action[index].tolist(), there[index].tolist(), strict=True)


def chunks_of(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Rows, `CHUNK` at a time; the last ones are repeated to fill the chunk."""
    for start in range(0, len(rows), CHUNK):
        yield rows[np.minimum(start + np.arange(CHUNK), len(rows) - 1)]


def _chances(game: Game, positions: Any, targets: Any) -> list[str]:
    """The outcome of chance before each turn, if one was drawn since the end of the turn before it."""
    number = num_rows(positions)
    if not game.outcome_probabilities or number < 2:
        return [""] * number
    chances = [""]
    before = np.arange(number - 1)
    for rows in chunks_of(before):
        outcome = jax.device_get(_outcomes(game, take(targets, rows), take(positions, rows + 1)))
        kept = outcome[: number - len(chances)]
        chances += [game.outcome_to_string(int(one)) if one >= 0 else "" for one in kept]
    return chances


@partial(jax.jit, static_argnums=0)
def next_actions(game: Game, positions: Any, targets: Any) -> tuple[Array, ...]:
    """For `CHUNK` positions the next action of the turn that leads to a target, the position after it, and whether the
    turn ends there.
    """
    wanted = jnp.ones(CHUNK, bool)
    actions = game.turn_actions(positions, targets, wanted, targets)[0]
    after = jax.vmap(game.play)(positions, actions)
    there = after.over | after.turn_passes | equal(after.position, targets)
    return actions, after.position, there


@partial(jax.jit, static_argnums=0)
def _outcomes(game: Game, targets: Any, positions: Any) -> Int32[Array, " n"]:
    """Which outcome leads from one position to the other; -1 where none does or none is awaited."""

    def leads(outcome: Int32[Array, ""]) -> Bool[Array, " n"]:
        after = jax.vmap(game.chance, in_axes=(0, None))(targets, outcome)
        return equal(after, positions) & ~equal(after, targets)

    found = jax.vmap(leads)(jnp.arange(len(game.outcome_probabilities), dtype=jnp.int32))
    return jnp.where(jnp.any(found, axis=0), jnp.argmax(found, axis=0).astype(jnp.int32), -1)
