"""What an edge does: it leads to a position, and discounts its value."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.core import Game
from jaxgames.ops.pytrees import select


def play_edge(
    game: Game, before: Any, edge: Int32[Array, " batch"], is_chance: Bool[Array, " batch"]
) -> tuple[Any, Bool[Array, " batch"], Bool[Array, " batch"], Float32[Array, " batch"], UInt32[Array, "batch words"]]:
    """The position that an edge leads to; whether it passes the turn and ends the game; reward and AMAF key."""
    action = jnp.minimum(edge, game.num_actions - 1)
    position, turn_passes, over, reward = jax.vmap(game.play)(before, action)
    amaf_key = jax.vmap(game.amaf_key)(before, action)
    if not game.outcome_probabilities:
        return position, turn_passes, over, reward, amaf_key
    drawn = jax.vmap(game.chance)(before, jnp.minimum(edge, len(game.outcome_probabilities) - 1))
    amaf_key = jnp.where(is_chance[:, None], 0, amaf_key)
    return select(is_chance, drawn, position), turn_passes & ~is_chance, over & ~is_chance, reward, amaf_key


def edge_discount(game: Game, discount: float, is_chance: Bool[Array, " n"]) -> Float32[Array, " n"] | float:
    """What an edge of each node leaves of a point: a roll of chance is not an action, and takes nothing."""
    if discount == 1 or not game.outcome_probabilities:
        return discount
    return jnp.where(is_chance, jnp.float32(1), jnp.float32(discount))
