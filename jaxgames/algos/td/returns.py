"""Targets of temporal-difference learning."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32


def lambda_returns(
    values: Float32[Array, "plies+1 batch outcomes"],
    results: Float32[Array, "plies batch outcomes"],
    over: Bool[Array, "plies batch"],
    decay: float,
    explored: Bool[Array, "plies batch"] | None = None,
) -> Float32[Array, "plies batch outcomes"]:
    """The target of each position but the last, all seen by the same player.

    G_t = results_t if the game is over after ply t, else (1 - decay) V_{t+1} + decay G_{t+1}, and G = V where the
    window ends (Sutton 1988; Sutton and Barto 2018, eq. 12.18). `values[t]` belongs to the position before ply t,
    `results[t]` and `over[t]` to what ply t led to.

    Where ply t was `explored`, a turn that its player does not take for the best, it tells nothing about the position
    before it: G_t = V_t there, and the returns of earlier positions end with that value (Watkins 1989; Sutton and Barto
    2018, section 12.10).
    """

    def back(following, step):
        value, result, end, cut = step
        target = jnp.where(end[:, None], result, (1.0 - decay) * value + decay * following)
        if cut is not None:
            before, chosen = cut
            target = jnp.where(chosen[:, None], before, target)
        return target, target

    cuts = None if explored is None else (values[:-1], explored)
    return lax.scan(back, values[-1], (values[1:], results, over, cuts), reverse=True)[1]
