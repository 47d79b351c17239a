"""Forms of a population besides rows: candidates on the last axis, with their own weights or as noise on shared ones.

If a candidate plays few games, loops over its games are too short for vector code, so the candidates are the last
axis of every array; `Genomes.apply_last` asks these forms for each layer. Low-rank evolution works for any network: its
parameters are a pytree whose matrices know their own noise.

    layout = Parameters.of(params)                         # of flax.linen, nnx, equinox or plain JAX
    strategy = LowRankES(1024, layout)
    state = strategy.start(key, layout.row(params))

    def fitness(candidates, numbers, key):                 # each(...) is a vmap over the candidates
        return candidates.each(lambda params: score(params, observations))

In `score`, a matrix is a `Matrix`: `x @ w` and `w @ x` work unchanged, and cost one product for all candidates plus
a few vectors for each. `linen_apply(module)` is `apply` for modules of flax.linen, whose layers expect arrays.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jaxtyping import Array, Float, Float32

from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.ops import checks

MOST_INPUTS = 64
"""Layers with more inputs are not summed input by input: the loop would take too long to compile."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Columns:
    """Networks with their own weights, as columns."""

    numbers: Float32[Array, "dimension n"]
    genomes: Genomes = dataclasses.field(metadata={"static": True})

    def __len__(self) -> int:
        return self.numbers.shape[1]

    def dense(self, layer: int, x: Float32[Array, "inputs games n"]) -> Float32[Array, "outputs games n"]:
        """kernel x + bias of each network."""
        (outputs, inputs), part = self.genomes.shapes[layer], self.genomes.layer_slices[layer]
        kernel, bias = jnp.split(self.numbers[part], [outputs * inputs])
        kernel = kernel.reshape(outputs, inputs, len(self))
        start = bias[:, None] if self.genomes.network.biases else jnp.zeros((outputs, 1, 1), x.dtype)
        terms = (kernel[:, i, None] * x[None, i] for i in range(inputs))
        return sum(terms, start=jnp.broadcast_to(start, (outputs, *x.shape[1:])))


def fit_columns(genomes: Genomes) -> bool:
    """Whether these networks are small enough for `Columns`."""
    return max(inputs for _, inputs in genomes.shapes) <= MOST_INPUTS


class InParts(Protocol):
    """Networks of one shape as rows of numbers, part after part: `Genomes`, or `Parameters`. A hashable value."""

    @property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the parts of a row; one of two axes is a matrix."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers of a row."""
        ...


class PartNoise(NamedTuple):
    """The noise on one part of n networks: on a matrix the sum over the rank of `left` times `right`, else `plain`."""

    left: Any
    """float32[rank, a, n] of a matrix, else None."""
    right: Any
    """float32[rank, b, n] of a matrix, else None."""
    plain: Any
    """float32[numbers, n] of another part, else None."""


def noise_numbers(networks: InParts, rank: int) -> int:
    """How many numbers of noise a network has: for each part `left` and `right`, or `plain`."""
    return sum(_numbers(shape, rank) for shape in networks.parts)


def _numbers(shape: tuple[int, ...], rank: int) -> int:
    """How many numbers of noise a part of this shape has."""
    return rank * sum(shape) if len(shape) == 2 else math.prod(shape)


def noise_of(networks: InParts, rank: int, numbers: Float32[Array, "numbers n"]) -> tuple[PartNoise, ...]:
    """The noise of each part, out of `noise_numbers` numbers a network."""
    noises, start, n = [], 0, numbers.shape[1]
    for shape in networks.parts:
        size = _numbers(shape, rank)
        part = numbers[start : start + size]
        start += size
        if len(shape) == 2:
            left, right = jnp.split(part, [rank * shape[0]])
            noises.append(PartNoise(left.reshape(rank, shape[0], n), right.reshape(rank, shape[1], n), None))
        else:
            noises.append(PartNoise(None, None, part))
    return tuple(noises)


