"""An evaluator of values alone: any value of positions, such as that of a TD network, as a network without a policy."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Leaves
from jaxgames.envs.core import Game, Value


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Valued:
    """See `valued`."""

    params: Any
    make_value: Callable[[Any], Value] = dataclasses.field(metadata={"static": True})
    has_policy = True

    def init(self, game: Game, batch: int) -> Any:
        """No memory."""
        return ()

    def __call__(self, game: Game, leaves: Leaves, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Asks for the values."""
        value = self.make_value(self.params)(leaves.position)
        return Evaluation(value, jnp.zeros((len(value), game.num_actions), jnp.float32)), memory


def valued(make_value: Callable[[Any], Value], params: Any) -> Valued:
    """The value `make_value(params)(positions)` of positions, as in `Game.best_turn`; all actions are equally likely.

    `make_value` is a hashable function. Where such a value is of positions that await chance, as in backgammon, it is
    asked about others all the same: within a turn it does not know of the dice.
    """
    return Valued(params, make_value)
