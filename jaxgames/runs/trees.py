"""Pytrees as lists of NumPy arrays with names, and back into the structure of a template."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Leaf(NamedTuple):
    """What a leaf is: its place in the tree, dtype and shape, and for typed PRNG keys the generator's name."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    key_impl: str | None = None

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


def describe(tree: Any) -> list[Leaf]:
    """The leaves of `tree` in order; ValueError for a leaf that is neither array nor number."""
    return [_describe(path, leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)]


def to_numpy(tree: Any) -> list[np.ndarray]:
    """The leaves of `tree` in order as NumPy arrays, typed PRNG keys as their words."""
    return [np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf) for leaf in jax.tree.leaves(tree)]


def from_numpy(template: Any, leaves: list[Leaf], arrays: list[np.ndarray]) -> Any:
    """The tree that `to_numpy` took apart, with each leaf of the same kind as in `template`.

    JAX arrays go where the template's are; a `jax.ShapeDtypeStruct` stands for a JAX array on the default device.
    """
    wanted, structure = jax.tree.flatten(template)
    return jax.tree.unflatten(structure, map(_restore, wanted, leaves, arrays))


def difference(found: list[Leaf], wanted: list[Leaf]) -> str | None:
    """In words, the first leaf in which two trees differ; None where both have the same leaves."""
    found_paths, wanted_paths = [leaf.path for leaf in found], [leaf.path for leaf in wanted]
    if found_paths != wanted_paths:
        missing = [path for path in wanted_paths if path not in found_paths]
        surplus = [path for path in found_paths if path not in wanted_paths]
        parts = [f"it lacks '{missing[0]}'"] if missing else []
        parts += [f"it has '{surplus[0]}', which is not expected"] if surplus else []
        return " and ".join(parts) or "its leaves are in another order"
    for one, other in zip(found, wanted, strict=True):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"'{one.path}' is {one}, expected {other}"
    return None


def _is_key(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _describe(key_path: Any, leaf: Any) -> Leaf:
    path = jax.tree_util.keystr(key_path, simple=True, separator="/")
    if _is_key(leaf):
        if not leaf.size:
            raise ValueError(f"'{path}' is an array of no PRNG keys; leave it out of the checkpoint")
        impl = str(jax.random.key_impl(leaf)) if isinstance(leaf, jax.Array) else None
        return Leaf(path, str(leaf.dtype), leaf.shape, impl)
    array = np.asarray(leaf) if isinstance(leaf, bool | int | float | complex) else leaf
    if isinstance(array, jax.Array | np.ndarray | np.generic | jax.ShapeDtypeStruct):
        if jnp.issubdtype(array.dtype, np.number) or array.dtype == np.bool_:
            return Leaf(path, str(array.dtype), array.shape)
    raise ValueError(f"'{path}' is of type {type(leaf).__name__}; a checkpoint holds only arrays and numbers")


def _restore(template: Any, leaf: Leaf, array: np.ndarray) -> Any:
    if isinstance(template, bool | int | float | complex):
        return array.item()
    if isinstance(template, np.generic):
        return array[()]
    if isinstance(template, np.ndarray):
        return array
    # A copy, since JAX on CPU may otherwise share NumPy's memory.
    value = (
        jnp.array(array) if leaf.key_impl is None else jax.random.wrap_key_data(jnp.array(array), impl=leaf.key_impl)
    )
    if isinstance(template, jax.Array) and template.committed:
        return jax.device_put(value, template.sharding)
    return value
