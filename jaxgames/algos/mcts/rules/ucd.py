"""UCD: UCT on graphs, whose means and counts look any distance down the graph."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from jaxgames.algos.mcts.nodes import Edges, Nodes
from jaxgames.algos.mcts.path import EvaluatedLeaf, Level
from jaxgames.algos.mcts.rules.ancestors import UpdateAll, check_update
from jaxgames.algos.mcts.rules.rule import Rule, Score, check_c, plus_bound, untried_first
from jaxgames.algos.mcts.tree import Tree
from jaxgames.ops import checks

MOST_DISTANCE = 16
"""More than that is as good as any distance."""


@dataclasses.dataclass(frozen=True)
class Distances:
    """Keeps, for each node, its mean and its count as seen from an edge that looks 1, 2, ... edges further down.

    Seen from distance 1 a node is worth the mean of its first evaluation and of its edges, weighted by their visits;
    from distance k its edges are worth what they are from distance k - 1. `mean` and `count` are the greatest distances
    of both; at any distance, `math.inf`, the edges are worth what they are from any distance.
    """

    mean: float
    count: float
    update_all: bool

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns: `mean_1`, ..., `count_1`, ..."""
        return ("evaluations", *_fields("mean", self.mean), *_fields("count", self.count))

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """A new node has its first evaluation only; a node that was found keeps what it has."""
        row = jnp.where(leaf.is_new, leaf.row, jnp.int32(len(tree.edges)))
        value = jnp.where(leaf.opponent_to_move, -leaf.value, leaf.value)
        one = jnp.ones_like(value)
        columns = [one, *[value] * len(_fields("mean", self.mean)), *[one] * len(_fields("count", self.count))]
        return tree.set("evaluations", row, jnp.stack(columns, axis=1)), ()

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Computes the node anew from those below it."""
        nodes = Nodes(tree, level.row, tree.rows(level.row), jnp.zeros_like(level.row, jnp.uint32))
        return tree.set("evaluations", level.row, self._columns(nodes)), carried

    def _columns(self, nodes: Nodes) -> Array:
        first = nodes.node("evaluations")
        total = first + nodes.sum(lambda edges: edges.visits)
        found = [first]
        for name in _fields("mean", self.mean):
            mean = edge_mean(_before(name))(nodes)
            found.append((self._worth(nodes, mean) + first * nodes.node("raw_value")) / jnp.maximum(total, 1))
        for name in _fields("count", self.count):
            found.append(first + nodes.sum(edge_count(_before(name))(nodes)))
        return jnp.stack([x.reshape(-1) for x in found], axis=1)

    def _worth(self, nodes: Nodes, mean: Score) -> Array:
        return nodes.sum(lambda edges: edges.visits * mean(edges))

    def finish(self, tree: Tree, value: Array, carried: Any) -> Tree:
        """With update-all: computes all nodes anew, as often as it takes for what is below to come up."""
        if not self.update_all:
            return tree
        rows = jnp.arange(len(tree.edges), dtype=jnp.int32)
        first = tree.layout.column("evaluations")
        part = slice(first, first + len(self.fields))
        times = max(len(_fields("mean", self.mean)), len(_fields("count", self.count)))
        times = MOST_DISTANCE if math.inf in (self.mean, self.count) else times

        def again(_, tree):
            nodes = Nodes(tree, rows, tree.edges, jnp.zeros_like(rows, jnp.uint32))
            return tree.replace(edges=tree.edges.at[:, part].set(self._columns(nodes)))

        return lax.fori_loop(0, times, again, tree)


def _fields(kind: str, distance: float) -> tuple[str, ...]:
    if distance == math.inf:
        return (f"{kind}_any",)
    return tuple(f"{kind}_{number}" for number in range(1, int(distance) + 1))


def _before(name: str) -> str:
    """The field that one of a greater distance is made of; empty for that of the edges themselves."""
    kind, _, distance = name.partition("_")
    return name if distance == "any" else f"{kind}_{int(distance) - 1}" if distance != "1" else ""


def edge_mean(field: str) -> Callable[[Nodes], Score]:
    """The mean of an edge to the player to act, by a field of the node it leads to; its own where there is none."""

    def of_nodes(nodes: Nodes) -> Score:
        own = nodes.node("opponent_to_move")

        def mean(edges: Edges) -> Array:
            if not field:
                return edges.q
            row = _child_row(nodes, edges)
            there = nodes.tree.node(field, row)
            same_player = nodes.tree.node("opponent_to_move", row) == own
            return jnp.where(edges.child >= 0, jnp.where(same_player, there, -there), edges.q)

        return mean

    return of_nodes


def edge_count(field: str) -> Callable[[Nodes], Score]:
    """The visits of an edge by a field of the node that it leads to; its own where there is none."""

    def of_nodes(nodes: Nodes) -> Score:
        def count(edges: Edges) -> Array:
            if not field:
                return edges.visits
            return jnp.where(edges.child >= 0, nodes.tree.node(field, _child_row(nodes, edges)), edges.visits)

        return count

    return of_nodes


def _child_row(nodes: Nodes, edges: Edges) -> Array:
    return jnp.maximum(edges.child, 0).astype(jnp.int32) * nodes.tree.batch + nodes.expand_dims(nodes.lanes)


@dataclasses.dataclass(frozen=True)
class UCD(Rule):
    """See `ucd`."""

    c: float
    mean_distance: float
    parent_distance: float
    edge_distance: float
    update: str
    transpositions: str
    constants = ("c",)

    @property
    def _distances(self) -> Distances:
        most = max(self.parent_distance, self.edge_distance)
        return Distances(self.mean_distance, most, self.update == "all")

    @property
    def node_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Means and counts by distance."""
        return self._distances.fields

    @property
    def statistics(self) -> tuple[Any, ...]:  # type: ignore[override]
        """What keeps these, and update-all."""
        return (*([UpdateAll()] if self.update == "all" else []), self._distances)

    def score(self, nodes: Nodes) -> Score:
        """The mean of distance d1 + c sqrt(ln p / n), p and n the counts of distances d2 and d3."""
        edge, parent = (edge_count(self._field("count", d))(nodes) for d in (self.edge_distance, self.parent_distance))
        mean = edge_mean(self._field("mean", self.mean_distance))(nodes)
        return untried_first(plus_bound(nodes, self.c, mean, edge, nodes.sum(parent)))

    def _field(self, kind: str, distance: float) -> str:
        if kind == "count" and math.inf in (self.parent_distance, self.edge_distance):
            return "count_any" if distance else ""
        return _fields(kind, distance)[-1] if distance else ""


