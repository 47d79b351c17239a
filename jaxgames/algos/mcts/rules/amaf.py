"""All moves as first (AMAF): the value of an action also counts games in which the player took it later."""

import dataclasses
import functools
import operator
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32
from typing_extensions import override

from jaxgames.algos.mcts.evaluators.rollout import KeySets, add_keys
from jaxgames.algos.mcts.nodes import NARROW, Nodes
from jaxgames.algos.mcts.path import EvaluatedLeaf, Level
from jaxgames.algos.mcts.rules.rule import Rule, Score, exploration, of_nodes, plus_bound, untried_first
from jaxgames.algos.mcts.tree import Tree, unwrap
from jaxgames.ops.materialize import materialize
from jaxgames.ops.settings import Settings, setting


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
    if num_actions <= NARROW:  # bits of one word: XLA:CPU does not vectorise joined arrays
        flags = (is_seen(jnp.int32(action)).astype(jnp.uint32) << action for action in range(num_actions))
        word = materialize(functools.reduce(operator.or_, flags), row)[:, None]
        column = lax.broadcasted_iota(jnp.uint32, (1, 2 * num_edges), 1)
        seen = (word >> column % num_edges & 1).astype(jnp.float32)
        return tree.add("amaf_visits", row, jnp.where(column < num_edges, seen, seen * gain))
    actions = jnp.arange(num_actions, dtype=jnp.int32)
    seen = jax.vmap(is_seen, out_axes=1)(actions).astype(jnp.float32)
    seen = jnp.pad(seen, ((0, 0), (0, num_edges - num_actions)))
    return tree.add("amaf_visits", row, jnp.concatenate([seen, seen * gain], axis=1))


class AllMovesAsFirst(Settings, Rule):
    """The base of `RAVE` and `AMAF`: (1 - b) mean + b AMAF mean + c sqrt(ln N / n).

    The AMAF mean of an edge is the mean of all simulations through the node in which its player took the action there
    or later. Two actions are the same if their `Game.amaf_key` is equal. `c` is as in `UCT`.
    """

    edge_fields = ("amaf_visits", "amaf_value_sums")
    statistics = (AmafStats(),)
    root_merges = (*Rule.root_merges, ("amaf_visits", jnp.sum), ("amaf_value_sums", jnp.sum))
    wants_played = True
    c: float

    def share(self, nodes: Nodes) -> Score:
        """b, how much the AMAF mean of an edge counts."""
        raise NotImplementedError

    @override
    def score(self, nodes: Nodes) -> Score:
        return untried_first(plus_bound(nodes, self.c, self.mean(nodes)))

    @override
    def mean(self, nodes: Nodes) -> Score:
        share = self.share(nodes)

        def mixed(edges):
            beta = share(edges)
            amaf_mean = edges.amaf_value_sums / jnp.maximum(edges.amaf_visits, 1)
            return edges.q + beta * (amaf_mean - edges.q)

        return mixed


@dataclasses.dataclass(frozen=True)
class RAVE(AllMovesAsFirst):
    """RAVE (Gelly and Silver, 2011): `AllMovesAsFirst` with b = sqrt(k / (3 n + k)).

    At k visits of the edge its own mean and the AMAF mean count equally.
    """

    of: ClassVar[str] = "RAVE"
    k: float = setting(100.0, "visits after which an edge's own mean and that of all moves count the same", above=0)
    c: float = exploration(0.1)
    constants = ("c", "k")

    @override
    def share(self, nodes: Nodes) -> Score:
        k = of_nodes(nodes, self.k)
        return lambda edges: jnp.sqrt(k / (3 * edges.visits + k))


@dataclasses.dataclass(frozen=True)
class AMAF(AllMovesAsFirst):
    """alpha-AMAF (Helmbold and Parker-Wood, 2009): `AllMovesAsFirst` with b = `alpha` throughout."""

    of: ClassVar[str] = "alpha-AMAF"
    alpha: float = setting(0.5, "how much the mean of all moves as first counts", low=0, high=1)
    c: float = exploration(0.25)
    constants = ("c", "alpha")

    @override
    def share(self, nodes: Nodes) -> Score:
        alpha = of_nodes(nodes, self.alpha)
        return lambda edges: alpha
