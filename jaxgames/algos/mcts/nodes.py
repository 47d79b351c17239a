"""A batch of nodes as selection rules see them."""

import dataclasses
import functools
import operator
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.tree import ILLEGAL, Layout, Tree

NARROW = 16
"""With at most so many edges, each edge of a node has its own array."""


@dataclasses.dataclass(frozen=True)
class Edges:
    """Edges `first` to `first + count - 1` of each of n nodes: `edges.visits` and all other fields of edges, by name.

    Arrays are float32[n, count] or, for a single edge, float32[n].
    """

    nodes: "Nodes"
    first: int
    count: int

    def __getattr__(self, name: str) -> Float32[Array, "..."]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.nodes.columns(self.nodes.layout.column(name) + self.first, self.count)

    @property
    def legal(self) -> Bool[Array, "..."]:
        """Which edges exist."""
        return self.child != ILLEGAL

    @property
    def q(self) -> Float32[Array, "..."]:
        """The mean value of each edge, to the player to act; 0 without visits."""
        return self.value_sums / jnp.maximum(self.visits, 1)

    @property
    def index(self) -> UInt32[Array, "..."]:
        """The number of each edge: uint32[1, count], or a scalar for a single edge."""
        if self.count == 1:
            return jnp.uint32(self.first)
        return jnp.arange(self.count, dtype=jnp.uint32)[None, :]

    def random_bits(self, bits: UInt32[Array, " n"]) -> UInt32[Array, "..."]:
        """Random bits of nodes, in a shape that broadcasts against the edges."""
        return bits if self.count == 1 else bits[:, None]


@dataclasses.dataclass(frozen=True)
class Nodes:
    """n nodes of a tree: their row numbers `row`, the contents of these `rows`, and random bits for each.

    The edges come in `blocks`: all in one or, in games with few actions, each in its own block: for arrays without an
    axis of edges XLA:CPU makes one kernel, otherwise one more for every reduction over an axis. A field of the nodes
    themselves, and `sum`, `max`, `min` over edges, broadcast against the blocks: float32[n, 1] or float32[n].
    """

    tree: Tree
    row: Int32[Array, " n"]
    rows: Float32[Array, "n columns"]
    bits: UInt32[Array, " n"]

    @property
    def layout(self) -> Layout:
        """The names of the columns."""
        return self.tree.layout

    @functools.cached_property
    def blocks(self) -> tuple[Edges, ...]:
        """All edges, in blocks."""
        count = self.layout.num_edges
        if count > NARROW:
            return (Edges(self, 0, count),)
        return tuple(Edges(self, number, 1) for number in range(count))

    def columns(self, first: int, count: int) -> Float32[Array, "..."]:
        """Some columns, in a shape that broadcasts against the blocks."""
        if len(self.blocks) == 1:
            return self.rows[:, first : first + count]
        return self.rows[:, first]

    def node(self, name: str) -> Float32[Array, "..."]:
        """A field of the nodes themselves."""
        return self.columns(self.layout.column(name), 1)

    @property
    def lanes(self) -> Int32[Array, " n"]:
        """The number of the tree that each node is in."""
        return self.row % self.tree.batch

    def expand_dims(self, values: Array) -> Array:
        """Values of nodes, [n], in a shape that broadcasts against the blocks."""
        return values[:, None] if len(self.blocks) == 1 else values

    def sum(self, values: Callable[[Edges], Array]) -> Array:
        """The sum of a value over the edges."""
        return self._reduce(jnp.sum, operator.add, values)

    def max(self, values: Callable[[Edges], Array]) -> Array:
        """The greatest value over the edges."""
        return self._reduce(jnp.max, jnp.maximum, values)

    def min(self, values: Callable[[Edges], Array]) -> Array:
        """The least value over the edges."""
        return self._reduce(jnp.min, jnp.minimum, values)

    def argmax(self, values: Callable[[Edges], Array]) -> Int32[Array, " n"]:
        """The first edge of the greatest value."""
        if len(self.blocks) == 1:
            value = values(self.blocks[0])
            first = jnp.where(value == jnp.max(value, axis=1, keepdims=True), self.blocks[0].index, len(value[0]))
            return jnp.min(first, axis=1).astype(jnp.int32)  # XLA:CPU does not vectorise argmax
        best, index = values(self.blocks[0]), jnp.zeros(len(self.rows), jnp.int32)
        for edges in self.blocks[1:]:
            value = values(edges)
            best, index = jnp.maximum(value, best), jnp.where(value > best, jnp.int32(edges.first), index)
        return index

    def best(self, rule: Callable[["Nodes"], Callable[[Edges], Array]]) -> Int32[Array, " n"]:
        """The legal edge with the highest score `rule(nodes)(edges)`."""
        score = rule(self)
        return self.argmax(lambda edges: jnp.where(edges.legal, score(edges), -jnp.inf))

    def _reduce(self, reduce: Callable, pair: Callable, values: Callable[[Edges], Array]) -> Array:
        if len(self.blocks) == 1:
            return reduce(values(self.blocks[0]), axis=1, keepdims=True)
        return functools.reduce(pair, map(values, self.blocks))
