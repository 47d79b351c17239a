"""The types that games use: positions, outcomes of actions, values, and the state of a game in progress."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Shaped

from jaxgames.ops import checks

Position = TypeVar("Position")


class Outcome(NamedTuple, Generic[Position]):
    """What one action leads to, before chance.

    `position` is seen by the player who acts next; `turn_passes` says that this is the other player. `reward` is what
    the player who acted wins (the other one loses it); it counts only where the game is `over`.
    """

    position: Position
    turn_passes: Bool[Array, "..."]
    over: Bool[Array, "..."]
    reward: Float32[Array, "..."]


class Value(Protocol):
    """What positions are worth to the player to act: expected points, float32[n] for n positions.

    In a game with chance the positions await it. A game may use some values in a faster way, with the same result as
    this call.
    """

    def __call__(self, positions: Any, /) -> Float32[Array, " n"]:
        """Expected points of n positions."""
        ...


class Rules(Protocol):
    """The part of a `Game` that turns and heads read. `core` imports them, so they cannot name `Game` itself."""

    @property
    def num_actions(self) -> int:
        """How many actions the game has."""
        ...

    def legal(self, position: Any) -> Bool[Array, " actions"]:
        """As `Game.legal`."""
        ...

    def is_legal(self, position: Any, action: Int32[Array, ""]) -> Bool[Array, ""]:
        """As `Game.is_legal`."""
        ...

    def play(self, position: Any, action: Int32[Array, ""]) -> Outcome:
        """As `Game.play`."""
        ...


@dataclasses.dataclass(frozen=True)
class State:
    """A game in progress. Only what the rules need is stored; observation and legal actions are derived on demand.

    All attributes work at any batch rank: `jax.vmap(game.init)(keys).legal_action_mask` is `bool[batch, actions]`.
    """

    current_player: Int32[Array, "..."]
    rewards: Float32[Array, "... 2"]
    terminated: Bool[Array, "..."]
    truncated: Bool[Array, "..."]
    _step_count: Int32[Array, "..."]
    _position: Any
    _game: Any  # a `Game`, which makes states and so cannot be imported here

    @property
    def legal_action_mask(self) -> Bool[Array, "... actions"]:
        """The actions the current player may take; all true once the game has ended.

        Where `auto_reset` has started a new game, the mask is that of the new game.
        """
        return self._derived("_legal_action_mask")

    @property
    def observation(self) -> Shaped[Array, "..."]:
        """The position as the current player sees it; shape `[..., *game.observation_shape]`."""
        return self._derived("observe")

    @property
    def game(self) -> Any:
        """The `Game` that this is a state of."""
        return self._game

    @property
    def step_count(self) -> Int32[Array, "..."]:
        """The number of steps since the game began or was read from a text, including steps after its end.

        It is 1 if the text was of a finished game, so that the mask is all true.
        """
        return self._step_count

    @property
    def env_id(self) -> str:
        """The id of the game."""
        return self._game.id

    def replace(self, **changes: Any) -> Self:
        """A copy with some attributes changed."""
        return dataclasses.replace(self, **changes)

    def to_svg(self, theme: str = "light") -> str:
        """The board as an SVG document; a batch as a grid of boards."""
        return self._game.to_svg(self, theme)

    def save_svg(self, filename: str, theme: str = "light") -> None:
        """Write `to_svg` to a file."""
        with open(filename, "w", encoding="utf-8") as file:
            file.write(self.to_svg(theme))

    def _repr_svg_(self) -> str | None:
        """What notebooks show; None if the game draws no boards, so that they show the text."""
        try:
            return self.to_svg()
        except NotImplementedError:
            return None

    def _derived(self, name: str) -> Array:
        look = _look if isinstance(self.terminated, jax.core.Tracer) else _look_compiled
        return look(self._game, name, jnp.ndim(self.terminated))(self)


def _look(game: Any, name: str, rank: int) -> Callable[[State], Array]:
    """The game's method that shows one state, for states of this batch rank."""
    function: Callable = getattr(game, name)
    for _ in range(rank):
        function = jax.vmap(function)
    return function


@functools.lru_cache(maxsize=64)
def _look_compiled(game: Any, name: str, rank: int) -> Callable[[State], Array]:
    """As `_look`, compiled: for states outside of `jit`, where otherwise each operation would be a separate program."""
    return jax.jit(_look(game, name, rank))


jax.tree_util.register_dataclass(
    State,
    data_fields=["current_player", "rewards", "terminated", "truncated", "_step_count", "_position"],
    meta_fields=["_game"],
)


def single(state: State) -> State:
    """The state itself; `ValueError` if it is a batch."""
    if state.terminated.ndim:
        raise ValueError(f"one state is needed here, not {checks.batch_of(state.terminated.shape)}")
    return state
