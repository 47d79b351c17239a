"""Arrays on the devices of one process or of several: the same everywhere, split, and fetched again."""

from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Tree = TypeVar("Tree")
EVERYWHERE = PartitionSpec()


def spread(tree: Tree, mesh: Mesh, specs: Any = EVERYWHERE) -> Tree:
    """The arrays on all devices of a mesh, split by their specs; by default each device has all of them.

    Every process gives the same values, all of them. Functions that are jitted over the devices of several processes
    need their arguments so.

    Args:
        tree: arrays of this process, keys too.
        mesh: the devices.
        specs: one for all arrays, or a pytree like `tree`.
    """

    def place(array: Any, spec: PartitionSpec) -> Any:
        if _is_key(array):
            data = place(jax.random.key_data(array), spec)
            return jax.random.wrap_key_data(data, impl=jax.random.key_impl(array))
        return jax.device_put(array, NamedSharding(mesh, spec))

    if isinstance(specs, PartitionSpec):
        return jax.tree.map(lambda array: place(array, specs), tree)
    return jax.tree.map(place, tree, specs)


def fetched(tree: Tree) -> Tree:
    """The arrays whole, as NumPy arrays of this process; keys stay keys.

    Arrays that are split over processes are put together, for which all processes must call this.
    """

    def fetch(leaf: Any) -> Any:
        if _is_key(leaf):
            return jax.random.wrap_key_data(fetch(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf))
        if not isinstance(leaf, jax.Array) or leaf.is_fully_addressable or leaf.is_fully_replicated:
            return np.asarray(leaf)
        assert isinstance(leaf.sharding, NamedSharding)  # as `spread` and programs over its arrays make them
        whole = NamedSharding(leaf.sharding.mesh, EVERYWHERE)
        return np.asarray(jax.jit(lambda array: array, out_shardings=whole)(leaf).addressable_data(0))

    return jax.tree.map(fetch, tree)


def check_all_take_part(devices: int) -> None:
    """Raises `ValueError` if several processes are to train on fewer devices than they have together."""
    available = jax.device_count()
    if jax.process_count() > 1 and devices != available:
        raise ValueError(f"{devices} of {available} devices: expected all, so that every process has its share")


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
