"""Standard normal noise that is recomputed wherever it is needed, and never stored.

A number of noise is a hash of a key, the number of its row and the number of its gene. So a row has the same noise in
any block and on any device, and a sum over a million rows needs the memory of a few.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, PartitionSpec
from jaxtyping import Array, Float32, Int32, Key, UInt32

from jaxgames.ops import checks
from jaxgames.ops.random_bits import fold_in

AXIS = "population"
"""The axis of a mesh over which a population is split."""

ROWS_IN_CACHE = 2**17
"""How many numbers of noise a sum holds at a time: 512 kilobytes."""


def normals(bits: UInt32[Array, "..."]) -> Float32[Array, "..."]:
    """A standard normal number for every 32 random bits, in about ten operations.

    The number of ones among 32 bits is nearly normal; a uniform number between -1/2 and 1/2, their next hash,
    fills the gaps between whole numbers. Counted over all 2^32 bits: mean 0, variance 1, skewness 0, kurtosis 2.939
    (normal: 3), largest 5.80, distribution function within 0.0026 of the normal one.
    """
    ones = jax.lax.population_count(bits).astype(jnp.int32).astype(jnp.float32)
    between = ((bits * np.uint32(0x735A2D97)) >> 8).astype(jnp.int32).astype(jnp.float32)
    middle = np.float32(16.5 - 2**-25)
    return (ones - middle + between * np.float32(2**-24)) * np.float32(1 / math.sqrt(8 + 1 / 12))


def noise(key: Key[Array, ""], rows: Int32[Array, " n"], dimension: int) -> Float32[Array, "n dimension"]:
    """The noise of these rows: standard normal numbers that depend only on the key, the row and the gene."""
    bits = rows.astype(jnp.uint32)
    for part in _key_words(key):
        bits = fold_in(bits, part)
    genes = jax.lax.iota(jnp.uint32, dimension)
    return normals(fold_in(bits[:, None], genes[None]))


def noise_sum(
    key: Key[Array, ""], weights: Float32[Array, " rows"], dimension: int, mesh: Mesh | None = None
) -> Float32[Array, " dimension"]:
    """sum_i weights[i] * noise(i): the noise of rows 0, 1, ... summed, a few of them at a time.

    With a mesh (axis `population`) each device sums its share of the rows, and all get the result. The number of
    devices changes only the order of the summation.
    """
    rows = min(weights.size, 2 ** max(0, (ROWS_IN_CACHE // dimension).bit_length() - 1))

    # One sum for each row of a block, added up at the end: every step is a loop over contiguous numbers, which XLA:CPU
    # vectorises and splits over threads.
    def add(
        sums: Float32[Array, "rows dimension"], numbers: Int32[Array, " rows"], weights: Float32[Array, " rows"]
    ) -> Float32[Array, "rows dimension"]:
        return sums + weights[:, None] * noise(key, numbers, dimension)

    def total(sums: Float32[Array, "rows dimension"]) -> Float32[Array, " dimension"]:
        return jnp.sum(sums, axis=0)

    return sum_by_blocks(weights, rows, jnp.zeros((rows, dimension), jnp.float32), add, mesh, total)


def sum_by_blocks(
    weights: Float32[Array, " rows"],
    rows: int,
    zeros: Any,
    add: Callable[[Any, Int32[Array, " rows"], Float32[Array, " rows"]], Any],
    mesh: Mesh | None = None,
    total: Callable[[Any], Any] = lambda sums: sums,
) -> Any:
    """A sum over weighted rows, block by block; each device of a mesh sums its share.

    Args:
        weights: of the rows 0, 1, ...
        rows: of a block.
        zeros: the sum of no rows.
        add: `add(sums, numbers, weights)` adds a block.
        mesh: the devices, along the axis `population`; None: one.
        total: of what a device has added.
    """
    share = share_of(weights.size, mesh)
    blocks = -(-share // rows)

    def on_each(mine: Float32[Array, " share"]) -> Any:
        first = jnp.int32(0) if mesh is None else jax.lax.axis_index(AXIS) * np.int32(share)
        mine = jnp.pad(mine, (0, blocks * rows - share))
        numbers = jax.lax.iota(jnp.int32, rows)

        def of_block(block: Int32[Array, ""], sums: Any) -> Any:
            start = block * np.int32(rows)
            return add(sums, first + start + numbers, jax.lax.dynamic_slice(mine, (start,), (rows,)))

        summed = total(jax.lax.fori_loop(0, blocks, of_block, zeros))
        return summed if mesh is None else jax.lax.psum(summed, AXIS)

    if mesh is None:
        return on_each(weights)
    weights = jnp.pad(weights, (0, share * mesh.size - weights.size))
    each, everywhere = PartitionSpec(AXIS), PartitionSpec()
    return jax.shard_map(on_each, mesh=mesh, in_specs=each, out_specs=everywhere, check_vma=False)(weights)


def check_mesh(mesh: Any) -> None:
    """Raises `TypeError` for anything but a mesh or None, `ValueError` for a mesh with other axes than `population`, or
    with an axis of the type `Explicit`.
    """
    if mesh is None:
        return
    if not isinstance(mesh, Mesh):
        raise TypeError(f"mesh {checks.describe(mesh)}: expected evolution.population_mesh()")
    if mesh.axis_names != (AXIS,):
        raise ValueError(f"the mesh has axes {mesh.axis_names}; give one axis, {AXIS!r}")
    if mesh.axis_types != (AxisType.Auto,):
        kind = mesh.axis_types[0].name
        raise ValueError(f"the mesh's axis is {kind}, not Auto: expected evolution.population_mesh()")


def share_of(count: int, mesh: Mesh | None) -> int:
    """How many of so many rows a device of the mesh has; the last ones may have fewer."""
    return count if mesh is None else -(-count // mesh.size)


def by_shares(
    function: Callable[..., Float32[Array, " share"]],
    whole: Any,
    rows: tuple[Float32[Array, " n"], ...],
    mesh: Mesh | None = None,
) -> Float32[Array, " n"]:
    """`function(whole, *rows)`, a number for each row; each device of a mesh computes its share of the rows."""
    if mesh is None:
        return function(whole, *rows)
    count = rows[0].size
    missing = share_of(count, mesh) * mesh.size - count
    rows = tuple(jnp.pad(row, (0, missing)) for row in rows)
    each = PartitionSpec(AXIS)
    specs = (PartitionSpec(), *(each for _ in rows))
    return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=each, check_vma=False)(whole, *rows)[:count]


def _key_words(key: Key[Array, ""]) -> UInt32[Array, " words"]:
    """The words of a key of either kind."""
    return jax.random.key_data(key) if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else key
