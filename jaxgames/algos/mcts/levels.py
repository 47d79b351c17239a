"""RMCTS: a search in which the policy alone determines the tree, so that a whole level is one batch of the network.

A node with n simulations spends one on itself and gives the others to its actions, in proportion to the policy. Values
come back from the deepest level up: an action is worth what its node is worth, and a node is worth the mean of its own
value and its actions' values. The actions are weighted by the policy that best balances their values against its
distance from the network's (Grill et al., "Monte-Carlo tree search as regularized policy optimization", 2020, equation
7). After Frankston and Howard, "Accelerating Monte-Carlo Tree Search with Optimized Posterior Policies", 2026,
algorithms 2 to 4.

All nodes of all trees are in one column, level by level. The children of a node are adjacent, so the node stores
only the row of its first child.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.edge import edge_discount, play_edge
from jaxgames.algos.mcts.evaluators.evaluator import Evaluator, evaluated, leaves_of
from jaxgames.algos.mcts.init import awaits_chance, masked_softmax
from jaxgames.algos.mcts.rules.rule import Recursive
from jaxgames.algos.mcts.simulate import sanitize
from jaxgames.algos.mcts.tree import unwrap
from jaxgames.envs.core import Game
from jaxgames.ops.materialize import order_after
from jaxgames.ops.pytrees import take
from jaxgames.ops.random_bits import fold_in

NEWTON_STEPS = 16
"""Newton's steps: each squares the remaining share of the error, from any start; enough for a thousand actions."""
LEAST = np.float32(1e-20)
"""The least share: with a smaller one the first guess might be beyond the solution."""
MOST = 2**16
"""Nodes that are made at once, at most."""


class Form(NamedTuple):
    """How the search is compiled for a kind of device; its results are the same.

    Attributes:
        nodes: how many nodes for each tree are made at once.
        fewest: how many at once at least.
        unroll: how many of Newton's steps are one piece of the program.
    """

    nodes: int
    fewest: int
    unroll: int


ON_CPU, ELSEWHERE = Form(1, 128, 1), Form(16, 1024, NEWTON_STEPS)
"""A CPU takes time for each node, needed or not; a GPU for each kernel, and there a loop takes three in each step."""


class LevelNodes(NamedTuple):
    """The nodes of all trees, level by level, each as its player to act sees it.

    Attributes:
        position: the positions.
        bits: random bits, of the tree's bits and of the path.
        opponent: whether the player to act is not the one at the root.
        turn_passes: whether the player to act is not the one of the parent.
        over: whether the game has ended by the last action.
        is_chance: whether chance decides here.
        is_rolled: whether chance decided at the parent; None in games without chance.
        is_nan: whether the evaluator gave no number, here or further down.
        simulations: how many there are for this node and those below it.
        own: what the evaluator says, or the reward to the player who ended the game.
        policy: the share of each edge: an action or, where chance decides, an outcome.
        counts: the simulations of each edge.
        first: the row of the first child; of a node without children, of the next one that has any.
        worth: what the node is worth to the parent's player.
    """

    position: Any
    bits: UInt32[Array, " rows"]
    opponent: Bool[Array, " rows"]
    turn_passes: Bool[Array, " rows"]
    over: Bool[Array, " rows"]
    is_chance: Bool[Array, " rows"]
    is_rolled: Bool[Array, " rows"] | None
    is_nan: Bool[Array, " rows"]
    simulations: Int32[Array, " rows"]
    own: Float32[Array, " rows"]
    policy: Float32[Array, "rows edges"]
    counts: Int32[Array, "rows edges"]
    first: Int32[Array, " rows"]
    worth: Float32[Array, " rows"]


class RootsFound(NamedTuple):
    """What the search found at the roots, as in `SearchResult`."""

    weights: Float32[Array, "B A"]
    visits: Float32[Array, "B A"]
    values: Float32[Array, " B"]
    is_nan: Bool[Array, " B"]


