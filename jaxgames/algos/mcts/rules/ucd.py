"""UCT on graphs, in which equal positions are one node: UCD with its special cases UCT1 and UCT3, and UCT2.

An edge scores m + c sqrt(ln p / n), as in `UCT`. The rules differ in how they compute m, p and n. Sources: Childs,
Brodeur and Kocsis, "Transpositions and move groups in Monte Carlo tree search", 2008 (UCT1 to UCT3, update-all);
Cazenave, Mehat and Saffidine, "UCD: upper confidence bound for rooted directed acyclic graphs", 2012.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32
from typing_extensions import override

from jaxgames.algos.mcts.nodes import Edges, Nodes
from jaxgames.algos.mcts.path import EvaluatedLeaf, Level
from jaxgames.algos.mcts.rules.rule import Rule, Score, exploration, plus_bound, untried_first
from jaxgames.algos.mcts.tree import Tree
from jaxgames.ops import checks
from jaxgames.ops.settings import Settings, setting

MOST_DISTANCE = 16
"""The greatest distance; beyond it any distance is as good."""


@dataclasses.dataclass(frozen=True)
class Distances:
    """Keeps, for each node, its mean and its count as seen from an edge that looks 1, 2, ... edges further down.

    From distance 1 a node is worth the mean of its first evaluation and of its edges, weighted by their visits;
    from distance k its edges have their values from distance k - 1. `mean` and `count` are the greatest distances
    of both; at any distance, `math.inf`, the edges have their values from any distance.
    """

    mean: float
    count: float
    update_all: bool

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns: `mean_1`, ..., `count_1`, ..."""
        return ("evaluations", *_fields("mean", self.mean), *_fields("count", self.count))

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """A new node has only its first evaluation; a node that was found keeps what it has."""
        row = jnp.where(leaf.is_new, leaf.row, jnp.int32(len(tree.edges)))
        value = jnp.where(leaf.opponent_to_move, -leaf.value, leaf.value)
        one = jnp.ones_like(value)
        columns = [one, *[value] * len(_fields("mean", self.mean)), *[one] * len(_fields("count", self.count))]
        return tree.set("evaluations", row, jnp.stack(columns, axis=1)), ()

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Recomputes the node from those below it."""
        nodes = Nodes(tree, level.row, tree.rows(level.row), jnp.zeros_like(level.row, jnp.uint32))
        return tree.set("evaluations", level.row, self._columns(nodes)), carried

    def _columns(self, nodes: Nodes) -> Array:
        first = nodes.node("evaluations")
        total = first + nodes.sum(lambda edges: edges.visits)
        columns = [first]
        for name in _fields("mean", self.mean):
            mean = edge_mean(_before(name))(nodes)
            columns.append((self._worth(nodes, mean) + first * nodes.node("raw_value")) / jnp.maximum(total, 1))
        for name in _fields("count", self.count):
            columns.append(first + nodes.sum(edge_count(_before(name))(nodes)))
        return jnp.stack([x.reshape(-1) for x in columns], axis=1)

    def _worth(self, nodes: Nodes, mean: Score) -> Array:
        return nodes.sum(lambda edges: edges.visits * mean(edges))

    def finish(self, tree: Tree, value: Array, carried: Any) -> Tree:
        """With update-all: recomputes all nodes, as often as it takes until values from below arrive at the top."""
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
    """The field from which one of a greater distance is computed; empty for that of the edges themselves."""
    kind, _, distance = name.partition("_")
    return name if distance == "any" else f"{kind}_{int(distance) - 1}" if distance != "1" else ""


@dataclasses.dataclass(frozen=True)
class UpdateAll:
    """Adds the leaf's value to every edge from which its node can be reached, each once (Childs et al., 2008).

    Goes through the whole tree once for each level of the graph, so it is for research and small trees. It passes
    upwards, for each lane and slot, the edge that was taken there, -1 for none, and -2 at the leaf's node.
    """

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """Marks the leaf's node."""
        lanes = jnp.arange(tree.batch, dtype=jnp.int32)
        taken = jnp.full((tree.batch, tree.capacity + 1), -1, jnp.int32)
        return tree, taken.at[lanes, leaf.row // tree.batch].set(-2, mode="drop")

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Marks the edge of the path."""
        lanes = jnp.arange(len(level.row), dtype=jnp.int32)
        slot = jnp.where(level.on_path, level.row // tree.batch, carried.shape[1])
        return tree, carried.at[lanes, slot].set(level.edge.astype(jnp.int32), mode="drop")

    def finish(self, tree: Tree, value: Float32[Array, " batch"], carried: Any) -> Tree:
        """Adds the value beside the path."""
        layout, batch = tree.layout, tree.batch
        slots, edges = tree.capacity + 1, jnp.arange(layout.num_edges, dtype=jnp.int32)
        known = ancestors(tree, carried != -1)
        child = layout.read(tree.edges, "child").reshape(slots, batch, -1)
        lanes = jnp.arange(batch, dtype=jnp.int32)[None, :, None]
        leads = (child >= 0) & known[lanes, jnp.maximum(child, 0).astype(jnp.int32)]
        beside = (leads & (carried.T[:, :, None] != edges[None, None])).astype(jnp.float32)
        opponent = layout.read(tree.edges, "opponent_to_move").reshape(slots, batch) != 0
        own = jnp.where(opponent, -value[None], value[None])
        rows = tree.edges.at[:, layout.part("visits")].add(beside.reshape(slots * batch, -1))
        gain = (beside * own[:, :, None]).reshape(slots * batch, -1)
        rows = rows.at[:, layout.part("value_sums")].add(gain)
        if "node_visits" in layout.node_fields:
            new = (known & (carried == -1)).T.astype(jnp.float32)
            rows = rows.at[:, layout.column("node_visits")].add(new.reshape(-1))
            rows = rows.at[:, layout.column("node_value_sum")].add((new * own).reshape(-1))
        return tree.replace(edges=rows)


def ancestors(tree: Tree, nodes: Bool[Array, "batch slots"]) -> Bool[Array, "batch slots"]:
    """Some nodes of each tree, and all nodes from which they can be reached."""
    slots = tree.capacity + 1
    child = tree.layout.read(tree.edges, "child").reshape(slots, tree.batch, -1)
    lanes = jnp.arange(tree.batch, dtype=jnp.int32)[None, :, None]

    def above(carry):
        known, _ = carry
        leads = (child >= 0) & known[lanes, jnp.maximum(child, 0).astype(jnp.int32)]
        more = known | jnp.any(leads, axis=2).T
        return more, jnp.any(more != known)

    return lax.while_loop(lambda carry: carry[1], above, (nodes, jnp.bool_(True)))[0]


@dataclasses.dataclass(frozen=True)
class NodeStats:
    """The simulations that came to a node on any path, and the sum of their values to the node's player."""

    fields: ClassVar[tuple[str, ...]] = ("node_visits", "node_value_sum")

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """Adds the leaf's value to its node."""
        return self._add(tree, leaf.row, leaf.opponent_to_move, leaf.value), ()

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Adds the leaf's value to the nodes of its path."""
        return self._add(tree, level.row, level.opponent_to_move, value), carried

    def _add(
        self, tree: Tree, row: Int32[Array, " n"], opponent_to_move: Bool[Array, " n"], value: Float32[Array, " n"]
    ) -> Tree:
        value = jnp.where(opponent_to_move, -value, value)
        return tree.add("node_visits", row, jnp.stack([jnp.ones_like(value), value], axis=1))


def edge_mean(field: str) -> Callable[[Nodes], Score]:
    """The mean of an edge to the player to act, by a field of its child; its own mean if there is no child."""
    return lambda nodes: _mean(nodes, lambda row: nodes.tree.node(field, row)) if field else lambda edges: edges.q


def _mean(nodes: Nodes, of_node: Callable[[Int32[Array, "..."]], Array]) -> Score:
    """The mean of an edge to the player to act, by that of its child; its own mean if there is no child."""
    own = nodes.node("opponent_to_move")

    def mean(edges: Edges) -> Array:
        row = _child_row(nodes, edges)
        there = of_node(row)
        same_player = nodes.tree.node("opponent_to_move", row) == own
        return jnp.where(edges.child >= 0, jnp.where(same_player, there, -there), edges.q)

    return mean


def edge_count(field: str) -> Callable[[Nodes], Score]:
    """The visits of an edge by a field of its child; its own visits if there is no child."""

    def of_nodes(nodes: Nodes) -> Score:
        def count(edges: Edges) -> Array:
            if not field:
                return edges.visits
            return jnp.where(edges.child >= 0, nodes.tree.node(field, _child_row(nodes, edges)), edges.visits)

        return count

    return of_nodes


def _child_row(nodes: Nodes, edges: Edges) -> Int32[Array, "..."]:
    return jnp.maximum(edges.child, 0).astype(jnp.int32) * nodes.tree.batch + nodes.expand_dims(nodes.lanes)


@dataclasses.dataclass(frozen=True)
class UCD(Settings, Rule):
    """UCD (Cazenave, Mehat and Saffidine, 2012): UCT on a graph, by means and counts that look further down.

    A position that several paths reach is one node, whose edges these paths share. An edge scores
    m + c sqrt(ln p / n). At distance 0 all three are those of the edges themselves; at distance k the mean and the
    counts are computed from the edges below, as seen from distance k - 1.

    `distances` are (d1, d2, d3): those of the mean m, of the node's count p (the sum over its edges) and of the edge's
    count n. They are whole numbers up to 16, or `math.inf` for any distance. If one count has any distance, the other
    one has any distance, too, or 0. (0, 0, 0) is UCT1, (inf, 0, 0) UCT3. With `merges_means` the mean of an edge is
    that of all simulations that came to its node, on any path: UCT2, which is much like (1, 0, 0).

    With `symmetries` mirror images are one node too; its subtree belongs to the image that came first. With
    `update="all"` a simulation counts for all edges from which its leaf can be reached, not only for those of its path
    ("descend"); this goes through the whole tree each time.

    Raises `TypeError` unless distances are three numbers, `ValueError` for impossible numbers.
    """

    of: ClassVar[str] = "UCD"
    c: float = exploration(0.5)
    distances: tuple[float, float, float] = (1, 0, 0)
    update: str = setting(
        "descend",
        "descend: a simulation counts for the edges of its path; all: for all edges that lead to its leaf",
        choices=("descend", "all"),
    )
    symmetries: bool = setting(False, "whether mirror images are one position, too")
    merges_means: bool = setting(False, "whether an edge is worth the mean of all simulations that came to its node")
    constants = ("c",)

    def __post_init__(self) -> None:
        super().__post_init__()
        distances = self.distances
        if not isinstance(distances, Sequence) or isinstance(distances, str) or len(distances) != 3:
            raise TypeError(f"distances {checks.describe(distances)}: expected three numbers, such as (1, 0, 0)")
        expected = f"expected a whole number from 0 to {MOST_DISTANCE}, or math.inf"
        for distance in distances:
            if distance != math.inf and (not isinstance(distance, int) or not 0 <= distance <= MOST_DISTANCE):
                raise ValueError(f"distance {distance!r}: {expected}")
        if self.merges_means and tuple(distances) != (1, 0, 0):
            raise ValueError(f"distances {tuple(distances)}: with merges_means expected (1, 0, 0)")

    @property
    @override
    def transpositions(self) -> str:  # type: ignore[override]
        return "symmetries" if self.symmetries else "positions"

    @property
    def _node_statistic(self) -> NodeStats | Distances | None:
        """The statistics of nodes; None if the edges are enough."""
        mean, *counts = self.distances
        if self.merges_means:
            return NodeStats()
        return Distances(mean, max(counts), self.update == "all") if any(self.distances) else None

    @property
    @override
    def node_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        kept = self._node_statistic
        return () if kept is None else kept.fields

    @property
    @override
    def statistics(self) -> tuple[Any, ...]:  # type: ignore[override]
        kept, update_all = self._node_statistic, [UpdateAll()] if self.update == "all" else []
        if self.merges_means:
            return (kept, *update_all)
        return (*update_all, *([] if kept is None else [kept]))

    @override
    def score(self, nodes: Nodes) -> Score:
        edge, parent = (edge_count(self._field("count", d))(nodes) for d in self.distances[:0:-1])
        return untried_first(plus_bound(nodes, self.c, self._mean(nodes), edge, nodes.sum(parent)))

    def _mean(self, nodes: Nodes) -> Score:
        """m, the mean of distance d1, or that of all simulations."""
        if not self.merges_means:
            return edge_mean(self._field("mean", self.distances[0]))(nodes)
        tree = nodes.tree
        return _mean(
            nodes, lambda row: tree.node("node_value_sum", row) / jnp.maximum(tree.node("node_visits", row), 1)
        )

    def _field(self, kind: str, distance: float) -> str:
        if kind == "count" and math.inf in self.distances[1:]:
            return "count_any" if distance else ""
        return _fields(kind, distance)[-1] if distance else ""


def uct1(c: float = 0.5, *, symmetries: bool = False, update: str = "descend") -> UCD:
    """UCT1: a position that several paths reach has its edges in common."""
    return UCD(c, (0, 0, 0), update, symmetries)


def uct2(c: float = 0.5, *, symmetries: bool = False, update: str = "descend") -> UCD:
    """UCT2: as `uct1`; the value of an edge is the mean of all simulations that came to its node, on any path."""
    return UCD(c, (1, 0, 0), update, symmetries, merges_means=True)


def uct3(c: float = 0.5, *, symmetries: bool = False) -> UCD:
    """UCT3: as `uct2`; every path through a node recomputes its value from its children's."""
    return UCD(c, (math.inf, 0, 0), symmetries=symmetries)