def noise_scale(networks: InParts, rank: int, sigma: float) -> Float32[np.ndarray, "numbers"]:
    """The factor of each number of noise, to be multiplied by the candidate's sign; 0 means factor 1 and no sign.

    One factor of each product carries the size and sign of the product, and so does plain noise.
    """
    factors: list[float] = []
    for shape in networks.parts:
        if len(shape) == 2:
            factors += rank * shape[0] * [sigma * rank**-0.5] + rank * shape[1] * [0.0]
        else:
            factors += math.prod(shape) * [sigma]
    return np.asarray(factors, np.float32)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LowRank:
    """Networks that are one shared network with low-rank noise on each matrix, and plain noise on everything else:

        matrix + sum_r left_r right_r^T,   bias + noise.

    So the product with the shared matrix is one matrix product for all networks, and each network's own noise
    costs inputs + outputs instead of inputs x outputs.
    """

    shared: Float32[Array, " dimension"]
    numbers: Float32[Array, "numbers n"]
    networks: Any = dataclasses.field(metadata={"static": True})
    rank: int = dataclasses.field(metadata={"static": True})

    def __len__(self) -> int:
        return self.numbers.shape[1]

    def dense(self, layer: int, x: Float32[Array, "inputs games n"]) -> Float32[Array, "outputs games n"]:
        """kernel x + bias of each network of `Genomes`."""
        place = layer * (2 if self.networks.network.biases else 1)
        shared, own = parts_of(self.networks, self.shared), noise_of(self.networks, self.rank, self.numbers)
        games = x.shape[1:]
        y = (shared[place] @ x.reshape(len(x), -1)).reshape(-1, *games)
        for left, right in zip(own[place].left, own[place].right, strict=True):
            y = y + left[:, None] * jnp.sum(right[:, None] * x, axis=0)[None]
        if not self.networks.network.biases:
            return y
        return y + (shared[place + 1][:, None] + own[place + 1].plain)[:, None]

    def each(self, function: Callable[..., Any], *more: Any) -> Any:
        """`function(params, *more)` of each candidate of `Parameters`, by `jax.vmap`; arrays in `more`, and results,
        have the candidates first.
        """
        return self.networks.each(self, function, *more)

    def rows(self) -> Float32[Array, "n dimension"]:
        """The networks' own weights, as rows."""
        columns = []
        parts = parts_of(self.networks, self.shared), noise_of(self.networks, self.rank, self.numbers)
        for shared, own in zip(*parts, strict=True):
            noise = own.plain.T if own.left is None else jnp.einsum("ran,rbn->nab", own.left, own.right)
            columns.append(shared.reshape(1, -1) + noise.reshape(len(self), -1))
        return jnp.concatenate(columns, axis=1)


def parts_of(networks: InParts, row: Float32[Array, " dimension"]) -> tuple[Float32[Array, "..."], ...]:
    """The parts of one row."""
    ends = np.cumsum([math.prod(shape) for shape in networks.parts]).tolist()
    parts = jnp.split(row, ends[:-1])
    return tuple(part.reshape(shape) for part, shape in zip(parts, networks.parts, strict=True))


