"""Search trees of a batch of positions: one layout for all rules, flat, of a size that is known before the search.

A tree of S slots for each of B positions holds slot s of position b in row `s * B + b`: the nodes that a simulation
adds to all trees are one contiguous block, and the roots, slot 0, are the first. A row of `Tree.edges` is all that a
step down the tree reads, by these columns:

| columns | what | of |
|---|---|---|
| `visits` [A] | simulations that took the edge | edge |
| `totals` [A] | the sum of their values, to the player to act at the node | edge |
| `child` [A] | the slot it leads to, or `UNEXPANDED`, `ILLEGAL`, `ENDED` | edge |
| `prior` [A], `lower` [A], ... | whatever else the selection rule asks for | edge |
| `other` | 1 if the player to act is not the one at the root | node |
| `awaits` | 1 if chance is to decide: its outcomes are the node's edges | node |
| `raw` | the evaluation of the position, to the player to act | node |

All of it is float32, so that one gather fetches it; slots are exact below 2^24. A row is filled up to whole lines of
the cache. An edge by which the game ends needs no node: its value is the mean of its visits. Observations and masks are
never stored.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.core import Game
from jaxgames.ops.device_memory import free_bytes

UNEXPANDED, ILLEGAL, ENDED = -1.0, -2.0, -3.0
EDGE_FIELDS = ("visits", "totals", "child")
NODE_FIELDS = ("other", "awaits", "raw")
LINE = 16
"""Columns to a line of the cache, 64 bytes."""
MOST_SLOTS, MOST_NUMBERS = 2**24, 2**31


@dataclasses.dataclass(frozen=True)
class Layout:
    """Which columns a row of `Tree.edges` has, for a game and a selection rule: the fields of its edges, one after the
    other, then those of the node.
    """

    game: Game
    rule: Any

    @property
    def edge_fields(self) -> tuple[str, ...]:
        """What is known of each edge."""
        return EDGE_FIELDS + self.rule.edge_fields

    @property
    def node_fields(self) -> tuple[str, ...]:
        """What is known of each node."""
        return NODE_FIELDS + self.rule.node_fields

    @property
    def num_edges(self) -> int:
        """A, the edges of a node: one for each action or, if those are more, for each outcome of chance."""
        return max(self.game.num_actions, len(self.game.outcome_probabilities))

    @property
    def columns(self) -> int:
        """Columns of a row, whole lines of the cache."""
        return -(-(self.column(self.node_fields[-1]) + 1) // LINE) * LINE

    @property
    def bytes_per_node(self) -> int:
        """Bytes of one slot of one position: 4 columns + the position."""
        position = jax.eval_shape(self.game.init_position, jax.random.key(0))
        return 4 * self.columns + sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(position))

    def read(self, rows: Float32[Array, "n columns"], name: str) -> Float32[Array, "..."]:
        """One field of rows: float32[n, A] of the edges or float32[n] of the nodes."""
        first = self.column(name)
        return rows[:, first : first + self.num_edges] if name in self.edge_fields else rows[:, first]

    def column(self, name: str) -> int:
        """The first column of a field; those of the other edges follow."""
        if name in self.edge_fields:
            return self.edge_fields.index(name) * self.num_edges
        return len(self.edge_fields) * self.num_edges + self.node_fields.index(name)

    def rows(self, child: Float32[Array, "n edges"], **values: Array | float) -> Float32[Array, "n columns"]:
        """New rows of these fields, [n, A], [n], or one number for all; what is not named is 0."""
        count, parts, filled = len(child), [], 0
        for name in (*self.edge_fields, *self.node_fields):
            width = self.num_edges if name in self.edge_fields else 1
            value = child if name == "child" else values.get(name, 0.0)
            value = jnp.asarray(value).astype(jnp.float32)
            parts.append(jnp.broadcast_to(value.reshape((count, -1) if value.ndim else (1, 1)), (count, width)))
            filled += width
        parts.append(jnp.zeros((count, self.columns - filled)))
        return jnp.concatenate(parts, axis=1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Tree:
    """The trees of a batch of B positions, S slots each and one more that is never read: see the head of this file.

    `used` slots are taken, the same number in all trees; `alive` says whose root is not the end of a game, `faulty`
    whose evaluator ever gave what is no number, and `words` are random. `keys` and `table` find nodes by position,
    where the rule wants it.
    """

    position: Any
    edges: Float32[Array, "rows columns"]
    used: Int32[Array, ""]
    alive: Bool[Array, " batch"]
    faulty: Bool[Array, " batch"]
    words: UInt32[Array, " batch"]
    keys: UInt32[Array, "rows 2"] | None
    table: Int32[Array, " places"] | None
    layout: Layout = dataclasses.field(metadata={"static": True})

    @property
    def batch(self) -> int:
        """B, the number of positions."""
        return len(self.alive)

    @property
    def slots(self) -> int:
        """S, the nodes that there is room for in each tree."""
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


def block_set(array: Array, block: Array, slot: Int32[Array, ""] | int) -> Array:
    """The array with the rows of one slot replaced."""
    return lax.dynamic_update_slice_in_dim(array, block, slot * len(block), 0)


def known(array: Array | None) -> Array:
    """The array, where it is sure that there is one."""
    if array is None:
        raise TypeError("the rule of this tree keeps no such array")
    return array


NAME_BYTES, LEVEL_BYTES = 24, 6
"""Bytes of a slot's name and its places in the table, at most; and of a level of a path."""


def check_size(layout: Layout, batch: int, slots: int, max_depth: int) -> None:
    """Raises `ValueError` if trees of this size cannot be: too many slots, or more bytes than the machine has free."""
    if slots > MOST_SLOTS:
        raise ValueError(f"a tree of {slots:,} slots is too large: expected at most {MOST_SLOTS:,}")
    numbers = batch * (slots + 1) * layout.columns
    node = layout.bytes_per_node + (NAME_BYTES if layout.rule.shares != "no" else 0)
    need = batch * ((slots + 1) * node + max_depth * LEVEL_BYTES)
    if numbers >= MOST_NUMBERS:
        most = MOST_NUMBERS // ((slots + 1) * layout.columns)
        raise ValueError(f"{batch:,} trees of {slots:,} slots are too many for one search: at most {most:,} fit")
    free = free_bytes()
    if free is not None and need > free:
        raise ValueError(
            f"the search needs {need / 1e9:.1f} GB ({batch:,} positions x {slots + 1:,} slots x "
            f"{node} bytes) and {free / 1e9:.1f} GB are free: use fewer positions or simulations"
        )
