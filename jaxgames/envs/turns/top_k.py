"""The few best turns of each position of a batch, for searches that look deeper into those only."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.envs.backgammon import Backgammon
from jaxgames.envs.backgammon.best import best_plays, play_out, score_by
from jaxgames.envs.backgammon.encoding import FirstLayer, score_first_layer
from jaxgames.envs.backgammon.position import Position as Board
from jaxgames.envs.core import Game, Outcome, Position, Value


class BestTurns(NamedTuple):
    """What the best turns lead to and what each is worth to the player to act, all of shape [count, batch], the best
    first. Only those that are `there` count, as a position may have fewer turns.
    """

    outcome: Outcome
    worth: Float32[Array, "count batch"]
    there: Bool[Array, "count batch"]


@functools.singledispatch
def best_turns(game: Game, positions: Position, value: Value, count: int) -> BestTurns:
    """The `count` best turns of each position if positions are worth `value`; the first is that of `best_turn`.

    This is for games whose turns are single actions; others register their own.
    """
    outcomes, legal = game._successors(positions)
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcomes.position)
    worth = value(flat).reshape(legal.shape)
    worth = jnp.where(outcomes.over, outcomes.reward, jnp.where(outcomes.turn_passes, -worth, worth))
    lowest = jnp.finfo(jnp.float32).min
    worth = jnp.where(worth > lowest, worth, lowest)  # NaN too, as in `Game.best_turn`
    worth, choice = lax.top_k(jnp.where(legal, worth, -jnp.inf), min(count, game.num_actions))
    chosen = jax.tree.map(lambda x: jnp.moveaxis(jax.vmap(lambda row, index: row[index])(x, choice), 1, 0), outcomes)
    return BestTurns(chosen, worth.T, worth.T > -jnp.inf)


@best_turns.register
def _(game: Backgammon, positions: Board, value: Value, count: int) -> BestTurns:
    """One after the other, each the best of the plays not yet chosen."""
    score = score_first_layer(positions, value) if isinstance(value, FirstLayer) else score_by(positions, value)
    batch = len(positions.dice)

    def choose(
        number: Array, chosen: tuple[UInt32[Array, "count batch"], Float32[Array, "count batch"]]
    ) -> tuple[UInt32[Array, "count batch"], Float32[Array, "count batch"]]:
        codes, scores = chosen
        earlier = jnp.arange(count, dtype=jnp.int32) < number

        def others(game, code, moves):
            again = jnp.any((codes[:, game] == code[None, :]) & earlier[:, None], axis=0)
            return jnp.where(again, -jnp.inf, score(game, code, moves))

        best = best_plays(positions, others)
        return codes.at[number].set(best.code), scores.at[number].set(best.score)

    nothing = jnp.zeros((count, batch), jnp.uint32), jnp.zeros((count, batch), jnp.float32)
    codes, scores = lax.fori_loop(0, count, choose, nothing)
    outcomes = jax.vmap(lambda code: play_out(positions, code))(codes)
    first = jnp.arange(count, dtype=jnp.int32)[:, None] == 0
    return BestTurns(outcomes, scores, first | (scores > -jnp.inf))
