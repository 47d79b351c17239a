"""Down the trees: all lanes of a batch together, level by level, until each has come to its leaf."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts import kernel
from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.tree import UNEXPANDED, Tree
from jaxgames.ops.materialize import materialize
from jaxgames.ops.random_bits import fold_in

RATIO, FEWEST, FEWEST_IN_KERNEL = 8, 32, 8
"""When this part of the lanes is left they go on alone, if they are at least so many."""


class Path(NamedTuple):
    """The edges that lanes took, one row for each depth: `row * columns + edge`, or -1 where a lane had come to its
    leaf, and whether the player to act was not the one at the root.
    """

    edge: Int32[Array, "depths lanes"]
    other: Bool[Array, "depths lanes"]


class Stage(NamedTuple):
    """Some lanes that went on together from depth `begin` to depth `end`, and their path."""

    lanes: Int32[Array, " lanes"]
    begin: Int32[Array, ""]
    end: Int32[Array, ""]
    path: Path


class Descent(NamedTuple):
    """Where lanes are: at an edge of the node in `row`, which leads to `child`; `active` ones go on from `row`."""

    depth: Int32[Array, ""]
    row: Int32[Array, " lanes"]
    edge: Int32[Array, " lanes"]
    child: Float32[Array, " lanes"]
    active: Bool[Array, " lanes"]


def paths(batch: int, max_depth: int, in_kernel: bool) -> list[Path]:
    """Room for the paths of a descent, for all lanes and for the fewer ones that go deep."""
    sizes, fewest = [batch], FEWEST_IN_KERNEL if in_kernel else FEWEST
    while sizes[-1] >= RATIO * fewest:
        sizes.append(sizes[-1] // RATIO)
    return [Path(jnp.zeros((max_depth, size), jnp.int32), jnp.zeros((max_depth, size), bool)) for size in sizes]


def descend(
    rule: Any, tree: Tree, words: UInt32[Array, " batch"], room: list[Path], in_kernel: bool = False
) -> tuple[Descent, list[Stage]]:
    """The edge by which each lane leaves its tree, and the way there.

    The first lanes to arrive would wait for the last ones, and paths of a batch differ much in length: when an eighth
    of the lanes is left, these go on alone, as a smaller batch.
    """
    lanes = jnp.arange(tree.batch, dtype=jnp.int32)
    start = Descent(jnp.int32(0), lanes, jnp.zeros_like(lanes), jnp.full(tree.batch, UNEXPANDED), tree.alive)
    return _descend(rule, tree, words, room, lanes, start, in_kernel)


def _descend(
    rule: Any,
    tree: Tree,
    words: UInt32[Array, " lanes"],
    room: list[Path],
    lanes: Int32[Array, " lanes"],
    start: Descent,
    in_kernel: bool,
) -> tuple[Descent, list[Stage]]:
    last = len(room) == 1
    few = 0 if last else len(lanes) // RATIO
    max_depth = len(room[0].edge)

    def more(carry):
        return (carry[0].depth < max_depth) & (jnp.sum(carry[0].active, dtype=jnp.int32) > few)

    def step(carry):
        at, path = carry
        edge, child, other, settled = _choose(rule, tree, at, fold_in(words, at.depth))
        taken = jnp.where(at.active, at.row * tree.layout.columns + edge, -1)
        path = Path(_row_set(path.edge, taken, at.depth), _row_set(path.other, other, at.depth))
        edge, child = jnp.where(at.active, edge, at.edge), jnp.where(at.active, child, at.child)
        active = at.active & (child >= 0) & ~settled & (at.depth + 1 < max_depth)
        row = jnp.where(active, child.astype(jnp.int32) * tree.batch + lanes, at.row)
        return Descent(at.depth + 1, row, edge, child, active), path

    at, path = lax.while_loop(more, step, (start, room[0]))
    stages = [Stage(lanes, start.depth, at.depth, path)]
    if last:
        return at, stages
    left = kernel.numbers_of(at.active, few, in_kernel)
    some = jax.tree.map(lambda x: x[jnp.minimum(left, len(lanes) - 1)], (lanes, words, at.row, at.edge, at.child))
    some_lanes, some_words, row, edge, child = some
    begun = Descent(at.depth, row, edge, child, left < len(lanes))
    end, rest = _descend(rule, tree, some_words, room[1:], some_lanes, begun, in_kernel)
    row, edge, child = (
        kernel.scattered(x, left, y, in_kernel)
        for x, y in zip((at.row, at.edge, at.child), (end.row, end.edge, end.child), strict=True)
    )
    return Descent(end.depth, row, edge, child, at.active), stages + rest


def _choose(
    rule: Any, tree: Tree, at: Descent, words: UInt32[Array, " lanes"]
) -> tuple[Int32[Array, " lanes"], Float32[Array, " lanes"], Bool[Array, " lanes"], Bool[Array, " lanes"]]:
    """The edge of the highest score or, where chance decides, a drawn one; and what is known of it."""
    layout = tree.layout
    nodes = Nodes(tree, at.row, tree.edges.at[at.row].get(mode="promise_in_bounds"), words)
    if rule.plans:  # at depth 0 all lanes are at their roots
        edge = lax.cond(at.depth == 0, lambda: nodes.best(rule.root_score), lambda: nodes.best(rule.score))
    else:
        edge = nodes.best(rule.score)
    if layout.game.outcome_probabilities:
        drawn = layout.game.draw_outcome(fold_in(words, layout.num_edges))
        edge = jnp.where(layout.read(nodes.rows, "awaits") != 0, drawn, edge)
    edge = materialize(edge, words)  # else all that follows is computed with the scores anew

    def known(name):
        return tree.flat.at[at.row * layout.columns + layout.column(name) + edge].get(mode="promise_in_bounds")

    settled = jnp.zeros_like(at.active)
    if "lower" in layout.edge_fields:
        settled = known("lower") == known("upper")
    return edge, known("child"), layout.read(nodes.rows, "other") != 0, settled


def _row_set(array: Array, row: Array, depth: Int32[Array, ""]) -> Array:
    return lax.dynamic_update_slice_in_dim(array, row[None], depth, 0)
