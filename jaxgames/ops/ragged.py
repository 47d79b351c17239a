"""Ragged lists: the entries of many owners one after another without padding, found from the counts of the owners."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Int32

SMALL = 1 << 15
"""With at most so many comparisons each entry is compared with all: in short lists this beats any search or loop."""
SHORT = 160
"""At most so many counts are summed by one product with a triangle of ones, which is exact below 2^24."""
FEW = 16
"""At most so many columns are summed like this."""


def cumsum(counts: Int32[Array, " n"]) -> Int32[Array, " n"]:
    """Inclusive prefix sums; none reaches 2^24.

    `associative_scan` runs 1.3 times as fast on CPU here, but compiles three times as long.
    """
    return cumsum_short(counts) if len(counts) <= SHORT else jnp.cumsum(counts, dtype=jnp.int32)


def cumsum_short(counts: Int32[Array, "n *columns"]) -> Int32[Array, "n *columns"]:
    """Inclusive prefix sums of a few counts, or columns of them, where no sum reaches 2^24.

    One small matrix product: on CPU a fifth of the time of a loop over the rows.
    """
    triangle = jnp.asarray(np.tri(len(counts), dtype=np.float32))
    return jnp.matmul(triangle, counts.astype(jnp.float32), precision="highest").astype(jnp.int32)


def cumsum_rows(counts: Int32[Array, "rows n"]) -> Int32[Array, "rows n"]:
    """Inclusive prefix sums down the first axis; none reaches 2^24."""
    if counts.shape[1] <= FEW and len(counts) <= SHORT:
        return cumsum_short(counts)
    return lax.scan(lambda above, row: (above + row,) * 2, jnp.zeros_like(counts[0]), counts)[1]


def owners(
    ends: Int32[Array, " n"], counts: Int32[Array, " n"], capacity: int
) -> tuple[Int32[Array, " capacity"], Int32[Array, " capacity"]]:
    """For each of `capacity` entries its owner and its rank among the owner's entries.

    Owner i has `counts[i]` entries, and they end before index `ends[i]`. Entries past the end of the list belong to
    nobody: they get the last owner and a rank beyond its count.
    """
    if len(ends) * capacity <= SMALL:
        owner = jnp.sum(jnp.arange(capacity, dtype=jnp.int32)[:, None] >= ends[None, :], axis=1, dtype=jnp.int32)
    else:
        owner = cumsum(jnp.zeros(capacity, jnp.int32).at[ends].add(1, mode="drop"))
    owner = jnp.minimum(owner, len(ends) - 1)
    return owner, jnp.arange(capacity, dtype=jnp.int32) - (ends - counts)[owner]


def starts(ends: Int32[Array, " n"], first: Int32[Array, " groups+1"]) -> Int32[Array, " groups+1"]:
    """Where the children of each group start.

    Group g owns entries `first[g]` .. `first[g + 1]`, and the children of entry i end before index `ends[i]`.
    """
    before = jnp.concatenate([jnp.zeros(1, jnp.int32), ends])
    return before[jnp.minimum(first, len(ends))]


def row_of(
    rank: Int32[Array, " n"], counts: Int32[Array, "rows owners"], owner: Int32[Array, " n"]
) -> tuple[Int32[Array, " n"], Int32[Array, " n"]]:
    """The row that holds entry number `rank` of its owner, and the rank in that row, by binary search.

    `counts` are prefix sums over the rows.
    """
    if len(counts) * len(rank) <= SMALL:
        table = counts[:, owner] if counts.shape[1] > 1 else counts
        passed = table <= rank[None, :]
        row = jnp.minimum(jnp.sum(passed, axis=0, dtype=jnp.int32), len(counts) - 1)
        return row, rank - jnp.max(jnp.where(passed, table, 0), axis=0)
    row = jnp.zeros_like(rank)
    step = 1 << (len(counts) - 1).bit_length()
    while step := step >> 1:
        probe = jnp.minimum(row + step, len(counts) - 1)
        row = jnp.where(counts[probe - 1, owner] <= rank, probe, row)
    return row, rank - jnp.where(row > 0, counts[jnp.maximum(row - 1, 0), owner], 0)
