"""The first trees of a search: new ones, and what is left of one after a move.

A new node holds what its position says, before any simulation has passed it.
"""

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.mcts import kernel, table
from jaxgames.algos.mcts.evaluators.evaluator import Evaluation
from jaxgames.algos.mcts.rules.rule import Rule
from jaxgames.algos.mcts.tree import ILLEGAL, UNEXPANDED, Layout, Tree, set_slot
from jaxgames.envs.checks import state_batch
from jaxgames.envs.core import Game, State
from jaxgames.ops import checks
from jaxgames.ops.pytrees import equal

FEW_ACTIONS = 16
"""With at most so many actions their columns are reduced one by one, if this saves kernels."""


def init_tree(
    game: Game,
    rule: Rule,
    positions: Any,
    alive: Bool[Array, " batch"],
    bits: UInt32[Array, " batch"],
    capacity: int,
    start: UInt32[Array, ""] | None = None,
) -> Tree:
    """Trees of nothing but their roots; made after `start`, if it is given."""
    layout, batch = Layout(game, rule), len(alive)
    rows = (capacity + 1) * batch
    no = jnp.zeros(batch, bool)
    # XLA does not know that this is 0.
    zero = jnp.float32(0) if start is None else ((start | 1) == 0).astype(jnp.float32)
    tree = Tree(
        position=jax.tree.map(lambda x: set_slot(jnp.zeros((rows, *x.shape[1:]), x.dtype), x, 0), positions),
        edges=set_slot(jnp.full((rows, layout.columns), zero), init_rows(layout, positions, no), 0),
        used=jnp.int32(1),
        alive=alive,
        had_nan=no,
        bits=bits,
        hashes=None,
        table=None,
        layout=layout,
    )
    return tree if rule.transpositions == "no" else table.build_table(tree, jnp.ones(batch, jnp.int32))


def init_rows(
    layout: Layout,
    position: Any,
    opponent_to_move: Bool[Array, " batch"],
    evaluation: Evaluation | None = None,
) -> Float32[Array, "batch columns"]:
    """The rows of nodes without visits."""
    game, rule = layout.game, layout.rule
    legal = jax.vmap(game.legal)(position)
    values: dict[str, Any] = {name: value * game.max_reward for name, value in rule.initial}
    if evaluation is not None and evaluation.logits is not None and rule.needs_policy:
        values["prior"] = _pad(masked_softmax(evaluation.logits, legal), layout.num_edges)
    if evaluation is not None:
        values["raw_value"] = evaluation.value
    edges = _pad(legal, layout.num_edges)
    if game.outcome_probabilities:
        values["is_chance"] = is_chance = awaits_chance(game, position)
        outcomes = jnp.arange(layout.num_edges, dtype=jnp.int32)[None, :] < len(game.outcome_probabilities)
        edges = jnp.where(is_chance[:, None], outcomes, edges)
    child = jnp.where(edges, jnp.float32(UNEXPANDED), ILLEGAL)
    return layout.rows(child=child, opponent_to_move=opponent_to_move, **values)


def masked_softmax(
    logits: Float32[Array, "batch actions"], legal: Bool[Array, "batch actions"]
) -> Float32[Array, "batch actions"]:
    """Probabilities of the legal actions; equal ones if no legal action has a finite logit."""
    elsewhere = _by_columns if logits.shape[1] <= FEW_ACTIONS else _by_rows
    return kernel.by_device(_by_rows, elsewhere, jnp.where(legal, logits, -jnp.inf), legal)


def _by_rows(logits: Array, legal: Array) -> Array:
    most = jnp.max(logits, axis=1, keepdims=True)
    weights = jnp.where(jnp.isfinite(most), jnp.exp(logits - most), legal.astype(jnp.float32))
    return weights / jnp.maximum(jnp.sum(weights, axis=1, keepdims=True), 1e-30)


def _by_columns(logits: Array, legal: Array) -> Array:
    """The same without a reduction, which would take two more kernels on a GPU."""
    columns, allowed = jnp.moveaxis(logits, 1, 0), jnp.moveaxis(legal.astype(jnp.float32), 1, 0)
    most = functools.reduce(jnp.maximum, columns)
    weights = [jnp.where(jnp.isfinite(most), jnp.exp(a - most), b) for a, b in zip(columns, allowed, strict=True)]
    total = jnp.maximum(functools.reduce(operator.add, weights), 1e-30)
    return jnp.stack([weight / total for weight in weights], axis=1)


def awaits_chance(game: Game, position: Any) -> Bool[Array, " batch"]:
    """Which positions await chance: those that an outcome changes."""
    first = jnp.zeros(len(jax.tree.leaves(position)[0]), jnp.int32)
    return ~equal(position, jax.vmap(game.chance)(position, first))