def search_levels(
    form: Form,
    game: Game,
    rule: Recursive,
    evaluate: Evaluator,
    positions: Any,
    alive: Bool[Array, " B"],
    bits: UInt32[Array, " B"],
    num_simulations: int,
    noise: Any,
    discount: float,
) -> RootsFound:
    """Searches B positions with `num_simulations` each; positions that are not `alive` are not searched."""
    # The roots.
    batch, num_actions = len(bits), game.num_actions
    no = jnp.zeros(batch, bool)
    simulations = jnp.where(alive, jnp.int32(num_simulations), 1)
    roots = _make(
        game, rule, evaluate, positions, bits, no, no, ~alive, no, jnp.zeros(batch, jnp.float32), simulations, noise
    )
    rows = batch * num_simulations
    width = min(max(form.nodes * batch, form.fewest), MOST)
    kids = _kids(roots)
    roots = roots._replace(first=batch + jnp.cumsum(kids, dtype=jnp.int32) - kids)

    def room(x: Array) -> Array:
        return lax.dynamic_update_slice_in_dim(jnp.zeros((rows + width, *x.shape[1:]), x.dtype), x, 0, 0)

    # Down: `width` nodes at once, in the order of their rows. All children of a block come after it. `parents` has a
    # node's number in the row of its first child.
    def down(carry):
        number, starts, begin, end, parents, last, nodes = carry
        row = begin + jnp.arange(width, dtype=jnp.int32)
        parent = lax.cummax(lax.dynamic_slice_in_dim(parents, begin, width).at[0].max(last))
        block = _children(game, rule, evaluate, nodes, row, parent, end)
        kids = jnp.where(row < end, _kids(block), 0)
        block = block._replace(first=end + jnp.cumsum(kids, dtype=jnp.int32) - kids)
        parents = _note(parents, block.first, kids, begin)
        place = order_after(begin, [leaf.astype(jnp.int32) for leaf in jax.tree.leaves(block.position)])
        nodes = jax.tree.map(lambda x, new: lax.dynamic_update_slice_in_dim(x, new, place, 0), nodes, block)
        starts = lax.dynamic_update_slice_in_dim(starts, begin[None], number, 0)
        last = jnp.max(jnp.where(row < end, parent, 0))
        return (
            number + 1,
            starts,
            jnp.minimum(begin + width, end),
            end + jnp.sum(kids, dtype=jnp.int32),
            parents,
            last,
            nodes,
        )

    begin, parents = jnp.int32(batch), jnp.zeros(rows + width, jnp.int32)
    nodes, parents = jax.tree.map(room, roots), _note(parents, roots.first, kids, jnp.int32(0))
    carry = (
        jnp.int32(0),
        jnp.zeros(rows + 1, jnp.int32),
        begin,
        begin + jnp.sum(kids, dtype=jnp.int32),
        parents,
        jnp.int32(0),
        nodes,
    )
    number, starts, *_, nodes = lax.while_loop(lambda carry: carry[2] < carry[3], down, carry)

    # Up: the same blocks, the last one first. What stands behind a block is done, and comes to the same once more.
    of_values = rule.c * game.max_reward, form.unroll

    def up(carry):
        number, worth, is_nan = carry
        start = starts[number - 1]
        block = nodes._replace(worth=None, position=None)
        block = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, start, width, 0), block)
        value, _, nan = _value(block, worth, is_nan, *of_values)
        kept = discount if block.is_rolled is None else edge_discount(game, discount, block.is_rolled)
        value = kept * jnp.where(block.turn_passes, -value, value)
        value = jnp.where(block.over, block.own, value)
        place = order_after(start, [nan.astype(jnp.int32)])
        worth = lax.dynamic_update_slice_in_dim(worth, value, place, 0)
        return number - 1, worth, lax.dynamic_update_slice_in_dim(is_nan, nan, place, 0)

    of_rows = number, nodes.worth, nodes.is_nan
    _, worth, is_nan = lax.while_loop(lambda carry: carry[0] > 0, up, of_rows)
    value, policy, is_nan = _value(roots, worth, is_nan, *of_values)
    return RootsFound(policy[:, :num_actions], roots.counts[:, :num_actions].astype(jnp.float32), value, is_nan)


def _kids(nodes: LevelNodes) -> Int32[Array, " rows"]:
    return jnp.sum(nodes.counts > 0, axis=1, dtype=jnp.int32)


