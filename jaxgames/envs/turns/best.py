"""The best turns of a batch of positions in games whose turns are single actions: what `Game` does by default."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32

from jaxgames.envs.state import Outcome, Position, Rules, Value
from jaxgames.ops.pytrees import equal, take

USUAL = 4  # legal actions of a position for which `best_of_legal` has room in one pass


class TopTurns(NamedTuple):
    """What the best turns lead to and what each is worth to the player to act, all of shape [count, batch], best first.

    There are fewer rows if the game has fewer actions, each of which is a turn. A position may have fewer turns than
    rows: only those that `exist` count.
    """

    outcome: Outcome
    worth: Float32[Array, "count batch"]
    exist: Bool[Array, "count batch"]


def best_of_all(rules: Rules, positions: Position, value: Value) -> tuple[Outcome[Position], Float32[Array, " batch"]]:
    """As `Game.best_turn`: all actions are tried."""
    outcomes, legal = _try_all(rules, positions)
    worth = jnp.where(legal, turn_worth(outcomes, value), -jnp.inf)
    choice = jnp.argmax(worth, axis=1)
    chosen = jax.tree.map(lambda x: jax.vmap(lambda row, index: row[index])(x, choice), outcomes)
    return chosen, jnp.max(worth, axis=1)


def best_of_legal(
    rules: Rules, positions: Position, value: Value
) -> tuple[Outcome[Position], Float32[Array, " batch"]]:
    """As `Game.best_turn`, for games where few of many actions are legal: only these are tried, however many they are.

    The legal actions of all positions are in one list, which is processed in as many passes of a fixed size as it
    takes.
    """
    legal = jax.vmap(rules.legal)(positions)
    batch, actions = legal.shape
    total = jnp.sum(legal, dtype=jnp.int32)
    size = min(USUAL, actions) * batch
    # Room for a whole pass after the last entry, filled with copies of the last action of the last position.
    (entries,) = jnp.nonzero(legal.reshape(-1), size=legal.size + size, fill_value=legal.size - 1)
    entries = entries.astype(jnp.int32)

    def more(carry):
        return carry[0] < total

    def try_some(carry):
        start, best, choice = carry
        entry = lax.dynamic_slice_in_dim(entries, start, size)
        owner, action = entry // actions, entry % actions
        outcome = jax.vmap(rules.play)(take(positions, owner), action)
        worth = turn_worth(outcome, value)
        worth = jnp.where(start + np.arange(size, dtype=np.int32) < total, worth, -jnp.inf)
        highest = jax.ops.segment_max(worth, owner, batch, indices_are_sorted=True)
        first = jnp.where(worth == highest[owner], action, actions)
        first = jax.ops.segment_min(first, owner, batch, indices_are_sorted=True)
        better = highest > best  # of equals the first one stays
        return start + size, jnp.where(better, highest, best), jnp.where(better, first, choice)

    nothing = (jnp.int32(0), jnp.full(batch, -jnp.inf, jnp.float32), jnp.zeros(batch, jnp.int32))
    _, worth, choice = lax.while_loop(more, try_some, nothing)
    return jax.vmap(rules.play)(positions, choice), worth


def top_of_all(rules: Rules, positions: Position, value: Value, count: int) -> TopTurns:
    """As `Game.top_turns`: all actions are tried."""
    outcomes, legal = _try_all(rules, positions)
    worth = jnp.where(legal, turn_worth(outcomes, value), -jnp.inf)
    worth, choice = lax.top_k(worth, min(count, rules.num_actions))
    chosen = jax.tree.map(lambda x: jnp.moveaxis(jax.vmap(lambda row, index: row[index])(x, choice), 1, 0), outcomes)
    return TopTurns(chosen, worth.T, worth.T > -jnp.inf)


def action_to(
    rules: Rules, positions: Position, target: Position, wanted: Bool[Array, " batch"], otherwise: Position
) -> tuple[Int32[Array, " batch"], Bool[Array, " batch"]]:
    """As `Game.turn_actions`: the action that leads to the position."""
    numbers = jnp.arange(rules.num_actions, dtype=jnp.int32)
    legal = jax.vmap(rules.legal)(positions)

    def leads_to(goal):
        outcomes = jax.vmap(lambda action: jax.vmap(lambda position: rules.play(position, action))(positions))(numbers)
        return jax.vmap(lambda reached: equal(reached, goal))(outcomes.position).T & legal

    first, second = leads_to(target) & wanted[:, None], leads_to(otherwise)
    kept = jnp.any(first, axis=1)
    return jnp.argmax(jnp.where(kept[:, None], first, second), axis=1).astype(jnp.int32), kept


def turn_worth(outcomes: Outcome, value: Value) -> Float32[Array, "..."]:
    """What turns are worth to the player who takes them, if the positions after them are worth `value`.

    NaN and minus infinity count as the lowest number, so that a bad turn is still better than an illegal one.
    """
    shape, size = outcomes.over.shape, outcomes.over.size
    worth = value(jax.tree.map(lambda x: x.reshape(size, *x.shape[len(shape) :]), outcomes.position))
    worth = worth.reshape(shape).astype(jnp.float32)  # with x64 on values may be wider
    worth = jnp.where(outcomes.over, outcomes.reward, jnp.where(outcomes.turn_passes, -worth, worth))
    lowest = jnp.finfo(jnp.float32).min
    return jnp.where(worth > lowest, worth, lowest)


def _try_all(rules: Rules, positions: Position) -> tuple[Outcome[Position], Bool[Array, "batch actions"]]:
    """The outcome of every action of each position, and which of them are legal."""
    actions = jnp.arange(rules.num_actions, dtype=jnp.int32)
    outcomes = jax.vmap(lambda position: jax.vmap(lambda action: rules.play(position, action))(actions))(positions)
    return outcomes, jax.vmap(rules.legal)(positions)
