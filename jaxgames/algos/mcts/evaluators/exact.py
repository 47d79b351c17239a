"""Leaves that are known exactly have their exact value; another evaluator says what the others are worth."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Evaluator, check_evaluator
from jaxgames.algos.mcts.path import SelectedLeaf
from jaxgames.envs.core import Game
from jaxgames.tables.lookup import LeafKnowledge


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ExactLeaves:
    """See `exact_leaves`."""

    evaluate: Evaluator
    scores: Any
    lookup: LeafKnowledge = dataclasses.field(metadata={"static": True})

    @property
    def has_policy(self) -> bool:
        """As of the other evaluator."""
        return self.evaluate.has_policy

    def init(self, game: Game, batch: int) -> Any:
        """The memory of the other evaluator."""
        return self.evaluate.init(game, batch)

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Evaluates all, and takes the exact value where there is one."""
        found, memory = self.evaluate(game, leaves, memory, track)
        known, worth = self.lookup.at_leaf(self.scores, leaves.position)
        return found._replace(value=jnp.where(known, self.lookup.points(worth), found.value)), memory


def exact_leaves(evaluate: Evaluator, lookup: LeafKnowledge, scores: Any) -> ExactLeaves:
    """The evaluator with the exact points where the lookup knows a leaf; `scores` are the lookup's arrays."""
    return ExactLeaves(check_evaluator("evaluate", evaluate), scores, lookup)