def ucd(
    c: float = 0.5,
    distances: tuple[float, float, float] = (1, 0, 0),
    *,
    update: str = "descend",
    symmetries: bool = False,
) -> UCD:
    """UCD (Cazenave, Mehat and Saffidine, 2012): UCT on a graph, by means and counts that look further down.

    An edge scores m + c sqrt(ln p / n). At distance 0 all three are those of the edges themselves, as in `uct1`; at
    distance k the mean and the counts are made of those of the edges below, seen from distance k - 1.

    Args:
        c: as in `uct`.
        distances: (d1, d2, d3), of the mean m, of the node's count p (the sum over its edges) and of the edge's count
            n: whole numbers up to 16, or `math.inf` for any distance. (0, 0, 0) is `uct1`, (1, 0, 0) much like `uct2`
            and (inf, 0, 0) `uct3`. With a count of any distance the other one is of any distance, too, or 0.
        update: "descend" or "all", as in `uct1`.
        symmetries: as in `uct1`.

    Raises `TypeError` for distances that are no three numbers, `ValueError` for other numbers.
    """
    if not isinstance(distances, Sequence) or isinstance(distances, str) or len(distances) != 3:
        raise TypeError(f"distances {checks.describe(distances)}: expected three numbers, such as (1, 0, 0)")
    for distance in distances:
        if distance != math.inf and (not isinstance(distance, int) or not 0 <= distance <= MOST_DISTANCE):
            raise ValueError(f"distance {distance!r}: expected a whole number from 0 to {MOST_DISTANCE}, or math.inf")
    mean, parent, edge = distances
    return UCD(check_c(c), mean, parent, edge, check_update(update), "symmetries" if symmetries else "positions")
