"""Two sets of parameters against each other, within a larger jitted program: a few games, played to the end."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.algos.evolution.operators import candidate_words
from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import fold_in


class Duel(NamedTuple):
    """What became of 2 * pairs games: first those that a began, then those that b began, pair by pair.

    `points` are those of a; a game `stopped` at the limit of plies is worth nothing.
    """

    points: Float32[Array, " games"]
    plies: Int32[Array, " games"]
    stopped: Bool[Array, " games"]


class _DuelState(NamedTuple):
    """Games under way. In those that `wait` it is not the turn of the player who is asked next."""

    position: Any
    playing: Bool[Array, " games"]
    waits: Bool[Array, " games"]
    points: Float32[Array, " games"]
    plies: Int32[Array, " games"]


def duel(
    game: Game,
    value_of: Callable[[Any], Value],
    params_a: Any,
    params_b: Any,
    key: Key[Array, ""],
    pairs: int,
    most_plies: int = 2_000,
) -> Duel:
    """Plays `pairs` pairs of games, of the same opening and the same chance at every ply: one begun by a, one by b.

    Both play the turn after which the position is worth most, by `value_of(params)`; the random numbers depend on the
    key and the number of the pair only. Games of a against itself are the same games with the sides exchanged: their
    points sum up to 0. Ends when all games are over, or after `most_plies` plies. Raises `ValueError` for
    less than one pair.
    """
    if pairs < 1:
        raise ValueError(f"pairs={pairs} of games: expected at least 1")
    words = jnp.tile(candidate_words(key, jnp.arange(pairs, dtype=jnp.int32)), 2)

    def more(carry: tuple[Array, _DuelState]) -> Array:
        games = carry[1]
        return jnp.any(games.playing & (games.plies < most_plies))

    def ply(carry: tuple[Array, _DuelState]) -> tuple[Array, _DuelState]:
        number, games = carry
        a_moves = number % 2 == 1
        params = jax.tree.map(lambda a, b: jnp.where(a_moves, a, b), params_a, params_b)
        outcome, _ = game.best_turn(games.position, value_of(params))
        return number + 1, _after(game, games, outcome, jnp.where(a_moves, 1.0, -1.0), words, most_plies)

    # Player b is asked first, in the games that it begins, and then a in all games: so every player is asked about all
    # games at once, and a turn is worked out once a ply and not once for each player.
    opening = jax.vmap(lambda number: game.init_position(jax.random.fold_in(key, number)))(
        jnp.arange(pairs, dtype=jnp.int32)
    )
    a_begins = jnp.arange(2 * pairs, dtype=jnp.int32) < pairs
    start = _DuelState(
        position=jax.tree.map(lambda x: jnp.concatenate([x, x]), opening),
        playing=jnp.ones(2 * pairs, bool),
        waits=a_begins,
        points=jnp.zeros(2 * pairs, jnp.float32),
        plies=jnp.zeros(2 * pairs, jnp.int32),
    )
    _, games = lax.while_loop(more, ply, (jnp.int32(0), start))
    return Duel(games.points, games.plies, games.playing)


def _after(
    game: Game,
    games: _DuelState,
    outcome: Outcome,
    sign: Float32[Array, ""],
    words: UInt32[Array, " games"],
    most_plies: int,
) -> _DuelState:
    """The games after a player's turn in all that do not wait; its points count for a by `sign`."""
    moved = games.playing & ~games.waits & (games.plies < most_plies)
    ends = moved & outcome.over
    plies = games.plies + moved.astype(jnp.int32)
    position = outcome.position
    if game.outcome_probabilities:
        drawn = game.draw_outcome(fold_in(words, plies.astype(jnp.uint32)))
        position = jax.vmap(game.chance)(position, drawn)
    return _DuelState(
        position=select(moved & ~ends, position, games.position),
        playing=games.playing & ~ends,
        waits=moved & ~outcome.turn_passes,
        points=jnp.where(ends, sign * outcome.reward, games.points),
        plies=plies,
    )
