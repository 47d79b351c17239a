"""Simulations one after the other: select a leaf, evaluate it, add it to the tree, and back its value up.

All lanes of a batch, one for each tree, go through each step together.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts import kernel, table
from jaxgames.algos.mcts.edge import edge_discount, play_edge
from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Evaluator, empty_key_sets, evaluated
from jaxgames.algos.mcts.init import init_rows, masked_softmax
from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.path import (
    NO_EDGE,
    EvaluatedLeaf,
    Segment,
    SelectedLeaf,
    is_opponents,
    over_levels,
    path_word,
    place_of,
)
from jaxgames.algos.mcts.rules.rule import Rule, Score
from jaxgames.algos.mcts.tree import ENDED, UNEXPANDED, Tree, set_slot, unwrap
from jaxgames.envs.core import Game
from jaxgames.ops import clock, loops
from jaxgames.ops.materialize import materialize, order_after
from jaxgames.ops.random_bits import fold_in
from jaxgames.ops.scatter import add_rows

Buffer = UInt32[Array, "depths _"]
RATIO, FEWEST, FEWEST_IN_KERNEL = 8, 32, 8
"""When only 1 / RATIO of the lanes is still going down, these go on alone, if they are at least so many."""


def simulate(
    rule: Rule,
    evaluate: Evaluator,
    tree: Tree,
    memory: Any,
    num_simulations: int | UInt32[Array, ""],
    max_depth: int,
    done: int | UInt32[Array, ""] = 0,
    discount: float = 1.0,
) -> tuple[Tree, Any]:
    """Runs `num_simulations` simulations in each tree.

    Args:
        rule: the selection rule, scheduled for this number of simulations.
        evaluate: the evaluator of leaves.
        tree: the trees so far.
        memory: what the evaluator has learned so far.
        num_simulations: simulations to be added to each tree.
        max_depth: the most edges of a path.
        done: simulations of this search that were run before.
        discount: what a point is worth one action earlier; rolls of chance are none.

    Returns:
        The trees, and the evaluator's memory.
    """
    small = kernel.is_small(tree.batch, tree.layout.num_edges)
    first, last = jnp.uint32(done) + 1, jnp.uint32(done) + jnp.uint32(num_simulations)
    begun = tree.used

    def used(number):
        # Each simulation takes a slot. It is computed from the only counter: a second counter would be another kernel.
        return jnp.minimum(begun + (number - first).astype(jnp.int32), tree.capacity)

    def one(carry):
        number, tree, buffers, memory = carry

        def go_down(buffers):
            return select(rule, tree.replace(used=used(number)), number, buffers)

        # 1. Select: every lane goes down its tree to a leaf.
        leaf = kernel.run(small, go_down, buffers)
        # 2. Evaluate: what the leaves are worth, all in one batch.
        leaf_in_tree = leaf._replace(tree=tree.replace(used=used(number)))
        evaluation, memory = evaluated(evaluate, tree.layout.game, leaf_in_tree, memory, rule.wants_played)

        def learn(edges, position, had_nan):
            edges = edges.reshape(tree.edges.shape)
            before = tree.replace(edges=edges, position=position, had_nan=had_nan)
            after = expand_and_backup(before, leaf, evaluation, discount)
            return after.replace(edges=after.flat, used=tree.used)

        # 3. Expand and back up: the leaves become nodes, and their values go up the paths. In place: the trees' arrays
        # are arguments of the kernel.
        after = kernel.run(small, learn, tree.flat, tree.position, tree.had_nan)
        after = after.replace(edges=after.edges.reshape(tree.edges.shape))
        return number + 1, after, [segment.path for segment in leaf.path], memory

    # On a GPU, XLA would choose the tree's layout for its roots, made before the loop, and transpose it in each
    # iteration.
    edges = kernel.by_device(lambda edges: edges, _row_after_row, tree.edges)
    carry = (first, tree.replace(edges=edges), _path_buffers(tree.batch, max_depth, small), memory)
    number, tree, _, memory = lax.while_loop(lambda carry: carry[0] <= last, one, carry)
    return tree.replace(used=used(number)), memory


def _row_after_row(matrix: Array) -> Array:
    return lax.optimization_barrier(matrix.reshape(-1)).reshape(matrix.shape)


SPARE = 0.25
"""The part of the remaining time for the simulations until the next look at the clock."""


def simulate_for(
    rule: Rule,
    evaluate: Evaluator,
    tree: Tree,
    memory: Any,
    seconds: float,
    start: UInt32[Array, ""],
    max_depth: int,
    discount: float = 1.0,
) -> tuple[Tree, Any]:
    """As `simulate`, until `seconds` have passed since `start` (`clock.microseconds`); at least one simulation.

    After each look at the clock it runs as many simulations as take a quarter of the remaining time, at the speed so
    far, but at most twice as many as before: so a longer path or a busy machine costs little time.
    """
    budget = jnp.float32(seconds * 1e6)

    def some(carry):
        done, count, _, tree, memory = carry
        tree, memory = simulate(rule, evaluate, tree, memory, count, max_depth, done, discount)
        done = done + count
        passed = (clock.microseconds(tree.used) - start).astype(jnp.float32)
        rate = done.astype(jnp.float32) / jnp.maximum(passed, 1)
        fits = jnp.clip(SPARE * (budget - passed) * rate, 1, 2.0 * count.astype(jnp.float32))
        return done, fits.astype(jnp.uint32), passed, tree, memory

    def more(carry):
        done, count, passed, *_ = carry
        need = passed * count.astype(jnp.float32) / jnp.maximum(done, 1).astype(jnp.float32)
        return (done == 0) | (passed + need < budget)

    begin = (jnp.uint32(0), jnp.uint32(1), jnp.float32(0), tree, memory)
    *_, tree, memory = lax.while_loop(more, some, begin)
    return tree, memory


def evaluate_root(evaluate: Evaluator, tree: Tree, memory: Any, noise: Any) -> tuple[Tree, Any]:
    """The trees with the policy at their roots, if the rule needs one; and the evaluator's memory."""
    layout, batch = tree.layout, tree.batch
    game = layout.game
    if not layout.rule.needs_policy:
        return tree, memory
    position, bits = jax.tree.map(lambda x: x[:batch], tree.position), fold_in(tree.bits, 0)
    no, zero, lanes = jnp.zeros(batch, bool), jnp.zeros(batch, jnp.float32), jnp.arange(batch, dtype=jnp.int32)
    leaf = SelectedLeaf(
        position=position,
        opponent_to_move=no,
        amaf_key=empty_key_sets(game, position)[:, 0],
        needs_eval=tree.alive,
        exact_value=zero,
        bits=bits,
        path=[],
        tree=tree,
        row=lanes,
        edge=jnp.zeros_like(lanes),
        child=zero,
        is_unexpanded=no,
        is_end=no,
        is_exact=~tree.alive,
        slot=tree.used,
    )
    evaluation, memory = evaluated(evaluate, game, leaf, memory, False)
    evaluation, is_nan = sanitize(layout.rule, leaf, game, evaluation)
    legal = jax.vmap(game.legal)(position)
    prior = masked_softmax(unwrap(evaluation.logits), legal)
    if noise is not None:
        prior = noise.mix(prior, legal, bits)
    first = layout.column("prior")
    edges = lax.dynamic_update_slice(tree.edges, prior, (0, first))
    edges = lax.dynamic_update_slice(edges, evaluation.value[:, None], (0, layout.column("raw_value")))
    return tree.replace(edges=edges, had_nan=tree.had_nan | is_nan), memory


