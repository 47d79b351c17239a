"""The way of one simulation: the path from the root, and the leaf at its end."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts import kernel
from jaxgames.algos.mcts.tree import MAX_NUMBERS, Layout, Tree

Carry = TypeVar("Carry")


NO_EDGE = np.uint32(2**32 - 1)
"""The word of a path at depths beyond the lane's leaf."""


def path_word(place: Int32[Array, " lanes"], opponent_to_move: Bool[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    """The edges that lanes take: their `row * columns + edge`, and whether the opponent of the root's player acts."""
    return (place.astype(jnp.uint32) << 1) | opponent_to_move.astype(jnp.uint32)


def place_of(word: UInt32[Array, "..."]) -> Int32[Array, "..."]:
    """The `row * columns + edge` of an edge on a path."""
    return (word >> 1).astype(jnp.int32)


def is_opponents(word: UInt32[Array, "..."]) -> Bool[Array, "..."]:
    """Whether the player to act at the node of an edge on a path is not the one at the root."""
    return word & 1 != 0


class Segment(NamedTuple):
    """The path of some lanes that went down together from depth `begin` to depth `end`: a `path_word` for each depth,
    `NO_EDGE` beyond the lane's leaf.
    """

    lanes: Int32[Array, " lanes"]
    begin: Int32[Array, ""]
    end: Int32[Array, ""]
    path: UInt32[Array, "depths lanes"]


class Level(NamedTuple):
    """One depth of the path of some lanes: the node in `row` and the edge taken there.

    `on_path` says whether the lane's path is this deep. If not, `row` and `visits_index` are beyond the end, so
    that writes there are dropped. `visits_index` is the place of the edge's visits in `Tree.flat`.
    """

    on_path: Bool[Array, " lanes"]
    visits_index: Int32[Array, " lanes"]
    row: Int32[Array, " lanes"]
    edge: Int32[Array, " lanes"]
    opponent_to_move: Bool[Array, " lanes"]


class SelectedLeaf(NamedTuple):
    """Where each lane of a batch left its tree, and the position there, seen by its player to act.

    Attributes:
        position: the positions beyond the trees, a pytree whose first axis is the batch.
        opponent_to_move: whether the player to act is not the one at the root.
        amaf_key: the `Game.amaf_key` of the last action; 0 at the root and below a roll of chance.
        needs_eval: which leaves need a value from the evaluator.
        exact_value: the value of all others, to the player at the root.
        bits: random bits for the evaluator.
        path: the segments of the path; none at the root.
        tree: the trees before this simulation; None until the evaluator is called.
        row, edge: the node and the edge by which the lane left the tree.
        child: where that edge led.
        is_unexpanded: whether the edge has had no visit.
        is_end: whether the game ends by the edge.
        is_exact: whether `exact_value` is proven.
        slot: the number of slots taken so far.
    """

    position: Any
    opponent_to_move: Bool[Array, " batch"]
    amaf_key: UInt32[Array, "batch words"]
    needs_eval: Bool[Array, " batch"]
    exact_value: Float32[Array, " batch"]
    bits: UInt32[Array, " batch"]
    path: list[Segment]
    tree: Tree | None
    row: Int32[Array, " batch"]
    edge: Int32[Array, " batch"]
    child: Float32[Array, " batch"]
    is_unexpanded: Bool[Array, " batch"]
    is_end: Bool[Array, " batch"]
    is_exact: Bool[Array, " batch"]
    slot: Int32[Array, ""]


class EvaluatedLeaf(NamedTuple):
    """The leaf of each lane after its evaluation, for the way up the tree.

    Attributes:
        row: the row of its node; beyond all rows if it has none.
        is_new: whether this simulation made the node.
        opponent_to_move: whether the player to act is not the one at the root.
        value: what it is worth to the player at the root.
        is_exact: whether that is proven.
        played: the AMAF keys of the actions by which the evaluator played on, as sets of bits: those of the player at
            the root, then those of the opponent.
    """

    row: Int32[Array, " batch"]
    is_new: Bool[Array, " batch"]
    opponent_to_move: Bool[Array, " batch"]
    value: Float32[Array, " batch"]
    is_exact: Bool[Array, " batch"]
    played: UInt32[Array, "batch 2 words"] | None


def over_levels(
    layout: Layout,
    segments: list[Segment],
    step: Callable[[Carry, Any, Level], tuple[Carry, Any]],
    carry: Carry,
    lanes: Any,
    *,
    down: bool = False,
) -> tuple[Carry, Any]:
    """Runs `step(carry, lanes, level)` at every depth of the paths, from the deepest one to the root.

    Args:
        layout: the layout of the tree.
        segments: the segments of the paths.
        step: gets `lanes` of the lanes on this level only, and returns the carry and those lanes' new values.
        carry: what is handed from level to level.
        lanes: a pytree of arrays whose first axis is the batch.
        down: whether to go from the root down instead.
    """

    def along(segment: Segment, carry: Carry, some: Any) -> tuple[Carry, Any]:
        def one(state):
            depth, carry, some = state
            word = lax.dynamic_index_in_dim(segment.path, depth, 0, keepdims=False)
            on_path, place = word != NO_EDGE, place_of(word)
            index, row = (jnp.where(on_path, x, jnp.int32(MAX_NUMBERS - 1)) for x in (place, place // layout.columns))
            level = Level(on_path, index, row, place % layout.columns, is_opponents(word))
            return depth + (1 if down else -1), *step(carry, some, level)

        def more(state):
            return (state[0] < segment.end) if down else (state[0] >= segment.begin)

        begin = segment.begin if down else segment.end - 1
        result: tuple[Carry, Any] = lax.while_loop(more, one, (begin, carry, some))[1:]
        return result

    def of_few(segment: Segment, carry: Carry, lanes: Any) -> tuple[Carry, Any]:
        carry, some = along(segment, carry, jax.tree.map(lambda x: x[segment.lanes], lanes))
        # A segment has room for more lanes than went on in it. The others repeat the last lane, and change nothing.
        took = segment.path.at[segment.begin].get(mode="clip") != NO_EDGE
        took = took & (segment.end > segment.begin)
        place = jnp.where(took, segment.lanes, len(jax.tree.leaves(lanes)[0]))
        return carry, jax.tree.map(lambda x, y: x.at[place].set(y, mode="drop"), lanes, some)

    def of_nobody(segment: Segment, carry: Carry, lanes: Any) -> tuple[Carry, Any]:
        return carry, lanes

    for segment in segments if down else reversed(segments):
        if segment is segments[0]:
            carry, lanes = along(segment, carry, lanes)
        else:  # only a CPU lets few lanes go on by themselves
            carry, lanes = kernel.by_device(of_few, of_nobody, segment, carry, lanes)
    return carry, lanes
