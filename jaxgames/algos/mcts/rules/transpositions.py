"""Transpositions: one node for positions that are the same, or mirror images; and rules that make use of it."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.algos.mcts.backup import Leaf, Level
from jaxgames.algos.mcts.nodes import Edges, Nodes
from jaxgames.algos.mcts.rules.rule import Rule, Score, plus_bound, untried_first
from jaxgames.algos.mcts.tree import Tree, known
from jaxgames.envs.core import Game
from jaxgames.ops import bits
from jaxgames.ops.random_bits import fold_in


def table_places(slots: int) -> int:
    """Places in the table of a tree: a power of two, at most half of them ever taken."""
    return 1 << (2 * slots).bit_length()


def keys_of(game: Game, position: Any, other: Bool[Array, " n"], symmetric: bool) -> UInt32[Array, "n 2"]:
    """64 bits that name a position and whose turn it is; with `symmetric` its mirror images have the same.

    Two positions of one tree have the same name by accident about once in 2^64 / S^2 trees of S nodes.
    """
    if symmetric and len(game.symmetries) > 1:
        seen = jax.vmap(lambda x: game.observe_position(x, jnp.bool_(True)))(position)
        seen = seen.astype(bool).reshape(len(seen), -1)
        names = [_hashed(bits.pack(seen[:, symmetry.elements]).T, other) for symmetry in game.symmetries]
        return functools.reduce(_lesser, names)
    leaves = [leaf.reshape(len(leaf), -1) for leaf in jax.tree.leaves(position)]
    return _hashed([column.astype(jnp.uint32) for leaf in leaves for column in leaf.T], other)


def find(tree: Tree, keys: UInt32[Array, "batch 2"]) -> tuple[Int32[Array, " batch"], Int32[Array, " batch"]]:
    """The slot of the node of this name in each tree, -1 if there is none; and the place for it in the table."""
    table, names, batch = known(tree.table), known(tree.keys), tree.batch
    places = len(table) // batch
    lanes = jnp.arange(batch, dtype=jnp.int32)

    def look(place):
        slot = table[place * batch + lanes] - 1
        same = jnp.all(names[jnp.maximum(slot, 0) * batch + lanes] == keys, axis=1)
        return slot, (slot >= 0) & ~same

    def step(carry):
        place, _, busy = carry
        place = jnp.where(busy, (place + 1) & (places - 1), place)
        return place, *look(place)

    place = (keys[:, 0] & np.uint32(places - 1)).astype(jnp.int32)
    place, slot, _ = lax.while_loop(lambda carry: jnp.any(carry[2]), step, (place, *look(place)))
    return slot, place * batch + lanes


def listed(tree: Tree, count: Int32[Array, " batch"]) -> Tree:
    """The trees with names of all their nodes, and a table of the first `count` of each."""
    layout, other = tree.layout, tree.layout.read(tree.edges, "other") != 0
    keys = keys_of(layout.game, tree.position, other, layout.rule.shares == "symmetries")
    table = jnp.zeros(table_places(tree.slots) * tree.batch, jnp.int32)

    def enter(slot, tree):
        name = lax.dynamic_slice_in_dim(keys, slot * tree.batch, tree.batch, 0)
        place = jnp.where(slot < count, find(tree, name)[1], len(table))
        return tree.replace(table=known(tree.table).at[place].set(slot + 1, mode="drop"))

    return lax.fori_loop(0, tree.used, enter, tree.replace(keys=keys, table=table))


def _hashed(words: Any, other: Bool[Array, " n"]) -> UInt32[Array, "n 2"]:
    one = two = jnp.zeros(len(other), jnp.uint32)
    for number, word in enumerate([other.astype(jnp.uint32), *words], 1):  # each hashed before the next one is added
        one, two = fold_in(one ^ word, number), fold_in(two + word, number + 0x10000)
    return jnp.stack([one, two], axis=1)


def _lesser(x: UInt32[Array, "n 2"], y: UInt32[Array, "n 2"]) -> UInt32[Array, "n 2"]:
    less = (x[:, 0] < y[:, 0]) | ((x[:, 0] == y[:, 0]) & (x[:, 1] < y[:, 1]))
    return jnp.where(less[:, None], x, y)


@dataclasses.dataclass(frozen=True)
class Arrivals:
    """The number and the sum of the values of the simulations that came to a node, on any way, at the node's player."""

    def begin(self, tree: Tree, edges: Array, leaf: Leaf) -> tuple[Array, Any]:
        """The leaf's first value."""
        return _count(tree, edges, leaf.row, jnp.where(leaf.other, -leaf.value, leaf.value)), ()

    def update(self, tree: Tree, edges: Array, level: Level, value: Array, carried: Any) -> tuple[Array, Any]:
        """One more."""
        return _count(tree, edges, level.row, jnp.where(level.other, -value, value)), carried


