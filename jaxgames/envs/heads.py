"""Action heads: how the outputs of networks name actions, for many networks at once, each with its own positions."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32
from typing_extensions import override

from jaxgames.envs.state import Rules

LOWEST = jnp.finfo(jnp.float32).min
"""NaN and minus infinity count as this number: below all others, but above the minus infinity of illegal actions."""


class ActionHead(Protocol):
    """Reads the actions of n networks from their outputs, for g positions of each."""

    @property
    def size(self) -> int:
        """Number of outputs that a network needs."""
        ...

    def targets(self, policy: Float32[Array, "n actions"], positions: Any) -> Float32[Array, "n size"]:
        """The targets of the outputs, 0 to 1 each, for a policy with these probabilities."""
        ...

    def __call__(
        self, outputs: Float32[Array, "n size g"], positions: Any, strict: bool = False
    ) -> tuple[Int32[Array, "n g"], Bool[Array, "n g"]]:
        """The actions, and whether they are legal.

        Args:
            outputs: Of n networks, for g positions each.
            positions: With leaves [n, g, ...].
            strict: Whether the outputs may name an illegal action. Its number is then arbitrary. Otherwise the best
                legal action is chosen.

        Of equal outputs the action of the lowest number is chosen. NaN is worse than any number.
        """
        ...


@dataclasses.dataclass(frozen=True)
class ArgmaxHead(ActionHead):
    """One output for each action: the highest output names it."""

    game: Rules

    @property
    @override
    def size(self) -> int:
        """One output for each action."""
        return self.game.num_actions

    @override
    def targets(self, policy: Float32[Array, "n actions"], positions: Any) -> Float32[Array, "n size"]:
        return policy

    @override
    def __call__(
        self, outputs: Float32[Array, "n size g"], positions: Any, strict: bool = False
    ) -> tuple[Int32[Array, "n g"], Bool[Array, "n g"]]:
        if strict:
            actions = highest(outputs)
            return actions, jax.vmap(jax.vmap(self.game.is_legal))(positions, actions)
        legal = jax.vmap(jax.vmap(self.game.legal, out_axes=1))(positions)
        actions = best_of((action, outputs[:, action], legal[:, action]) for action in range(self.size))
        return actions, jnp.ones(actions.shape, bool)


def heads_of(game: Any) -> Mapping[str, ActionHead]:
    """All heads of a game by name: "highest", which is `ArgmaxHead`, and those that the game adds or replaces."""
    return {"highest": ArgmaxHead(game), **game.heads}


def highest(outputs: Float32[Array, "n size g"]) -> Int32[Array, "n g"]:
    """The number of the highest output."""
    always = jnp.ones((), bool)
    return best_of((number, outputs[:, number], always) for number in range(outputs.shape[1]))


def best_of(
    choices: Iterable[tuple[int, Float32[Array, "n g"], Bool[Array, "..."]]],
) -> Int32[Array, "n g"]:
    """The number of the best choice, the first among equals; a choice is a number, its worth, and where it is allowed.

    The choices are compared one after the other; XLA:CPU turns this into a single loop of vector code. For the 128
    actions of draughts it takes an eighth of the time of `argmax` over an array [n, actions, g].
    """
    best = chosen = None
    for number, worth, allowed in choices:
        worth = jnp.where(worth > LOWEST, worth, LOWEST)
        worth = jnp.where(allowed, worth, -jnp.inf)
        if best is None or chosen is None:
            best, chosen = worth, jnp.full(worth.shape, number, jnp.int32)
        else:
            chosen = jnp.where(worth > best, number, chosen)
            best = jnp.maximum(best, worth)
    assert chosen is not None
    return chosen
