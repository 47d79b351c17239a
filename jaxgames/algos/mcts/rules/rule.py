"""Selection rules: which edge a simulation takes from a node. The classic ones, UCT and PUCT."""

import dataclasses
import math
from collections.abc import Callable
from typing import Protocol

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxgames.algos.mcts.backup import Statistic
from jaxgames.algos.mcts.nodes import Edges, Nodes
from jaxgames.ops.random_bits import fold_in

FIRST = np.float32(1e9)
"""The score of an edge without visits, where those come first."""

Score = Callable[[Edges], Array]


class Rule(Protocol):
    """Scores the edges of a node; a simulation takes the highest score among the edges there are.

    A rule is a hashable value. `edge_fields` and `node_fields` are the columns of a tree that it wants besides those
    that all trees have, `initial` what they are at first if not 0 (in units of the most points of a game), `statistics`
    keep them up to date. `needs_policy` says that the evaluator must give one, and `shares` how nodes of equal
    positions are found: "no", "positions", or "symmetries" to find mirrored ones too. A rule that `plans` the visits of
    the root for a whole search scores it by `root_score`.
    """

    edge_fields: tuple[str, ...] = ()
    node_fields: tuple[str, ...] = ()
    statistics: tuple[Statistic, ...] = ()
    needs_policy: bool = False
    shares: str = "no"
    plans: bool = False
    initial: tuple[tuple[str, float], ...] = ()

    def score(self, nodes: Nodes) -> Score:
        """The function that scores edges of these nodes."""
        ...

    def root_score(self, nodes: Nodes) -> Score:
        """As `score`, at the root."""
        return self.score(nodes)

    def planned(self, num_simulations: int) -> "Rule":
        """The rule for a search of so many simulations."""
        return self

    def preference(self, nodes: Nodes) -> Score:
        """By what the action to be played is chosen at the root: most visits, and of equals the greatest mean."""
        most = 4.0 * nodes.layout.game.max_reward
        return lambda edges: edges.visits + edges.means / most

    def weights(self, nodes: Nodes) -> Score:
        """The policy that the search comes to, not yet normalized: the visits."""
        return lambda edges: edges.visits


@dataclasses.dataclass(frozen=True)
class UCT(Rule):
    """See `uct`."""

    c: float

    def score(self, nodes: Nodes) -> Score:
        """Mean + c sqrt(ln N / n)."""
        return untried_first(plus_bound(nodes, self.c, lambda edges: edges.means))


def uct(c: float = 0.8) -> UCT:
    """UCT (Kocsis and Szepesvari, 2006): the mean of an edge + c sqrt(ln N / n), edges without visits first.

    Means are scaled to 0..1, from the worst to the best result of the game, as is usual for `c`. N are the visits of
    the node, n those of the edge. Edges without visits come in random order.
    """
    return UCT(float(c))


@dataclasses.dataclass(frozen=True)
class PUCT(Rule):
    """See `puct`."""

    c_init: float
    c_base: float
    siblings: bool
    edge_fields = ("prior",)
    needs_policy = True

    def score(self, nodes: Nodes) -> Score:
        """Value from 0 to 1, + P c sqrt(N) / (n + 1)."""
        total = nodes.sum(lambda edges: edges.visits) + 1
        rate = jnp.sqrt(total) * (self.c_init + jnp.log((total + (self.c_base + 1)) / self.c_base))
        low, span = self._range(nodes, total)

        def score(edges):
            value = jnp.where(edges.visits > 0, (edges.means - low) / span, 0)
            return value + edges.prior * (rate / (edges.visits + 1))

        return score

    def _range(self, nodes: Nodes, total: Array) -> tuple[Array | float, Array | float]:
        """The least value, and the span of all."""
        if not self.siblings:
            most = float(nodes.layout.game.max_reward)
            return -most, 2 * most
        worth = (nodes.of("raw") + nodes.sum(lambda edges: edges.totals)) / total

        def known(edges):
            return jnp.where(edges.visits > 0, edges.means, worth)

        low = jnp.minimum(worth, nodes.min(known))
        return low, jnp.maximum(jnp.maximum(worth, nodes.max(known)) - low, 1e-8)


def puct(c_init: float = 1.25, c_base: float = 19652.0, *, siblings: bool = False) -> PUCT:
    """PUCT (Silver et al., 2018): value + P sqrt(N) (c_init + ln((N + c_base + 1) / c_base)) / (n + 1).

    P is the network's policy, N the visits of the node with the first one, n those of the edge. Values run from 0, the
    worst result of the game, to 1; edges without visits have 0. With `siblings` they run from the least to the greatest
    mean among the edges and the node, as in MuZero (Schrittwieser et al., 2020) and by default in mctx.
    """
    return PUCT(float(c_init), float(c_base), bool(siblings))


def plus_bound(nodes: Nodes, c: float, mean: Score) -> Score:
    """A mean in points, scaled to 0..1, + c sqrt(ln N / n).

    As sqrt(c^2 ln N / n), so that no product is rounded or, in one instruction with the sum, not rounded: that is up to
    the compiler, who may do it otherwise for the next edge, and equal edges would have unequal scores.
    """
    most, sign = nodes.layout.game.max_reward, math.copysign(1, c)
    log = c**2 * jnp.log(jnp.maximum(nodes.sum(lambda edges: edges.visits), 1))
    return lambda edges: (mean(edges) / most + 1) / 2 + sign * jnp.sqrt(log / jnp.maximum(edges.visits, 1))


def untried_first(score: Score) -> Score:
    """As `score`, but edges without visits come before all others, in random order."""

    def first(edges):
        words = edges.nodes.words if edges.count == 1 else edges.nodes.words[:, None]
        noise = (fold_in(words, edges.numbers) >> 8).astype(jnp.float32) * 64  # float32 near FIRST has steps of 64
        return jnp.where(edges.visits == 0, FIRST + noise, score(edges))

    return first
