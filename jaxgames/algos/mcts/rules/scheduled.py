"""Rules of searches that go their own ways: one round of `mcts.halving`, and RMCTS, level by level in `mcts.levels`."""

import dataclasses
from typing import ClassVar

import jax.numpy as jnp
from typing_extensions import override

from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.rules.gumbel import among, improved
from jaxgames.algos.mcts.rules.rule import Rule, Score
from jaxgames.envs.core import Game
from jaxgames.ops.settings import Settings, setting


@dataclasses.dataclass(frozen=True)
class OneRound(Settings, Rule):
    """A search of two calls of the network after the root's: for the targets of a training, not for deep play.

    Of three simulations two look at an action each, the third a ply further behind one of the better half. Actions are
    chosen, and policies improved, as in `Gumbel`. It needs a network with a policy, and keeps no tree.
    """

    of: ClassVar[str] = "the search of one round"
    scale: float = setting(1.0, "of the noise by which actions are drawn; 0 for none", low=0)
    edge_fields = ("prior",)
    needs_policy = True
    schedules_root = True
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

    @override
    def preference(self, nodes: Nodes) -> Score:
        """The best of the actions with the most visits."""
        return among(self.scale, nodes, nodes.max(lambda edges: edges.visits))

    @override
    def weights(self, nodes: Nodes) -> Score:
        return improved(nodes)


@dataclasses.dataclass(frozen=True)
class Recursive(Settings, Rule):
    """A search level by level (Frankston and Howard, 2026): few, large batches of the network.

    Its tree does not follow the values, so a simulation of it is worth less than one of PUCT, and takes less time. It
    needs a network with a policy, and keeps no tree.
    """

    of: ClassVar[str] = "the recursive search"
    c: float = setting(1.25, "how much the policy counts beside the values", above=0)
    needs_policy = True
    schedules_root = True
    keeps_tree = False

    @override
    def score(self, nodes: Nodes) -> Score:
        raise NotImplementedError("the trees of this search are not walked down")
