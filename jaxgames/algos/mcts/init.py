"""New trees and new nodes: what is known of a position before any simulation has passed it."""

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.mcts import kernel, table
from jaxgames.algos.mcts.evaluators.evaluator import Evaluation
from jaxgames.algos.mcts.rules.rule import Rule
from jaxgames.algos.mcts.tree import ILLEGAL, UNEXPANDED, Layout, Tree, set_slot
from jaxgames.envs.core import Game
from jaxgames.ops.pytrees import equal

FEW_ACTIONS = 16
"""Up to so many actions their columns are reduced one by one, where that saves kernels."""


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
    """The same without a reduction, which would be two kernels more of a GPU."""
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
