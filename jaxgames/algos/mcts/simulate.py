"""One simulation after another: down to a leaf, which becomes a node, is evaluated, and has its value carried up."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.backup import Leaf, backup
from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Evaluator, Leaves
from jaxgames.algos.mcts.evaluators.rollout import no_marks
from jaxgames.algos.mcts.kernel import is_small, one_kernel, scattered
from jaxgames.algos.mcts.noise import Noise
from jaxgames.algos.mcts.rules import transpositions
from jaxgames.algos.mcts.rules.rule import Rule
from jaxgames.algos.mcts.select import Descent, Path, Stage, descend, paths
from jaxgames.algos.mcts.tree import ENDED, ILLEGAL, UNEXPANDED, Layout, Tree, block_set, known
from jaxgames.envs.core import Game
from jaxgames.ops.materialize import materialize, order_after
from jaxgames.ops.pytrees import equal, select
from jaxgames.ops.random_bits import fold_in


def planted(game: Game, rule: Rule, positions: Any, alive: Bool[Array, " batch"], words: Array, slots: int) -> Tree:
    """Trees of nothing but their roots."""
    layout, batch = Layout(game, rule), len(alive)
    rows = (slots + 1) * batch
    other = jnp.zeros(batch, bool)
    tree = Tree(
        position=jax.tree.map(lambda x: block_set(jnp.zeros((rows, *x.shape[1:]), x.dtype), x, 0), positions),
        edges=block_set(jnp.zeros((rows, layout.columns), jnp.float32), new_rows(layout, positions, other), 0),
        used=jnp.int32(1),
        alive=alive,
        faulty=other,
        words=words,
        keys=None,
        table=None,
        layout=layout,
    )
    return tree if rule.shares == "no" else transpositions.listed(tree, jnp.ones(batch, jnp.int32))


def simulate(
    rule: Rule, evaluate: Evaluator, tree: Tree, memory: Any, num_simulations: int, max_depth: int
) -> tuple[Tree, Any]:
    """The trees after so many simulations more, and the evaluator's memory."""
    game, layout = tree.layout.game, tree.layout
    small = is_small(tree.batch, layout.num_edges)

    def one(carry):
        number, tree, room, memory = carry
        leaf = one_kernel(small, lambda in_kernel, room: _arrived(rule, tree, number, room, in_kernel), room)
        leaves = Leaves(leaf.position, leaf.going, leaf.sure, leaf.words, leaf.other, leaf.mark, tree, leaf.stages)
        evaluation, memory = evaluate(game, leaves, memory, "seen_visits" in layout.edge_fields)

        def learned(in_kernel, edges, position, faulty):
            edges = edges.reshape(tree.edges.shape)
            known = tree.replace(edges=edges, position=position, faulty=faulty, used=leaf.used)
            known = _learned(known, leaf, evaluation, in_kernel)
            return known.replace(edges=known.flat)

        after = one_kernel(small, learned, tree.flat, tree.position, tree.faulty)
        after = after.replace(edges=after.edges.reshape(tree.edges.shape))
        return number + 1, after, [stage.path for stage in leaf.stages], memory

    carry = (jnp.uint32(1), tree, paths(tree.batch, max_depth, small), memory)
    _, tree, _, memory = lax.while_loop(lambda carry: carry[0] <= num_simulations, one, carry)
    return tree, memory


class Arrival(NamedTuple):
    """What lanes came to: the edge by which they leave their trees, the way there, and the position beyond it.

    `position` is in sight of its player to act, who is the `other` one than at the root or not; `mark` is that of the
    action. The edge is to be `created`, the game `ended` by it, or its value is `exact` and `sure` to the player at the
    root; else it is `going` on. `words` are random, `used` is as in the tree.
    """

    at: Descent
    stages: list[Stage]
    position: Any
    other: Bool[Array, " batch"]
    mark: UInt32[Array, "batch words"]
    created: Bool[Array, " batch"]
    ended: Bool[Array, " batch"]
    exact: Bool[Array, " batch"]
    going: Bool[Array, " batch"]
    sure: Float32[Array, " batch"]
    words: UInt32[Array, " batch"]
    used: Int32[Array, ""]