def as_rows(candidates: Any) -> Float32[Array, "n dimension"]:
    """Networks of either form as rows."""
    rows: Array = candidates.rows() if isinstance(candidates, LowRank) else candidates
    return rows


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Matrix:
    """A shared matrix with low-rank noise: shared + sum_r left_r right_r^T.

    The kernel of a convolution is a matrix of its last axis and all others together: `left` has the others' axes.
    While `Parameters.each` makes them, the noise has all candidates.
    """

    shared: Float[Array, "... a b"]
    left: Float[Array, "rank rows *n"]
    right: Float[Array, "rank b *n"]
    __array_ufunc__: ClassVar[None] = None
    """Makes NumPy arrays leave `array @ matrix` to the matrix."""

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the matrix."""
        return self.shared.shape

    @property
    def T(self) -> "Matrix":  # noqa: N802, as of an array
        """The transposed matrix."""
        return Matrix(self.shared.T, self.right, self.left)

    def __rmatmul__(self, x: Float[Array, "... a"]) -> Float[Array, "... b"]:
        return x @ self.shared + (x @ self.left.T) @ self.right

    def __matmul__(self, x: Float[Array, " b"]) -> Float[Array, " a"]:
        return self.shared @ x + self.left.T @ (self.right @ x)


@dataclasses.dataclass(frozen=True)
class Parameters:
    """The parameters of any network as a row of numbers: a pytree's leaves, one after the other.

    Leaves with two or more axes are matrices: the last axis is one side, all others together the other side.
    """

    tree: Any
    """The pytree's structure."""
    shapes: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        checks.native_fields(self)

    @classmethod
    def of(cls, params: Any) -> "Parameters":
        """The layout of these parameters. Raises `TypeError` for leaves that are not float32, `ValueError` if there
        are no numbers.
        """
        leaves, tree = jax.tree.flatten(params)
        for leaf in leaves:
            if getattr(leaf, "dtype", None) != jnp.float32:
                raise TypeError(f"a leaf of the parameters is {getattr(leaf, 'dtype', type(leaf))}; expected float32")
        if not any(leaf.size for leaf in leaves):
            raise ValueError("the parameters have no numbers; expected what module.init returns")
        return cls(tree, tuple(leaf.shape for leaf in leaves))

    @property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the parts of a row; one of two axes is a matrix."""
        return tuple((math.prod(shape[:-1]), shape[-1]) if len(shape) > 1 else shape for shape in self.shapes)

    @property
    def dimension(self) -> int:
        """Numbers of a row."""
        return sum(math.prod(shape) for shape in self.shapes)

    def row(self, params: Any) -> Float32[Array, " dimension"]:
        """Parameters as a row."""
        return jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(params)])

    def params(self, row: Float32[Array, " dimension"]) -> Any:
        """A row as parameters."""
        leaves = (part.reshape(shape) for part, shape in zip(parts_of(self, row), self.shapes, strict=True))
        return jax.tree.unflatten(self.tree, leaves)

    def each(self, candidates: LowRank, function: Callable[..., Any], *more: Any) -> Any:
        """`function(params, *more)` of each candidate, by `jax.vmap`; arrays in `more`, and results, have the
        candidates first.

        The shared matrices are not mapped, so that XLA joins all candidates' products with them into one.
        """
        leaves, axes = [], []
        own = noise_of(self, candidates.rank, candidates.numbers)
        for shared, noise, shape in zip(parts_of(self, candidates.shared), own, self.shapes, strict=True):
            if noise.left is None:
                leaves.append((shared.reshape(-1, 1) + noise.plain).reshape(*shape, len(candidates)))
                axes.append(len(shape))
            else:
                leaves.append(Matrix(shared.reshape(shape), noise.left, noise.right))
                axes.append(Matrix(None, -1, -1))  # type: ignore[arg-type]
        params, mapped = (jax.tree.unflatten(self.tree, flat) for flat in (leaves, axes))
        return jax.vmap(function, in_axes=(mapped, *(0 for _ in more)))(params, *more)


def linen_apply(module: nn.Module) -> Callable[..., Any]:
    """`module.apply` for parameters in which the matrices of `Dense` and `Conv` layers are `Matrix`.

    Raises `TypeError` for anything but a module. The returned function raises `TypeError` for other flax layers with
    matrices, and `ValueError` for a `Conv` with a mask.
    """

    checks.made("module", module, ("apply", "init"), "a module of flax.linen, such as nn.Dense(8)")

    def layer(following: Callable, given: tuple, options: dict, context: nn.module.InterceptorContext) -> Any:
        own = context.module
        if context.method_name != "__call__" or not isinstance(own, nn.Dense | nn.Conv):
            _check_layer(own)
            return following(*given, **options)
        kernel = own.get_variable("params", "kernel")
        if not isinstance(kernel, Matrix):
            return following(*given, **options)
        x, kernel = _as(own.dtype, (given[0], kernel))
        y = _dense(x, kernel) if isinstance(own, nn.Dense) else _convolution(own, x, kernel)
        if not own.use_bias:
            return y
        bias = _as(own.dtype, own.get_variable("params", "bias"))
        return y + bias.reshape(*(1,) * (y.ndim - 1), -1)

    def apply(variables: Any, *inputs: Any, **options: Any) -> Any:
        with nn.intercept_methods(layer):
            return module.apply(variables, *inputs, **options)

    return apply


def _check_layer(layer: nn.Module) -> None:
    """Raises `TypeError` for a flax layer that expects arrays but has a `Matrix`; other people's layers may use it."""
    arrays_only = type(layer).__module__.startswith(("flax.linen.", "jaxgames.nets."))
    own = layer.variables.get("params", {}) if arrays_only and layer.scope is not None else {}
    if any(isinstance(value, Matrix) for value in own.values()):
        raise TypeError(f"linen_apply: {type(layer).__name__} has a matrix; expected matrices in Dense and Conv alone")


def _as(dtype: Any, arrays: Any) -> Any:
    """The arrays in the layer's own dtype, if it has one, as flax casts them."""
    return arrays if dtype is None else jax.tree.map(lambda array: array.astype(dtype), arrays)


def _dense(x: Float[Array, "... a"], kernel: Matrix) -> Float[Array, "... b"]:
    return x @ kernel


def _convolution(module: nn.Conv, x: Float[Array, "..."], kernel: Matrix) -> Float[Array, "..."]:
    """A convolution by the shared kernel, plus one with as many channels as the rank."""
    if module.mask is not None:
        raise ValueError("linen_apply: a Conv with a mask has no noise of low rank; expected mask=None")

    def by(weights: Float[Array, "... a b"]) -> Float[Array, "..."]:
        plain = module.clone(features=weights.shape[-1], use_bias=False, parent=None)
        return plain.apply({"params": {"kernel": weights}}, x)

    rank, groups = len(kernel.left), module.feature_group_count
    left = jnp.moveaxis(kernel.left, 0, -1).reshape(*kernel.shape[:-1], rank)
    if groups == 1:
        return by(kernel.shared) + by(left) @ kernel.right
    # Each group of channels sees its own planes, and has its own part of `right`.
    low = by(jnp.tile(left, groups))
    low = low.reshape(*low.shape[:-1], groups, rank)
    own = jnp.einsum("...gr,rgo->...go", low, kernel.right.reshape(rank, groups, -1))
    return by(kernel.shared) + own.reshape(*own.shape[:-2], -1)