def _count(tree: Tree, edges: Array, row: Int32[Array, " n"], value: Array) -> Array:
    column = tree.layout.column("arrivals")
    return edges.at[row, column : column + 2].add(jnp.stack([jnp.ones_like(value), value], axis=1), mode="drop")


@dataclasses.dataclass(frozen=True)
class Recomputed:
    """The value of a node, made anew of its first value and of the values of the nodes that its edges lead to."""

    def begin(self, tree: Tree, edges: Array, leaf: Leaf) -> tuple[Array, Any]:
        """The leaf's first value; a node that was found is worth what it is worth."""
        row = jnp.where(leaf.created, leaf.row, jnp.int32(len(edges)))
        return _count(tree, edges, row, jnp.where(leaf.other, -leaf.value, leaf.value)), ()

    def update(self, tree: Tree, edges: Array, level: Level, value: Array, carried: Any) -> tuple[Array, Any]:
        """The mean over all edges and the first value."""
        tree = tree.replace(edges=edges)
        nodes = Nodes(tree, level.row, edges.at[level.row].get(mode="clip"), jnp.zeros_like(level.row, jnp.uint32))
        means, first = child_means(nodes), nodes.of("arrivals")  # 1, but 0 at a root, which had no evaluation
        total = nodes.sum(lambda edges: edges.visits * means(edges)) + first * nodes.of("raw")
        worth = total / (nodes.sum(lambda edges: edges.visits) + first)
        column = tree.layout.column("worth")
        return edges.at[level.row, column].set(worth.reshape(-1), mode="drop"), carried


def child_means(nodes: Nodes) -> Score:
    """The mean value of the nodes that edges lead to, to the player to act; that of the edge if there is no node."""
    tree, layout = nodes.tree, nodes.layout
    own, lanes = nodes.of("other"), nodes.fitting(nodes.lanes)

    def means(edges: Edges) -> Array:
        row = jnp.maximum(edges.child, 0).astype(jnp.int32) * tree.batch + lanes
        arrivals, worth, other = (
            tree.flat[row * layout.columns + layout.column(name)] for name in ("arrivals", "worth", "other")
        )
        mean = worth / jnp.maximum(arrivals, 1)
        return jnp.where(edges.child >= 0, jnp.where(other == own, mean, -mean), edges.means)

    return means


@dataclasses.dataclass(frozen=True)
class SharedUCT(Rule):
    """See `uct1`, `uct2` and `uct3`."""

    c: float
    shares: str
    statistics: tuple[Any, ...] = ()

    @property
    def node_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of rules that look at children: how often a node was reached, and what that was worth in all."""
        return ("arrivals", "worth") if self.statistics else ()

    def score(self, nodes: Nodes) -> Score:
        """As UCT, with the mean of the edge or of the node it leads to."""
        mean = child_means(nodes) if self.statistics else lambda edges: edges.means
        return untried_first(plus_bound(nodes, self.c, mean))


def uct1(c: float = 0.8, *, symmetries: bool = False) -> SharedUCT:
    """UCT on a graph in which positions reached on several ways are one node, so that these ways share its edges.

    Childs, Brodeur and Kocsis (2008), as `uct2` and `uct3`. With `symmetries` mirror images are one node too; what is
    below it is then in the sight of whichever came first.
    """
    return SharedUCT(float(c), _shared(symmetries))


def uct2(c: float = 0.8, *, symmetries: bool = False) -> SharedUCT:
    """As `uct1`, and an edge is worth the mean of all simulations that came to the node it leads to, on any way."""
    return SharedUCT(float(c), _shared(symmetries), (Arrivals(),))


def uct3(c: float = 0.8, *, symmetries: bool = False) -> SharedUCT:
    """As `uct2`, but the value of a node is made anew from those of its children, on every path that passes it."""
    return SharedUCT(float(c), _shared(symmetries), (Recomputed(),))


def _shared(symmetries: bool) -> str:
    return "symmetries" if symmetries else "positions"
