"""Expectimax: any value of positions, made better by looking turns ahead over all outcomes of chance.

A position that awaits chance is worth the mean, over the outcomes, of its best turn; a turn is worth what the position
it leads to is worth, some plies later, to the player who made it. Plies are counted as in TD-Gammon: 1 ply is the best
turn by the value itself (`Game.best_turn`), 2 plies look at all rolls and replies of the opponent, and so on.

Donald Michie, "Game-playing and game-learning automata", 1966. For moves left out: the move filters of GNU Backgammon.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32

from jaxgames.envs.best_turns import best_turns
from jaxgames.envs.core import Game, Outcome, Position, Value

CHUNK = 512  # positions looked at together: bounds the memory, whatever the depth


@dataclasses.dataclass(frozen=True)
class Expectimax:
    """Look-ahead by `plies` turns, exact unless turns are left out.

    With `keep`, each player considers only the best `keep` turns by the value itself, and with `within` only those
    that seem no more than so many points worse than the best. Time is proportional to turns x outcomes at each further
    ply; memory to the batch and to `CHUNK` positions for each ply.

    Raises `ValueError` if there is nothing to look at.
    """

    game: Game
    plies: int
    keep: int | None = None
    within: float | None = None

    def __post_init__(self) -> None:
        if self.plies < 1:
            raise ValueError(f"plies {self.plies}: expected 1 or more")
        if self.keep is not None and self.keep < 1:
            raise ValueError(f"keep {self.keep}: expected 1 or more turns")
        if self.within is not None and not self.within >= 0:
            raise ValueError(f"within {self.within}: expected 0 points or more")
        if self.within is not None and self.keep is None:
            raise ValueError("within needs keep, the most turns to look at, such as keep=8")

    def best_turn(self, positions: Position, value: Value) -> tuple[Outcome[Position], Float32[Array, " batch"]]:
        """As `Game.best_turn`: the turn that is best `plies` plies ahead, and what it is worth."""
        if self.plies == 1:
            return self.game.best_turn(positions, value)
        before = dataclasses.replace(self, plies=self.plies - 1)
        if self.keep is None:
            return self.game.best_turn(positions, lambda after: before.expected(after, value))
        turns = best_turns(self.game, positions, value, self.keep)
        there = turns.there
        if self.within is not None:
            there &= turns.worth >= turns.worth[:1] - self.within
        outcome = turns.outcome
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcome.position)
        asked = (there & ~outcome.over).reshape(-1)
        worth = before.expected(flat, value, asked).reshape(there.shape)
        worth = jnp.where(outcome.over, outcome.reward, jnp.where(outcome.switch, -worth, worth))
        worth = jnp.where(there & ~jnp.isnan(worth), worth, -jnp.inf)
        choice = jnp.argmax(worth, axis=0)
        chosen = jax.tree.map(lambda x: jax.vmap(lambda column, row: column[row], (1, 0))(x, choice), outcome)
        return chosen, jnp.max(worth, axis=0)

    def expected(
        self, positions: Position, value: Value, asked: Bool[Array, " n"] | None = None
    ) -> Float32[Array, " n"]:
        """What positions that await chance, if any, are worth to the player to act; only those `asked` for count."""
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

        return _in_chunks(of_chunk, positions, asked)


def _in_chunks(
    function: Callable[[Position], Float32[Array, " chunk"]], positions: Position, asked: Bool[Array, " n"] | None
) -> Float32[Array, " n"]:
    """`function` of the positions `asked` for, by chunks of them, and 0 of the others."""
    number = len(jax.tree.leaves(positions)[0])
    if number <= CHUNK and asked is None:
        return function(positions)
    size = min(number, CHUNK)
    total = jnp.int32(number) if asked is None else jnp.sum(asked, dtype=jnp.int32)
    every = jnp.ones(number, bool) if asked is None else asked
    (entries,) = jnp.nonzero(every, size=number + size, fill_value=number)
    entries = entries.astype(jnp.int32)

    def more(carry):
        return carry[0] < total

    def some(carry):
        start, found = carry
        entry = lax.dynamic_slice_in_dim(entries, start, size)
        chunk = jax.tree.map(lambda x: x[jnp.minimum(entry, number - 1)], positions)
        return start + size, found.at[entry].set(function(chunk), mode="drop")

    return lax.while_loop(more, some, (jnp.int32(0), jnp.zeros(number, jnp.float32)))[1]
