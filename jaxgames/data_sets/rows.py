"""Rows of data: a row for every action that was played, with who won in the end."""

from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Bool, Int

from jaxgames.algos.imitation.data import LabeledPositions
from jaxgames.envs.core import Game
from jaxgames.matches.game_log import chunks_of, single_actions
from jaxgames.matches.match import TracedTurns
from jaxgames.ops.pytrees import equal, num_rows, take


def of_turns(
    game: Game, turns: TracedTurns, number: Int[np.ndarray, " n"], wanted: Bool[np.ndarray, " n"] | None = None
) -> LabeledPositions:
    """A row for every action of turns, in the order of the turns, which are those of one game after another.

    Args:
        game: the game.
        turns: that were played.
        number: that of each turn's game.
        wanted: whose actions are rows; None for all. The others are played all the same.
    """
    points = np.where(turns.a_moved, turns.reward, -turns.reward)
    ended, over = np.unique(number[turns.over], return_index=True)
    at = np.searchsorted(ended, number)
    known = np.isin(number, ended)
    of_a = points[turns.over][over][np.minimum(at, max(len(ended) - 1, 0))] if len(ended) else np.zeros(len(number))
    value = np.where(known, np.where(turns.a_moved, of_a, -of_a), 0.0)
    played = ~np.asarray(equal(turns.position, turns.target))  # else the game was forfeited there
    turn, position, action = single_actions(
        game, turns.position, turns.target, played if wanted is None else played & wanted
    )
    return labeled(game, position, action, value[turn] + 0.0, known[turn], number[turn])


def labeled(
    game: Game,
    position: Any,
    action: Int[np.ndarray, " n"],
    value: np.ndarray,
    known: Bool[np.ndarray, " n"],
    number: Int[np.ndarray, " n"],
) -> LabeledPositions:
    """Rows of actions that were played, with points of the player to act where they are `known`."""
    policy = np.zeros((len(action), game.num_actions), np.float16)
    policy[np.arange(len(action)), action] = 1
    return LabeledPositions(
        position,
        legal_actions(game, position),
        policy,
        np.ones(len(action), np.float32),
        value.astype(np.float32),
        known.astype(np.float32),
        number.astype(np.int64),
        np.zeros(len(action), bool),
    )


def legal_actions(game: Game, positions: Any) -> Bool[np.ndarray, "n actions"]:
    """The legal actions of positions, `CHUNK` at a time."""
    number = num_rows(positions)
    parts = [np.asarray(_legal(game, take(positions, rows))) for rows in chunks_of(np.arange(number))]
    return np.concatenate([*parts, np.zeros((0, game.num_actions), bool)])[:number]


@partial(jax.jit, static_argnums=0)
def _legal(game: Game, positions: Any) -> Bool[Array, "n actions"]:
    return jax.vmap(game.legal)(positions)