def _note(
    parents: Int32[Array, " rows"], first: Int32[Array, " n"], kids: Int32[Array, " n"], begin: Int32[Array, ""]
) -> Int32[Array, " rows"]:
    """`parents` with the numbers of the nodes from `begin` on, each in the row of its first child."""
    number = jnp.arange(len(first), dtype=jnp.int32)
    place = jnp.where(kids > 0, first, len(parents) + number)  # without children beyond the end; no place occurs twice
    return parents.at[place].set(begin + number, mode="drop", unique_indices=True)


def _children(
    game: Game,
    rule: Recursive,
    evaluate: Evaluator,
    nodes: LevelNodes,
    row: Int32[Array, " n"],
    parent: Int32[Array, " n"],
    end: Int32[Array, ""],
) -> LevelNodes:
    """The nodes of some rows, made from their parents; anything from `end` on."""
    # Among the parent's edges with simulations, the one with this row's number among the children.
    counts = nodes.counts[parent]
    order = jnp.cumsum(counts > 0, axis=1, dtype=jnp.int32)
    edge = jnp.sum(order <= (row - nodes.first[parent])[:, None], axis=1, dtype=jnp.int32)
    edge = jnp.minimum(edge, counts.shape[1] - 1)
    simulations = jnp.sum(
        jnp.where(jnp.arange(counts.shape[1], dtype=jnp.int32)[None, :] == edge[:, None], counts, 0),
        axis=1,
        dtype=jnp.int32,
    )

    # The position.
    before = take(nodes.position, parent)
    is_rolled = nodes.is_chance[parent]
    position, turn_passes, over, reward, _ = play_edge(game, before, edge, is_rolled)
    opponent, bits = nodes.opponent[parent] ^ turn_passes, fold_in(nodes.bits[parent], edge.astype(jnp.uint32) + 1)
    simulations = jnp.where(over | (row >= end), 1, simulations)
    made = _make(game, rule, evaluate, position, bits, opponent, turn_passes, over, over, reward, simulations, None)
    return made._replace(is_rolled=is_rolled) if game.outcome_probabilities else made


def _make(
    game: Game,
    rule: Recursive,
    evaluate: Evaluator,
    position: Any,
    bits: UInt32[Array, " n"],
    opponent: Bool[Array, " n"],
    turn_passes: Bool[Array, " n"],
    needs_none: Bool[Array, " n"],
    over: Bool[Array, " n"],
    reward: Float32[Array, " n"],
    simulations: Int32[Array, " n"],
    noise: Any,
) -> LevelNodes:
    """Nodes with the evaluator's value, and their simulations shared among their edges."""
    leaves = leaves_of(game, position, opponent, ~needs_none, reward, fold_in(bits, 2**31))
    evaluation, _ = evaluated(evaluate, game, leaves, (), False)
    evaluation, is_nan = sanitize(rule, leaves, game, evaluation)

    # The policy: the network's or, where chance decides, the probabilities of the outcomes.
    legal, is_chance = jax.vmap(game.legal)(position), jnp.zeros(len(bits), bool)
    is_rolled = jnp.zeros_like(is_chance) if game.outcome_probabilities else None
    policy = masked_softmax(unwrap(evaluation.logits), legal)
    if noise is not None:
        policy = noise.mix(policy, legal, fold_in(bits, 0))
    if game.outcome_probabilities:
        edges = max(game.num_actions, len(game.outcome_probabilities))
        policy = jnp.pad(policy, ((0, 0), (0, edges - policy.shape[1])))
        chances = np.zeros(edges, np.float32)
        chances[: len(game.outcome_probabilities)] = game.outcome_probabilities
        is_chance = awaits_chance(game, position)
        policy = jnp.where(is_chance[:, None], chances[None, :], policy)
    counts = share_out(policy, simulations - 1, (fold_in(bits, 1) >> 8).astype(jnp.float32) / 2**24)
    own = jnp.where(over, reward, evaluation.value)
    zero, none = jnp.zeros_like(own), jnp.zeros_like(simulations)
    return LevelNodes(
        position, bits, opponent, turn_passes, over, is_chance, is_rolled, is_nan, simulations, own, policy, counts,
        none, zero,
    )  # fmt: skip


