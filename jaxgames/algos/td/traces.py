"""Eligibility traces, as an init/update pair in the manner of optax: one trace for each game, output and parameter."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32

Parameters = Any
Traces = Any
"""Like the parameters, with `[batch, outputs]` in front of each shape."""


class Outer(NamedTuple):
    """The gradient of a layer's kernel, not yet multiplied out: inputs float32[batch, n] times float32[batch,
    outputs, m].

    Written straight into the trace it is never stored itself, which saves a third of all memory traffic.
    """

    inputs: Float32[Array, "batch n"]
    errors: Float32[Array, "batch outputs m"]


class EligibilityTraces(NamedTuple):
    """`init(params, batch, outputs) -> traces` and `update(gradients, traces, errors, fresh) -> (update, traces)`."""

    init: Callable[[Parameters, int, int], Traces]
    update: Callable[..., tuple[Parameters, Traces]]


def eligibility_traces(decay: float) -> EligibilityTraces:
    """Accumulating traces: e_t = decay e_{t-1} + grad V_t, and the update is the sum of error times trace.

    Sutton 1988, eq. 4; Tesauro 1992, eq. 1, with one trace for each output, since each output has an error of its own.
    Here the sum goes over games too. Errors are those of a prediction: target minus value.
    """

    def init(params: Parameters, batch: int, outputs: int) -> Traces:
        return jax.tree.map(lambda p: jnp.zeros((batch, outputs, *p.shape), p.dtype), params)

    def update(
        gradients: Traces, traces: Traces, errors: Float32[Array, "batch outputs"], over: Bool[Array, " batch"]
    ) -> tuple[Parameters, Traces]:
        """What to add to the parameters (before any step size), and the traces.

        `gradients` are like the traces; a kernel's may be an `Outer`. Where a game is `over` its trace is emptied: the
        position at its end is no prediction. (So it is where a turn was random.)
        """
        keep = jnp.where(over, 0.0, decay).astype(jnp.float32)
        weight = jnp.where(over, 0.0, 1.0).astype(jnp.float32)

        def accumulate(trace, gradient):
            if isinstance(gradient, Outer):
                gradient = (gradient.inputs * weight[:, None])[:, None, :, None] * gradient.errors[:, :, None, :]
            else:
                gradient = gradient * weight.reshape(-1, *(1,) * (gradient.ndim - 1))
            return trace * keep.reshape(-1, *(1,) * (trace.ndim - 1)) + gradient

        traces = jax.tree.map(accumulate, traces, gradients, is_leaf=lambda x: isinstance(x, Outer))
        return jax.tree.map(lambda trace: jnp.tensordot(errors, trace, axes=((0, 1), (0, 1))), traces), traces

    return EligibilityTraces(init, update)
