"""All moves as first (AMAF): an action is also worth what games brought in which the player took it later."""

import dataclasses
import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32

from jaxgames.algos.mcts.evaluators.rollout import KeySets, add_keys
from jaxgames.algos.mcts.nodes import NARROW, Nodes
from jaxgames.algos.mcts.path import EvaluatedLeaf, Level
from jaxgames.algos.mcts.rules.rule import Rule, Score, check_c, of_nodes, plus_bound, untried_first
from jaxgames.algos.mcts.tree import Tree, unwrap
from jaxgames.ops import checks
from jaxgames.ops.materialize import materialize


@dataclasses.dataclass(frozen=True)
class AmafStats:
    """For each edge, the simulations in which the player took that action at the node or later, and their values."""

    def begin(self, tree: Tree, leaf: EvaluatedLeaf) -> tuple[Tree, Any]:
        """Adds what the rollout played to the leaf's own edges."""
        sets = unwrap(leaf.played)
        played = tuple(tuple(sets[:, player, word] for word in range(sets.shape[2])) for player in range(2))
        return _add(tree, leaf.row, leaf.opponent_to_move, leaf.value, played), played

    def update(self, tree: Tree, level: Level, value: Array, carried: Any) -> tuple[Tree, Any]:
        """Adds the edge's action, and all that were played below it."""
        game = tree.layout.game
        taken = jax.vmap(game.amaf_key)(tree.positions(level.row), jnp.minimum(level.edge, game.num_actions - 1))
        valid = level.on_path
        if game.outcome_probabilities:
            valid = valid & (tree.layout.read(tree.rows(level.row), "is_chance") == 0)
        keys = tuple(jnp.where(valid, taken[:, word], 0) for word in range(taken.shape[1]))
        played = add_keys(carried, level.opponent_to_move, keys)
        return _add(tree, level.row, level.opponent_to_move, value, played), played


def _add(
    tree: Tree,
    row: Int32[Array, " n"],
    opponent_to_move: Bool[Array, " n"],
    value: Float32[Array, " n"],
    played: KeySets,
) -> Tree:
    """Adds one simulation to the edges of nodes whose actions the node's player has `played`."""
    layout, positions = tree.layout, tree.positions(row)
    own = tuple(jnp.where(opponent_to_move, second, first) for first, second in zip(*played, strict=True))

    def is_seen(action):
        keys = jax.vmap(layout.game.amaf_key, (0, None))(positions, action)
        common = (keys[:, word] & own[word] for word in range(len(own)))
        return functools.reduce(operator.or_, common) != 0

    num_edges, num_actions = layout.num_edges, layout.game.num_actions
    gain = jnp.where(opponent_to_move, -value, value)[:, None]
    if num_actions <= NARROW:  # bits of one word: XLA:CPU makes no vector code of joined arrays
        flags = (is_seen(jnp.int32(action)).astype(jnp.uint32) << action for action in range(num_actions))
        word = materialize(functools.reduce(operator.or_, flags), row)[:, None]
        column = lax.broadcasted_iota(jnp.uint32, (1, 2 * num_edges), 1)
        seen = (word >> column % num_edges & 1).astype(jnp.float32)
        return tree.add("amaf_visits", row, jnp.where(column < num_edges, seen, seen * gain))
    actions = jnp.arange(num_actions, dtype=jnp.int32)
    seen = jax.vmap(is_seen, out_axes=1)(actions).astype(jnp.float32)
    seen = jnp.pad(seen, ((0, 0), (0, num_edges - num_actions)))
    return tree.add("amaf_visits", row, jnp.concatenate([seen, seen * gain], axis=1))


@dataclasses.dataclass(frozen=True)
class AMAF(Rule):
    """See `rave` and `amaf`."""

    c: float
    k: float | None
    alpha: float | None
    constants = ("c", "k", "alpha")
    edge_fields = ("amaf_visits", "amaf_value_sums")
    statistics = (AmafStats(),)
    wants_played = True

    def score(self, nodes: Nodes) -> Score:
        """(1 - b) mean + b AMAF mean + c sqrt(ln N / n)."""
        return untried_first(plus_bound(nodes, self.c, self.mean(nodes)))

    def mean(self, nodes: Nodes) -> Score:
        """(1 - b) mean + b AMAF mean."""
        k, alpha = (of_nodes(nodes, number) for number in (self.k, self.alpha))

        def mixed(edges):
            beta = jnp.sqrt(k / (3 * edges.visits + k)) if alpha is None else alpha
            amaf_mean = edges.amaf_value_sums / jnp.maximum(edges.amaf_visits, 1)
            return edges.q + beta * (amaf_mean - edges.q)

        return mixed


def rave(k: float = 100.0, c: float = 0.1) -> AMAF:
    """RAVE (Gelly and Silver, 2011): (1 - b) mean + b AMAF mean + c sqrt(ln N / n), b = sqrt(k / (3 n + k)).

    The AMAF mean of an edge is the mean of all simulations through the node in which its player took the action there
    or later. Two actions are the same if their `Game.amaf_key` is. At k visits of the edge both means count the same.
    `c` is as in `uct`.
    """
    k = checks.number("k", k, "a number of visits above 0", lambda visits: 0 < visits < float("inf"))
    return AMAF(check_c(c), k, None)


def amaf(alpha: float = 0.5, c: float = 0.25) -> AMAF:
    """alpha-AMAF (Helmbold and Parker-Wood, 2009): as `rave`, with b = `alpha` throughout."""
    return AMAF(check_c(c), None, checks.share("alpha", alpha))
