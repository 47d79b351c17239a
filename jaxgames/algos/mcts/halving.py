"""One round of sequential halving at the root, in two calls of the network: no loop over simulations at all.

First some actions are evaluated, all in one batch; then the better half of them again, one ply further: after the
network's favourite reply or, at a chance node, after a drawn outcome. The action played, and the policy to learn,
are those of Gumbel MuZero with as many visits (Danihelka, Guez, Schrittwieser and Silver, "Policy
improvement by planning with Gumbel", 2022; the halving is by Karnin, Koren and Somekh, 2013). After nanoAlphaZero
(wtedw, 2026), whose trainings have targets of this kind.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.edge import edge_discount, play_edge
from jaxgames.algos.mcts.evaluators.evaluator import Evaluator, evaluated, leaves_of
from jaxgames.algos.mcts.init import awaits_chance, masked_softmax
from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.rules.gumbel import OneRound
from jaxgames.algos.mcts.rules.rule import Score
from jaxgames.algos.mcts.simulate import sanitize
from jaxgames.algos.mcts.tree import Tree, unwrap
from jaxgames.envs.core import Game
from jaxgames.ops.pytrees import take
from jaxgames.ops.random_bits import fold_in


class Seen(NamedTuple):
    """What edges of n positions lead to.

    Attributes:
        position: the positions that the edges lead to.
        bits: random bits of each.
        opponent: whether the player to act is not the one at the root.
        turn_passes: whether the player to act is not the one before the edge.
        over: whether the game ends by the edge.
        logits: the network's, of the legal actions.
        value: what the edge is worth to the player before it.
        is_nan: whether the evaluator gave no number.
    """

    position: Any
    bits: UInt32[Array, " n"]
    opponent: Bool[Array, " n"]
    turn_passes: Bool[Array, " n"]
    over: Bool[Array, " n"]
    logits: Float32[Array, "n actions"]
    value: Float32[Array, " n"]
    is_nan: Bool[Array, " n"]


def search_round(rule: OneRound, evaluate: Evaluator, tree: Tree, num_simulations: int, discount: float) -> Tree:
    """The roots of B trees, evaluated before, with the visits and values of one round."""
    batch, layout = tree.batch, tree.layout
    twice = num_simulations // 3
    once = num_simulations - twice

    # All candidates, in one batch.
    roots = _roots(tree)
    best, edge = lax.top_k(_scores(roots, rule.candidates(roots, 0)), once)
    edge, wanted = edge.astype(jnp.int32), (best > -jnp.inf) & tree.alive[:, None]
    lanes = jnp.repeat(jnp.arange(batch, dtype=jnp.int32), once)
    before = take(jax.tree.map(lambda x: x[:batch], tree.position), lanes)
    bits = fold_in(fold_in(tree.bits[lanes], 2**31), edge.reshape(-1).astype(jnp.uint32))
    no = jnp.zeros(batch * once, bool)
    is_chance = tree.root("is_chance")[lanes] != 0
    game = layout.game
    seen = _look(game, rule, evaluate, before, no, is_chance, edge.reshape(-1), wanted.reshape(-1), bits, discount)
    tree = _count(tree, edge, wanted, seen.value, seen.is_nan)
    if twice == 0:
        return tree

    # The better half of them again, a ply further.
    roots = _roots(tree)
    best, place = lax.top_k(jnp.take_along_axis(_scores(roots, rule.candidates(roots, 1)), edge, axis=1), twice)
    place, again = place.astype(jnp.int32), (best > -jnp.inf) & tree.alive[:, None]
    row = (jnp.arange(batch, dtype=jnp.int32)[:, None] * once + place).reshape(-1)
    first: Seen = take(seen, row)
    bits = fold_in(first.bits, 0)
    liked = jnp.argmax(masked_softmax(first.logits, jax.vmap(game.legal)(first.position)), axis=1).astype(jnp.int32)
    kept, is_chance = edge_discount(game, discount, is_chance[row]), jnp.zeros(len(row), bool)
    if game.outcome_probabilities:
        is_chance = awaits_chance(game, first.position)
        liked = jnp.where(is_chance, game.draw_outcome(bits), liked)
    goes_on = again.reshape(-1) & ~first.over
    second = _look(
        game, rule, evaluate, first.position, first.opponent, is_chance, liked, goes_on, fold_in(bits, 1), discount
    )
    value = kept * jnp.where(first.turn_passes, -second.value, second.value)
    value = jnp.where(first.over, first.value, value)
    return _count(tree, jnp.take_along_axis(edge, place, axis=1), again, value, second.is_nan)


def _roots(tree: Tree) -> Nodes:
    return Nodes(tree, jnp.arange(tree.batch, dtype=jnp.int32), tree.edges[: tree.batch], tree.bits)


def _scores(roots: Nodes, score: Score) -> Float32[Array, "B edges"]:
    """The scores of all edges; minus infinity for one that is not legal."""
    parts = [jnp.where(edges.legal, score(edges), -jnp.inf).reshape(len(roots.rows), -1) for edges in roots.blocks]
    return jnp.concatenate(parts, axis=1)


def _look(
    game: Game,
    rule: OneRound,
    evaluate: Evaluator,
    before: Any,
    opponent: Bool[Array, " n"],
    is_chance: Bool[Array, " n"],
    edge: Int32[Array, " n"],
    wanted: Bool[Array, " n"],
    bits: UInt32[Array, " n"],
    discount: float,
) -> Seen:
    """What one edge of each position leads to; anything where it is not wanted."""
    position, turn_passes, over, reward, _ = play_edge(game, before, edge, is_chance)
    opponent = opponent ^ turn_passes
    leaves = leaves_of(game, position, opponent, wanted & ~over, reward, fold_in(bits, 2**31))
    evaluation, _ = evaluated(evaluate, game, leaves, (), False)
    evaluation, is_nan = sanitize(rule, leaves, game, evaluation)
    kept = edge_discount(game, discount, is_chance)
    value = kept * jnp.where(turn_passes, -evaluation.value, evaluation.value)
    value = jnp.where(over, reward, value)
    return Seen(position, bits, opponent, turn_passes, over, unwrap(evaluation.logits), value, is_nan)


def _count(
    tree: Tree,
    edge: Int32[Array, "B n"],
    counts: Bool[Array, "B n"],
    value: Float32[Array, " lanes"],
    is_nan: Bool[Array, " lanes"],
) -> Tree:
    """The trees with one more visit of each of these edges, if it counts."""
    layout, batch = tree.layout, tree.batch
    here = (edge[:, :, None] == jnp.arange(layout.num_edges, dtype=jnp.int32)[None, None, :]) & counts[:, :, None]
    visits = jnp.sum(here, axis=1, dtype=jnp.float32)
    sums = jnp.sum(jnp.where(here, value.reshape(batch, -1, 1), 0), axis=1)
    edges = tree.edges.at[:batch, layout.part("visits")].add(visits).at[:batch, layout.part("value_sums")].add(sums)
    had_nan = jnp.any(is_nan.reshape(batch, -1), axis=1)
    return tree.replace(edges=edges, had_nan=tree.had_nan | had_nan)
