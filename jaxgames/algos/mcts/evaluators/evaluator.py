"""Evaluators: what leaves are worth, and what is likely to be played there. Networks, and mixtures of evaluators."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.mcts.select import Stage
from jaxgames.algos.mcts.tree import Tree
from jaxgames.envs.core import Game
from jaxgames.ops.random_bits import fold_in


class Leaves(NamedTuple):
    """The positions to be evaluated, in sight of the player to act, and all there is to know about them.

    Only those that are `going` need a value; of the others `sure` is what they are worth to the player at the root.
    `words` are random. `other` says that the player to act is not the one at the root, `mark` is that of the action
    that led here (none at the root and below a roll of chance), and `stages` are the paths in the `tree`.
    """

    position: Any
    going: Bool[Array, " batch"]
    sure: Float32[Array, " batch"]
    words: UInt32[Array, " batch"]
    other: Bool[Array, " batch"]
    mark: UInt32[Array, "batch words"]
    tree: Tree
    stages: list[Stage]


class Evaluation(NamedTuple):
    """The value of positions to the player to act, in points, and the logits of the actions, if there is a policy.

    `played` are the actions by which a rollout went on, as sets of bits: those of the player to act, and of the other.
    """

    value: Float32[Array, " batch"]
    logits: Float32[Array, "batch actions"] | None = None
    played: UInt32[Array, "batch 2 words"] | None = None


class Evaluator(Protocol):
    """Evaluates leaves. A pytree whose arrays are parameters; its memory, if it has one, is another."""

    @property
    def has_policy(self) -> bool:
        """Whether it gives logits."""
        ...

    def init(self, game: Game, batch: int) -> Any:
        """The memory before the first simulation."""
        ...

    def __call__(self, game: Game, leaves: Leaves, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Evaluates, and says what was `played` if asked to `track` it."""
        ...


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

    def __call__(self, game: Game, leaves: Leaves, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Asks the network."""
        observation = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(leaves.position)
        answer = self.apply(self.params, observation)
        batch = len(leaves.going)
        shapes = [tuple(jnp.shape(x)) for x in answer] if isinstance(answer, tuple) else jnp.shape(answer)
        if shapes != [(batch, game.num_actions), (batch,)]:
            raise ValueError(
                f"the network gives {shapes} for {batch} positions of {game.id}: expected apply(params, observation) "
                f"-> (logits, value) of shapes [({batch}, {game.num_actions}), ({batch},)]"
            )
        logits, value = answer
        return Evaluation(value.astype(jnp.float32), logits.astype(jnp.float32)), memory


def network(apply: Callable, params: Any) -> Network:
    """A network `apply(params, observation) -> (logits [B, actions], value [B])`, the value in points.

    Logits of illegal actions are ignored. `apply` is a hashable function; other `params` need no new compilation. A
    position that awaits chance is evaluated as it is, before chance.
    """
    return Network(params, apply)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Mixture:
    """See `mixture`."""

    first: Evaluator
    second: Evaluator
    weight: Float32[Array, ""] | float

    @property
    def has_policy(self) -> bool:
        """Whether one of them has a policy."""
        return self.first.has_policy or self.second.has_policy

    def init(self, game: Game, batch: int) -> Any:
        """The memories of both."""
        return self.first.init(game, batch), self.second.init(game, batch)

    def __call__(self, game: Game, leaves: Leaves, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Asks both."""
        others = leaves._replace(words=fold_in(leaves.words, 1))
        one, first = self.first(game, leaves, memory[0], track)
        two, second = self.second(game, others, memory[1], track)
        value = self.weight * one.value + (1 - self.weight) * two.value
        logits = two.logits if one.logits is None else one.logits
        return Evaluation(value, logits, two.played if one.played is None else one.played), (first, second)


def mixture(weight: float, first: Evaluator, second: Evaluator) -> Mixture:
    """The value `weight` x that of the first evaluator + (1 - `weight`) x that of the second.

    For example rollouts and a network, as in AlphaGo (Silver et al., 2016, with weight 0.5). The policy is that of the
    first one that has any. Raises `ValueError` for a weight outside 0..1.
    """
    if isinstance(weight, int | float) and not 0 <= weight <= 1:
        raise ValueError(f"weight {weight}: expected a number from 0 to 1")
    return Mixture(first, second, weight)
