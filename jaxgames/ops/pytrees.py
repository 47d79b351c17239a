"""Batches of positions, or of any pytrees of arrays whose first axis is the batch: compared, and chosen from."""

import functools
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

Tree = TypeVar("Tree")


def equal(one: Tree, other: Tree) -> Bool[Array, " batch"]:
    """Which positions of two batches are the same."""

    def same(x, y):
        return jnp.all((x == y).reshape(len(x), -1), axis=1)

    return functools.reduce(jnp.logical_and, jax.tree.leaves(jax.tree.map(same, one, other)))


def select(condition: Bool[Array, " batch"], on_true: Tree, on_false: Tree) -> Tree:
    """The positions of one batch where `condition` holds, else those of the other."""

    def choose(x, y):
        return jnp.where(condition.reshape(-1, *(1,) * (x.ndim - 1)), x, y)

    return jax.tree.map(choose, on_true, on_false)
