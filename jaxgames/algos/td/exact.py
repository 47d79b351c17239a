"""Exact TD(lambda): eligibility traces, and a step of the weights after every ply (Sutton 1988; Tesauro 1992)."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from jaxgames.algos.td.learner import Learner, Metrics, TDState, count, sum_of_squares
from jaxgames.algos.td.self_play import play_ply
from jaxgames.algos.td.traces import EligibilityTraces, eligibility_traces


@dataclasses.dataclass(frozen=True)
class ExactTD(Learner):
    """All games make their ply with the same weights, and the step is the sum of theirs; with a batch of 1 it is the
    textbook's.
    """

    @property
    def traces(self) -> EligibilityTraces:
        """One trace for each game, output and parameter."""
        return eligibility_traces(self.config.decay)

    def init_memory(self, params: Any) -> Any:
        """Empty traces."""
        return self.traces.init(params, self.config.batch, self.config.outputs)

    def update(self, state: TDState, key: Key[Array, ""]) -> tuple[TDState, Metrics]:
        """`plies` plies of each game, each followed by a step."""
        state, metrics = jax.lax.scan(self._ply, state, jax.random.split(key, self.config.plies))
        return state._replace(updates=state.updates + 1), jax.tree.map(
            lambda x: jnp.sum(x, axis=0, dtype=x.dtype), metrics
        )

    def _ply(self, state: TDState, key: Key[Array, ""]) -> tuple[TDState, Metrics]:
        network, before = self.network, state.last
        value = network.value(state.params, self.player_after(state.games.player))
        games, ply, explored = play_ply(network.game, state.games, value, key, self.config.explore)
        # A random turn tells nothing about the position before it: no error, and no trace that leads back beyond it.
        nothing = before.over if explored is None else before.over | explored
        expected = network.predict(state.params, before.positions, before.player)
        following = network.predict(state.params, ply.positions, ply.player)
        target = jnp.where(ply.over[:, None], network.outcomes.target(ply.result), following)
        errors = jnp.where(nothing[:, None], 0.0, target - expected)
        gradients = network.gradients(state.params, before.positions, before.player)
        ascent, traces = self.traces.update(gradients, state.memory, errors, nothing)
        descent = jax.tree.map(jnp.negative, ascent)
        params, optimizer = self.step(state.params, state.optimizer, descent, state.factor)
        metrics = self.everywhere(Metrics(**sum_of_squares(errors, ~nothing), **count(ply)))
        return state._replace(params=params, optimizer=optimizer, games=games, last=ply, memory=traces), metrics
