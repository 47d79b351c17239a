"""UCT on graphs, in which equal positions are one node: UCT1, UCT2 and UCT3."""

import dataclasses
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32

from jaxgames.algos.mcts.nodes import Edges, Nodes
from jaxgames.algos.mcts.path import EvaluatedLeaf, Level
from jaxgames.algos.mcts.rules.ancestors import UpdateAll, check_update
from jaxgames.algos.mcts.rules.rule import Rule, Score, Statistic, check_c, plus_bound, untried_first
from jaxgames.algos.mcts.tree import Tree


@dataclasses.dataclass(frozen=True)
class NodeStats:
    """The simulations that came to a node on any path, and the sum of their values to the node's player."""

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """Adds the leaf's value to its node."""
        return _add(tree, leaf.row, leaf.opponent_to_move, leaf.value), ()

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Adds the leaf's value to the nodes of its path."""
        return _add(tree, level.row, level.opponent_to_move, value), carried


def _add(tree: Tree, row: Int32[Array, " n"], opponent_to_move: Bool[Array, " n"], value: Float32[Array, " n"]) -> Tree:
    value = jnp.where(opponent_to_move, -value, value)
    return tree.add("node_visits", row, jnp.stack([jnp.ones_like(value), value], axis=1))


@dataclasses.dataclass(frozen=True)
class RecomputedValue:
    """The value of a node, computed from its first evaluation and from the values of the nodes below it.

    `node_visits` is 1 then, but 0 at a root, which had no evaluation; `node_value_sum` is the value.
    """

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """Sets the first value of a new node; a node that was found keeps its own."""
        row = jnp.where(leaf.is_new, leaf.row, jnp.int32(len(tree.edges)))
        return _add(tree, row, leaf.opponent_to_move, leaf.value), ()

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Computes the mean over all edges and the first value."""
        nodes = Nodes(tree, level.row, tree.rows(level.row), jnp.zeros_like(level.row, jnp.uint32))
        child_value, first = child_values(nodes), nodes.node("node_visits")
        total = nodes.sum(lambda edges: edges.visits * child_value(edges)) + first * nodes.node("raw_value")
        mean = total / (nodes.sum(lambda edges: edges.visits) + first)
        return tree.set("node_value_sum", level.row, mean.reshape(-1, 1)), carried


def child_values(nodes: Nodes) -> Score:
    """The mean value of the node that an edge leads to, to the player to act; that of the edge if there is no node."""
    tree = nodes.tree
    own, lanes = nodes.node("opponent_to_move"), nodes.expand_dims(nodes.lanes)

    def values(edges: Edges) -> Array:
        row = jnp.maximum(edges.child, 0).astype(jnp.int32) * tree.batch + lanes
        mean = tree.node("node_value_sum", row) / jnp.maximum(tree.node("node_visits", row), 1)
        same_player = tree.node("opponent_to_move", row) == own
        return jnp.where(edges.child >= 0, jnp.where(same_player, mean, -mean), edges.q)

    return values


@dataclasses.dataclass(frozen=True)
class GraphUCT(Rule):
    """See `uct1`, `uct2` and `uct3`."""

    c: float
    transpositions: str
    statistics: tuple[Statistic, ...] = ()
    of_nodes: bool = False
    constants = ("c",)

    @property
    def node_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """The statistics of nodes, for `uct2` and `uct3`."""
        return ("node_visits", "node_value_sum") if self.of_nodes else ()

    def score(self, nodes: Nodes) -> Score:
        """As UCT, with the mean of the edge or of the node it leads to."""
        value = child_values(nodes) if self.of_nodes else lambda edges: edges.q
        return untried_first(plus_bound(nodes, self.c, value))


def uct1(c: float = 0.5, *, symmetries: bool = False, update: str = "descend") -> GraphUCT:
    """UCT on a graph: a position that is reached by several paths is one node, whose edges these paths share.

    Childs, Brodeur and Kocsis (2008), as `uct2` and `uct3`. With `symmetries` mirror images are one node too; what is
    below it belongs to the image that came first. With `update="all"` a simulation counts for all edges from which its
    leaf can be reached, not only for those of its path ("descend"); that goes through the whole tree each time.
    """
    return GraphUCT(check_c(c), _kind(symmetries), _update(update))


def uct2(c: float = 0.5, *, symmetries: bool = False, update: str = "descend") -> GraphUCT:
    """As `uct1`; the value of an edge is the mean of all simulations that came to its node, on any path."""
    return GraphUCT(check_c(c), _kind(symmetries), (NodeStats(), *_update(update)), True)


def uct3(c: float = 0.5, *, symmetries: bool = False) -> GraphUCT:
    """As `uct2`; the value of a node is computed anew from its children's, on every path that passes it."""
    return GraphUCT(check_c(c), _kind(symmetries), (RecomputedValue(),), True)


def _update(update: str) -> tuple[Statistic, ...]:
    return (UpdateAll(),) if check_update(update) == "all" else ()


def _kind(symmetries: bool) -> str:
    return "symmetries" if symmetries else "positions"
