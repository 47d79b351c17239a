"""What the ways of TD self-play share: the state, and a step of the weights.

A learner is two pure functions, `init(key) -> state` and `update(state, key) -> (state, metrics)`. All predictions
are those for the first player, so that one position's value is the next one's target, whoever moves.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.td import self_play
from jaxgames.algos.td.config import TDConfig
from jaxgames.algos.td.self_play import Games, Ply
from jaxgames.algos.td.value import ValueNetwork


class TDState(NamedTuple):
    """All that a training is: a checkpoint of it continues bit by bit.

    `last` is what the latest ply led to (its position awaits chance), and `memory` belongs to the method (traces).
    `factor` multiplies the step size.
    """

    params: Any
    optimizer: Any
    games: Games
    last: Ply
    memory: Any
    factor: Float32[Array, ""]
    updates: Int32[Array, ""]


class Metrics(NamedTuple):
    """Sums over one update: squared error and number of learned positions, plies, finished games, points won, cut-off
    games.
    """

    squared_error: Float32[Array, ""]
    positions: Int32[Array, ""]
    plies: Int32[Array, ""]
    games: Int32[Array, ""]
    points: Float32[Array, ""]
    cut_off: Int32[Array, ""]


@dataclasses.dataclass(frozen=True)
class Learner:
    """The parts that the methods (`window`, `exact`, `result`) put together."""

    config: TDConfig
    axis: str | None = None
    """The mapped axis over which the games are split (see `parallel`): gradients and metrics are summed over it."""

    @property
    def network(self) -> ValueNetwork:
        """The value network."""
        return self.config.network()

    def init(self, key: Key[Array, ""]) -> TDState:
        """The state before the first update."""
        weights_key, games_key = jax.random.split(key)
        params = self.network.init(weights_key)
        games = self_play.start(self.network.game, games_key, self.config.batch)
        # Nothing has been played: the first ply's predecessor counts as over, so nothing is learned from it.
        over, result = jnp.ones(self.config.batch, bool), jnp.zeros(self.config.batch, jnp.float32)
        position, player = jax.tree.map(jnp.copy, (games.positions, games.player))  # so that states can be donated
        return TDState(
            params=params,
            optimizer=self._optimizer().init(params),
            games=games,
            last=Ply(position, player, over, result),
            memory=self.init_memory(params),
            factor=jnp.float32(1.0),
            updates=jnp.int32(0),
        )

    def place(self, state: TDState) -> TDState:
        """The state where this learner wants it: on one device, as it is. (`parallel.Parallel` splits its games.)"""
        return state

    def init_memory(self, params: Any) -> Any:
        """What the method remembers between updates."""
        return ()

    def update(self, state: TDState, key: Key[Array, ""]) -> tuple[TDState, Metrics]:
        """Plays and learns once."""
        raise NotImplementedError

    def step(self, params: Any, optimizer: Any, gradients: Any, factor: Float32[Array, ""]) -> tuple[Any, Any]:
        """Weights and optimizer state after one step along minus `gradients`, the sum over all games."""
        with jax.numpy_dtype_promotion("standard"):  # optax mixes int32 counts with float32
            updates, optimizer = self._optimizer().update(self.everywhere(gradients), optimizer, params)
        updates = jax.tree.map(lambda u: u * factor, updates)  # not the gradients, whose size Adam takes out
        return optax.apply_updates(params, updates), optimizer

    def everywhere(self, sums: Any) -> Any:
        """Sums over the games of all devices."""
        return sums if self.axis is None else jax.lax.psum(sums, self.axis)

    def player_after(self, player: Int32[Array, " batch"]) -> Int32[Array, ""]:
        """Who acts after the ply of `player`, for the values of what the ply may lead to.

        One player for all games: without symmetry they must be in step, which games with alternate turns are.
        """
        return 1 - player[0]

    def _optimizer(self) -> optax.GradientTransformation:
        return self.config.optimizer_for()


def count(ply: Ply, cut_off: Int32[Array, ""] | int = 0) -> dict[str, Array]:
    """The metrics that come from the plies themselves, [plies, batch]."""
    return {
        "plies": jnp.int32(ply.over.size),
        "games": jnp.sum(ply.over, dtype=jnp.int32),
        "points": jnp.sum(jnp.where(ply.over, jnp.abs(ply.result), 0.0)),
        "cut_off": jnp.asarray(cut_off, jnp.int32),
    }


def sum_of_squares(errors: Float32[Array, "..."], learned: Bool[Array, "..."]) -> dict[str, Array]:
    """The metrics of the errors of the learned positions, [..., outcomes] and [...]."""
    return {
        "squared_error": jnp.sum(jnp.where(learned[..., None], errors**2, 0.0)),
        "positions": jnp.sum(learned, dtype=jnp.int32),
    }
