"""Multilayer perceptrons (flax.linen) that can also be evaluated from their first layer's pre-activations."""

from collections.abc import Iterable, Mapping
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxgames.nets.layers import activation, initializer, output_activation
from jaxgames.ops import checks


def layer_name(number: int) -> str:
    """The name of a layer in the parameters; the first layer has number 0."""
    return f"Dense_{number}"


FIRST_LAYER = layer_name(0)


class MLP(nn.Module):
    """Fully connected layers of `sizes` units; the last size is the number of outputs. TD-Gammon: `MLP((40, 4))`.

    Layer i is `params["params"][layer_name(i)]`, with `kernel` float32[n_in, sizes[i]] and `bias` float32[sizes[i]].
    Inputs of any number type are read as float32.

    Args:
      sizes: units per layer, the output layer included.
      activation: function of every layer but the last, a name of `jaxgames.nets.ACTIVATIONS`.
      output: function of the last layer, a name of `jaxgames.nets.OUTPUT_ACTIVATIONS`.
      initializer: initial weights and biases, a name of `jaxgames.nets.INITIALIZERS`, or `name:number`.
      biases: whether units have a bias; without, a layer is its kernel alone.

    Raises ValueError for unknown names and sizes below 1.
    """

    sizes: tuple[int, ...] = (40, 4)
    activation: str = "sigmoid"
    output: str = "sigmoid"
    initializer: str = "uniform"  # not `init`: that is flax's method
    biases: bool = True

    def __post_init__(self) -> None:
        checks.sizes("sizes", self.sizes)
        checks.native_fields(self)
        if not self.sizes or min(self.sizes) < 1:
            raise ValueError(f"sizes {self.sizes} of the network: expected one or more positive whole numbers")
        activation(self.activation)
        output_activation(self.output)
        initializer(self.initializer)
        super().__post_init__()

    def setup(self) -> None:
        """Declares the layers."""
        start = initializer(self.initializer)
        for i, size in enumerate(self.sizes):
            layer = nn.Dense(
                size,
                use_bias=self.biases,
                dtype=jnp.float32,
                param_dtype=jnp.float32,
                kernel_init=start.weights,
                bias_init=start.biases,
            )
            setattr(self, layer_name(i), layer)

    def __call__(self, x: Array) -> Float[Array, "*batch n_out"]:
        """Outputs for inputs `x` [*batch, n_in]."""
        return self.from_first_layer(getattr(self, FIRST_LAYER)(x))

    def from_first_layer(self, pre_activation: Float[Array, "*batch sizes_0"]) -> Float[Array, "*batch n_out"]:
        """Outputs from x @ kernel + bias of the first layer, for callers that update it themselves.

        Call as `net.apply(params, pre_activation, method="from_first_layer")`. Raises `ValueError` for another shape.
        """
        if pre_activation.dtype != jnp.float32 or pre_activation.shape[-1:] != self.sizes[:1]:
            raise ValueError(
                f"pre_activation is {pre_activation.dtype}{list(pre_activation.shape)}; "
                f"expected float32[..., {self.sizes[0]}], the first layer before its activation"
            )
        hidden, x = activation(self.activation), pre_activation
        for i in range(1, len(self.sizes)):
            x = getattr(self, layer_name(i))(hidden(x))
        return output_activation(self.output)(x)


def layers_of(params: Mapping[str, Any]) -> tuple[Mapping[str, jax.Array], ...]:
    """The layers of an MLP's parameters in their order: each its `kernel` and, where it has biases, its `bias`."""
    layers = params["params"]
    return tuple(layers[layer_name(i)] for i in range(len(layers)))


def params_of(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters that have these layers, for `MLP.apply`."""
    return {"params": {layer_name(i): dict(layer) for i, layer in enumerate(layers)}}


def init_each(network: MLP, inputs: int, key: jax.Array, numbers: jax.Array) -> Any:
    """The first weights of the networks with these numbers, each depending only on its own number: leaves [n, ...]."""

    def draw(number: jax.Array) -> Any:
        return network.init(jax.random.fold_in(key, number), jnp.zeros(inputs, jnp.float32))

    # One after the other: a batch of random weights takes far longer to compile than it saves.
    return jax.lax.map(draw, numbers)


def first_layer(params: Mapping[str, Any]) -> tuple[jax.Array, jax.Array]:
    """Kernel [..., n_in, sizes[0]] and bias [..., sizes[0]] of an MLP's first layer; zeros where it has no biases.

    `params` is what `MLP.init` returns. Raises ValueError for anything else.
    """
    try:
        layer = params["params"][FIRST_LAYER]
        kernel = layer["kernel"]
        return kernel, layer["bias"] if "bias" in layer else jnp.zeros_like(kernel[..., 0, :])
    except (KeyError, TypeError):
        raise ValueError(f"no params['params']['{FIRST_LAYER}'] here; expected what MLP.init returns") from None
