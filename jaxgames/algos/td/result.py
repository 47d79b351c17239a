"""Monte-Carlo learning: whole games with frozen weights, then backprop of every position to the final result."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.td import self_play
from jaxgames.algos.td.learner import Learner, Metrics, TDState
from jaxgames.algos.td.self_play import Games, Ply, play_ply

BLOCK = 16  # plies learned from at once


class _Record(NamedTuple):
    """All plies of a batch of games, [plies, batch]; `length` counts those of each game, `results` are the first
    player's, `explored` is the number of the latest random ply.
    """

    games: Games
    plies: Ply
    length: Int32[Array, " batch"]
    results: Float32[Array, " batch"]
    running: Bool[Array, " batch"]
    explored: Int32[Array, " batch"]
    number: Int32[Array, ""]


@dataclasses.dataclass(frozen=True)
class ResultTD(Learner):
    """TD(1) with weights frozen for whole games: the comparison's second method.

    A game of more than `plies` plies is cut off: nothing is learned from it, and the metrics count it. From a game with
    random turns only the positions after the last of them are learned.
    """

    def update(self, state: TDState, key: Key[Array, ""]) -> tuple[TDState, Metrics]:
        """Plays a batch of games from the start to the end, then makes one step on the sum of squared errors."""
        network, config = self.network, self.config
        game = network.game
        start_key, play_key = jax.random.split(key)
        games = self_play.start(game, start_key, config.batch)
        nothing = jnp.zeros(config.batch, jnp.float32)
        blank = Ply(games.positions, games.player, nothing > 0, nothing)
        room = -(-config.plies // BLOCK) * BLOCK
        plies = jax.tree.map(lambda x: jnp.zeros((room, *x.shape), x.dtype), blank)
        none = jnp.zeros(config.batch, jnp.int32)
        record = _Record(games, plies, none, nothing, nothing == 0, none, jnp.int32(0))

        def unfinished(record):
            return jnp.any(record.running) & (record.number < config.plies)

        def ply(record):
            value = network.value(state.params, self.player_after(record.games.player))
            key = jax.random.fold_in(play_key, record.number)
            games, ply, explored = play_ply(game, record.games, value, key, config.explore, renew=False)
            ends = record.running & ply.over
            return _Record(
                games=games,
                plies=jax.tree.map(lambda all_, one: all_.at[record.number].set(one), record.plies, ply),
                length=record.length + record.running.astype(jnp.int32),
                results=jnp.where(ends, ply.result, record.results),
                running=record.running & ~ply.over,
                explored=record.explored
                if explored is None
                else jnp.where(record.running & explored, record.number, record.explored),
                number=record.number + 1,
            )

        record = jax.lax.while_loop(unfinished, ply, record)
        gradients, squared_error, positions = self._gradients(state.params, record)
        params, optimizer = self.step(state.params, state.optimizer, gradients, state.factor)
        metrics = Metrics(
            squared_error=squared_error,
            positions=positions,
            plies=jnp.sum(record.length, dtype=jnp.int32),
            games=jnp.sum(~record.running, dtype=jnp.int32),
            points=jnp.sum(jnp.abs(record.results)),
            cut_off=jnp.sum(record.running, dtype=jnp.int32),
        )
        return state._replace(params=params, optimizer=optimizer, updates=state.updates + 1), self.everywhere(metrics)

    def _gradients(self, params: Any, record: _Record) -> tuple[Any, Float32[Array, ""], Int32[Array, ""]]:
        """Gradient of half the squared error, the squared error, and the number of positions, over blocks of plies."""
        network = self.network
        targets = network.outcomes.target(record.results)

        def block(number, total):
            start = number * BLOCK
            plies = jax.tree.map(lambda x: jax.lax.dynamic_slice_in_dim(x, start, BLOCK), record.plies)
            index = start + jnp.arange(BLOCK, dtype=jnp.int32)
            learned = (index[:, None] < record.length[None, :] - 1) & ~record.running[None, :]
            learned &= index[:, None] >= record.explored[None, :]

            def loss(params):
                flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (plies.positions, plies.player))
                values = network.predict(params, *flat).reshape(*learned.shape, -1)
                errors = jnp.where(learned[..., None], targets[None] - values, 0.0)
                return 0.5 * jnp.sum(errors**2)

            error, gradients = jax.value_and_grad(loss)(params)
            new = (gradients, 2.0 * error, jnp.sum(learned, dtype=jnp.int32))
            return jax.tree.map(jnp.add, total, new)

        nothing = (jax.tree.map(jnp.zeros_like, params), jnp.float32(0.0), jnp.int32(0))
        return jax.lax.fori_loop(0, (record.number + BLOCK - 1) // BLOCK, block, nothing)
