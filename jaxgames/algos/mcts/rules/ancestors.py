"""Update-all: on a graph a simulation also counts for the ancestors of its path that it did not pass."""

import dataclasses
from typing import Any

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32

from jaxgames.algos.mcts.path import EvaluatedLeaf, Level
from jaxgames.algos.mcts.tree import Tree
from jaxgames.ops import checks

UPDATES = ("descend", "all")
"""Which edges learn of a simulation: those of its path, or all that lead to a node of it, and so on up to the root."""


@dataclasses.dataclass(frozen=True)
class UpdateAll:
    """Adds the leaf's value to every edge from which its node can be reached, each once (Childs et al., 2008).

    Goes through the whole tree as often as the graph is deep, so it is for research and small trees. What it carries
    upwards: for each lane and slot, the edge that was taken there, -1 for none, and -2 at the leaf's node.
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


def check_update(update: str) -> str:
    """Raises `ValueError` for an unknown way to update."""
    return checks.choice("update", update, UPDATES)
