"""Data whose labels are exact where all is known: the best turn, and the points that it brings."""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxgames.algos.imitation.data import LabeledPositions
from jaxgames.data_sets.make import Maker
from jaxgames.envs.core import Game
from jaxgames.matches.game_log import chunks_of
from jaxgames.ops.pytrees import take
from jaxgames.tables.lookup import Knowledge, known_turns
from jaxgames.tables.registry import lookup_of


class ExactLabels:
    """The rows of another maker. Where all is known exactly the value is that of best play; and the policy is an action
    of a best turn, unless the action that was played loses nothing, either.

    Raises `ValueError` for a game of which nothing is known.
    """

    def __init__(self, maker: Maker):
        self._maker = maker
        self._lookup, load = lookup_of(maker.game)
        self._scores = load()

    @property
    def game(self) -> Game:
        """As `Maker.game`."""
        return self._maker.game

    @property
    def shards(self) -> int:
        """As `Maker.shards`."""
        return self._maker.shards

    @property
    def made(self) -> Mapping[str, Any]:
        """As `Maker.made`."""
        return {**self._maker.made, "exact": True}

    def rows(self, shard: int) -> LabeledPositions:
        """As `Maker.rows`."""
        rows = self._maker.rows(shard)
        policy, weight = rows.policy.copy(), rows.policy_weight.copy()
        value, value_weight = rows.value.copy(), rows.value_weight.copy()
        for numbers in chunks_of(np.flatnonzero(np.asarray(jax.jit(self._lookup.covers)(rows.position)))):
            played = jnp.asarray(np.argmax(rows.policy[numbers], axis=1), jnp.int32)
            found = _label(self.game, self._lookup, self._scores, take(rows.position, numbers), played)
            points, best, keeps = map(np.asarray, found)
            value[numbers], value_weight[numbers] = points, 1
            changes = ~keeps | (rows.policy_weight[numbers] == 0)
            changed = numbers[changes]
            policy[changed], weight[changed] = 0, 1
            policy[changed, best[changes]] = 1
        return rows._replace(policy=policy, policy_weight=weight, value=value, value_weight=value_weight)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _label(game: Game, lookup: Knowledge, scores: Any, positions: Any, played: Array) -> tuple[Array, Array, Array]:
    """The points, an action of a best turn, and whether the action that was played is as good."""
    known = known_turns(game, lookup, scores, positions)
    nowhere = jnp.zeros(played.shape, bool)
    best = game.turn_actions(positions, known.best.position, nowhere, known.best.position)[0]
    after = jax.vmap(game.play)(positions, played)
    rest = known_turns(game, lookup, scores, after.position)
    worth = jnp.where(after.turn_passes, -lookup.worth(scores, after.position), rest.worth)
    worth = jnp.where(after.over, after.reward, worth)
    return known.points, best, worth >= known.worth - 1e-6
