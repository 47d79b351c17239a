"""Search trees of a batch of positions: one layout for all rules, in flat arrays of a size known before the search.

A tree of S slots for each of B positions holds slot s of position b in row `s * B + b`. So the nodes that a simulation
adds to all trees are one block of rows, and the roots, slot 0, are the first block. A row of `Tree.edges` holds all
that a step down the tree reads, in these columns:

| columns | what | of |
|---|---|---|
| `visits` [A] | simulations that took the edge | edge |
| `value_sums` [A] | the sum of their values, to the player to act at the node | edge |
| `child` [A] | the slot it leads to, or `UNEXPANDED`, `ILLEGAL`, `ENDED` | edge |
| `prior` [A], `lower` [A], ... | whatever else the selection rule asks for | edge |
| `opponent_to_move` | 1 if the player to act is not the one at the root | node |
| `is_chance` | 1 if chance decides here: the outcomes are the node's edges | node |
| `raw_value` | the evaluation of the position, to the player to act | node |
| `node_visits`, ... | whatever else the selection rule asks for | node |

All of it is float32, so that one gather fetches it; slots are exact below 2^24. Rows are padded to whole cache lines.
An edge that ends the game needs no node: its value is the mean of its visits. Observations and masks are never stored.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.core import Game
from jaxgames.ops.device_memory import free_bytes
from jaxgames.ops.scatter import add_rows, set_rows

UNEXPANDED, ILLEGAL, ENDED = -1.0, -2.0, -3.0
EDGE_FIELDS = ("visits", "value_sums", "child")
NODE_FIELDS = ("opponent_to_move", "is_chance", "raw_value")
LINE = 16
"""Columns in a cache line of 64 bytes."""
MAX_SLOTS, MAX_NUMBERS = 2**24, 2**31


@dataclasses.dataclass(frozen=True)
class Layout:
    """The columns of a row of `Tree.edges` for a game and a selection rule: first the fields of the edges, one after
    the other, then those of the node.
    """

    game: Game
    rule: Any

    @property
    def edge_fields(self) -> tuple[str, ...]:
        """The fields of each edge."""
        return EDGE_FIELDS + self.rule.edge_fields

    @property
    def node_fields(self) -> tuple[str, ...]:
        """The fields of each node."""
        return NODE_FIELDS + self.rule.node_fields

    @property
    def num_edges(self) -> int:
        """A, the edges of a node: one for each action or, if those are more, for each outcome of chance."""
        return max(self.game.num_actions, len(self.game.outcome_probabilities))

    @property
    def columns(self) -> int:
        """Columns of a row, in whole cache lines."""
        return -(-(self.column(self.node_fields[-1]) + 1) // LINE) * LINE

    @property
    def bytes_per_node(self) -> int:
        """Bytes of one slot of one position: 4 for each column, and the position."""
        position = jax.eval_shape(self.game.init_position, jax.random.key(0))
        return 4 * self.columns + sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(position))

    def column(self, name: str) -> int:
        """The column of a field; for a field of edges that of edge 0, which the other edges follow."""
        if name in self.edge_fields:
            return self.edge_fields.index(name) * self.num_edges
        return len(self.edge_fields) * self.num_edges + self.node_fields.index(name)

    def part(self, name: str) -> slice:
        """All columns of a field."""
        first = self.column(name)
        return slice(first, first + (self.num_edges if name in self.edge_fields else 1))

    def read(self, rows: Float32[Array, "n columns"], name: str) -> Float32[Array, "..."]:
        """One field of some rows: float32[n, A] of their edges or float32[n] of the nodes."""
        return rows[:, self.part(name)] if name in self.edge_fields else rows[:, self.column(name)]

    def rows(self, child: Float32[Array, "n edges"], **values: Array | float) -> Float32[Array, "n columns"]:
        """New rows. A value has shape [n, A] or [n], or is one number for all; fields not given are 0."""
        count, parts, filled = len(child), [], 0
        for name in (*self.edge_fields, *self.node_fields):
            width = self.num_edges if name in self.edge_fields else 1
            value = child if name == "child" else values.get(name, 0.0)
            value = jnp.asarray(value).astype(jnp.float32)
            parts.append(jnp.broadcast_to(value.reshape((count, -1) if value.ndim else (1, 1)), (count, width)))
            filled += width
        parts.append(jnp.zeros((count, self.columns - filled), jnp.float32))
        return jnp.concatenate(parts, axis=1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Tree:
    """The trees of a batch of B positions, with S slots each and a scratch slot that is never read (see the head of
    this file).

    Attributes:
        position: the positions of the nodes, a pytree whose first axis is rows.
        edges: one row for each node.
        used: the number of slots taken, the same in all trees.
        alive: which trees' roots are not ends of games.
        had_nan: for which trees the evaluator ever gave NaN or infinity.
        bits: random bits, from which all others of a search are derived.
        hashes: 64 bits for each node, by which `table` finds its position; None unless the rule wants transpositions.
        table: the hash table, see `table.py`; None likewise.
        layout: the columns of `edges`.
    """

    position: Any
    edges: Float32[Array, "rows columns"]
    used: Int32[Array, ""]
    alive: Bool[Array, " batch"]
    had_nan: Bool[Array, " batch"]
    bits: UInt32[Array, " batch"]
    hashes: UInt32[Array, "rows 2"] | None
    table: Int32[Array, " places"] | None
    layout: Layout = dataclasses.field(metadata={"static": True})

    @property
    def batch(self) -> int:
        """B, the number of positions."""
        return len(self.alive)

    @property
    def capacity(self) -> int:
        """S, the nodes that each tree has room for."""
        return len(self.edges) // len(self.alive) - 1

    @property
    def flat(self) -> Float32[Array, " numbers"]:
        """All numbers of all rows."""
        return self.edges.reshape(-1)

    def replace(self, **changes: Any) -> "Tree":
        """A copy with some attributes changed."""
        return dataclasses.replace(self, **changes)

    def root(self, name: str) -> Float32[Array, "..."]:
        """A field of the roots: float32[B, A] of their edges or float32[B]."""
        return self.layout.read(self.edges[: self.batch], name)

    def edge(self, name: str, row: Int32[Array, "..."], edge: Int32[Array, "..."] | int) -> Float32[Array, "..."]:
        """A field of one edge of each node in `row`."""
        index = row * self.layout.columns + self.layout.column(name) + edge
        return self.flat.at[index].get(mode="promise_in_bounds")

    def node(self, name: str, row: Int32[Array, "..."]) -> Float32[Array, "..."]:
        """A field of each node in `row`."""
        return self.edge(name, row, 0)

    def rows(self, row: Int32[Array, " n"]) -> Float32[Array, "n columns"]:
        """All fields of nodes; a row beyond the end gives those of the last one."""
        return self.edges.at[row].get(mode="clip")

    def positions(self, row: Int32[Array, " n"]) -> Any:
        """The positions of nodes; a row beyond the end gives that of the last one."""
        return jax.tree.map(lambda x: x.at[row].get(mode="clip"), self.position)

    def add(self, name: str, row: Int32[Array, " n"], values: Float32[Array, "n width"]) -> "Tree":
        """Adds to the columns from field `name` on; rows beyond the end are left out."""
        return self.replace(edges=add_rows(self.edges, row, values, self.layout.column(name)))

    def set(self, name: str, row: Int32[Array, " n"], values: Float32[Array, "n width"]) -> "Tree":
        """Sets the columns from field `name` on; rows beyond the end are left out."""
        return self.replace(edges=set_rows(self.edges, row, values, self.layout.column(name)))


def set_slot(array: Array, block: Array, slot: Int32[Array, ""] | int) -> Array:
    """The array with the rows of one slot replaced."""
    return lax.dynamic_update_slice_in_dim(array, block, slot * len(block), 0)


def unwrap(array: Array | None) -> Array:
    """The array of a field that is None for some rules or evaluators; raises `TypeError` if it is None here."""
    if array is None:
        raise TypeError("this search has no such array")
    return array


TABLE_BYTES, LEVEL_BYTES = 24, 4
"""Bytes of a slot's hash and its places in the table, at most; and of one level of a path."""


@functools.lru_cache(maxsize=256)  # of what fits; an error is raised each time
def check_size(layout: Layout, batch: int, slots: int, max_depth: int) -> None:
    """Raises `ValueError` if trees of this size are impossible: too many slots, or more bytes than are free."""
    if slots > MAX_SLOTS:
        raise ValueError(f"a tree of {slots:,} slots is too large: expected at most {MAX_SLOTS:,}")
    numbers = batch * (slots + 1) * layout.columns
    if numbers >= MAX_NUMBERS:
        most = MAX_NUMBERS // ((slots + 1) * layout.columns)
        raise ValueError(f"{batch:,} trees of {slots:,} slots are too many for one search: at most {most:,} fit")
    node = layout.bytes_per_node + (TABLE_BYTES if layout.rule.transpositions != "no" else 0)
    need = batch * ((slots + 1) * node + max_depth * LEVEL_BYTES)
    free = free_bytes()
    if free is not None and need > free:
        raise ValueError(
            f"the search needs {need / 1e9:.1f} GB ({batch:,} positions x {slots + 1:,} slots x "
            f"{node} bytes) and {free / 1e9:.1f} GB are free: use fewer positions or simulations"
        )