def share_out(
    policy: Float32[Array, "n edges"], number: Int32[Array, " n"], start: Float32[Array, " n"]
) -> Int32[Array, "n edges"]:
    """Whole numbers with sum `number`, each the policy's share of it, rounded up or down (systematic sampling).

    `start`, uniform in [0, 1), decides how they are rounded: on average each edge gets exactly its share.
    """
    # On a line of length `number` each edge has a piece, and gets one for each point start, start + 1, ... in it. From
    # here on ends of pieces are whole numbers, so rounding loses nothing, and edges without a share get none.
    possible = policy > 0
    left = jnp.sum(possible, axis=1, keepdims=True, dtype=jnp.int32) - jnp.cumsum(possible, axis=1, dtype=jnp.int32)
    ends = jnp.ceil(jnp.cumsum(policy, axis=1) * number[:, None].astype(jnp.float32) - start[:, None]).astype(jnp.int32)
    ends = jnp.where(left == 0, number[:, None], jnp.clip(ends, 0, number[:, None]))
    ends = lax.cummax(jnp.where(possible, ends, 0), axis=1)
    return jnp.diff(ends, axis=1, prepend=0)


def _value(
    nodes: LevelNodes, worth: Float32[Array, " rows"], is_nan: Bool[Array, " rows"], c: float, unroll: int
) -> tuple[Float32[Array, " n"], Float32[Array, "n edges"], Bool[Array, " n"]]:
    """What nodes are worth to their player to act, from their children's worth; their new policy; and where the
    evaluator gave no number.
    """
    tried = nodes.counts > 0
    child = nodes.first[:, None] + jnp.cumsum(tried, axis=1, dtype=jnp.int32) - 1
    child = jnp.where(tried, child, 0)
    values = jnp.where(tried, worth[child], 0)
    number = jnp.maximum(nodes.simulations - 1, 1).astype(jnp.float32)
    policy = improved(jnp.where(tried, nodes.policy, 0), values, c / jnp.sqrt(number), unroll)
    policy = jnp.where(nodes.is_chance[:, None], nodes.counts.astype(jnp.float32) / number[:, None], policy)
    below = jnp.sum(policy * values, axis=1)
    share = 1 / nodes.simulations.astype(jnp.float32)
    is_alone = nodes.simulations == 1  # and then keeps the network's value and policy
    policy = jnp.where(is_alone[:, None], nodes.policy, policy)
    value = jnp.where(is_alone, nodes.own, share * nodes.own + (1 - share) * below)
    return value, policy, nodes.is_nan | jnp.any(tried & is_nan[child], axis=1)


def improved(
    policy: Float32[Array, "n edges"], values: Float32[Array, "n edges"], weight: Float32[Array, " n"], unroll: int = 1
) -> Float32[Array, "n edges"]:
    """The policy p' that maximises sum p' values - weight KL(policy || p'), among edges with a share (Grill et
    al., 2020).

    It is weight policy / (u - values), with the only u above all values for which the sum is 1.
    """
    # u = greatest value + more. Newton's method from below, where it cannot overshoot: the sum is convex in u.
    gap = jnp.max(jnp.where(policy > 0, values, -jnp.inf), axis=1, keepdims=True) - values
    gap, shares = jnp.where(policy > 0, gap, 1), jnp.where(policy > 0, jnp.maximum(weight[:, None] * policy, LEAST), 0)
    more = jnp.maximum(jnp.max(jnp.where(policy > 0, shares - gap, 0), axis=1, keepdims=True), LEAST)

    def step(_, more):
        parts = shares / (gap + more)
        excess, slope = (jnp.sum(x, axis=1, keepdims=True) for x in (parts, parts / (gap + more)))
        return more + (excess - 1) / jnp.maximum(slope, 1e-30)

    more = lax.fori_loop(0, NEWTON_STEPS, step, more, unroll=unroll)
    parts = shares / (gap + more)
    return parts / jnp.maximum(jnp.sum(parts, axis=1, keepdims=True), 1e-30)
