"""A block of a learner's updates as one jitted call, and how long an update takes."""

import time
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


def seconds_per_update(learner: Any, state: Any, number: int, seconds: float) -> float:
    """The mean time of an update on this machine, in blocks of `number` updates for about so many seconds.

    Only the second half counts, when play has become sensible. What is learned here is thrown away.
    """
    state, _ = jax.block_until_ready(run_updates(learner, state, jax.random.key(2), number))
    times: list[float] = []
    while sum(times) < seconds:
        began = time.perf_counter()
        state, _ = jax.block_until_ready(run_updates(learner, state, jax.random.key(2), number))
        times.append(time.perf_counter() - began)
    later = times[len(times) // 2 :]
    return sum(later) / len(later) / number
