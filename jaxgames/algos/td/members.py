"""A perceptron that is the mean of several: their hidden units stand side by side.

Before the output function the mean over members k of h_k W_k + b is one product: (h_1 ... h_K) times (W_1 ... W_K) / K,
plus b. So the mean is a perceptron like any other, with all their hidden units. Members err differently, and their mean
errs less than one of them (L. K. Hansen and P. Salamon, "Neural network ensembles", 1990).
Here they have one hidden layer, and share the biases of the outputs.
"""

from typing import Any

import jax
import jax.numpy as jnp

from jaxgames.nets.mlp import layers_of, params_of


def apart(params: Any, members: int) -> Any:
    """The members of `MLP((members * hidden, outputs))`, as parameters of `MLP((hidden, outputs))`.

    Members are a new first axis of each array; others, such as classes, may stand before those of the layers.
    """
    if members == 1:
        return jax.tree.map(lambda x: x[None], params)

    def split(x: jax.Array, axis: int) -> jax.Array:
        axis = x.ndim + axis
        x = x.reshape(*x.shape[:axis], members, x.shape[axis] // members, *x.shape[axis + 1 :])
        return jnp.moveaxis(x, axis, 0)

    first, last = map(dict, layers_of(params))
    first = {name: split(x, -1) for name, x in first.items()}
    kernel = split(last.pop("kernel"), -2)
    last = {name: jnp.broadcast_to(x, (members, *x.shape)) for name, x in last.items()}
    return params_of([first, last | {"kernel": kernel}])


def repeated(params: Any, members: int) -> Any:
    """A perceptron with `members` times the hidden units that computes the same: the mean of equal members."""
    if members == 1:
        return params
    first, last = map(dict, layers_of(params))
    first = {name: jnp.concatenate([x] * members, axis=-1) for name, x in first.items()}
    last |= {"kernel": jnp.concatenate([last["kernel"]] * members, axis=-2)}
    return scale_outputs(params_of([first, last]), 1 / members)


def scale_outputs(params: Any, factor: float) -> Any:
    """The weights of the outputs times a number: 1 / members makes a mean of the sum over members."""
    if factor == 1:
        return params
    *layers, last = layers_of(params)
    return params_of([*layers, {**last, "kernel": last["kernel"] * factor}])
