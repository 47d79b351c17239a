"""Networks as evaluators: with a policy (`network`), or values alone (`valued`)."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation
from jaxgames.algos.mcts.path import SelectedLeaf
from jaxgames.envs.core import Game, Value
from jaxgames.ops import checks


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Network:
    """See `network`."""

    params: Any
    apply: Callable = dataclasses.field(metadata={"static": True})
    has_policy = True

    def init(self, game: Game, batch: int) -> Any:
        """No memory."""
        return ()

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Applies the network to the observations."""
        observation = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(leaves.position)
        output = self.apply(self.params, observation)
        batch = len(leaves.needs_eval)
        logits, value = checks.policy_and_value(output, batch, game.num_actions, game.id)
        return Evaluation(value.astype(jnp.float32), logits.astype(jnp.float32)), memory


def network(apply: Callable, params: Any) -> Network:
    """A network `apply(params, observation) -> (logits [B, actions], value [B])`, the value in points.

    Logits of illegal actions are ignored. `apply` has to be hashable; other `params` need no new compilation. At a
    chance node the network sees the position before chance.
    """
    return Network(params, checks.function("apply", apply, "(params, observation) -> (logits, value)"))


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

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Computes the values."""
        value = checks.floats("the value of positions", self.make_value(self.params)(leaves.position))
        checks.array("the value of positions", value, jnp.floating, (len(leaves.needs_eval),))
        return Evaluation(value, jnp.zeros((len(value), game.num_actions), jnp.float32)), memory


def valued(make_value: Callable[[Any], Value], params: Any) -> Valued:
    """Values of positions, `make_value(params)(positions)` as in `Game.best_turn`, and a uniform policy.

    `make_value` has to be hashable. In backgammon such a value is that of a position before a roll; it is asked about
    positions within a turn, too, and does not see the dice left.
    """
    return Valued(params, checks.function("make_value", make_value, "(params) -> value"))