# Select ---------------------------------------------------------------------------------------------------------------


def select(rule: Rule, tree: Tree, number: UInt32[Array, ""], buffers: list[Buffer]) -> SelectedLeaf:
    """Simulation `number` down the trees, and the step by which each lane leaves its tree."""
    # Down to the edge by which each lane leaves its tree.
    game, bits = tree.layout.game, fold_in(tree.bits, number)
    lanes = jnp.arange(tree.batch, dtype=jnp.int32)
    start = _Walk(lanes, jnp.zeros_like(lanes), jnp.full(tree.batch, UNEXPANDED, jnp.float32), tree.alive)
    start = jax.tree.map(lambda x: materialize(x, tree.bits), start)
    end, path = _walk_down(rule, tree, bits, buffers, lanes, start, jnp.int32(0), from_root=True)

    # One step beyond the tree. Materialized: if XLA could read the tree again after writing to it, it would copy the
    # tree in each simulation.
    opponent_acts = materialize(tree.node("opponent_to_move", end.row) != 0, tree.bits)
    before = jax.tree.map(lambda x: materialize(x[end.row], tree.bits), tree.position)
    is_chance = materialize(tree.node("is_chance", end.row) != 0, tree.bits)
    position, turn_passes, is_end, value, amaf_key = play_edge(game, before, end.edge, is_chance)

    # What needs no evaluation: ends of games, and edges whose value the rule has proven.
    is_exact = is_end
    proven = rule.proven_edge(tree, end.row, end.edge)
    if proven is not None:
        is_proven, proven_value = proven
        value, is_exact = jnp.where(is_end, value, proven_value), is_end | is_proven
    return SelectedLeaf(
        position=position,
        opponent_to_move=opponent_acts ^ turn_passes,
        amaf_key=amaf_key,
        needs_eval=tree.alive & ~is_exact,
        exact_value=jnp.where(is_exact, jnp.where(opponent_acts, -value, value), 0),
        bits=fold_in(bits, 2**31),
        path=path,
        tree=None,
        row=end.row,
        edge=end.edge,
        child=end.child,
        is_unexpanded=tree.alive & (end.child == UNEXPANDED),
        is_end=is_end,
        is_exact=is_exact,
        # All arrays, as arrays of a position may be computed from each other, for example when sides change.
        slot=order_after(tree.used, jax.tree.leaves(before)),
    )


