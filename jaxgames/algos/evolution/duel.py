"""Two sets of parameters against each other, within a larger jitted program: a few games, played to the end."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.algos.evolution.operators import candidate_bits
from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.ops import checks
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import fold_in


class Duel(NamedTuple):
    """The results of 2 * pairs games: first those that a began, then those that b began, pair by pair.

    `points` are those of a, 0 for a game that was `stopped` at a limit of plies.
    """

    points: Float32[Array, " games"]
    plies: Int32[Array, " games"]
    stopped: Bool[Array, " games"]


class _DuelState(NamedTuple):
    """Games in progress. In those that `wait`, the player who moves next in all others has no turn."""

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
    most_plies: int | Int32[Array, ""] = 2_000,
) -> Duel:
    """Plays pairs of games with the same opening and the same dice at every ply: one begun by a, one by b.

    Both play the turn after which the position is worth most. The random numbers depend only on the key and the number
    of the pair, so the points of a player against itself sum to 0. Outside of `jit`, the games are compiled anew in
    each call.

    Args:
      value_of: the value of positions by a player's parameters.
      pairs: how many pairs are played.
      most_plies: games are stopped after so many plies, and at their own `step_limit`.

    Raises `ValueError` for less than one pair.
    """
    a_game(game)
    checks.function("value_of", value_of, "(params) -> value")
    checks.key(key)
    most_plies = checks.whole_or_traced("most_plies", most_plies)
    if game.step_limit is not None:
        most_plies = jnp.minimum(most_plies, game.step_limit)
    if checks.whole("pairs", pairs, None) < 1:
        raise ValueError(f"pairs={pairs} of games: expected at least 1")
    bits = jnp.tile(candidate_bits(key, jnp.arange(pairs, dtype=jnp.int32)), 2)

    def more(carry: tuple[Array, _DuelState]) -> Array:
        games = carry[1]
        return jnp.any(games.playing & (games.plies < most_plies))

    def ply(carry: tuple[Array, _DuelState]) -> tuple[Array, _DuelState]:
        number, games = carry
        a_moves = number % 2 == 1
        params = jax.tree.map(lambda a, b: jnp.where(a_moves, a, b), params_a, params_b)
        outcome, _ = game.best_turn(games.position, value_of(params))
        return number + 1, _after(game, games, outcome, jnp.where(a_moves, jnp.float32(1), -1.0), bits, most_plies)

    # Player b moves first in the games that it begins; from then on all games have the same player to move, so one turn
    # is computed in each ply, not one for each player.
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
    bits: UInt32[Array, " games"],
    most_plies: int | Int32[Array, ""],
) -> _DuelState:
    """The games after a player's turn in all that do not wait; `sign` turns its points into those of a."""
    moved = games.playing & ~games.waits & (games.plies < most_plies)
    ends = moved & outcome.over
    plies = games.plies + moved.astype(jnp.int32)
    position = outcome.position
    if game.outcome_probabilities:
        drawn = game.draw_outcome(fold_in(bits, plies.astype(jnp.uint32)))
        position = jax.vmap(game.chance)(position, drawn)
    return _DuelState(
        position=select(moved & ~ends, position, games.position),
        playing=games.playing & ~ends,
        waits=moved & ~outcome.turn_passes,
        points=jnp.where(ends, sign * outcome.reward, games.points),
        plies=plies,
    )