def _arrived(rule: Rule, tree: Tree, number: UInt32[Array, ""], room: list[Path], in_kernel: bool) -> Arrival:
    """Down the trees, and one step beyond."""
    game, layout = tree.layout.game, tree.layout
    words = fold_in(tree.words, number)
    at, stages = descend(rule, tree, words, room, in_kernel)

    def read(name, edge=0):
        return tree.flat.at[at.row * layout.columns + layout.column(name) + edge].get(mode="promise_in_bounds")

    mover = read("other") != 0
    before = jax.tree.map(lambda x: materialize(x[at.row], tree.words), tree.position)
    position, switch, exact, reward, mark = _step(game, before, at.edge, read("awaits") != 0)
    created, ended = tree.alive & (at.child == UNEXPANDED), exact
    if "lower" in layout.edge_fields:
        lower, upper = read("lower", at.edge), read("upper", at.edge)
        reward, exact = jnp.where(ended, reward, lower), ended | (lower == upper)
    sure = jnp.where(exact, jnp.where(mover, -reward, reward), 0)
    # The arrays of a position may be made of each other, as by a change of sides.
    used = order_after(tree.used, jax.tree.leaves(before))
    ends = (created, ended, exact, tree.alive & ~exact)
    return Arrival(at, stages, position, mover ^ switch, mark, *ends, sure, fold_in(words, 2**31), used)


def _learned(tree: Tree, leaf: Arrival, evaluation: Evaluation, in_kernel: bool) -> Tree:
    """The trees with the new nodes, and with what is known of them carried up."""
    rule = tree.layout.rule
    evaluation, faulty = _cleared(tree.layout, leaf.position, leaf.going, evaluation)
    tree, row, new = _grown(tree.replace(faulty=tree.faulty | faulty), leaf, evaluation, in_kernel)
    value = jnp.where(leaf.exact, leaf.sure, jnp.where(leaf.other, -evaluation.value, evaluation.value))
    played = evaluation.played
    if played is not None:
        played = jnp.where(leaf.other[:, None, None], played[:, ::-1], played)
    there = Leaf(row, new, leaf.other, value, leaf.exact, played)
    return backup(tree, rule.statistics, leaf.stages, there, in_kernel)


def root_evaluated(evaluate: Evaluator, tree: Tree, memory: Any, noise: Noise | None) -> tuple[Tree, Any]:
    """The trees with the policy at their roots, if the rule needs one; and the evaluator's memory."""
    layout, batch = tree.layout, tree.batch
    game = layout.game
    if not layout.rule.needs_policy:
        return tree, memory
    position, other = jax.tree.map(lambda x: x[:batch], tree.position), jnp.zeros(batch, bool)
    words, mark = fold_in(tree.words, 0), no_marks(game, position)[:, 0]
    leaves = Leaves(position, tree.alive, jnp.zeros(batch, jnp.float32), words, other, mark, tree, [])
    evaluation, memory = evaluate(game, leaves, memory, False)
    evaluation, faulty = _cleared(layout, position, tree.alive, evaluation)
    legal = jax.vmap(game.legal)(position)
    prior = policy(known(evaluation.logits), legal)
    if noise is not None:
        prior = noise.added(prior, legal, words)
    first = layout.column("prior")
    edges = tree.edges.at[:batch, first : first + game.num_actions].set(prior)
    edges = edges.at[:batch, layout.column("raw")].set(evaluation.value)
    return tree.replace(edges=edges, faulty=tree.faulty | faulty), memory


def new_rows(
    layout: Layout,
    position: Any,
    other: Bool[Array, " batch"],
    evaluation: Evaluation | None = None,
) -> Float32[Array, "batch columns"]:
    """The rows of nodes without visits."""
    game, rule = layout.game, layout.rule
    legal = jax.vmap(game.legal)(position)
    values: dict[str, Any] = {name: value * game.max_reward for name, value in rule.initial}
    if evaluation is not None and evaluation.logits is not None and rule.needs_policy:
        values["prior"] = _fitting(policy(evaluation.logits, legal), layout.num_edges)
    if evaluation is not None:
        values["raw"] = evaluation.value
    edges = _fitting(legal, layout.num_edges)
    if game.outcome_probabilities:
        values["awaits"] = awaits = awaits_chance(game, position)
        outcomes = jnp.arange(layout.num_edges, dtype=jnp.int32)[None, :] < len(game.outcome_probabilities)
        edges = jnp.where(awaits[:, None], outcomes, edges)
    return layout.rows(child=jnp.where(edges, UNEXPANDED, ILLEGAL), other=other, **values)


def policy(logits: Float32[Array, "batch actions"], legal: Bool[Array, "batch actions"]) -> Float32[Array, "..."]:
    """Probabilities of the legal actions; equal ones where the logits tell nothing."""
    logits = jnp.where(legal, logits, -jnp.inf)
    most = jnp.max(logits, axis=1, keepdims=True)
    weights = jnp.where(jnp.isfinite(most), jnp.exp(logits - most), legal.astype(jnp.float32))
    return weights / jnp.maximum(jnp.sum(weights, axis=1, keepdims=True), 1e-30)


