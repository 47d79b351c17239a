"""Networks as chromosomes: every network of a population is one row of one matrix."""

import dataclasses
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.nets import MLP, Activation, activation
from jaxgames.nets.mlp import init_each, layers_of, params_of
from jaxgames.ops import checks

FEW_INPUTS = 20
"""Layers with at most so many inputs are summed input by input; others, and on a TPU all, are matrix products."""


class LayerWeights(NamedTuple):
    """One layer of n networks."""

    kernel: Float32[Array, "n outputs inputs"]
    bias: Float32[Array, "n outputs"]


class Candidates(Protocol):
    """Networks in another form than rows, for arrays in which the networks are the last axis."""

    def __len__(self) -> int:
        """How many."""
        ...

    def dense(self, layer: int, x: Float32[Array, "inputs games n"]) -> Float32[Array, "outputs games n"]:
        """kernel x + bias of each network's layer with this number."""
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Apart:
    """Networks as rows, with separate copies of the kernels for matrix products, for games of many plies.

    In a loop XLA would copy these kernels out of the rows in every iteration, which took up to half of the time.
    """

    rows: Float32[Array, "n dimension"]
    kernels: tuple[Float32[Array, "n outputs inputs"] | None, ...]
    """Of each layer; None where it is summed input by input, out of the rows."""

    def __len__(self) -> int:
        return len(self.rows)


@dataclasses.dataclass(frozen=True)
class Genomes:
    """Networks as `network` describes them, with `inputs` inputs, as rows of float32[n, dimension].

    A row holds layer after layer: its kernel, unit after unit with the weights of the unit's inputs, then its biases,
    if it has any. So a segment of a row is mostly whole units. Raises `ValueError` for a softmax output, which is not
    needed to choose between outputs, and for inputs below 1.
    """

    network: MLP
    inputs: int

    def __post_init__(self) -> None:
        checks.native_fields(self)
        if not isinstance(self.network, MLP):
            raise TypeError(f"network {checks.describe(self.network)}: expected jaxgames.nets.MLP(sizes)")
        if checks.whole("inputs", self.inputs, None) < 1:
            raise ValueError(f"inputs={self.inputs} of the networks: expected a number above 0")
        if self.network.output == "softmax":
            raise ValueError("the networks' output is softmax; expected a function of each output alone")

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """For each layer, its outputs and inputs."""
        sizes = (self.inputs, *self.network.sizes)
        return tuple(zip(sizes[1:], sizes[:-1], strict=True))

    @property
    def layer_slices(self) -> tuple[slice, ...]:
        """Which part of a row each layer is."""
        slices, start = [], 0
        for outputs, inputs in self.shapes:
            slices.append(slice(start, start + outputs * (inputs + self.network.biases)))
            start = slices[-1].stop
        return tuple(slices)

    @property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of a row's kernels and biases, in its order."""
        each = (((outputs, inputs), (outputs,)) for outputs, inputs in self.shapes)
        return tuple(part for layer in each for part in layer[: 1 + self.network.biases])

    @property
    def dimension(self) -> int:
        """Numbers of a row."""
        return self.layer_slices[-1].stop

    @property
    def outputs(self) -> int:
        """Outputs of each network."""
        return self.network.sizes[-1]

    def init(self, key: Key[Array, ""], numbers: Int32[Array, " n"]) -> Float32[Array, "n dimension"]:
        """The first weights of the networks with these numbers, each depending only on its own number."""
        return jax.vmap(self.genome)(init_each(self.network, self.inputs, key, numbers))

    def layers(self, genomes: Float32[Array, "n dimension"]) -> tuple[LayerWeights, ...]:
        """The layers of n networks. Raises `ValueError` for rows of another size."""
        checks.array("genomes", genomes, jnp.floating, (None, self.dimension))
        layers = []
        for (outputs, inputs), part in zip(self.shapes, self.layer_slices, strict=True):
            kernel, bias = jnp.split(genomes[:, part], [outputs * inputs], axis=1)
            if not self.network.biases:
                bias = jnp.zeros((len(genomes), outputs), genomes.dtype)
            layers.append(LayerWeights(kernel.reshape(-1, outputs, inputs), bias))
        return tuple(layers)

    def of_layers(self, layers: tuple[LayerWeights, ...]) -> Float32[Array, "n dimension"]:
        """The rows of networks with these layers."""
        parts = [part for layer in layers for part in (layer.kernel.reshape(len(layer.kernel), -1), layer.bias)]
        if not self.network.biases:
            parts = parts[::2]
        return jnp.concatenate(parts, axis=1)

    def params(self, genome: Float32[Array, " dimension"]) -> Any:
        """One network's parameters, for `network.apply`. Raises `ValueError` for a row of another size."""
        checks.array("genome", genome, jnp.floating, (self.dimension,))
        biases = self.network.biases
        return params_of(
            {"kernel": layer.kernel[0].T, **({"bias": layer.bias[0]} if biases else {})}
            for layer in self.layers(genome[None])
        )

    def genome(self, params: Any) -> Float32[Array, " dimension"]:
        """The row of one network, from its parameters."""
        nothing = jnp.zeros(0, jnp.float32)
        rows = (LayerWeights(layer["kernel"].T[None], layer.get("bias", nothing)[None]) for layer in layers_of(params))
        return self.of_layers(tuple(rows))[0]

    def apart(self, genomes: Float32[Array, "n dimension"]) -> Apart:
        """These rows, with the kernels of the layers that are matrix products."""
        kernels: list[Array | None] = []
        for (outputs, inputs), part in zip(self.shapes, self.layer_slices, strict=True):
            end = part.start + outputs * inputs
            many = inputs > FEW_INPUTS
            kernels.append(genomes[:, part.start : end].reshape(-1, outputs, inputs) if many else None)
        return Apart(genomes, tuple(kernels))

    def apply(
        self,
        genomes: Float32[Array, "n dimension"] | Apart,
        inputs: Float32[Array, "n inputs games"],
        monotone: bool = False,
    ) -> Float32[Array, "n outputs games"]:
        """The outputs of each network for its own inputs.

        With `monotone` only the order of the outputs is correct: the last layer's increasing function is skipped
        (relu, which is flat in parts, is kept). Raises `ValueError` for rows of another size.
        """
        checks.array("genomes", getattr(genomes, "rows", genomes), jnp.floating, (None, self.dimension))
        apart = genomes if isinstance(genomes, Apart) else self.apart(genomes)
        x, functions = inputs, self._functions(monotone)
        for (outputs, _), part, kernel, function in zip(
            self.shapes, self.layer_slices, apart.kernels, functions, strict=True
        ):
            x = function(_dense(apart.rows, kernel, part, outputs, x, self.network.biases))
        return x

    def apply_last(
        self, candidates: "Candidates", inputs: Float32[Array, "inputs games n"], monotone: bool = False
    ) -> Float32[Array, "outputs games n"]:
        """The same as `apply` for networks in another form, with the networks last."""
        x = inputs
        for layer, function in enumerate(self._functions(monotone)):
            x = function(candidates.dense(layer, x))
        return x

    def _functions(self, monotone: bool) -> list[Activation]:
        """What follows on each layer."""
        hidden, last = activation(self.network.activation), activation(self.network.output)
        if monotone and self.network.output != "relu":
            last = activation("identity")
        return [hidden] * (len(self.shapes) - 1) + [last]