class _Walk(NamedTuple):
    """Lanes on their way down: each at an edge of the node in `row`, which leads to `child`; `active` ones go on."""

    row: Int32[Array, " lanes"]
    edge: Int32[Array, " lanes"]
    child: Float32[Array, " lanes"]
    active: Bool[Array, " lanes"]


def _path_buffers(batch: int, max_depth: int, small: bool) -> list[Buffer]:
    """Room for the paths of all lanes, and for those of the few lanes that go deep."""
    sizes, fewest = [batch], FEWEST_IN_KERNEL if small else FEWEST
    while sizes[-1] >= RATIO * fewest:
        sizes.append(sizes[-1] // RATIO)
    return [jnp.zeros((max_depth, size), jnp.uint32) for size in sizes]


def _walk_down(
    rule: Rule,
    tree: Tree,
    bits: UInt32[Array, " lanes"],
    buffers: list[Buffer],
    lanes: Int32[Array, " lanes"],
    start: _Walk,
    begin: Int32[Array, ""],
    from_root: bool,
) -> tuple[_Walk, list[Segment]]:
    """Goes down until each lane is at the edge by which it leaves its tree.

    The paths of a batch differ much in length, and lanes that have arrived wait for the others. So when only an eighth
    of the lanes is still going, these go on alone, as a smaller batch. Not on a GPU or TPU, where a step of few lanes
    takes as long as one of all.
    """
    size = 0 if len(buffers) == 1 else len(lanes) // RATIO
    few = kernel.by_device(lambda number: number, jnp.zeros_like, jnp.int32(size))
    max_depth = len(buffers[0])

    def more(carry):
        walk, depth, _ = carry
        return (depth < max_depth) & (jnp.sum(walk.active, dtype=jnp.int32) > few)

    def step(carry, score=rule.score):
        walk, depth, path = carry
        edge, child, opponent, is_proven = _choose_edge(rule, score, tree, walk, fold_in(bits, depth))
        word = jnp.where(walk.active, path_word(walk.row * tree.layout.columns + edge, opponent), NO_EDGE)
        edge, child = jnp.where(walk.active, edge, walk.edge), jnp.where(walk.active, child, walk.child)
        active = walk.active & (child >= 0) & ~is_proven & (depth < max_depth - 1)
        row = jnp.where(active, child.astype(jnp.int32) * tree.batch + lanes, walk.row)
        # Otherwise a GPU would compute it again where it is written, and keep copies of all arrays that it depends on.
        word = kernel.by_device(lambda word: word, lax.optimization_barrier, word)
        path = _set_row(path, word, depth)
        return _Walk(row, edge, child, active), depth + 1, path

    # All lanes, until few are left.
    carry = start, begin, buffers[0]
    if from_root and rule.schedules_root:
        carry = step(carry, rule.root_score)
    walk, depth, path = loops.while_loop(len(lanes), more, step, carry)
    segments = [Segment(lanes, begin, depth, path)]
    if size == 0:
        return walk, segments

    def go_on(walk, depth, buffers):
        # The few, as a batch of their own, with smaller buffers.
        left = kernel.nonzero(walk.active, size)
        of_all = lanes, bits, walk.row, walk.edge, walk.child
        some = jax.tree.map(lambda x: x[jnp.minimum(left, len(lanes) - 1)], of_all)
        some_lanes, some_bits, row, edge, child = some
        on_their_way = _Walk(row, edge, child, left < len(lanes))
        end, rest = _walk_down(rule, tree, some_bits, buffers, some_lanes, on_their_way, depth, from_root=False)
        # Where they came to, back in their lanes.
        row, edge, child = (
            kernel.scatter(x, left, y)
            for x, y in zip((walk.row, walk.edge, walk.child), (end.row, end.edge, end.child), strict=True)
        )
        return _Walk(row, edge, child, walk.active), rest

    def nobody(walk, depth, buffers):
        return walk, [Segment(jnp.zeros(one.shape[1], jnp.int32), depth, depth, one) for one in buffers]

    end, rest = kernel.by_device(go_on, nobody, walk, depth, buffers[1:])
    return end, segments + rest


def _choose_edge(
    rule: Rule, score: Callable[[Nodes], Score], tree: Tree, walk: _Walk, bits: UInt32[Array, " lanes"]
) -> tuple[Int32[Array, " lanes"], Float32[Array, " lanes"], Bool[Array, " lanes"], Bool[Array, " lanes"]]:
    """The edge of the highest score or, at a chance node, a drawn one; its child; whose turn it is; and whether the
    edge's value is proven.
    """
    # The rule's choice.
    layout = tree.layout
    nodes = Nodes(tree, walk.row, tree.edges.at[walk.row].get(mode="promise_in_bounds"), bits)
    edge = nodes.best(score)
    # Chance's choice.
    if layout.game.outcome_probabilities:
        drawn = layout.game.draw_outcome(fold_in(bits, layout.num_edges))
        edge = jnp.where(layout.read(nodes.rows, "is_chance") != 0, drawn, edge)
    edge = materialize(edge, bits)  # else all that follows computes the scores anew
    proven = rule.proven_edge(tree, walk.row, edge)
    is_proven = jnp.zeros_like(walk.active) if proven is None else proven[0]
    return edge, tree.edge("child", walk.row, edge), layout.read(nodes.rows, "opponent_to_move") != 0, is_proven


def _set_row(array: Array, row: Array, depth: Int32[Array, ""]) -> Array:
    return lax.dynamic_update_slice_in_dim(array, row[None], depth, 0)


# Expand and back up ---------------------------------------------------------------------------------------------------


def expand_and_backup(tree: Tree, leaf: SelectedLeaf, evaluation: Evaluation, discount: float = 1.0) -> Tree:
    """The trees with the leaves as new nodes, and with their values in every edge of the paths."""
    # The new nodes.
    rule, kept = tree.layout.rule, _discount_at(tree, leaf.row, discount)
    evaluation, is_nan = sanitize(rule, leaf, tree.layout.game, evaluation)
    tree, row, is_new = expand(tree.replace(had_nan=tree.had_nan | is_nan), leaf, evaluation)

    # The values, from the player to act at the leaf to the player at the root, and up the paths.
    opponent = leaf.opponent_to_move
    value = kept * jnp.where(opponent, -evaluation.value, evaluation.value)
    value = jnp.where(leaf.is_exact, leaf.exact_value, value)
    played = evaluation.played
    if played is not None:  # from the player to act and the other one to the player at the root and the opponent
        played = jnp.where(opponent[:, None, None], played[:, ::-1], played)
    return backup(tree, leaf.path, EvaluatedLeaf(row, is_new, opponent, value, leaf.is_exact, played), discount)


def sanitize(
    rule: Rule, leaf: SelectedLeaf, game: Game, evaluation: Evaluation
) -> tuple[Evaluation, Bool[Array, " batch"]]:
    """The evaluation, with 0 for a NaN or infinite value, and with equal logits if any is NaN, even an illegal
    action's; and where this happened, among lanes that needed one.
    """
    is_nan = ~jnp.isfinite(evaluation.value)
    logits = evaluation.logits
    if logits is not None:
        unclear = jnp.any(jnp.isnan(logits), axis=1)
        logits = jnp.where(unclear[:, None], 0, logits)
        is_nan = is_nan | unclear
    value = jnp.where(jnp.isfinite(evaluation.value), evaluation.value, 0)
    played = evaluation.played
    if rule.wants_played and played is None:
        played = empty_key_sets(game, leaf.position)
    return Evaluation(value, logits, played), is_nan & leaf.needs_eval


def expand(
    tree: Tree, leaf: SelectedLeaf, evaluation: Evaluation
) -> tuple[Tree, Int32[Array, " batch"], Bool[Array, " batch"]]:
    """The trees with new nodes; the rows of all leaves, and which of them are new.

    All lanes take the next slot, whether they need it or not. When the tree is full, writes go to the scratch slot, and
    the edge is unchanged.
    """
    # Which lanes make a node, and where their edge leads from now on.
    layout, lanes = tree.layout, jnp.arange(tree.batch, dtype=jnp.int32)
    slot, has_room = jnp.minimum(leaf.slot, tree.capacity), leaf.slot < tree.capacity
    is_new = leaf.is_unexpanded & ~leaf.is_end & has_room
    child = jnp.where(has_room, slot.astype(jnp.float32), UNEXPANDED)
    if tree.table is not None:
        tree, old_slot = table.find_or_insert(tree, leaf.position, leaf.opponent_to_move, slot, is_new)
        is_new = is_new & (old_slot < 0)
        child = jnp.where(old_slot >= 0, old_slot.astype(jnp.float32), child)
    child = jnp.where(leaf.is_end, ENDED, child)

    # Write the block of new rows, and the edges to them.
    index = leaf.row * layout.columns + layout.column("child") + leaf.edge
    index = jnp.where(leaf.is_unexpanded, index, tree.edges.size)
    rows = init_rows(layout, leaf.position, leaf.opponent_to_move, evaluation)
    flat = kernel.scatter(set_slot(tree.flat, rows.reshape(-1), slot), index, child)

    # The rows of all leaves, new or not.
    child = jnp.where(leaf.is_unexpanded, child, leaf.child)
    row = jnp.where(child >= 0, child.astype(jnp.int32) * tree.batch + lanes, len(tree.edges))
    tree = tree.replace(
        position=jax.tree.map(lambda x, new: set_slot(x, new, slot), tree.position, leaf.position),
        edges=flat.reshape(tree.edges.shape),
    )
    return tree, row, is_new


def backup(tree: Tree, path: list[Segment], leaf: EvaluatedLeaf, discount: float = 1.0) -> Tree:
    """Adds one visit and the leaf's value to every edge of the paths, and updates the rule's own statistics.

    The value is multiplied by `discount` from each edge to the one above it, unless that is an outcome of chance.
    """
    # Only visits and sums of values, in a kernel: lane by lane.
    layout, statistics = tree.layout, tree.layout.rule.statistics
    if kernel.is_inside() and not statistics and discount == 1:
        return tree.replace(edges=_backup_lane_by_lane(tree, path, leaf.value).reshape(tree.edges.shape))

    # Otherwise level by level: a visit, the value, then whatever the rule keeps.
    to_value_sums, has_rolls = layout.column("value_sums"), discount != 1 and bool(layout.game.outcome_probabilities)

    def step(edges, lanes, level):
        value, is_last, carried = lanes
        if has_rolls:  # then an edge discounts what comes from below, except the last one, which is already done
            kept = _discount_at(tree.replace(edges=edges), level.row, discount)
            value = jnp.where(level.on_path & ~is_last, kept * value, value)
            is_last = is_last & ~level.on_path
        gain = jnp.where(level.opponent_to_move, -value, value)
        index = jnp.where(level.on_path, level.visits_index + to_value_sums, level.visits_index)
        both = jnp.concatenate([level.visits_index, index]), jnp.concatenate([jnp.ones_like(gain), gain])
        after = tree.replace(edges=add_rows(edges.reshape(-1), *both).reshape(edges.shape))
        new = []
        for statistic, old in zip(statistics, carried, strict=True):
            after, own = statistic.update(after, level, value, old)
            new.append(own)
        above = value if discount == 1 or has_rolls else jnp.where(level.on_path, discount * value, value)
        return after.edges, (above, is_last, new)

    # The rule's statistics begin at the leaf, go up with the value, and may end with a pass over the whole tree.
    carried = []
    for statistic in statistics:
        tree, own = statistic.begin(tree, leaf)
        carried.append(own)
    is_last = jnp.ones_like(leaf.is_exact) if has_rolls else None
    edges, (*_, carried) = over_levels(layout, path, step, tree.edges, (leaf.value, is_last, carried))
    tree = tree.replace(edges=edges)
    for statistic, last in zip(statistics, carried, strict=True):
        if hasattr(statistic, "finish"):
            tree = statistic.finish(tree, leaf.value, last)
    return tree


def _discount_at(tree: Tree, row: Int32[Array, " lanes"], discount: float) -> Float32[Array, " lanes"] | float:
    """The discount by an edge of each node in `row`; a row beyond the end has any."""
    if discount == 1 or not tree.layout.game.outcome_probabilities:
        return discount
    is_chance = tree.node("is_chance", jnp.minimum(row, len(tree.edges) - 1)) != 0
    return edge_discount(tree.layout.game, discount, is_chance)


def _backup_lane_by_lane(
    tree: Tree, path: list[Segment], value: Float32[Array, " batch"]
) -> Float32[Array, " numbers"]:
    """Visits and sums of values as in `backup`, by loops over lanes and depths, which a kernel can hold."""
    to_value_sums = tree.layout.column("value_sums")

    def add(flat, index, more):
        return lax.dynamic_update_slice(flat, lax.dynamic_slice(flat, (index,), (1,)) + more, (index,))

    flat = tree.flat
    for segment in path:

        def of_lane(lane, flat, segment=segment):
            worth = lax.dynamic_slice(value, (segment.lanes[lane],), (1,))

            def at(depth):
                return lax.dynamic_slice(segment.path, (depth, lane), (1, 1))[0]

            def one(carry):
                depth, flat = carry
                word = at(depth)
                index, gain = place_of(word)[0], jnp.where(is_opponents(word), -worth, worth)
                return depth + 1, add(add(flat, index, jnp.float32(1)), index + to_value_sums, gain)

            def more(carry):
                return (carry[0] < segment.end) & (at(carry[0])[0] != NO_EDGE)

            return lax.while_loop(more, one, (segment.begin, flat))[1]

        flat = lax.fori_loop(jnp.int32(0), jnp.int32(len(segment.lanes)), of_lane, flat)
    return flat
