"""Two players against each other in many games at once, in lock-step.

Games come in pairs with the same opening and the same chance at each ply: one is begun by player a, one by player b.
Every game has a *lane* in one of two halves; in the first a is to move, in the second b, so that each player is asked
only about positions it has to play. After a ply the halves change places. A finished game makes room for the next one
of the queue. Every game that is begun is played to its end, so short games do not count more than long ones.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.envs.core import Game
from jaxgames.ops.pytrees import select
from jaxgames.players import Player

PLIES_PER_CALL = 32


class Lanes(NamedTuple):
    """The games under way, in two halves one after the other: first those in which a is to move, then those of b.

    Lanes not `playing` are empty. Those `waiting` are in the wrong half for a ply, as a player is to move again.
    """

    position: Any
    pair: Int32[Array, " lanes"]
    plies: Int32[Array, " lanes"]
    a_began: Bool[Array, " lanes"]
    playing: Bool[Array, " lanes"]
    waiting: Bool[Array, " lanes"]


class Table(NamedTuple):
    """The games under way and, for those that a and those that b begins, the next pair of the queue."""

    lanes: Lanes
    next_pair: Int32[Array, "2"]


class Ended(NamedTuple):
    """Games that ended: their pair (-1 where none ended), who began, the points of a, and the plies played.

    `stopped` are those that had too many plies; they are worth nothing.
    """

    pair: Int32[Array, "..."]
    a_began: Bool[Array, "..."]
    points: Float32[Array, "..."]
    plies: Int32[Array, "..."]
    stopped: Bool[Array, "..."]


def empty_table(game: Game, lanes: int) -> Table:
    """A table for an even number of games at once, without any."""
    single = jax.eval_shape(game.init_position, jax.random.key(0))
    position = jax.tree.map(lambda x: jnp.zeros((lanes, *x.shape), x.dtype), single)
    number, flag = jnp.zeros(lanes, jnp.int32), jnp.zeros(lanes, bool)
    return Table(Lanes(position, number, number, flag, flag, flag), jnp.zeros(2, jnp.int32))


@jax.jit
def play_on(
    players: tuple[Player, Player],
    table: Table,
    key: Key[Array, ""],
    pairs: Int32[Array, ""],
    most_plies: Int32[Array, ""],
) -> tuple[Table, Ended]:
    """Plays 32 plies, or fewer if all games of `pairs` pairs are over; a game is stopped after `most_plies`.

    The fields of the games that ended are of shape [32, lanes].
    """

    def ply(carry):
        number, table, record = carry
        table = _begin(players[0].game, table, key, pairs)
        lanes, ended = _move(players, table.lanes, key, most_plies)
        record = jax.tree.map(lambda plies, new: plies.at[number].set(new), record, ended)
        half = len(lanes.pair) // 2
        return number + 1, table._replace(lanes=jax.tree.map(lambda x: jnp.roll(x, half, axis=0), lanes)), record

    def more(carry):
        number, table, _ = carry
        return (number < PLIES_PER_CALL) & (jnp.any(table.lanes.playing) | jnp.any(table.next_pair < pairs))

    shape = (PLIES_PER_CALL, len(table.lanes.pair))
    nothing = (jnp.int32(-1), jnp.bool_(False), jnp.float32(0), jnp.int32(0), jnp.bool_(False))
    record = Ended(*(jnp.full(shape, x) for x in nothing))
    _, table, record = lax.while_loop(more, ply, (jnp.int32(0), table, record))
    return table, record


def _begin(game: Game, table: Table, key: Key[Array, ""], pairs: Int32[Array, ""]) -> Table:
    """New games in the empty lanes, as long as there are pairs to play."""
    lanes, next_pair = table
    empty = (~lanes.playing).reshape(2, -1)
    pair = (next_pair[:, None] - 1 + jnp.cumsum(empty, axis=1, dtype=jnp.int32)).reshape(-1)
    begins = ~lanes.playing & (pair < pairs)
    opening = jax.vmap(lambda number: game.init_position(_game_key(key, number, jnp.int32(0))))(pair)
    a_moves = jnp.arange(len(pair), dtype=jnp.int32) < len(pair) // 2
    begun = Lanes(
        position=select(begins, opening, lanes.position),
        pair=jnp.where(begins, pair, lanes.pair),
        plies=jnp.where(begins, 0, lanes.plies),
        a_began=jnp.where(begins, a_moves, lanes.a_began),
        playing=lanes.playing | begins,
        waiting=lanes.waiting & ~begins,
    )
    return Table(begun, next_pair + jnp.sum(begins.reshape(2, -1), axis=1, dtype=jnp.int32))


def _move(
    players: tuple[Player, Player], lanes: Lanes, key: Key[Array, ""], most_plies: Int32[Array, ""]
) -> tuple[Lanes, Ended]:
    """One turn in every game that does not wait."""
    game, half = players[0].game, len(lanes.pair) // 2
    words = jax.vmap(lambda *game: jax.random.bits(_game_key(key, *game), (2,)))(lanes.pair, lanes.plies + 1)
    halves = (jax.tree.map(lambda x: x[:half], lanes.position), jax.tree.map(lambda x: x[half:], lanes.position))
    turns = zip(players, halves, (words[:half, 0], words[half:, 0]), strict=True)
    outcome = jax.tree.map(
        lambda a, b: jnp.concatenate([a, b]), *(player.turn(player.params, *where) for player, *where in turns)
    )
    moved = lanes.playing & ~lanes.waiting
    over = moved & outcome.over
    position = outcome.position
    if game.outcome_probabilities:
        drawn = jax.vmap(game.chance)(position, game.draw_outcome(words[:, 1]))
        position = select(
            over, position, drawn
        )  # the rules want none in an ended game, which so costs its player least
    plies = lanes.plies + moved.astype(jnp.int32)
    stopped = moved & ~over & (plies >= most_plies)
    ended = over | stopped
    of_a = jnp.where(jnp.arange(2 * half, dtype=jnp.int32) < half, outcome.reward, -outcome.reward)
    after = lanes._replace(
        position=select(moved, position, lanes.position),
        plies=plies,
        playing=lanes.playing & ~ended,
        waiting=moved & ~outcome.turn_passes,
    )
    points = jnp.where(over, of_a, 0.0).astype(jnp.float32)
    return after, Ended(jnp.where(ended, lanes.pair, -1), lanes.a_began, points, plies, stopped)


def _game_key(key: Key[Array, ""], pair: Int32[Array, ""], number: Int32[Array, ""]) -> Key[Array, ""]:
    """The key of both games of a pair for their opening (number 0) or a ply (from 1)."""
    return jax.random.fold_in(jax.random.fold_in(key, pair), number)
