"""Whether states are what a function needs: of this game, and one of them or a batch. See `jaxgames.ops.checks`."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.envs.state import State
from jaxgames.ops import checks


def one_state(game: Any, state: Any) -> State:
    """One state of this game."""
    shape = _batch_shape(game, state, "state")
    if shape:
        raise ValueError(f"one state is needed here, not {checks.batch_of(shape)}: use jax.vmap")
    return state


def state_batch(game: Any, states: Any) -> int:
    """How many states of this game there are, in a batch of one axis."""
    shape = _batch_shape(game, states, "states")
    if len(shape) != 1:
        given = checks.batch_of(shape) if shape else "one state"
        raise ValueError(f"states: a batch of shape [n] is needed here, not {given}: use jax.vmap(game.init)(keys)")
    return shape[0]


def position_batch(game: Any, positions: Any, batch: int) -> Any:
    """A batch of `batch` positions of this game, as `states._position` holds them."""
    shapes = [np.shape(leaf) for leaf in jax.tree.leaves(positions)]
    if isinstance(positions, State) or len(shapes) != len(_position_shapes(game)):
        raise TypeError(f"positions {checks.describe(positions)}: expected positions of {game.id}, states._position")
    for shape, own in zip(shapes, _position_shapes(game), strict=True):
        if shape != (batch, *own):
            raise ValueError(f"positions: a part is {list(shape)}: expected {[batch, *own]}, {batch} positions")
    return positions


def any_states(game: Any, states: Any) -> State:
    """One state of this game, or any batch of them."""
    _batch_shape(game, states, "states")
    return states


def a_state(state: Any, name: str = "state") -> State:
    """A state of any game, or a batch of them."""
    if not isinstance(state, State):
        raise TypeError(f"{name} {checks.describe(state)}: expected what game.init(key) returns, or a batch of it")
    return state


def a_game(game: Any, like: str = "connect_four") -> Any:
    """A game."""
    if not callable(getattr(game, "init_position", None)) or isinstance(game, type):
        raise TypeError(f"game {checks.describe(game)}: expected a game, such as jaxgames.make({like!r})")
    return game


def players(game: Any, position: Any, player: Any) -> Any:
    """Who is to act in a position of this game, or in each of a batch of them: int32 of the batch's shape."""
    shapes, own = [np.shape(leaf) for leaf in jax.tree.leaves(position)], _position_shapes(game)
    if len(shapes) != len(own):
        raise TypeError(f"position {checks.describe(position)}: expected a position of {game.id}, state._position")
    shape = shapes[0][: len(shapes[0]) - len(own[0])] if shapes else ()
    for part, one in zip(shapes, own, strict=True):
        if part != (*shape, *one):
            raise ValueError(f"position: a part is {list(part)}: expected {[*shape, *one]}")
    player = checks.integers("current_player", player, shape if np.ndim(player) else (), 1)
    return jnp.broadcast_to(player, shape)


def _batch_shape(game: Any, states: Any, name: str) -> tuple[int, ...]:
    """The shape of a batch, () of one state; raises unless all parts have it, and are of this game."""
    a_state(states, name)
    if states._game is not game and states._game != game:
        of, this = (states._game, game) if states._game.id == game.id else (states._game.id, game.id)
        raise ValueError(f"this state is of {of}, this game is {this}")
    shape: tuple[int, ...] = np.shape(states.terminated)
    parts: tuple[tuple[str, Any, tuple[int, ...]], ...] = (
        ("current_player", states.current_player, ()),
        ("rewards", states.rewards, (2,)),
        ("truncated", states.truncated, ()),
        ("step_count", states._step_count, ()),
    )
    for part, value, own in parts:
        if np.shape(value) != (*shape, *own):
            raise ValueError(
                f"{name}: {part} is {list(np.shape(value))} where terminated is {list(shape)}: "
                f"expected {[*shape, *own]}, as of jax.vmap(game.init)(keys)"
            )
    for value, own in zip(jax.tree.leaves(states._position), _position_shapes(game), strict=False):
        if np.shape(value) != (*shape, *own):
            raise ValueError(
                f"{name}: a part of the position is {list(np.shape(value))} where terminated is {list(shape)}: "
                f"expected {[*shape, *own]}, as of jax.vmap(game.init)(keys)"
            )
    return shape


@functools.lru_cache(maxsize=64)
def _position_shapes(game: Any) -> tuple[tuple[int, ...], ...]:
    """The shapes of the parts of one position."""
    return tuple(leaf.shape for leaf in jax.tree.leaves(jax.eval_shape(game.init_position, jax.random.key(0))))
