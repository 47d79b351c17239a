"""What is learned from a minibatch: the policy by cross-entropy, the value by squared error, in drawn symmetries."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Key

from jaxgames.algos.alphazero.buffer import Plies
from jaxgames.envs.core import Game
from jaxgames.ops.random_bits import random_bits

METRICS = {"policy_loss": "policy loss", "value_loss": "value loss", "entropy": "entropy of the policy"}
"""What `loss` measures, each with its name in the learning curve: in nats and squares."""


class Examples(NamedTuple):
    """What a network learns from: observations and legal actions, targets, and weights of both targets."""

    observation: Array
    legal: Bool[Array, "batch actions"]
    policy: Float32[Array, "batch actions"]
    value: Float32[Array, " batch"]
    policy_weight: Float32[Array, " batch"]
    value_weight: Float32[Array, " batch"]


def examples_of(game: Game, plies: Plies, result_share: float) -> Examples:
    """The examples in plies `[batch]`: the value is that of the player to act, result and root value mixed.

    A ply of a game that has not ended weighs nothing.
    """
    result = jnp.where(plies.player == 0, plies.result, -plies.result)
    value = result_share * result + (1 - result_share) * plies.root_value
    known = plies.known.astype(jnp.float32)
    return Examples(
        jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(plies.position),
        jax.vmap(game.legal)(plies.position),
        plies.policy.astype(jnp.float32),
        value,
        known * plies.is_target.astype(jnp.float32),
        known,
    )


def turn(game: Game, examples: Examples, key: Key[Array, ""]) -> Examples:
    """Each example in a symmetry of the board that is drawn for it."""
    symmetries = game.symmetries
    if len(symmetries) == 1:
        return examples
    batch = len(examples.value)
    drawn = random_bits(key, (batch,)) % jnp.uint32(len(symmetries))
    actions = jnp.asarray(np.stack([symmetry.actions for symmetry in symmetries]))[drawn]
    elements = jnp.asarray(np.stack([symmetry.elements for symmetry in symmetries]))[drawn]
    flat = jnp.take_along_axis(examples.observation.reshape(batch, -1), elements, axis=1)
    return examples._replace(
        observation=flat.reshape(examples.observation.shape),
        legal=jnp.take_along_axis(examples.legal, actions, axis=1),
        policy=jnp.take_along_axis(examples.policy, actions, axis=1),
    )


def loss(
    apply: Callable, params: Any, examples: Examples, max_reward: float, value_weight: float
) -> tuple[Float32[Array, ""], dict[str, Array]]:
    """Cross-entropy of the policy over the legal actions, plus `value_weight` times the squared error of the value.

    Values are divided by the most points of a game, so that one weight suits all games. Also returns the
    metrics of `METRICS`; `entropy` is that of the network's policy.
    """
    logits, value = apply(params, examples.observation)
    log_policy = jax.nn.log_softmax(jnp.where(examples.legal, logits.astype(jnp.float32), -1e9), axis=1)

    def mean(of, weight):
        return jnp.sum(of * weight) / jnp.maximum(jnp.sum(weight), 1)

    cross_entropy = -jnp.sum(jnp.where(examples.legal, examples.policy * log_policy, 0), axis=1)
    entropy = -jnp.sum(jnp.where(examples.legal, jnp.exp(log_policy) * log_policy, 0), axis=1)
    squares = jnp.square((value.astype(jnp.float32) - examples.value) / max_reward)
    policy_loss, value_loss = mean(cross_entropy, examples.policy_weight), mean(squares, examples.value_weight)
    metrics = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": mean(entropy, examples.policy_weight),
    }
    return policy_loss + value_weight * value_loss, metrics
