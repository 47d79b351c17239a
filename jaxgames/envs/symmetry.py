"""Symmetries of a board as index maps, to augment training positions and to find equal positions."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Shaped


class Symmetry(NamedTuple):
    """One rotation or reflection of the board: where each action and each element of the observation comes from.

    `mask[..., symmetry.actions]` is the mask of the turned position, `symmetry.observe(observation)` its observation;
    an action of the turned position is `symmetry.actions[action]` of the original one.
    """

    name: str
    actions: Int[np.ndarray, " actions"]
    elements: Int[np.ndarray, " elements"]
    shape: tuple[int, ...]

    def observe(self, observation: Shaped[Array, "..."]) -> Shaped[Array, "..."]:
        """The observation of the turned position, at any batch rank."""
        batch = observation.shape[: observation.ndim - len(self.shape)]
        flat = observation.reshape(*batch, len(self.elements))
        return flat[..., jnp.asarray(self.elements)].reshape(observation.shape)


def identity(num_actions: int, observation_shape: Sequence[int]) -> Symmetry:
    """The board as it is."""
    elements = np.arange(math.prod(observation_shape), dtype=np.int32)
    return Symmetry("identity", np.arange(num_actions, dtype=np.int32), elements, tuple(observation_shape))


def of_grid(name: str, squares: Int[np.ndarray, "rows cols"], actions: np.ndarray, planes: int) -> Symmetry:
    """The symmetry of a grid, observed as `[rows, cols, planes]`, that puts the content of square `squares[r, c]`
    (numbered row by row) on row r and column c.
    """
    elements = squares.reshape(-1, 1) * planes + np.arange(planes)
    shape = (*squares.shape, planes)
    return Symmetry(name, actions.astype(np.int32), elements.reshape(-1).astype(np.int32), shape)


def square_grid(size: int) -> dict[str, Int[np.ndarray, "size size"]]:
    """The eight symmetries of a square board, by name: which square comes to each place."""
    grid = np.arange(size * size).reshape(size, size)
    turned = {f"rotation {90 * turns}": np.rot90(grid, turns) for turns in range(1, 4)}
    mirrored = {f"mirror {90 * turns}": np.rot90(grid[:, ::-1], turns) for turns in range(4)}
    return {"identity": grid, **turned, **mirrored}
