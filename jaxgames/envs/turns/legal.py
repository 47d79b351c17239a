"""The best turn where few of many actions are legal: only those are tried. For games to override `best_turn` with."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float32

from jaxgames.envs.core import Game, Outcome, Position, Value

USUAL = 4  # legal actions of a position for which there is room in one pass


def best_of_legal(game: Game, positions: Position, value: Value) -> tuple[Outcome[Position], Float32[Array, " batch"]]:
    """As `Game.best_turn`, for any number of legal actions; those of all positions stand in one list.

    The list is worked off in passes of a fixed size, as many as it takes.
    """
    legal = jax.vmap(game.legal)(positions)
    batch, actions = legal.shape
    total = jnp.sum(legal, dtype=jnp.int32)
    size = min(USUAL, actions) * batch
    # Room for a whole pass after the last entry. What stands there repeats the last action of the last position.
    (entries,) = jnp.nonzero(legal.reshape(-1), size=legal.size + size, fill_value=legal.size - 1)
    entries = entries.astype(jnp.int32)

    def more(carry):
        return carry[0] < total

    def try_some(carry):
        start, best, choice = carry
        entry = lax.dynamic_slice_in_dim(entries, start, size)
        owner, action = entry // actions, entry % actions
        outcome = jax.vmap(game.play)(jax.tree.map(lambda x: x[owner], positions), action)
        worth = value(outcome.position)
        worth = jnp.where(outcome.over, outcome.reward, jnp.where(outcome.turn_passes, -worth, worth))
        lowest = jnp.finfo(jnp.float32).min
        worth = jnp.where(worth > lowest, worth, lowest)  # NaN too, as in `Game.best_turn`
        worth = jnp.where(start + np.arange(size, dtype=np.int32) < total, worth, -jnp.inf)
        highest = jax.ops.segment_max(worth, owner, batch, indices_are_sorted=True)
        first = jnp.where(worth == highest[owner], action, actions)
        first = jax.ops.segment_min(first, owner, batch, indices_are_sorted=True)
        better = highest > best  # of equals the first one stays
        return start + size, jnp.where(better, highest, best), jnp.where(better, first, choice)

    nothing = (jnp.int32(0), jnp.full(batch, -jnp.inf, jnp.float32), jnp.zeros(batch, jnp.int32))
    _, worth, choice = lax.while_loop(more, try_some, nothing)
    return jax.vmap(game.play)(positions, choice), worth
