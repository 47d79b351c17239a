"""Score bounded search: keeps proven bounds of positions, and prunes edges that can no longer matter."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32
from typing_extensions import override

from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.path import EvaluatedLeaf, Level
from jaxgames.algos.mcts.rules.rule import Rule, Score, check_rule
from jaxgames.algos.mcts.tree import ILLEGAL, Tree

PRUNED = np.float32(-1e30)
"""The score of a pruned edge; illegal ones have less."""
SAME = ("node_fields", "needs_policy", "wants_played", "transpositions")
"""The attributes that a bounded rule takes unchanged from the other rule."""


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The least and the most that each edge can be worth, to the player to act."""

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """Bounds of the leaf to the player at the root: its value if exact, else the range of results."""
        most = jnp.float32(tree.layout.game.max_reward)
        return tree, tuple(jnp.where(leaf.is_exact, leaf.value, bound) for bound in (-most, most))

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Tightens the bounds of the edge, and carries those of its node on."""
        layout, (low, high) = tree.layout, carried
        low, high = jnp.where(level.opponent_to_move, -high, low), jnp.where(level.opponent_to_move, -low, high)
        rows = tree.rows(level.row)
        taken = level.edge[:, None] == jnp.arange(layout.num_edges, dtype=jnp.int32)[None, :]
        lower, upper = layout.read(rows, "lower"), layout.read(rows, "upper")
        lower = jnp.where(taken, jnp.maximum(lower, low[:, None]), lower)
        upper = jnp.where(taken, jnp.minimum(upper, high[:, None]), upper)
        tree = tree.set("lower", level.row, jnp.concatenate([lower, upper], axis=1))
        legal, chances = layout.read(rows, "child") != ILLEGAL, layout.game.outcome_probabilities
        node = [jnp.max(jnp.where(legal, bound, -jnp.inf), axis=1) for bound in (lower, upper)]
        if chances:
            chance = jnp.asarray(np.array(chances, np.float32))
            is_chance = layout.read(rows, "is_chance") != 0
            node = [
                jnp.where(is_chance, bound[:, : len(chances)] @ chance, best)
                for bound, best in zip((lower, upper), node, strict=True)
            ]
        opponent = level.opponent_to_move
        above = jnp.where(opponent, -node[1], node[0]), jnp.where(opponent, -node[0], node[1])
        return tree, tuple(jnp.where(level.on_path, new, old) for new, old in zip(above, carried, strict=True))


@dataclasses.dataclass(frozen=True)
class Bounded(Rule):
    """Score bounded search (Cazenave and Saffidine, 2010) with any rule but Gumbel's.

    Each edge has a lower and an upper bound of its value. They are backed up from ends of games: a node has the best
    bounds of its edges or, at a chance node, their means. No simulation takes an edge whose upper bound is not above
    the lower bound of another edge, or goes below an edge whose bounds are equal. Raises `ValueError` for Gumbel's.
    """

    rule: Rule

    def __post_init__(self) -> None:
        rule = check_rule("rule", self.rule)
        if rule.schedules_root:
            raise ValueError("gumbel shares out its visits by a schedule and cannot be bounded: use puct")
        attributes = {name: getattr(rule, name) for name in SAME} | {
            "edge_fields": (*rule.edge_fields, "lower", "upper"),
            "initial": (*rule.initial, ("lower", -1.0), ("upper", 1.0)),  # from a loss to a win
            "statistics": (*rule.statistics, Bounds()),
            "root_merges": (*rule.root_merges, ("lower", jnp.max), ("upper", jnp.min)),  # the tightest bounds
        }
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    @override
    def score(self, nodes: Nodes) -> Score:
        # The rule's score if the upper bound beats the best lower bound; otherwise the edge with that bound is best.
        score, best_lower = self.rule.score(nodes), _best_lower(nodes)
        # More simulations of a proven edge teach nothing: it is taken only if no other is left.
        return lambda edges: jnp.where(
            edges.upper > best_lower, score(edges), jnp.where(edges.lower >= best_lower, PRUNED / 2, PRUNED)
        )

    @override
    def preference(self, nodes: Nodes) -> Score:
        return _among_the_best(nodes, self.rule.preference(nodes))

    @override
    def mean_preference(self, nodes: Nodes) -> Score:
        return _among_the_best(nodes, self.rule.mean_preference(nodes))

    @override
    def with_numbers(self, numbers: Mapping[str, Any]) -> Self:
        return self._with(rule=self.rule.with_numbers(numbers))

    @override
    def weights(self, nodes: Nodes) -> Score:
        weights, may_be_best = self.rule.weights(nodes), _may_be_best(nodes)
        return lambda edges: jnp.where(may_be_best(edges), jnp.maximum(weights(edges), 1e-6), 0)

    @override
    def proven_edge(
        self, tree: Tree, row: Int32[Array, " n"], edge: Int32[Array, " n"]
    ) -> tuple[Bool[Array, " n"], Float32[Array, " n"]]:
        # An edge is proven when its bounds meet.
        lower, upper = tree.edge("lower", row, edge), tree.edge("upper", row, edge)
        return lower == upper, lower

    @override
    def proven_node(self, nodes: Nodes) -> tuple[Bool[Array, "..."], Float32[Array, "..."]]:
        # A node is proven when the best bounds of its edges meet.
        lower = _best_lower(nodes)
        return lower == nodes.max(lambda edges: jnp.where(edges.legal, edges.upper, -jnp.inf)), lower


def _best_lower(nodes: Nodes) -> Array:
    """The greatest lower bound of the edges."""
    return nodes.max(lambda edges: jnp.where(edges.legal, edges.lower, -jnp.inf))


def _among_the_best(nodes: Nodes, score: Score) -> Score:
    """A score of edges that may be best; the scores of others are far below."""
    may_be_best = _may_be_best(nodes)
    return lambda edges: jnp.where(may_be_best(edges), score(edges), PRUNED)


def _may_be_best(nodes: Nodes) -> Score:
    """Whether the upper bound of an edge beats the best lower bound, or the edge has that bound."""
    best_lower = _best_lower(nodes)
    return lambda edges: (edges.upper > best_lower) | (edges.lower >= best_lower)
