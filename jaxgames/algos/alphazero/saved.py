"""What an AlphaZero training saves, and the network in it."""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgames.algos.alphazero.config import AlphaZeroConfig
from jaxgames.algos.alphazero.learner import AlphaZeroLearner, AlphaZeroState, make_learner
from jaxgames.envs.core import Game
from jaxgames.runs import Run
from jaxgames.runs.settings import settings_from

ADDED = ("reuse", "exact")
"""Settings that older runs have not; they had their usual values."""


class AlphaZeroCheckpoint(NamedTuple):
    """All that a training needs to go on bit by bit: the learner's state, and the games finished."""

    state: AlphaZeroState
    games: Any


def config_of(settings: Any) -> AlphaZeroConfig:
    """The settings in a run's configuration. Raises `ValueError` if one is unknown, missing, or wrong."""
    return settings_from(settings, AlphaZeroConfig(), "AlphaZero", ADDED)


def template(learner: AlphaZeroLearner) -> AlphaZeroCheckpoint:
    """The shapes of a checkpoint."""
    return AlphaZeroCheckpoint(jax.eval_shape(learner.init, jax.random.key(0)), np.int64(0))


@functools.cache
def network_shapes(game: Game, network: Any) -> Any:
    """The shapes of a network's weights."""
    return jax.eval_shape(lambda key: network.init(key, game.init(key).observation[None]), jax.random.key(0))


def load_network(run: Run, game: Game, step: int | None = None) -> tuple[Any, Any, float]:
    """The weights that a run plays with, its network and its discount.

    The network is `apply(params, observation) -> (logits, value)`. The weights are those of the best measurement, or
    with `step` those of that checkpoint. Raises `ValueError` if the run holds none.
    """
    try:
        config = config_of(run.config["learner"])
    except ValueError as error:
        raise ValueError(f"{run.path}/config.json: {error}") from None
    learner = make_learner(game, config)
    if step is not None:
        return run.restore(template(learner), step)[1].state.mean_params, learner.network, config.discount
    return run.load_best(network_shapes(game, learner.network))[1], learner.network, config.discount
