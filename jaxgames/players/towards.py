"""From whole turns to single actions: the next action on the way to the position that a turn leads to."""

import functools
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

from jaxgames.envs.backgammon import Backgammon
from jaxgames.envs.backgammon.best import best_plays, first_action
from jaxgames.envs.backgammon.play_lists import after
from jaxgames.envs.backgammon.position import Position as Board
from jaxgames.envs.core import Game
from jaxgames.ops.pytrees import equal

Position = TypeVar("Position")


@functools.singledispatch
def action_towards(
    game: Game, positions: Position, target: Position, wanted: Bool[Array, " batch"], otherwise: Position
) -> tuple[Int32[Array, " batch"], Bool[Array, " batch"]]:
    """The next action of the turn to `target`, where that is `wanted` and possible, else of the turn to `otherwise`.

    Also returns where it is the first. This is for games whose turns are single actions; others register their own.
    """
    numbers = jnp.arange(game.num_actions, dtype=jnp.int32)
    legal = jax.vmap(game.legal)(positions)

    def leads_to(goal):
        outcomes = jax.vmap(lambda action: jax.vmap(lambda position: game.play(position, action))(positions))(numbers)
        return jax.vmap(lambda reached: equal(reached, goal))(outcomes.position).T & legal

    first, second = leads_to(target) & wanted[:, None], leads_to(otherwise)
    kept = jnp.any(first, axis=1)
    return jnp.argmax(jnp.where(kept[:, None], first, second), axis=1).astype(jnp.int32), kept


@action_towards.register
def _(
    game: Backgammon, positions: Board, target: Board, wanted: Bool[Array, " batch"], otherwise: Board
) -> tuple[Int32[Array, " batch"], Bool[Array, " batch"]]:
    """The first checker of the one play that leads there."""

    def score(number, code, moves):
        own, opponent = after(positions, number, code, moves)

        def is_result(goal):
            goal = jax.tree.map(lambda x: x[number], goal)
            return equal((own, opponent), (goal.opponent, goal.own)).astype(jnp.float32)

        return 2 * is_result(target) * wanted[number].astype(jnp.float32) + is_result(otherwise)

    best = best_plays(positions, score)
    return first_action(positions, best.code), best.score >= 2