def in_rows(candidates: Any) -> bool:
    """Whether the networks of these candidates come first, and not last."""
    return isinstance(candidates, Apart) or checks.is_array(candidates)


def _dense(
    genomes: Float32[Array, "n dimension"],
    kernel: Float32[Array, "n outputs inputs"] | None,
    part: slice,
    outputs: int,
    x: Float32[Array, "n inputs games"],
    biases: bool,
) -> Float32[Array, "n outputs games"]:
    """kernel x + bias of each network, for the layer that is this part of the rows.

    Networks come first and games last: on CPUs 2 to 3 times as fast as any other layout. A few inputs are summed one by
    one, in one loop that reads the weights from the rows; XLA's matrix product, or a copy of the weights, would take up
    to twice as long. A TPU would need a separate operation to slice each input's weights out of the rows.
    """
    n, inputs, games = x.shape
    end = part.stop - outputs * biases
    bias = genomes[:, end : part.stop, None] if biases else jnp.zeros((n, outputs, 1), genomes.dtype)

    def product(kernel: Array, x: Array) -> Array:
        return jnp.einsum("pji,pig->pjg", kernel, x) + bias

    def product_of_rows(genomes: Array, x: Array) -> Array:
        return product(genomes[:, part.start : end].reshape(n, outputs, inputs), x)

    def summed(genomes: Array, x: Array) -> Array:
        terms = (genomes[:, part.start + i : end : inputs, None] * x[:, None, i] for i in range(inputs))
        return sum(terms, start=jnp.broadcast_to(bias, (n, outputs, games)))

    if kernel is not None:
        return product(kernel, x)
    y: Array = lax.platform_dependent(genomes, x, tpu=product_of_rows, default=summed)
    return y
