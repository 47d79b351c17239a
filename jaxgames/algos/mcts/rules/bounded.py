"""Score bounded search: what is proven about a position is kept, and what cannot matter any more is pruned."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxgames.algos.mcts.backup import Leaf, Level
from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.rules.rule import Rule, Score
from jaxgames.algos.mcts.tree import ILLEGAL, Tree

PRUNED = np.float32(-1e30)
"""The score of a pruned edge: above that of one there is not."""


@dataclasses.dataclass(frozen=True)
class Bounds:
    """What each edge is worth at least and at most, to the player to act."""

    def begin(self, tree: Tree, edges: Array, leaf: Leaf) -> tuple[Array, Any]:
        """What is known of the leaf, to the player at the root: its value, or only what a game is worth at most."""
        most = jnp.float32(tree.layout.game.max_reward)
        return edges, tuple(jnp.where(leaf.exact, leaf.value, bound) for bound in (-most, most))

    def update(self, tree: Tree, edges: Array, level: Level, value: Array, carried: Any) -> tuple[Array, Any]:
        """The bounds of the edge, and of its node."""
        layout, (low, high) = tree.layout, carried
        low, high = jnp.where(level.other, -high, low), jnp.where(level.other, -low, high)
        rows = edges.at[level.row].get(mode="clip")
        taken = level.edge[:, None] == jnp.arange(layout.num_edges, dtype=jnp.int32)[None, :]
        lower = jnp.where(taken, jnp.maximum(layout.read(rows, "lower"), low[:, None]), layout.read(rows, "lower"))
        upper = jnp.where(taken, jnp.minimum(layout.read(rows, "upper"), high[:, None]), layout.read(rows, "upper"))
        first = layout.column("lower")
        new = jnp.concatenate([lower, upper], axis=1)
        edges = edges.at[level.row, first : first + new.shape[1]].set(new, mode="drop")
        legal, chances = layout.read(rows, "child") != ILLEGAL, layout.game.outcome_probabilities
        node = [jnp.max(jnp.where(legal, bound, -jnp.inf), axis=1) for bound in (lower, upper)]
        if chances:
            chance = jnp.asarray(np.array(chances, np.float32))
            drawn = layout.read(rows, "awaits") != 0
            node = [
                jnp.where(drawn, bound[:, : len(chances)] @ chance, best)
                for bound, best in zip((lower, upper), node, strict=True)
            ]
        above = jnp.where(level.other, -node[1], node[0]), jnp.where(level.other, -node[0], node[1])
        return edges, tuple(jnp.where(level.on, new, old) for new, old in zip(above, carried, strict=True))


@dataclasses.dataclass(frozen=True)
class Bounded(Rule):
    """See `bounded`."""

    rule: Rule

    @property
    def edge_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of the rule, and the bounds."""
        return (*self.rule.edge_fields, "lower", "upper")

    @property
    def node_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of the rule."""
        return self.rule.node_fields

    @property
    def initial(self) -> tuple[tuple[str, float], ...]:  # type: ignore[override]
        """Nothing is known."""
        return (*self.rule.initial, ("lower", -1.0), ("upper", 1.0))

    @property
    def statistics(self) -> tuple[Any, ...]:  # type: ignore[override]
        """Those of the rule, and the bounds."""
        return (*self.rule.statistics, Bounds())

    @property
    def needs_policy(self) -> bool:  # type: ignore[override]
        """As the rule."""
        return self.rule.needs_policy

    @property
    def shares(self) -> str:  # type: ignore[override]
        """As the rule."""
        return self.rule.shares

    def score(self, nodes: Nodes) -> Score:
        """That of the rule for edges that may be better than what is sure, then that which is sure, then the others."""
        score, sure = self.rule.score(nodes), _sure(nodes)
        # More simulations of a settled edge would teach nothing: it is taken where no other is left.
        return lambda edges: jnp.where(
            edges.upper > sure, score(edges), jnp.where(edges.lower >= sure, PRUNED / 2, PRUNED)
        )

    def preference(self, nodes: Nodes) -> Score:
        """That of the rule, among edges that may be best."""
        score, matters = self.rule.preference(nodes), _matters(nodes)
        return lambda edges: jnp.where(matters(edges), score(edges), PRUNED)

    def weights(self, nodes: Nodes) -> Score:
        """Those of the rule, of edges that may be best."""
        weights, matters = self.rule.weights(nodes), _matters(nodes)
        return lambda edges: jnp.where(matters(edges), jnp.maximum(weights(edges), 1e-6), 0)


def bounded(rule: Rule) -> Bounded:
    """Score bounded search (Cazenave and Saffidine, 2010) with any rule but Gumbel's.

    Each edge has a value that it is worth at least, and one that it is worth at most, from ends of games upwards: by
    the best of a node's edges, and by the mean over outcomes of chance. A simulation neither takes an edge that cannot
    be better than what another one is sure to be worth, nor goes on below one whose bounds are equal.
    """
    if rule.plans:
        raise ValueError("gumbel shares out its visits by a plan and cannot be bounded: use puct")
    return Bounded(rule)


def _sure(nodes: Nodes) -> Array:
    """What the best edge is worth at least."""
    return nodes.max(lambda edges: jnp.where(edges.legal, edges.lower, -jnp.inf))


def _matters(nodes: Nodes) -> Score:
    """Whether an edge may be worth more than all others are sure to be, or is the one that is."""
    sure = _sure(nodes)
    return lambda edges: (edges.upper > sure) | (edges.lower >= sure)
