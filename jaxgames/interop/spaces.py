"""What other libraries' environments need of a game: its spaces, and its steps as small compiled programs."""

from collections.abc import Collection
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, Key

from jaxgames.envs.core import Game, State


def check_choice(name: str, value: str | None, known: Collection[str]) -> None:
    """Raises `ValueError` unless a setting is one of these, or None."""
    if value is not None and value not in known:
        raise ValueError(f"{name} {value!r}: expected {', '.join(known)} or None")


def observation_box(game: Game) -> Any:
    """The space of a game's observations: 0 and 1 as int8, or the numbers of the observation's own type."""
    from gymnasium import spaces

    seen = jax.eval_shape(lambda key: game.init(key).observation, jax.random.key(0))
    if seen.dtype == bool:
        return spaces.Box(0, 1, seen.shape, np.int8)
    limits = np.iinfo(seen.dtype) if jnp.issubdtype(seen.dtype, jnp.integer) else np.finfo(seen.dtype)
    return spaces.Box(limits.min, limits.max, seen.shape, seen.dtype.type)


def observed(state: State, player: int) -> np.ndarray:
    """What a player sees, in the form of the space."""
    seen = np.array(_observe(state, jnp.int32(player)))  # the caller's own, to write in
    return seen.astype(np.int8) if seen.dtype == bool else seen


def legal_mask(state: State) -> np.ndarray:
    """int8[actions]: 1 for the legal actions of the player to act."""
    return np.asarray(state.legal_action_mask).astype(np.int8)


def over(state: State) -> bool:
    """Whether the game has ended."""
    return bool(state.terminated) or bool(state.truncated)


def new_game(game: Game, seed: int) -> State:
    """A new game."""
    return _init(game, jax.random.key(seed))


@partial(jax.jit, static_argnums=0)
def _init(game: Game, key: Key[Array, ""]) -> State:
    return game.init(key)


@jax.jit
def step(state: State, action: Int32[Array, ""], key: Key[Array, ""]) -> State:
    """The state after an action and what `key` draws."""
    return state._game.step(state, action, key)


@jax.jit
def _observe(state: State, player: Int32[Array, ""]) -> Array:
    return state._game.observe(state, player)
