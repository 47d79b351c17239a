"""Records of all games of a match, made from the turns that `match(..., trace=log.add)` reports."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Int32

from jaxgames.envs.core import Game, state_on_host
from jaxgames.matches.match import TracedTurns
from jaxgames.ops.pytrees import concatenate, equal, in_chunks, num_rows, take
from jaxgames.players import Player
from jaxgames.sessions.record import GameRecord, RecordedTurn, game_options

CHUNK = 1024
"""Turns processed at once."""


class GameLog:
    """The turns of the games of `a` against `b`, in memory: about 200 bytes each in backgammon."""

    def __init__(self, a: Player, b: Player):
        self.game, self.names = a.game, (a.name, b.name)
        self._parts: list[TracedTurns] = []

    def add(self, turns: TracedTurns) -> None:
        """Takes the turns of some plies."""
        where = np.nonzero(turns.moved)  # ply by ply, as they were played
        self._parts.append(jax.tree.map(lambda x: np.asarray(x)[where], turns))

    def turns(self) -> TracedTurns:
        """All turns, game after game in the order of their pairs, that which `a` begins first."""
        turns = concatenate(self._parts)
        return take(turns, np.lexsort((np.arange(len(turns.pair)), ~turns.a_began, turns.pair)))

    def records(self) -> list[GameRecord]:
        """The games in the order of their pairs, that which `a` begins first; stopped ones have no result, and
        not the turn that they were stopped in the middle of."""
        if not self._parts:
            return []
        turns = self.turns()
        forfeited = np.asarray(turns.over) & np.asarray(equal(turns.position, turns.target))
        actions: list[list[int]] = [[] for _ in forfeited]
        number, before, action = single_actions(self.game, turns.position, turns.target, ~forfeited)
        for turn, one in zip(number.tolist(), action.tolist(), strict=True):
            actions[turn].append(one)
        chances = _chances(self.game, turns.position, turns.target)
        first = np.flatnonzero(np.diff(2 * turns.pair + ~turns.a_began, prepend=-1))
        ends = np.append(first[1:], len(turns.pair))
        last = np.searchsorted(number, ends) - 1  # actions of the games
        cut = [
            not turns.over[end - 1] and not _passes(self.game, take(before, row), action[row])
            for end, row in zip(ends, last, strict=True)
        ]
        return [
            self._record(take(turns, slice(a, b)), actions[a:b], chances[a:b], unfinished)
            for a, b, unfinished in zip(first, ends, cut, strict=True)
        ]

    def _record(self, turns: TracedTurns, actions: list[list[int]], chances: list[str], unfinished: bool) -> GameRecord:
        began, game = bool(turns.a_began[0]), self.game
        points = None
        if turns.over[-1]:
            points = float(turns.reward[-1]) * (1 if bool(turns.a_moved[-1]) == began else -1) + 0.0
        starts = [i for i in range(len(actions)) if i == 0 or chances[i] or turns.a_moved[i] != turns.a_moved[i - 1]]
        played = []
        spans = list(zip(starts, [*starts[1:], len(actions)], strict=True))
        for start, end in spans[:-1] if unfinished else spans:  # half a turn has no name
            whole = [action for part in actions[start:end] for action in part]
            if whole:
                text = game.turn_to_string(state_on_host(game, take(turns.position, start)), whole)
                played.append(RecordedTurn(text, chances[start] if start else ""))
        return GameRecord(
            game=game.id,
            options=game_options(game),
            players=self.names if began else self.names[::-1],
            start=game.to_string(state_on_host(game, take(turns.position, 0))),
            turns=tuple(played),
            points=points,
            reason="forfeit" if turns.over[-1] and not actions[-1] else "",
        )


def single_actions(
    game: Game, positions: Any, targets: Any, wanted: Bool[np.ndarray, " n"]
) -> tuple[Int[np.ndarray, " m"], Any, Int[np.ndarray, " m"]]:
    """All actions of the turns that are `wanted`, in their order: the turn each belongs to, the position before it, and
    the action.
    """
    going, positions = np.flatnonzero(wanted), jax.tree.map(np.array, positions)
    passes: list[tuple[np.ndarray, Any, np.ndarray]] = []
    while len(going):
        asked = take((positions, targets), going)
        actions, after, there = in_chunks(lambda each: next_actions(game, *each), asked, CHUNK)
        passes.append((going, asked[0], actions))
        jax.tree.map(lambda old, new, rows=going: old.__setitem__(rows, new), positions, after)
        going = going[~there]
    if not passes:
        return going, take(positions, going), going.astype(np.int32)
    turn, before, action = (concatenate(list(parts)) for parts in zip(*passes, strict=True))
    order = np.argsort(turn, kind="stable")  # the passes are in the order of a turn's actions
    return turn[order], take(before, order), action[order]


def _chances(game: Game, positions: Any, targets: Any) -> list[str]:
    """The outcome of chance before each turn, if one was drawn since the end of the turn before it."""
    number = num_rows(positions)
    if not game.outcome_probabilities or number < 2:
        return [""] * number
    pairs = take(targets, slice(-1)), take(positions, slice(1, None))
    outcomes = in_chunks(lambda each: _outcomes(game, *each), pairs, CHUNK)
    return ["", *(game.outcome_to_string(int(one)) if one >= 0 else "" for one in outcomes)]


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
def _passes(game: Game, position: Any, action: Int32[Array, ""]) -> Bool[Array, ""]:
    return game.play(position, action).turn_passes


@partial(jax.jit, static_argnums=0)
def _outcomes(game: Game, targets: Any, positions: Any) -> Int32[Array, " n"]:
    """Which outcome leads from one position to the other; -1 if none does or none is awaited."""

    def leads(outcome: Int32[Array, ""]) -> Bool[Array, " n"]:
        after = jax.vmap(game.chance, in_axes=(0, None))(targets, outcome)
        return equal(after, positions) & ~equal(after, targets)

    leading = jax.vmap(leads)(jnp.arange(len(game.outcome_probabilities), dtype=jnp.int32))
    return jnp.where(jnp.any(leading, axis=0), jnp.argmax(leading, axis=0).astype(jnp.int32), -1)
