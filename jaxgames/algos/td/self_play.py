"""One ply of many games of self-play at once, each game replaced by a new one when it is over."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.envs.core import Game, Value
from jaxgames.ops.random_bits import random_bits


class Games(NamedTuple):
    """Games in progress: positions with the dice rolled, and whose turn it is (0 or 1)."""

    positions: Any
    player: Int32[Array, " batch"]


class Ply(NamedTuple):
    """What a ply led to: the position before chance, who is to act in it, and the first player's result if it is
    over.
    """

    positions: Any
    player: Int32[Array, " batch"]
    over: Bool[Array, " batch"]
    result: Float32[Array, " batch"]


def start(game: Game, key: Key[Array, ""], batch: int) -> Games:
    """New games. All start with player 0 to act, which is as good as a drawn player where players differ by name
    only.
    """
    return Games(jax.vmap(game.init_position)(jax.random.split(key, batch)), jnp.zeros(batch, jnp.int32))


def play_ply(
    game: Game, games: Games, value: Value, key: Key[Array, ""], explore: float = 0.0, renew: bool = True
) -> tuple[Games, Ply, Bool[Array, " batch"] | None]:
    """The best turn of each game by `value`, or with probability `explore` a random one; then chance; where a game is
    over a new one begins, with the next player to act.

    Also returns which turns were random, None if none ever is. If games are not to be renewed, a position at the end
    stays without chance: there is nothing left to play, so it costs least.
    """
    batch = len(games.player)
    outcome, _ = game.best_turn(games.positions, value)
    explored = None
    if explore:  # by words of their own, so that without it the same games are played as ever
        words = random_bits(jax.random.fold_in(key, 1), (2, batch))
        random = words[0] < np.uint32(min(round(explore * 2**32), 2**32 - 1))
        other = game.random_turn(games.positions, words[1])
        outcome = jax.tree.map(lambda new, old: jnp.where(_expand(random, new), new, old), other, outcome)
        explored = random
    next_player = jnp.where(outcome.turn_passes, 1 - games.player, games.player)
    result = jnp.where(games.player == 0, outcome.reward, -outcome.reward)
    chance_key, opening_key = jax.random.split(key)
    positions = with_chance(game, outcome.position, chance_key)
    ended = jax.vmap(game.init_position)(jax.random.split(opening_key, batch)) if renew else outcome.position
    positions = jax.tree.map(lambda new, old: jnp.where(_expand(outcome.over, new), new, old), ended, positions)
    return Games(positions, next_player), Ply(outcome.position, next_player, outcome.over, result), explored


def with_chance(game: Game, positions: Any, key: Key[Array, ""]) -> Any:
    """The positions after chance, where they await it."""
    if not game.outcome_probabilities:
        return positions
    words = jax.random.bits(key, (len(jax.tree.leaves(positions)[0]),))
    return jax.vmap(game.chance)(positions, game.draw_outcome(words))


def _expand(mask: Bool[Array, " batch"], like: Array) -> Bool[Array, "batch ..."]:
    return mask.reshape(-1, *(1,) * (like.ndim - 1))
