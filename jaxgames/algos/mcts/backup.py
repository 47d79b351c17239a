"""Up the trees again: what a simulation found is added to every edge of its path."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.select import Stage
from jaxgames.algos.mcts.tree import MOST_NUMBERS, Layout, Tree

Carry = TypeVar("Carry")


class Level(NamedTuple):
    """One depth of the paths of some lanes: the node and the edge taken there, `on` where the path has one.

    `place` is that of the edge's visits in `Tree.flat`. Where there is none `place` and `row` lie beyond the end, so
    that what is written there is dropped.
    """

    on: Bool[Array, " lanes"]
    place: Int32[Array, " lanes"]
    row: Int32[Array, " lanes"]
    edge: Int32[Array, " lanes"]
    other: Bool[Array, " lanes"]


class Leaf(NamedTuple):
    """What the lanes came to: the row of the leaf's node, beyond all rows if it has none, and if it was `created` now;
    whether its player to act is not the one at the root.

    `value` is what it is worth to the player at the root, `exact` if that is proven. `played` are the actions by which
    the evaluator went on, as sets of bits, of the player at the root and of the other.
    """

    row: Int32[Array, " batch"]
    created: Bool[Array, " batch"]
    other: Bool[Array, " batch"]
    value: Float32[Array, " batch"]
    exact: Bool[Array, " batch"]
    played: UInt32[Array, "batch 2 words"] | None


class Statistic(Protocol):
    """What a rule keeps of simulations besides visits and totals, from the leaf up: functions on `Tree.edges`."""

    def begin(self, tree: Tree, edges: Array, leaf: Leaf) -> tuple[Array, Any]:
        """Brings the leaf's own node up to date, and says what a lane carries upwards: arrays, first axis lanes."""
        ...

    def update(self, tree: Tree, edges: Array, level: Level, value: Array, carried: Any) -> tuple[Array, Any]:
        """Brings a level up to date, after its visits and totals, and says what is carried further up.

        `value` is that of the leaf to the player at the root.
        """
        ...


def over_levels(
    layout: Layout,
    stages: list[Stage],
    step: Callable[[Carry, Any, Level], tuple[Carry, Any]],
    carry: Carry,
    lanes: Any,
    *,
    down: bool = False,
) -> tuple[Carry, Any]:
    """`step(carry, lanes, level)` at all depths of paths, from the deepest to the root or from the root `down`.

    `lanes` are arrays with an axis of lanes; `step` gets and returns those of the lanes of a level.
    """
    for stage in stages if down else reversed(stages):
        some = lanes if stage is stages[0] else jax.tree.map(lambda x, which=stage.lanes: x[which], lanes)

        def one(state, stage=stage):
            depth, carry, some = state
            edge, other = (lax.dynamic_index_in_dim(x, depth, 0, keepdims=False) for x in stage.path)
            on = edge >= 0
            place, row = (jnp.where(on, x, jnp.int32(MOST_NUMBERS - 1)) for x in (edge, edge // layout.columns))
            level = Level(on, place, row, edge % layout.columns, other)
            return depth + (1 if down else -1), *step(carry, some, level)

        def more(state, stage=stage):
            return (state[0] < stage.end) if down else (state[0] >= stage.begin)

        _, carry, some = lax.while_loop(more, one, (stage.begin if down else stage.end - 1, carry, some))
        if stage is not stages[0]:
            # A stage has places for more lanes than go on in it; these repeat the last lane, and nothing befell them.
            took = stage.path.edge.at[stage.begin].get(mode="clip") >= 0
            took = took & (stage.end > stage.begin)
            place = jnp.where(took, stage.lanes, len(jax.tree.leaves(lanes)[0]))
            lanes = jax.tree.map(lambda x, y, at=place: x.at[at].set(y, mode="drop"), lanes, some)
        else:
            lanes = some
    return carry, lanes


def backup(
    tree: Tree, statistics: tuple[Statistic, ...], stages: list[Stage], leaf: Leaf, in_kernel: bool = False
) -> Tree:
    """The trees with one more visit of every edge of the paths."""
    layout = tree.layout
    totals = layout.column("totals")
    if in_kernel and not statistics:
        return tree.replace(edges=_lane_by_lane(tree.flat, totals, stages, leaf.value).reshape(tree.edges.shape))

    def step(edges, lanes, level):
        value, carried = lanes
        gain = jnp.where(level.other, -value, value)
        flat = edges.reshape(-1).at[level.place].add(1.0, mode="drop")
        below = jnp.where(level.on, level.place + totals, level.place)
        edges = flat.at[below].add(gain, mode="drop").reshape(edges.shape)
        after = []
        for statistic, old in zip(statistics, carried, strict=True):
            edges, new = statistic.update(tree, edges, level, value, old)
            after.append(new)
        return edges, (value, after)

    edges, carried = tree.edges, []
    for statistic in statistics:
        edges, new = statistic.begin(tree, edges, leaf)
        carried.append(new)
    edges, _ = over_levels(layout, stages, step, edges, (leaf.value, carried))
    return tree.replace(edges=edges)


def _lane_by_lane(
    flat: Float32[Array, " numbers"], totals: int, stages: list[Stage], value: Float32[Array, " batch"]
) -> Float32[Array, " numbers"]:
    """Visits and totals brought up to date by loops over lanes and over the depths of their paths, for a kernel."""

    def added(flat, place, more):
        return lax.dynamic_update_slice(flat, lax.dynamic_slice(flat, (place,), (1,)) + more, (place,))

    for stage in stages:

        def of_lane(lane, flat, stage=stage):
            worth = lax.dynamic_slice(value, (stage.lanes[lane],), (1,))

            def at(rows, depth):
                return lax.dynamic_slice(rows, (depth, lane), (1, 1))[0]

            def one(carry):
                depth, flat = carry
                place = at(stage.path.edge, depth)[0]
                gain = jnp.where(at(stage.path.other, depth), -worth, worth)
                return depth + 1, added(added(flat, place, jnp.float32(1)), place + totals, gain)

            def more(carry):
                return (carry[0] < stage.end) & (at(stage.path.edge, carry[0])[0] >= 0)

            return lax.while_loop(more, one, (stage.begin, flat))[1]

        flat = lax.fori_loop(0, len(stage.lanes), of_lane, flat)
    return flat
