"""Low-rank evolution of any network: its parameters, a pytree, with matrices that know their own noise.

    layout = Parameters.of(params)                         # of flax.linen, nnx, equinox or plain JAX
    strategy = LowRankES(1024, layout)
    state = strategy.start(key, layout.row(params))

    def fitness(candidates, numbers, key):                 # each(...) is a vmap over the candidates
        return candidates.each(lambda params: score(params, observations))

In `score`, a matrix is a `Matrix`: `x @ w` and `w @ x` work as they stand, and cost one product for all candidates and
a few vectors for each. `linen_apply(module)` is `apply` of a module of flax.linen, whose layers ask for arrays.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from jaxtyping import Array, Float32

from jaxgames.algos.evolution.candidates import LowRank, noise_of, parts_of
from jaxgames.ops import checks


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Matrix:
    """A shared matrix with noise of low rank: shared + sum_r left_r right_r^T.

    A kernel of a convolution is the matrix of its last axis and all others: `left` has their axes.
    """

    shared: Float32[Array, "... a b"]
    left: Float32[Array, "rank a"]
    right: Float32[Array, "rank b"]

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the matrix."""
        return self.shared.shape

    @property
    def T(self) -> "Matrix":  # noqa: N802, as of an array
        """The transposed matrix."""
        return Matrix(self.shared.T, self.right, self.left)

    def __rmatmul__(self, x: Float32[Array, "... a"]) -> Float32[Array, "... b"]:
        return x @ self.shared + (x @ self.left.T) @ self.right

    def __matmul__(self, x: Float32[Array, " b"]) -> Float32[Array, " a"]:
        return self.shared @ x + self.left.T @ (self.right @ x)


@dataclasses.dataclass(frozen=True)
class Parameters:
    """The parameters of any network as a row of numbers: a pytree's leaves, one after the other.

    Leaves of two axes and more are matrices: the last axis is one side, all others the other one.
    """

    tree: Any
    """The pytree's structure."""
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, params: Any) -> "Parameters":
        """The layout of these parameters. Raises `TypeError` for leaves that are not float32."""
        leaves, tree = jax.tree.flatten(params)
        for leaf in leaves:
            if getattr(leaf, "dtype", None) != jnp.float32:
                raise TypeError(f"a leaf of the parameters is {getattr(leaf, 'dtype', type(leaf))}; expected float32")
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

        The shared matrices are not mapped, so that XLA makes one product of all candidates' products with them.
        """
        leaves, axes = [], []
        own = noise_of(self, candidates.rank, candidates.numbers)
        for shared, noise, shape in zip(parts_of(self, candidates.shared), own, self.shapes, strict=True):
            if noise.left is None:
                leaves.append((shared.reshape(-1, 1) + noise.plain).reshape(*shape, -1))
                axes.append(len(shape))
            else:
                leaves.append(Matrix(shared.reshape(shape), noise.left, noise.right))
                axes.append(Matrix(None, -1, -1))  # type: ignore[arg-type]
        params, mapped = (jax.tree.unflatten(self.tree, found) for found in (leaves, axes))
        return jax.vmap(function, in_axes=(mapped, *(0 for _ in more)))(params, *more)


def linen_apply(module: nn.Module) -> Callable[..., Any]:
    """`module.apply` for parameters in which matrices are `Matrix`: of its layers `Dense` and `Conv`.

    Raises `TypeError` for what is no module.
    """

    checks.made("module", module, ("apply", "init"), "a module of flax.linen, such as nn.Dense(8)")

    def layer(following: Callable, given: tuple, options: dict, context: nn.module.InterceptorContext) -> Any:
        own = context.module
        if context.method_name != "__call__" or not isinstance(own, nn.Dense | nn.Conv):
            return following(*given, **options)
        kernel = own.get_variable("params", "kernel")
        if not isinstance(kernel, Matrix):
            return following(*given, **options)
        y = _dense(given[0], kernel) if isinstance(own, nn.Dense) else _convolution(own, given[0], kernel)
        if not own.use_bias:
            return y
        bias = own.get_variable("params", "bias")
        return y + bias.reshape(*(1,) * (y.ndim - 1), -1)

    def apply(variables: Any, *inputs: Any, **options: Any) -> Any:
        with nn.intercept_methods(layer):
            return module.apply(variables, *inputs, **options)

    return apply


def _dense(x: Float32[Array, "... a"], kernel: Matrix) -> Float32[Array, "... b"]:
    return x @ kernel


def _convolution(module: nn.Conv, x: Float32[Array, "..."], kernel: Matrix) -> Float32[Array, "..."]:
    """A convolution by the shared kernel, and one to as many channels as the rank."""

    def by(weights: Float32[Array, "... a b"]) -> Float32[Array, "..."]:
        plain = module.clone(features=weights.shape[-1], use_bias=False, parent=None)
        return plain.apply({"params": {"kernel": weights}}, x)

    rank = len(kernel.left)
    left = jnp.moveaxis(kernel.left, 0, -1).reshape(*kernel.shape[:-1], rank)
    return by(kernel.shared) + by(left) @ kernel.right
