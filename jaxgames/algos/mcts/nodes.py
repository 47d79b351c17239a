"""A batch of nodes as selection rules see them."""

import dataclasses
import functools
import operator
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.tree import ILLEGAL, Layout, Tree

NARROW = 16
"""Edges of a node up to which each of them is an array of its own."""


@dataclasses.dataclass(frozen=True)
class Edges:
    """Some edges of each of n nodes, those from `first` on: `edges.visits` and all other fields of edges, by name.

    Arrays are float32[n, edges] or, if it is one edge, float32[n].
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
        """Which edges there are."""
        return self.child != ILLEGAL

    @property
    def means(self) -> Float32[Array, "..."]:
        """The mean value of each edge, to the player to act; 0 where it has no visit."""
        return self.totals / jnp.maximum(self.visits, 1)

    @property
    def numbers(self) -> UInt32[Array, "..."]:
        """The number of each edge: uint32[1, edges], or a number."""
        if self.count == 1:
            return jnp.uint32(self.first)
        return jnp.arange(self.count, dtype=jnp.uint32)[None, :]


@dataclasses.dataclass(frozen=True)
class Nodes:
    """n nodes, in these rows of a tree, with what is there, and a random word for each.

    Their edges come in `blocks`: all in one or, in games of few actions, each in a block of its own. Of arrays without
    an axis of edges XLA:CPU makes one kernel, where every reduction over an axis is a kernel more. A field of the nodes
    themselves and `sum`, `max`, `min` over edges have a shape that fits the blocks: float32[n, 1] or float32[n].
    """

    tree: Tree
    place: Int32[Array, " n"]
    rows: Float32[Array, "n columns"]
    words: UInt32[Array, " n"]

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
        """Some columns, in the shape that fits the blocks."""
        if len(self.blocks) == 1:
            return self.rows[:, first : first + count]
        return self.rows[:, first]

    def of(self, name: str) -> Float32[Array, "..."]:
        """A field of the nodes themselves."""
        return self.columns(self.layout.column(name), 1)

    @property
    def lanes(self) -> Int32[Array, " n"]:
        """Whose tree each is in."""
        return self.place % self.tree.batch

    def fitting(self, values: Array) -> Array:
        """Values of nodes, [n], in the shape that fits the blocks."""
        return values[:, None] if len(self.blocks) == 1 else values

    def sum(self, values: Callable[[Edges], Array]) -> Array:
        """The sum of values of edges."""
        return self._over(jnp.sum, operator.add, values)

    def max(self, values: Callable[[Edges], Array]) -> Array:
        """The greatest of values of edges."""
        return self._over(jnp.max, jnp.maximum, values)

    def min(self, values: Callable[[Edges], Array]) -> Array:
        """The smallest of values of edges."""
        return self._over(jnp.min, jnp.minimum, values)

    def argmax(self, values: Callable[[Edges], Array]) -> Int32[Array, " n"]:
        """The first edge of the greatest value."""
        if len(self.blocks) == 1:
            value = values(self.blocks[0])
            first = jnp.where(value == jnp.max(value, axis=1, keepdims=True), self.blocks[0].numbers, len(value[0]))
            return jnp.min(first, axis=1).astype(jnp.int32)  # XLA:CPU makes no vector code of argmax
        best, number = values(self.blocks[0]), jnp.zeros(len(self.rows), jnp.int32)
        for edges in self.blocks[1:]:
            value = values(edges)
            best, number = jnp.maximum(value, best), jnp.where(value > best, jnp.int32(edges.first), number)
        return number

    def best(self, rule: Callable[["Nodes"], Callable[[Edges], Array]]) -> Int32[Array, " n"]:
        """The edge that has the highest score by `rule(nodes)(edges)` of those there are."""
        score = rule(self)
        return self.argmax(lambda edges: jnp.where(edges.legal, score(edges), -jnp.inf))

    def _over(self, reduce: Callable, pair: Callable, values: Callable[[Edges], Array]) -> Array:
        if len(self.blocks) == 1:
            return reduce(values(self.blocks[0]), axis=1, keepdims=True)
        return functools.reduce(pair, map(values, self.blocks))
