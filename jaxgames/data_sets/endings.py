"""How well a player plays in exactly known positions: the endings that random players reach."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt32

from jaxgames.data_sets.makers import known_rows, played_games
from jaxgames.envs.core import Game, Outcome
from jaxgames.envs.turns.best import turn_worth
from jaxgames.matches.intervals import grouped_error
from jaxgames.ops import checks
from jaxgames.ops.pytrees import concatenate, take, unique_rows
from jaxgames.players.generic import random
from jaxgames.players.host import take_forfeits
from jaxgames.players.player import Player
from jaxgames.tables.lookup import Knowledge, KnownTurns, known_turns, lookup_of

GAMES = 256
"""Games played at once, until there are enough positions."""
MOST_ROUNDS = 200
GOOD = 0.01
"""A turn that loses at most so many points is good."""


@dataclasses.dataclass(frozen=True)
class EndingsAccuracy:
    """The shares of turns that were perfect and good, and the points lost on average; `error` is its standard error by
    pairs of games, whose positions are alike, and None where all are of one pair.

    A turn is perfect if none is worth more: in checkers it also wins as fast as possible. It is good if it loses none
    of the points that best play brings, or at most 0.01.
    """

    game: str
    player: str
    seed: int
    positions: int
    perfect: float
    good: float
    lost: float
    error: float | None

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return dataclasses.asdict(self)


def score_endings(player: Player, number: int, seed: int = 0) -> EndingsAccuracy:
    """Lets a player move in so many different positions that are known exactly and offer a choice.

    Raises `ValueError` for a game without exact knowledge, a number below 1, and a plain Python player that fails.
    """
    number, seed = checks.whole("number", number), checks.seed(seed)
    lookup, load = lookup_of(player.game)
    scores, (positions, pairs) = load(), _known_positions(player, lookup, number, seed)
    bits = jax.random.bits(jax.random.key(seed), (number,), jnp.uint32)
    judge = _judge if player.on_host else jax.jit(_judge, static_argnums=0)
    known, chosen = judge(lookup, scores, player, positions, bits)
    for reason in take_forfeits(player):
        raise ValueError(f"no move in a position: {reason}")
    lost = np.asarray(known.points - lookup.points(chosen), np.float64)
    perfect = np.asarray(chosen >= known.worth - 1e-6)
    shares = float(perfect.mean()), float((lost <= GOOD).mean()), float(lost.mean())
    return EndingsAccuracy(player.game.id, player.name, seed, number, *shares, grouped_error(lost, pairs))


def _judge(
    lookup: Knowledge, scores: Any, player: Player, positions: Any, bits: UInt32[Array, " n"]
) -> tuple[KnownTurns, Array]:
    judge = _compiled_judge_turns if player.on_host else _judge_turns
    return judge(lookup, player.game, scores, positions, player.play_once(positions, bits))


def _judge_turns(
    lookup: Knowledge, game: Game, scores: Any, positions: Any, chosen: Outcome
) -> tuple[KnownTurns, Array]:
    worth = turn_worth(chosen, lambda after: lookup.worth(scores, after))
    return known_turns(game, lookup, scores, positions), worth


_compiled_judge_turns = jax.jit(_judge_turns, static_argnums=(0, 1))


def _known_positions(
    player: Player, lookup: Knowledge, number: int, seed: int
) -> tuple[Any, Int[np.ndarray, " number"]]:
    """Different positions of games of random players, and which pair of games each is from."""
    one = random(player.game)
    games, parts = played_games(one, one, GAMES * MOST_ROUNDS, seed, games_per_shard=GAMES), []
    for shard in range(games.shards):
        rows = games.rows(shard)
        wanted = known_rows(lookup, rows.position) & (rows.mask.sum(axis=1) > 1)
        parts.append(take((rows.position, rows.game // 2), np.flatnonzero(wanted)))  # two games make a pair
        together, pairs = concatenate(parts)
        different = np.sort(unique_rows(together)[0])
        if len(different) >= number:
            return take((together, pairs), different[:number])
    raise ValueError(f"only {len(different)} positions of {player.game.id} came up; ask for fewer")
