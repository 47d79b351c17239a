"""Two sets of parameters against each other, within a larger jitted program: a few games, played to the end."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.algos.evolution.operators import candidate_words
from jaxgames.envs.batches import select
from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.envs.words import stream


class Duel(NamedTuple):
    """What became of 2 * pairs games: first those that a began, then those that b began, pair by pair.

    `points` are those of a; a game `stopped` at the limit of plies is worth nothing.
    """

    points: Float32[Array, " games"]
    plies: Int32[Array, " games"]
    stopped: Bool[Array, " games"]


class _Games(NamedTuple):
    """Games under way, all [2, pairs]: first those that a began. In a game that `waits`, the player who moved last is
    to move again, which it does when its turn comes, a ply later.
    """

    position: Any
    playing: Bool[Array, "2 pairs"]
    waits: Bool[Array, "2 pairs"]
    points: Float32[Array, "2 pairs"]
    plies: Int32[Array, "2 pairs"]


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
    words = candidate_words(key, jnp.arange(pairs, dtype=jnp.int32))
    # In the two halves of the games, different players are to move: each half has a row of both players' parameters.
    players = jax.tree.map(lambda a, b: jnp.stack([a, b]), params_a, params_b)

    def ply(number: Array, games: _Games) -> _Games:
        mover = jnp.arange(2, dtype=jnp.int32) ^ (number & 1)

        def half(where: tuple[Array, Any]) -> Any:
            player, positions = where
            return game.best_turn(positions, value_of(jax.tree.map(lambda x: x[player], players)))[0]

        # One after the other: as a batch, every loop within a turn would run as long as it must for either.
        return _after(game, games, lax.map(half, (mover, games.position)), mover, words)

    def more(carry: tuple[Array, _Games]) -> Array:
        number, games = carry
        return (number < most_plies) & jnp.any(games.playing)

    start = (jnp.int32(0), _begun(game, key, pairs))
    _, games = lax.while_loop(more, lambda carry: (carry[0] + 1, ply(*carry)), start)
    return Duel(games.points.ravel(), games.plies.ravel(), games.playing.ravel())


def _begun(game: Game, key: Key[Array, ""], pairs: int) -> _Games:
    numbers = jnp.arange(pairs, dtype=jnp.int32)
    opening = jax.vmap(lambda number: game.opening(jax.random.fold_in(key, number)))(numbers)
    nothing = jnp.zeros((2, pairs), jnp.float32)
    return _Games(
        position=jax.tree.map(lambda x: jnp.stack([x, x]), opening),
        playing=nothing == 0,
        waits=nothing > 0,
        points=nothing,
        plies=jnp.zeros((2, pairs), jnp.int32),
    )


def _after(
    game: Game, games: _Games, outcome: Outcome, mover: Int32[Array, "2"], words: UInt32[Array, " pairs"]
) -> _Games:
    """The games after a turn in each half, of player a (0) or b (1)."""
    moved = games.playing & ~games.waits
    ends = moved & outcome.over
    plies = games.plies + moved.astype(jnp.int32)
    position = outcome.position
    if game.outcome_probabilities:
        drawn = game.draw_outcome(stream(words[None], plies.astype(jnp.uint32)))
        position = _chosen(ends, position, jax.vmap(jax.vmap(game.chance))(position, drawn))
    of_a = jnp.where(mover[:, None] == 0, outcome.reward, -outcome.reward).astype(jnp.float32)
    return _Games(
        position=_chosen(moved, position, games.position),
        playing=games.playing & ~ends,
        waits=moved & ~outcome.switch,
        points=jnp.where(ends, of_a, games.points),
        plies=plies,
    )


def _chosen(condition: Bool[Array, "2 pairs"], on_true: Any, on_false: Any) -> Any:
    return jax.vmap(select)(condition, on_true, on_false)
