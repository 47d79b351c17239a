"""Positions from what the player to act observes: the inverse of each game's `observe_position`.

What is not observed is as in a new game: in checkers Black is to act, and the last move was a capture.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped

from jaxgames.envs import backgammon, checkers, connect_four, tic_tac_toe
from jaxgames.envs.backgammon.board import from_counts
from jaxgames.envs.checkers.board import PLACE, status
from jaxgames.envs.checkers.plain_board import SQUARES, row_and_column
from jaxgames.envs.core import Game
from jaxgames.ops import checks
from jaxgames.ops.bits import top_index, union

ROWS, COLUMNS = np.transpose([row_and_column(square) for square in range(1, SQUARES + 1)])
"""Of the squares of draughts."""


def positions_of(game: Game, observations: Shaped[Array, "batch ..."]) -> Any:
    """The positions in which the player to act observes this.

    Raises `ValueError` for a game that is not known here, and as `check_observations`.
    """
    if game.id not in POSITION_OF:
        known = ", ".join(POSITION_OF)
        raise ValueError(f"positions of {game.id} are not known from observations; those of {known} are")
    check_observations(game, observations)
    return jax.vmap(lambda observation: POSITION_OF[game.id](game, observation))(observations)


def check_observations(game: Game, observations: Any) -> None:
    """Raises `ValueError` or `TypeError` for all that is no batch of observations of the game."""
    one = jax.eval_shape(lambda key: game.init(key).observation, jax.random.key(0))
    checks.array("observation", observations, one.dtype, (None, *one.shape), f"of {game.id}")


def _word(flags: Array, places: Any) -> Array:
    """The set whose bit `places[i]` is flag i, where that is below 32."""
    bit_of = np.where(places < 32, np.uint32(1) << (places % 32).astype(np.uint32), np.uint32(0))
    return union(jnp.where(flags.astype(bool), jnp.asarray(bit_of), jnp.uint32(0)))


def _of_tic_tac_toe(game: Any, observation: Array) -> tic_tac_toe.Position:
    own, other = (_word(observation[..., plane].ravel(), np.arange(9)) for plane in (0, 1))
    return tic_tac_toe.Position(own | other << 16)


def _of_connect_four(game: Any, observation: Array) -> connect_four.Position:
    empty = game.init_position(jax.random.key(0))
    squares = game.stones(empty).places

    def words(plane: int) -> tuple[Array, ...]:
        stones = observation[..., plane].ravel()
        return tuple(_word(stones & (squares >= 32 * k), np.abs(squares - 32 * k)) for k in range(len(empty.own)))

    return connect_four.Position(words(0), words(1))


def _of_checkers(game: Any, observation: Array) -> checkers.Position:
    planes = (_word(observation[ROWS, COLUMNS, plane], PLACE) for plane in range(5))
    men, kings, other_men, other_kings, jumper = planes
    place = jnp.where(jumper != 0, 64 + top_index(jumper), jnp.uint32(0))
    board = men | kings, other_men | other_kings, kings | other_kings
    return checkers.Position(*board, status(jnp.bool_(False), place, jnp.uint32(0)))


def _of_backgammon(game: Any, observation: Array) -> backgammon.Position:
    points, bar, dice = (observation[part].astype(jnp.int32) for part in (slice(24), slice(24, 26), slice(28, 34)))
    own = jnp.append(jnp.maximum(points[::-1], 0), bar[0])
    other = jnp.append(jnp.maximum(-points, 0), -bar[1])
    digits = dice.astype(jnp.uint32) << (jnp.uint32(4) * jnp.arange(6, dtype=jnp.uint32))
    return backgammon.Position(from_counts(own), from_counts(other), jnp.sum(digits, dtype=jnp.uint32))


POSITION_OF: Mapping[str, Callable[[Any, Array], Any]] = {
    "tic_tac_toe": _of_tic_tac_toe,
    "connect_four": _of_connect_four,
    "checkers": _of_checkers,
    "backgammon": _of_backgammon,
}
"""By the id of the game."""
