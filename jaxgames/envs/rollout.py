"""Playing many games on: actions drawn from a mask, and batches of games stepped together."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Int32, Key, UInt32

from jaxgames.envs.core import Game, State

Choose = Callable[[Key[Array, ""], State], Int32[Array, " batch"]]
"""Picks an action for each of a batch of states."""


def random_action(key: Key[Array, ""], states: State | Bool[Array, "... actions"]) -> Int32[Array, "..."]:
    """A legal action of each of `states` (or of masks, each allowing at least one), drawn uniformly."""
    mask = states.legal_action_mask if isinstance(states, State) else states
    return action_of_word(jax.random.bits(key, mask.shape[:-1]), mask)


def action_of_word(word: UInt32[Array, "..."], mask: Bool[Array, "... actions"]) -> Int32[Array, "..."]:
    """The allowed action that a random word stands for.

    The word picks the action by its rank, which is much faster than `jax.random.categorical`. (By remainder: over n
    allowed actions no probability is off by more than n / 2^32 of itself.)
    """
    ranks = jnp.cumsum(mask, axis=-1, dtype=jnp.uint32)
    chosen = word % ranks[..., -1]
    return jnp.sum(ranks <= chosen[..., None], axis=-1, dtype=jnp.int32)


def rollout(
    game: Game, states: State, key: Key[Array, ""], num_steps: int, choose: Choose = random_action
) -> tuple[State, tuple[State, Int32[Array, "num_steps batch"]]]:
    """A batch of games played on for `num_steps` actions each; games that end stay as they are.

    Returns the states after it, and for every step the states before it and the actions taken (`[num_steps, batch]`).
    """

    def play(states, key):
        choice_key, step_key = jax.random.split(key)
        actions = choose(choice_key, states)
        keys = jax.random.split(step_key, len(actions))
        return jax.vmap(game.step)(states, actions, keys), (states, actions)

    return lax.scan(play, states, jax.random.split(key, num_steps))
