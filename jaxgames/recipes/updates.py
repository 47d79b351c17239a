"""A block of a learner's updates as one jitted call."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key


@partial(jax.jit, static_argnames=("learner", "number"), donate_argnums=1)
def run_updates(learner: Any, state: Any, key: Key[Array, ""], number: int) -> tuple[Any, Any]:
    """`number` updates; the key of each depends on its place in the whole training only.

    Args:
        learner: hashable, with `update(state, key) -> (state, metrics)`.
        state: counts its updates in `updates`; given away.
        key: of the whole training.
        number: how many.

    Returns the state after them, and the metrics of each, stacked.
    """
    places = state.updates + jnp.arange(number, dtype=jnp.int32)
    return jax.lax.scan(learner.update, state, jax.vmap(lambda place: jax.random.fold_in(key, place))(places))
