"""One ply of many games of self-play at once."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.envs.core import Game, Value
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import random_bits


class Games(NamedTuple):
    """Games in progress: positions with the dice rolled, and whose turn it is (0 or 1)."""

    positions: Any
    player: Int32[Array, " batch"]


class Ply(NamedTuple):
    """The result of a ply: the position before chance, who is to act in it, whether the game is over, and its result
    for the first player.
    """

    positions: Any
    player: Int32[Array, "*plies batch"]
    over: Bool[Array, "*plies batch"]
    result: Float32[Array, "*plies batch"]


def init_games(game: Game, key: Key[Array, ""], batch: int) -> Games:
    """New games. Player 0 begins all of them: players differ only in name, so there is no need to draw one."""
    return Games(jax.vmap(game.init_position)(jax.random.split(key, batch)), jnp.zeros(batch, jnp.int32))


def play_ply(
    game: Game, games: Games, value: Value, key: Key[Array, ""], epsilon: float = 0.0, auto_reset: bool = True
) -> tuple[Games, Ply, Bool[Array, " batch"] | None]:
    """Plays a turn of each game, then lets chance act.

    Args:
      game: the rules.
      games: where the games stand.
      value: expected points of the player to act in a position; each turn is the best one by it.
      key: for random turns, chance and new games.
      epsilon: the probability that a turn is drawn from all legal ones instead.
      auto_reset: whether a new game, begun by the next player to act, replaces one that is over. Without it the
        last position stays, before chance: there is nothing to play there, so it costs least.

    Returns the games, what the ply led to, and which turns were random (None if `epsilon` is 0).
    """
    batch = len(games.player)
    outcome, _ = game.best_turn(games.positions, value)
    # The first two keys do not depend on how many there are, so games without random turns are always the same.
    chance_key, init_key, *explore_key = jax.random.split(key, 3 if epsilon else 2)
    explored = None
    if epsilon:
        bits = random_bits(explore_key[0], (2, batch))
        explored = bits[0] < np.uint32(min(round(epsilon * 2**32), 2**32 - 1))
        outcome = select(explored, game.random_turn(games.positions, bits[1]), outcome)
    next_player = jnp.where(outcome.turn_passes, 1 - games.player, games.player)
    result = jnp.where(games.player == 0, outcome.reward, -outcome.reward)
    positions = draw_chance(game, outcome.position, chance_key)
    ended = jax.vmap(game.init_position)(jax.random.split(init_key, batch)) if auto_reset else outcome.position
    positions = select(outcome.over, ended, positions)
    return Games(positions, next_player), Ply(outcome.position, next_player, outcome.over, result), explored


def draw_chance(game: Game, positions: Any, key: Key[Array, ""]) -> Any:
    """The positions after a draw of chance, in games that have it."""
    if not game.outcome_probabilities:
        return positions
    bits = jax.random.bits(key, (len(jax.tree.leaves(positions)[0]),), jnp.uint32)
    return jax.vmap(game.chance)(positions, game.draw_outcome(bits))
