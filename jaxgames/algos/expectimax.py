"""Expectimax: improves any value of positions by looking turns ahead over all outcomes of chance.

A position that awaits chance is worth the mean, over the outcomes, of its best turn; a turn is worth what the position
it leads to is worth, some plies later, to the player who made it. Plies are counted as in TD-Gammon: 1 ply is the best
turn by the value itself (`Game.best_turn`), 2 plies look at all rolls and replies of the opponent, and so on.

Donald Michie, "Game-playing and game-learning automata", 1966. To prune moves: the move filters of GNU Backgammon.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32

from jaxgames.envs.core import Game, Outcome, Position, Value
from jaxgames.ops.settings import Above, Settings, setting

__all__ = ["Expectimax"]

CHUNK = 512  # positions evaluated together: bounds the memory at any depth


def after_chance(game: Game, positions: Position) -> Position:
    """All positions after the first outcome of chance, then all after the second one, and so on; without chance the
    positions themselves.
    """
    number, size = len(game.outcome_probabilities), len(jax.tree.leaves(positions)[0])
    if not number:
        return positions
    every = jax.tree.map(lambda x: jnp.tile(x, (number, *(1,) * (x.ndim - 1))), positions)
    return jax.vmap(game.chance)(every, jnp.repeat(jnp.arange(number, dtype=jnp.int32), size))


@dataclasses.dataclass(frozen=True)
class Expectimax(Settings):
    """Look-ahead by `plies` turns in any game, exact unless turns are pruned.

    Each player considers only the best `keep` turns by the value itself and, of these, those that seem at most `within`
    points worse than the best; by default all. Time grows by the factor turns x outcomes with each ply; memory with the
    batch, and by `CHUNK` positions a ply. Outside of `jit`, the loops of its methods are compiled anew in each call.

    Raises `TypeError` or `ValueError` for numbers that leave nothing to look at.
    """

    of: ClassVar[str] = "expectimax"
    game: Game
    plies: int = setting(dataclasses.MISSING, "how far to look", low=1)
    keep: int | None = setting(
        None, "how many turns are considered, the best by the value itself", low=1, when={"plies": Above(1)}
    )
    within: float | None = setting(
        None,
        "of these, only turns that seem at most this many points worse than the best",
        low=0,
        when={"plies": Above(1)},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.within is not None and self.keep is None:
            raise ValueError("within needs keep, the most turns to look at, such as keep=8")

    def best_turn(self, positions: Position, value: Value) -> tuple[Outcome[Position], Float32[Array, " batch"]]:
        """As `Game.best_turn`: the turn that is best `plies` plies ahead, and what it is worth."""
        if self.plies == 1:
            return self.game.best_turn(positions, value)
        before = self.replace(plies=self.plies - 1)
        if self.keep is None:
            return self.game.best_turn(positions, lambda after: before.expected(after, value))
        turns = self.game.top_turns(positions, value, self.keep)
        exist = turns.exist
        if self.within is not None:
            exist &= turns.worth >= turns.worth[:1] - self.within
        outcome = turns.outcome
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcome.position)
        asked = (exist & ~outcome.over).reshape(-1)
        worth = before.expected(flat, value, asked).reshape(exist.shape)
        worth = jnp.where(outcome.over, outcome.reward, jnp.where(outcome.turn_passes, -worth, worth))
        worth = jnp.where(exist & ~jnp.isnan(worth), worth, -jnp.inf)
        choice = jnp.argmax(worth, axis=0)
        chosen = jax.tree.map(lambda x: jax.vmap(lambda column, row: column[row], (1, 0))(x, choice), outcome)
        return chosen, jnp.max(worth, axis=0)

    def expected(
        self, positions: Position, value: Value, asked: Bool[Array, " n"] | None = None
    ) -> Float32[Array, " n"]:
        """What positions are worth to the player to act, before chance; 0 where `asked` (by default all) is false."""
        outcomes = self.game.outcome_probabilities

        def of_chunk(chunk: Position) -> Float32[Array, " chunk"]:
            if not outcomes:
                return self.best_turn(chunk, value)[1]
            size = len(jax.tree.leaves(chunk)[0])

            def add(outcome: Array, total: Array) -> Array:
                drawn = jax.vmap(self.game.chance)(chunk, jnp.full(size, outcome, jnp.int32))
                probability = jnp.asarray(np.asarray(outcomes, np.float32))[outcome]
                return total + probability * self.best_turn(drawn, value)[1]

            return lax.fori_loop(0, len(outcomes), add, jnp.zeros(size, jnp.float32))

        if asked is not None:
            return _of_some(of_chunk, positions, asked)
        # Lists of positions are padded at their end with copies: only the first of equal neighbours is evaluated, and
        # its value holds for all of them.
        new = _differs(positions)
        return _of_some(of_chunk, positions, new)[lax.cummax(jnp.where(new, jnp.arange(len(new), dtype=jnp.int32), 0))]


def _differs(positions: Position) -> Bool[Array, " n"]:
    """Which positions differ from the one before."""

    def differs(x: Array) -> Bool[Array, " n"]:
        rows = x.reshape(len(x), -1)
        return jnp.concatenate([jnp.ones(1, bool), jnp.any(rows[1:] != rows[:-1], axis=1)])

    return functools.reduce(jnp.logical_or, map(differs, jax.tree.leaves(positions)))


def _of_some(
    function: Callable[[Position], Float32[Array, " chunk"]], positions: Position, wanted: Bool[Array, " n"]
) -> Float32[Array, " n"]:
    """`function` of the positions that are `wanted`, by chunks of them, and 0 of the others."""
    number = len(wanted)
    size = min(number, CHUNK)
    (entries,) = jnp.nonzero(wanted, size=number + size, fill_value=number)
    entries, total = entries.astype(jnp.int32), jnp.sum(wanted, dtype=jnp.int32)

    def more(carry: tuple[Array, Array]) -> Bool[Array, ""]:
        return carry[0] < total

    def go_on(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        start, values = carry
        entry = lax.dynamic_slice_in_dim(entries, start, size)
        inside = entry < number  # what fills up the last chunk is an empty position, which has hardly any turns

        def taken(x: Array) -> Array:
            row = x[jnp.minimum(entry, number - 1)]
            return jnp.where(inside.reshape(-1, *(1,) * (row.ndim - 1)), row, jnp.zeros_like(row))

        worth = function(jax.tree.map(taken, positions))
        return start + size, values.at[entry].set(worth, mode="drop")

    return lax.while_loop(more, go_on, (jnp.int32(0), jnp.zeros(number, jnp.float32)))[1]
