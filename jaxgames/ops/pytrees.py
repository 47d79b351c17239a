"""Batches of positions, or of any pytrees of arrays whose first axis is the batch.

`copied`, `equal`, `select` and `take` are for JAX and NumPy; the others are for NumPy, outside of `jit`.
"""

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

Tree = TypeVar("Tree")


def equal(one: Tree, other: Tree) -> Bool[Array, " batch"]:
    """Which positions of two batches are the same."""

    numpy = all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves((one, other)))
    xnp = np if numpy else jnp  # outside of `jit`, JAX would compile a program for every size of a batch

    def same(x, y):
        return xnp.all((x == y).reshape(len(x), math.prod(x.shape[1:])), axis=1)

    return functools.reduce(xnp.logical_and, jax.tree.leaves(jax.tree.map(same, one, other)))


def select(condition: Bool[Array, "..."], on_true: Tree, on_false: Tree) -> Tree:
    """The positions of one batch where `condition` holds, else those of the other; of any batch shape."""

    def choose(x, y):
        return jnp.where(condition.reshape(*condition.shape, *(1,) * (x.ndim - condition.ndim)), x, y)

    return jax.tree.map(choose, on_true, on_false)


def add_batch_axis(tree: Tree) -> Tree:
    """One position as a batch."""
    return jax.tree.map(lambda x: np.asarray(x)[None], tree)


def num_rows(tree: Any) -> int:
    """The size of the batch."""
    return len(jax.tree.leaves(tree)[0])


def take(tree: Tree, rows: Any) -> Tree:
    """Some rows, chosen by anything that indexes an array."""
    return jax.tree.map(lambda x: x[rows], tree)


def copied(tree: Tree) -> Tree:
    """The same arrays once more: what takes them into its state can be donated, and the caller still has theirs."""
    return jax.tree.map(jnp.copy, tree)


def concatenate(trees: list[Tree]) -> Tree:
    """Batches one after another."""
    return jax.tree.map(lambda *parts: np.concatenate(parts), *trees) if len(trees) > 1 else trees[0]


def in_chunks(function: Callable[[Any], Any], tree: Any, size: int) -> Any:
    """The results of a compiled function for one or more rows, called with `size` rows each time, so it compiles once.

    The last row is repeated to fill the last chunk.
    """
    number, parts = num_rows(tree), []
    for start in range(0, number, size):
        rows = np.minimum(np.arange(start, start + size), number - 1)
        parts.append(take(jax.device_get(function(take(tree, rows))), slice(number - start)))
    return concatenate(parts)


def unique_rows(tree: Any) -> tuple[Int[np.ndarray, " kinds"], Int[np.ndarray, " n"]]:
    """The index of one row of each kind, and the number of each row's kind."""
    leaves = [np.asarray(leaf).reshape(len(leaf), -1) for leaf in jax.tree.leaves(tree)]
    columns = [column for leaf in leaves for column in leaf.T]
    columns = [column for column in columns if (column != column[0]).any()] or columns[:1]  # fewer to sort by
    order = np.lexsort(columns)
    starts = np.zeros(len(order), bool)
    starts[:1] = True
    for column in columns:
        sorted_column = column[order]
        starts[1:] |= sorted_column[1:] != sorted_column[:-1]
    kind = np.empty(len(order), np.int64)
    kind[order] = np.cumsum(starts) - 1
    return order[starts], kind


def as_bytes(tree: Any) -> bytes:
    """All numbers of a pytree, by which positions are told apart."""
    return b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree))


@dataclasses.dataclass(frozen=True)
class BoundMethod:
    """A bound method that equals the method of an equal object; Python's only equals that of the same object."""

    owner: Any
    function: Callable

    def __call__(self, *arguments: Any) -> Any:
        """Calls the method."""
        return self.function(self.owner, *arguments)


def by_its_object(function: Callable) -> Callable:
    """A function that is static in compiled programs: the same methods of equal objects share them."""
    return BoundMethod(function.__self__, function.__func__) if inspect.ismethod(function) else function
