"""TD(lambda) in its two forms: lambda-returns look forward from a position, eligibility traces look back from an error.

With weights that do not change, both sum to the same step (Sutton and Barto 2018, section 12.1; `test_td_lambda.py`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32

from jaxgames.ops import checks

Parameters = Any
Traces = Any
"""Like the parameters, with `[batch, outputs]` in front of each shape."""


def lambda_returns(
    values: Float32[Array, "plies+1 batch outcomes"],
    results: Float32[Array, "plies batch outcomes"],
    over: Bool[Array, "plies batch"],
    lambda_: float,
    explored: Bool[Array, "plies batch"] | None = None,
) -> Float32[Array, "plies batch outcomes"]:
    """The target G_t of each position but the last, all seen by the same player.

    G_t = results_t if the game is over after ply t, else (1 - lambda) V_{t+1} + lambda G_{t+1}, and G = V at the end of
    the window (Sutton 1988; Sutton and Barto 2018, eq. 12.18). Exploration cuts the return: G_t = V_t if ply t was
    a random turn (Watkins 1989; Sutton and Barto 2018, section 12.10). Outside of `jit`, it is compiled anew in each
    call.

    Args:
      values: V, the predictions; `values[t]` is that of the position before ply t.
      results: the targets of games that end with ply t.
      over: whether ply t ended the game.
      lambda_: lambda, from 0 (only the next prediction counts) to 1 (only the result does).
      explored: whether ply t was a random turn; None if none is.
    """

    lambda_ = checks.native(lambda_)

    def back(following, step):
        value, result, end, cut = step
        target = jnp.where(end[:, None], result, (1.0 - lambda_) * value + lambda_ * following)
        if cut is not None:
            before, chosen = cut
            target = jnp.where(chosen[:, None], before, target)
        return target, target

    cuts = None if explored is None else (values[:-1], explored)
    return lax.scan(back, values[-1], (values[1:], results, over, cuts), reverse=True)[1]


def luck_adjusted_returns(
    expected: Float32[Array, "plies batch outcomes"],
    values: Float32[Array, "plies batch outcomes"],
    ends: Bool[Array, "plies batch"],
    lambda_: float,
) -> Float32[Array, "plies batch outcomes"]:
    """The target G_t of each position, minus the luck of the dice.

    E_t is the expectation over the chance that comes next in position t, V_t its prediction. What chance brings beyond
    E_t is luck; what remains of a return are the differences of expectation and prediction in later positions:
    G_t = E_t + lambda (G_{t+1} - V_{t+1}), and G = E at the end of the window. With lambda 0 it is a one-ply
    look-ahead, with 1 a truncated rollout (D. Montgomery, *Variance reduction*, 2000, adjusts rollouts so; De Asis,
    Sutton, 2018).

    Args:
      expected: E, with the results of games that end.
      values: V.
      ends: whether position t + 1 has no part in G_t: ply t + 1 ended the game, or was a random turn.
      lambda_: lambda.
    """

    def back(beyond, step):
        expectation, value, end = step
        target = expectation + lambda_ * jnp.where(end[:, None], 0.0, beyond)
        return target - value, target

    return lax.scan(back, jnp.zeros_like(values[0]), (expected, values, ends), reverse=True)[1]


class OuterProduct(NamedTuple):
    """The gradient of a layer's kernel by its two factors: `inputs` times `errors`, of shape [batch, outputs, n, m].

    It is multiplied out only while it is added to a trace, so it is never stored. This saves a third of all memory
    traffic.
    """

    inputs: Float32[Array, "batch n"]
    errors: Float32[Array, "batch outputs m"]


class EligibilityTraces(NamedTuple):
    """A pair of functions in the manner of optax, as `eligibility_traces` gives them:

    `init(params, batch, outputs) -> traces` and `update(gradients, traces, errors, reset) -> (updates, traces)`.
    """

    init: Callable[[Parameters, int, int], Traces]
    update: Callable[..., tuple[Parameters, Traces]]


def eligibility_traces(lambda_: float) -> EligibilityTraces:
    """Accumulating traces, one for each game, output and parameter: e_t = lambda e_{t-1} + grad V_t.

    The update is the sum of error times trace, over games and outputs: Sutton 1988, eq. 4; Tesauro 1992, eq. 1, with a
    trace for each output because each output has an error of its own. An error is target minus prediction.
    """
    lambda_ = checks.share("lambda_", lambda_)

    def init(params: Parameters, batch: int, outputs: int) -> Traces:
        return jax.tree.map(lambda p: jnp.zeros((batch, outputs, *p.shape), p.dtype), params)

    def update(
        gradients: Traces, traces: Traces, errors: Float32[Array, "batch outputs"], reset: Bool[Array, " batch"]
    ) -> tuple[Parameters, Traces]:
        """What to add to the parameters (before any step size), and the traces.

        Args:
          gradients: of the predictions, like the traces; a kernel's may be an `OuterProduct`.
          traces: those before.
          errors: of each game's prediction.
          reset: games whose traces become empty: the game is over, or the turn was a random one.
        """
        keep = jnp.where(reset, 0.0, lambda_).astype(jnp.float32)
        weight = jnp.where(reset, jnp.float32(0), 1.0)

        def accumulate(trace, gradient):
            if isinstance(gradient, OuterProduct):
                gradient = (gradient.inputs * weight[:, None])[:, None, :, None] * gradient.errors[:, :, None, :]
            else:
                gradient = gradient * weight.reshape(-1, *(1,) * (gradient.ndim - 1))
            return trace * keep.reshape(-1, *(1,) * (trace.ndim - 1)) + gradient

        traces = jax.tree.map(accumulate, traces, gradients, is_leaf=lambda x: isinstance(x, OuterProduct))
        return jax.tree.map(lambda trace: jnp.tensordot(errors, trace, axes=((0, 1), (0, 1))), traces), traces

    return EligibilityTraces(init, update)