def _pad(values: Array, width: int) -> Array:
    """Values of actions as values of edges."""
    return jnp.pad(values, ((0, 0), (0, width - values.shape[1])))


def advance(tree: Tree, states: State) -> Tree:
    """The trees for the next search, `search(..., tree=advance(result.tree, states))`.

    Looks for the position of each state in its tree, any number of moves and rolls after the last search, makes it the
    root, and keeps the subtree below it. A position that is not in its tree starts a new tree. In every tree as many
    slots count as taken as in the fullest one; when no slot is left a search goes on without new nodes. Raises
    `ValueError` unless there is one state of the same game for each tree, and `TypeError` for anything but a tree.
    """
    if not isinstance(tree, Tree):
        raise TypeError(f"tree {checks.describe(tree)}: expected result.tree of a search")
    if state_batch(tree.layout.game, states) != tree.batch:
        raise ValueError(
            f"{list(states.terminated.shape)} states of {states._game.id}: expected [{tree.batch}] of "
            f"{tree.layout.game.id}, one for each tree (trees of a search with num_trees above 1 do not outlive it)"
        )
    return _advance(tree, states._position, ~(states.terminated | states.truncated))


@jax.jit
def _advance(tree: Tree, positions: Any, alive: Bool[Array, " batch"]) -> Tree:
    layout, batch = tree.layout, tree.batch
    lanes = jnp.arange(batch, dtype=jnp.int32)
    slots = jnp.arange(tree.capacity + 1, dtype=jnp.int32)[:, None]

    stored = jax.tree.map(lambda x, y: x.reshape(-1, *y.shape), tree.position, positions)
    here = jax.vmap(equal, (0, None))(stored, positions)
    here = here & _below(tree, (slots == 0) & jnp.ones(batch, bool)[None, :])
    found = jnp.any(here, axis=0)
    root = jnp.argmax(here, axis=0).astype(jnp.int32)
    kept = _below(tree, (slots == root[None, :]) & found[None, :])
    # The root comes first, then all others in the order in which they were made: children after their parents.
    others = jnp.cumsum(kept & (slots != root[None, :]), axis=0, dtype=jnp.int32)
    new_slot = jnp.where(slots == root[None, :], 0, others)
    count = jnp.sum(kept, axis=0, dtype=jnp.int32)
    target = jnp.where(kept, new_slot * batch + lanes[None, :], len(tree.edges)).reshape(-1)
    rows = jnp.arange(len(tree.edges), dtype=jnp.int32)
    source = jnp.full_like(rows, len(rows)).at[target].set(rows, mode="drop")  # beyond the end where nothing goes

    edges = tree.edges.at[source].get(mode="fill", fill_value=0)
    position = tree.positions(source)
    child = layout.read(edges, "child")
    slot = jnp.maximum(child, 0).astype(jnp.int32)
    lane = jnp.tile(lanes, len(slots))[:, None]
    child = jnp.where(child >= 0, new_slot.reshape(-1)[slot * batch + lane].astype(jnp.float32), child)
    edges = edges.at[:, layout.part("child")].set(child)
    opponent = layout.read(edges, "opponent_to_move")
    at_root = jnp.tile(opponent[:batch], len(slots))
    edges = edges.at[:, layout.column("opponent_to_move")].set(jnp.abs(opponent - at_root))
    fresh = init_rows(layout, positions, jnp.zeros(batch, bool))
    edges = set_slot(edges, jnp.where(found[:, None], edges[:batch], fresh), 0)
    advanced = tree.replace(
        position=jax.tree.map(lambda x, y: set_slot(x, y, 0), position, positions),
        edges=edges,
        used=jnp.maximum(jnp.max(count), 1),
        alive=alive,
        had_nan=jnp.zeros(batch, bool),
    )
    return advanced if tree.table is None else table.build_table(advanced, jnp.maximum(count, 1))


def _below(tree: Tree, start: Bool[Array, "slots batch"]) -> Bool[Array, "slots batch"]:
    """The slots of some nodes and of all nodes below them."""
    lanes = jnp.arange(tree.batch, dtype=jnp.int32)[:, None]

    def one(slot, below):
        rows = lax.dynamic_slice_in_dim(tree.edges, slot * tree.batch, tree.batch, 0)
        child = tree.layout.read(rows, "child")
        there = (child >= 0) & below[slot][:, None]
        return below.at[jnp.where(there, child.astype(jnp.int32), len(below)), lanes].set(True, mode="drop")

    def again(carry):
        before, _ = carry
        after = lax.fori_loop(0, tree.used, one, before)
        # Children come after their parents, so one pass finds them all, unless nodes are shared.
        return after, jnp.any(after != before) if tree.table is not None else jnp.bool_(False)

    return lax.while_loop(lambda carry: carry[1], again, (start, jnp.bool_(True)))[0]
