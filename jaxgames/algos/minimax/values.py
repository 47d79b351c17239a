"""What positions at the horizon are worth, and what the values that a search returns say."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32

from jaxgames.algos.minimax.tick import LIMIT, WIN
from jaxgames.envs.core import Game, Value


def network(game: Game, apply: Callable[[Any, Array], Array], params: Any) -> Value:
    """The evaluation by a network `apply(params, observations)`, which gives one number for each observation.

    Observations are float32, of the player to act, whose expected points the numbers are. Raises `ValueError` if the
    network is of another shape.
    """

    def value(positions: Any) -> Float32[Array, " n"]:
        observed = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions).astype(
            jnp.float32
        )
        try:
            found = apply(params, observed)
        except (TypeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            wanted = f"observations float32{list(observed.shape)} of {game.id}"
            raise ValueError(f"the network does not take {wanted}: {reason}") from error
        shape = getattr(found, "shape", None)
        if shape is None or shape[:1] != (len(observed),) or math.prod(shape) != len(observed):
            got = type(found).__name__ if shape is None else list(shape)
            raise ValueError(f"the network gives {got} for {len(observed)} positions: expected one number for each")
        return found.reshape(len(observed)).astype(jnp.float32)

    return value


def result(values: Float32[Array, "..."]) -> tuple[Float32[Array, "..."], Int32[Array, "..."]]:
    """The points that the player to act wins by force, and after how many turns; 0 and 0 where nothing is decided.

    The turns of both players count, the first one as 1: the player who wins makes the last one.
    """
    size = jnp.abs(values)
    points = jnp.where(size > LIMIT, jnp.ceil(size / WIN), 0.0)
    return jnp.sign(values) * points, (points * WIN - jnp.where(points > 0, size, 0.0)).astype(jnp.int32)
