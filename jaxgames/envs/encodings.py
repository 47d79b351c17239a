"""Encodings of boards with one number for each square, as the networks of the nineties had them."""

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32

from jaxgames.envs.core import Position
from jaxgames.ops import bits, checks


class Stones(NamedTuple):
    """The stones of positions as sets of bits, each of one word or several: those of the player to act, and those of
    the other; `places` are the bits of the squares, row by row from the top.
    """

    own: tuple[bits.Word, ...]
    other: tuple[bits.Word, ...]
    places: np.ndarray


@dataclasses.dataclass(frozen=True)
class Cells:
    """One input for each square, seen by the player to act: 1 for an own piece, -1 for the other's, else `empty`.

    With `side` one more input says whose turn it is: 1 for the player whose pieces are the 1s. The game is observed as
    bool[rows, cols, 2] and has a method `stones`.
    """

    game: Any
    empty: float = 0.0
    side: bool = False

    def __post_init__(self) -> None:
        checks.native_fields(self)

    @property
    def size(self) -> int:
        """Number of inputs."""
        rows, columns = _board(self.game)
        return rows * columns + self.side

    def __call__(self, positions: Position) -> Float32[Array, "n size"]:
        """float32[n, size] for n positions."""
        return self.from_observation(_observed(self.game, positions))

    def from_observation(self, planes: Bool[Array, "n rows cols 2"]) -> Float32[Array, "n size"]:
        """The same from observations."""
        own, other = planes[..., 0], planes[..., 1]
        values = jnp.where(own, 1.0, jnp.where(other, -1.0, self.empty)).astype(jnp.float32)
        values = values.reshape(len(values), math.prod(values.shape[1:]))
        return jnp.concatenate([values, jnp.ones((len(values), 1), jnp.float32)], axis=1) if self.side else values

    def inputs_first(self, positions: Position) -> Float32[Array, "size *batch"]:
        """The same for positions of any batch shape, the inputs first."""
        own, other, places = self.game.stones(positions)
        mine, theirs = bits.unpack_first(own, places), bits.unpack_first(other, places)
        values = jnp.where(mine, 1.0, jnp.where(theirs, -1.0, self.empty)).astype(jnp.float32)
        return jnp.concatenate([values, jnp.ones_like(values[:1])]) if self.side else values

    def swap(self, inputs: Float32[Array, "n size"]) -> Float32[Array, "n size"]:
        """The same inputs with the names of the players exchanged."""
        return jnp.where(jnp.abs(inputs) == 1, -inputs, inputs)


@dataclasses.dataclass(frozen=True)
class Marks:
    """One input for each square: 1 for a stone of the player who began, `second` for one of the other, else 0.

    The view is not that of the player to act: only the number of stones tells whose turn it is. With `planes` there are
    three inputs for each square: a stone of the player who began, one of the other, and whether the player who began is
    to act. Source: Göppert, Entwicklung eines Agenten für Vier gewinnt, 2020, section 5.2.
    """

    game: Any
    second: float = -1.0
    planes: bool = False

    def __post_init__(self) -> None:
        checks.native_fields(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a position's inputs."""
        rows, columns = _board(self.game)
        return (rows, columns, 3) if self.planes else (rows * columns,)

    @property
    def size(self) -> int:
        """Number of inputs."""
        return math.prod(self.shape)

    def __call__(self, positions: Position) -> Float32[Array, "n size"]:
        """float32[n, size] for n positions."""
        return self.from_observation(_observed(self.game, positions))

    def from_observation(self, planes: Bool[Array, "n rows cols 2"]) -> Float32[Array, "n size"]:
        """The same from observations."""
        began = jnp.sum(planes[..., 0], axis=(1, 2)) == jnp.sum(planes[..., 1], axis=(1, 2))
        began = began[:, None, None]
        first, second = (jnp.where(began, planes[..., one], planes[..., 1 - one]) for one in (0, 1))
        if self.planes:
            values = jnp.stack([first, second, jnp.broadcast_to(began, first.shape)], axis=-1).astype(jnp.float32)
        else:
            values = jnp.where(first, 1.0, jnp.where(second, self.second, 0.0)).astype(jnp.float32)
        return values.reshape(len(values), self.size)

    def swap(self, inputs: Float32[Array, "n size"]) -> Float32[Array, "n size"]:
        """The same inputs with the names of the players exchanged."""
        if self.planes:
            values = inputs.reshape(-1, 3)[:, np.array([1, 0, 2])]
            return jnp.where(np.arange(3) == 2, 1 - values, values).reshape(inputs.shape)
        return jnp.where(inputs == 1, self.second, jnp.where(inputs == self.second, 1.0, inputs)).astype(inputs.dtype)


def _observed(game: Any, positions: Position) -> Bool[Array, "n rows cols 2"]:
    return jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)


def _board(game: Any) -> tuple[int, ...]:
    """Rows and columns of the observation. Raises `ValueError` if it is not a board."""
    if len(game.observation_shape) != 3:
        raise ValueError(f"{game.id} is observed as {list(game.observation_shape)}: expected [rows, columns, planes]")
    return tuple(game.observation_shape[:2])
