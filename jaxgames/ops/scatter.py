"""Writes to some rows of a large array, in place even for a single row."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Int32


def set_rows(array: Array, index: Int32[Array, " n"], values: ArrayLike, column: int = 0) -> Array:
    """The array with these values at rows `index`; see `add_rows`."""
    return _write(array, index, values, column, add=False)


def add_rows(array: Array, index: Int32[Array, " n"], values: ArrayLike, column: int = 0) -> Array:
    """The array with these values added at rows `index`.

    XLA turns a single write, which may be out of range, into a choice between two whole arrays; a search in one
    position then takes quadratic time. So a single write gets a second one beside it, which is dropped.

    Args:
        array: of shape [rows] or [rows, columns].
        index: rows from 0 on; writes beyond the end are dropped.
        values: of shape [n] or [n, width], or anything that broadcasts to it.
        column: the first of the `width` columns.
    """
    return _write(array, index, values, column, add=True)


def _write(array: Array, index: Int32[Array, " n"], given: ArrayLike, column: int, add: bool) -> Array:
    values = jnp.asarray(given, array.dtype)
    values = jnp.broadcast_to(values, index.shape if array.ndim == 1 else (len(index), values.shape[1]))
    if len(index) == 1:
        index = jnp.concatenate([index, jnp.full(1, len(array), jnp.int32)])
        values = jnp.concatenate([values, values])
    at = array.at[index if array.ndim == 1 else (index, slice(column, column + values.shape[1]))]
    return at.add(values, mode="drop") if add else at.set(values, mode="drop")
