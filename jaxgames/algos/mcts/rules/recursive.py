"""RMCTS, as a rule: the search itself goes level by level, in `jaxgames.algos.mcts.levels`."""

import dataclasses
from typing import ClassVar

from typing_extensions import override

from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.rules.rule import Rule, Score
from jaxgames.ops.settings import Settings, setting


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