def awaits_chance(game: Game, position: Any) -> Bool[Array, " batch"]:
    """Which positions await chance: those that an outcome changes."""
    first = jnp.zeros(len(jax.tree.leaves(position)[0]), jnp.int32)
    return ~equal(position, jax.vmap(game.chance)(position, first))


def _step(
    game: Game, before: Any, edge: Int32[Array, " batch"], awaits: Bool[Array, " batch"]
) -> tuple[Any, Bool[Array, " batch"], Bool[Array, " batch"], Float32[Array, " batch"], UInt32[Array, "batch words"]]:
    """The position that an edge leads to; whether the turn passes and the game ends by it; reward and mark."""
    action = jnp.minimum(edge, game.num_actions - 1)
    position, switch, over, reward = jax.vmap(game.play)(before, action)
    mark = jax.vmap(game.amaf_key)(before, action)
    if not game.outcome_probabilities:
        return position, switch, over, reward, mark
    drawn = jax.vmap(game.chance)(before, jnp.minimum(edge, len(game.outcome_probabilities) - 1))
    mark = jnp.where(awaits[:, None], 0, mark)
    return select(awaits, drawn, position), switch & ~awaits, over & ~awaits, reward, mark


def _cleared(
    layout: Layout, position: Any, going: Bool[Array, " batch"], evaluation: Evaluation
) -> tuple[Evaluation, Bool[Array, " batch"]]:
    """The evaluation with 0 for values, and nothing for logits, that are no numbers; and where that was so."""
    wrong = ~jnp.isfinite(evaluation.value)
    logits = evaluation.logits
    if logits is not None:
        unclear = jnp.any(jnp.isnan(logits), axis=1)
        logits = jnp.where(unclear[:, None], 0, logits)
        wrong = wrong | unclear
    value = jnp.where(jnp.isfinite(evaluation.value), evaluation.value, 0)
    played = evaluation.played
    if "seen_visits" in layout.edge_fields and played is None:
        played = no_marks(layout.game, position)
    return Evaluation(value, logits, played), wrong & going


def _grown(
    tree: Tree, leaf: Arrival, evaluation: Evaluation, in_kernel: bool
) -> tuple[Tree, Int32[Array, " batch"], Bool[Array, " batch"]]:
    """The trees with new nodes; the rows of all leaves, and which are new.

    All lanes take the next slot, needed or not. Is there none left, the slot beyond the last one takes what is lost,
    and the edge stays as it was.
    """
    layout, lanes = tree.layout, jnp.arange(tree.batch, dtype=jnp.int32)
    at, position, other, created, ended = leaf.at, leaf.position, leaf.other, leaf.created, leaf.ended
    slot, room = jnp.minimum(tree.used, tree.slots), tree.used < tree.slots
    new, child = created & ~ended & room, jnp.where(room, slot.astype(jnp.float32), UNEXPANDED)
    keys, table = tree.keys, tree.table
    if keys is not None and table is not None:
        name = transpositions.keys_of(layout.game, position, other, layout.rule.shares == "symmetries")
        there, place = transpositions.find(tree, name)
        new = new & (there < 0)
        child = jnp.where(there >= 0, there.astype(jnp.float32), child)
        keys = block_set(keys, name, slot)
        table = table.at[jnp.where(new, place, len(table))].set(slot + 1, mode="drop")
    child = jnp.where(ended, ENDED, child)
    place = jnp.where(created, at.row * layout.columns + layout.column("child") + at.edge, tree.edges.size)
    flat = block_set(tree.flat, new_rows(layout, position, other, evaluation).reshape(-1), slot)
    flat = scattered(flat, place, child, in_kernel)
    child = jnp.where(created, child, at.child)
    row = jnp.where(child >= 0, child.astype(jnp.int32) * tree.batch + lanes, len(tree.edges))
    grown = tree.replace(
        position=jax.tree.map(lambda x, new: block_set(x, new, slot), tree.position, position),
        edges=flat.reshape(tree.edges.shape),
        used=slot + room.astype(jnp.int32),
        keys=keys,
        table=table,
    )
    return grown, row, new


def _fitting(values: Array, width: int) -> Array:
    """Values of actions as values of edges."""
    return jnp.pad(values, ((0, 0), (0, width - values.shape[1])))
