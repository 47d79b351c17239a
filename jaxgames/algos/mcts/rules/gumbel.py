"""Gumbel MuZero's search: sequential halving at the root, and a policy that is never worse than the network's.

Also a search of only one round, see `mcts.halving`.
"""

import dataclasses
import math
from typing import ClassVar, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32
from typing_extensions import override

from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.rules.rule import Rule, Score
from jaxgames.envs.core import Game
from jaxgames.ops.random_bits import fold_in
from jaxgames.ops.settings import Settings, setting

VALUE_SCALE, VISITS_BEFORE = 0.1, 50.0
TINY = np.finfo(np.float32).tiny


class ByGumbel(Settings, Rule):
    """The base of `Gumbel` and `OneRound`: the action played, and the improved policy that a search found."""

    scale: float
    edge_fields = ("prior",)
    needs_policy = True
    schedules_root = True

    @override
    def preference(self, nodes: Nodes) -> Score:
        """The best of the actions with the most visits."""
        return among(self.scale, nodes, nodes.max(lambda edges: edges.visits))

    @override
    def weights(self, nodes: Nodes) -> Score:
        return improved(nodes)


@dataclasses.dataclass(frozen=True)
class Gumbel(ByGumbel):
    """Gumbel MuZero (Danihelka, Guez, Schrittwieser and Silver, 2022): constants and formulas are those of mctx.

    Sequential halving visits the actions considered at the root equally often and drops the worse half, in rounds.
    Below the root shares of visits approach the improved policy: an edge scores improved policy - n / (1 + N).
    """

    of: ClassVar[str] = "Gumbel MuZero"
    considered: int = setting(16, "the most actions considered at the root, drawn by their logits and noise", low=1)
    scale: float = setting(1.0, "size of the noise by which they are drawn; 0 for none", low=0)
    simulations: int = dataclasses.field(default=0, init=False)
    """Those of the whole search, set by `schedule`."""

    @override
    def schedule(self, num_simulations: int) -> Self:
        return self._with(simulations=num_simulations)

    @override
    def score(self, nodes: Nodes) -> Score:
        policy, total = improved(nodes), nodes.sum(lambda edges: edges.visits)
        return lambda edges: policy(edges) - edges.visits / (1 + total)

    @override
    def root_score(self, nodes: Nodes) -> Score:
        """The best of the actions still considered, which all have as many visits as the schedule says."""
        legal = nodes.sum(lambda edges: edges.legal.astype(jnp.float32)).astype(jnp.int32)
        total = nodes.sum(lambda edges: edges.visits).astype(jnp.int32)
        considered = min(self.considered, nodes.layout.num_edges)  # a larger table costs time in each trace
        index = jnp.minimum(legal, considered) * self.simulations + jnp.minimum(total, self.simulations - 1)
        return among(self.scale, nodes, jnp.asarray(_considered_visits(considered, self.simulations))[index])


@dataclasses.dataclass(frozen=True)
class OneRound(ByGumbel):
    """A search with two calls of the network after the root's: for training targets, not for deep play.

    Of three simulations two look at one action each, the third looks a ply further after one of the better half. It
    chooses actions and improves policies as `Gumbel` does. It needs a network with a policy, and keeps no tree.
    """

    of: ClassVar[str] = "the search of one round"
    scale: float = setting(1.0, "size of the noise by which actions are drawn; 0 for none", low=0)
    keeps_tree = False

    @override
    def score(self, nodes: Nodes) -> Score:
        raise NotImplementedError("this search goes down no tree")

    @override
    def most_simulations(self, game: Game) -> int:
        return game.num_actions + game.num_actions // 2

    def candidates(self, nodes: Nodes, visits: float) -> Score:
        """Scores the actions that have so many visits; any other one less than all of these."""
        return among(self.scale, nodes, jnp.float32(visits))


def among(scale: float, nodes: Nodes, visits: Array) -> Score:
    """Gumbel noise + logits + completed values, for the actions with so many visits."""
    completed, top = _completed(nodes), jnp.log(jnp.maximum(nodes.max(_prior), TINY))

    def scores(edges):
        bits = fold_in(edges.random_bits(nodes.tree.bits[nodes.lanes]), edges.index)
        uniform = ((bits >> 9).astype(jnp.float32) + 0.5) / 2**23
        noise = -scale * jnp.log(-jnp.log(uniform))
        score = noise + jnp.log(jnp.maximum(edges.prior, TINY)) - top + completed(edges)
        return jnp.where(edges.visits == visits, jnp.maximum(score, -1e9), -1e30)

    return scores


def improved(nodes: Nodes) -> Score:
    """softmax(logits + completed values)."""
    completed = _completed(nodes)
    # Only edges with a share: another one, such as an illegal one, may be worth so much more that all these vanish.
    most = nodes.max(lambda edges: jnp.where(edges.prior >= TINY, completed(edges), -jnp.inf))

    def unnormalized(edges):
        return edges.prior * jnp.exp(jnp.minimum(completed(edges) - most, 0))

    total = nodes.sum(unnormalized)
    return lambda edges: unnormalized(edges) / total


def _prior(edges):
    return edges.prior


def _completed(nodes: Nodes) -> Score:
    """Values of edges, scaled to logits; edges without visits have the mixed value of the node (appendix D)."""

    def visited(edges):
        return edges.visits > 0

    total = nodes.sum(lambda edges: edges.visits)
    seen = nodes.sum(lambda edges: jnp.where(visited(edges), jnp.maximum(edges.prior, TINY), 0))
    weighted = nodes.sum(lambda edges: jnp.where(visited(edges), jnp.maximum(edges.prior, TINY) * edges.q, 0))
    mixed = (nodes.node("raw_value") + total * (weighted / jnp.where(seen > 0, seen, 1))) / (total + 1)

    def value(edges):
        return jnp.where(visited(edges), edges.q, mixed)

    low = nodes.min(value)
    span = jnp.maximum(nodes.max(value) - low, 1e-8)
    scale = VALUE_SCALE * (VISITS_BEFORE + nodes.max(lambda edges: edges.visits))
    return lambda edges: scale * ((value(edges) - low) / span)


def _considered_visits(considered: int, simulations: int) -> Float32[np.ndarray, " entries"]:
    """Entry `m * simulations + t`: with m actions considered, the visits of the one that simulation t goes to."""
    return np.array([_halving(number, simulations) for number in range(considered + 1)], np.float32).ravel()


def _halving(considered: int, simulations: int) -> list[int]:
    """Sequential halving (Karnin, Koren and Somekh, 2013)."""
    if considered <= 1:
        return list(range(simulations))
    rounds, number, visits = math.ceil(math.log2(considered)), considered, [0] * considered
    sequence: list[int] = []
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (rounds * number))):
            sequence += visits[:number]
            visits[:number] = [count + 1 for count in visits[:number]]
        number = max(2, number // 2)
    return sequence[:simulations]
