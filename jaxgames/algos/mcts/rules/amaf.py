"""All moves as first: an action is also worth what games brought in which the player took it later."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, UInt32

from jaxgames.algos.mcts.backup import Leaf, Level
from jaxgames.algos.mcts.evaluators.rollout import of_player
from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.rules.rule import Rule, Score, plus_bound, untried_first
from jaxgames.algos.mcts.tree import Tree, known


@dataclasses.dataclass(frozen=True)
class Seen:
    """For each edge, the simulations in which the player took that action at the node or later, and their values."""

    def begin(self, tree: Tree, edges: Array, leaf: Leaf) -> tuple[Array, Any]:
        """Nothing but what the rollout played, which the leaf's own edges learn of too."""
        return _see(tree, edges, leaf.row, leaf.other, leaf.value, known(leaf.played)), leaf.played

    def update(self, tree: Tree, edges: Array, level: Level, value: Array, carried: Any) -> tuple[Array, Any]:
        """The edge's action, and all that its player took later."""
        game = tree.layout.game
        position = jax.tree.map(lambda x: x.at[level.row].get(mode="clip"), tree.position)
        taken = jax.vmap(game.amaf_key)(position, jnp.minimum(level.edge, game.num_actions - 1))
        awaits = tree.layout.read(edges.at[level.row].get(mode="clip"), "awaits") != 0
        played = carried | of_player(level.other, jnp.where((level.on & ~awaits)[:, None], taken, 0))
        return _see(tree, edges, level.row, level.other, value, played), played


def _see(
    tree: Tree, edges: Array, row: Array, other: Array, value: Array, played: UInt32[Array, "n 2 words"]
) -> Array:
    """The edges of nodes with one more simulation in which these actions were `played`."""
    layout = tree.layout
    actions = jnp.arange(layout.game.num_actions, dtype=jnp.int32)
    position = jax.tree.map(lambda x: x.at[row].get(mode="clip"), tree.position)
    marks = jax.vmap(lambda one: jax.vmap(lambda action: layout.game.amaf_key(one, action))(actions))(position)
    mine = jnp.where(other[:, None], played[:, 1], played[:, 0])
    there = jnp.any((marks & mine[:, None, :]) != 0, axis=2).astype(jnp.float32)
    there = jnp.pad(there, ((0, 0), (0, layout.num_edges - len(actions))))
    first, gain = layout.column("seen_visits"), jnp.where(other, -value, value)
    added = jnp.concatenate([there, there * gain[:, None]], axis=1)
    return edges.at[row, first : first + added.shape[1]].add(added, mode="drop")


@dataclasses.dataclass(frozen=True)
class AMAF(Rule):
    """See `rave` and `amaf`."""

    c: float
    k: float | None
    alpha: float | None
    edge_fields = ("seen_visits", "seen_totals")
    statistics = (Seen(),)

    def score(self, nodes: Nodes) -> Score:
        """Mean and AMAF mean, mixed, + c sqrt(ln N / n)."""

        def mixed(edges):
            beta = jnp.sqrt(self.k / (3 * edges.visits + self.k)) if self.alpha is None else self.alpha
            seen = edges.seen_totals / jnp.maximum(edges.seen_visits, 1)
            return edges.means + beta * (seen - edges.means)

        return untried_first(plus_bound(nodes, self.c, mixed))


def rave(k: float = 100.0, c: float = 0.2) -> AMAF:
    """RAVE (Gelly and Silver, 2011): (1 - b) mean + b AMAF mean + c sqrt(ln N / n), b = sqrt(k / (3 n + k)).

    The AMAF mean of an edge is that of all simulations through the node in which its player took the action there or
    later; actions are known by `Game.mark`. After k visits of the edge both means count the same. `c` as in `uct`.
    """
    if not k > 0:
        raise ValueError(f"k {k}: expected a number of visits above 0")
    return AMAF(float(c), float(k), None)


def amaf(alpha: float = 0.5, c: float = 0.4) -> AMAF:
    """alpha-AMAF (Helmbold and Parker-Wood, 2009): as `rave`, with b = alpha all the time."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha {alpha}: expected a number from 0 to 1")
    return AMAF(float(c), None, float(alpha))
