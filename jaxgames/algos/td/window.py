"""Fast TD(lambda): weights frozen for a window of plies, then one step towards the lambda-returns of the window."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from jaxgames.algos.td.learner import Learner, Metrics, TDState, count, sum_of_squares
from jaxgames.algos.td.returns import lambda_returns
from jaxgames.algos.td.self_play import play_ply


@dataclasses.dataclass(frozen=True)
class WindowTD(Learner):
    """With windows of one ply this is exact TD(0); with longer ones returns are cut where the window ends, by the
    value there.
    """

    def update(self, state: TDState, key: Key[Array, ""]) -> tuple[TDState, Metrics]:
        """Plays `plies` plies of each game, then makes one step on the sum of squared errors of all positions."""
        network = self.network

        def ply(games, key):
            value = network.value(state.params, self.player_after(games.player))
            games, ply, explored = play_ply(network.game, games, value, key, self.config.explore)
            return games, (ply, explored)

        games, (plies, explored) = jax.lax.scan(ply, state.games, jax.random.split(key, self.config.plies))
        seen = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), state.last, plies)
        learned = ~seen.over[:-1] if explored is None else ~(seen.over[:-1] | explored)
        results = network.outcomes.target(plies.result)

        def half_squared_error(params):
            flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (seen.positions, seen.player))
            values = network.predict(params, *flat).reshape(*seen.over.shape, -1)
            targets = lambda_returns(jax.lax.stop_gradient(values), results, plies.over, self.config.decay, explored)
            errors = jnp.where(learned[..., None], targets - values[:-1], 0.0)
            return 0.5 * jnp.sum(errors**2), errors

        gradients, errors = jax.grad(half_squared_error, has_aux=True)(state.params)
        params, optimizer = self.step(state.params, state.optimizer, gradients, state.factor)
        metrics = self.everywhere(Metrics(**sum_of_squares(errors, learned), **count(plies)))
        last = jax.tree.map(lambda x: x[-1], plies)
        return state._replace(
            params=params, optimizer=optimizer, games=games, last=last, updates=state.updates + 1
        ), metrics
