"""What a training by imitation saves, and the network in it."""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgames.algos.imitation.config import ImitationConfig
from jaxgames.algos.imitation.learner import ImitationLearner
from jaxgames.algos.imitation.network import ImitationNetwork
from jaxgames.envs.core import Game
from jaxgames.runs import Run
from jaxgames.runs.settings import settings_from


class ImitationCheckpoint(NamedTuple):
    """All that a training needs to go on bit by bit, but for the data: weights, optimizer, the updates made, the lowest
    validation loss so far, how many measurements ago it was.
    """

    params: Any
    optimizer: Any
    updates: Any
    best: Any
    since_best: Any


def config_of(settings: Any) -> ImitationConfig:
    """The settings in a run's configuration. Raises `ValueError` if one is unknown, missing, or wrong."""
    return settings_from(settings, ImitationConfig(), "imitation")


def params_template(network: ImitationNetwork) -> Any:
    """The shapes of a network's weights."""
    return jax.eval_shape(network.init, jax.random.key(0))


def load_network(run: Run, game: Game, step: int | None = None) -> tuple[Any, ImitationNetwork]:
    """The weights that a run plays with, those of its lowest validation loss or of checkpoint `step`, and its network.

    Raises `ValueError` if the run holds none.
    """
    try:
        network = ImitationNetwork(game, config_of(run.config["learner"]))
    except ValueError as error:
        raise ValueError(f"{run.path}/config.json: {error}") from None
    options = run.config["options"]
    if dataclasses.replace(type(game)(), **options) != game:
        raise ValueError(f"{run.path} learned {game.id} with options {options or 'as usual'}, not {game}")
    if step is None:
        return run.load_best(params_template(network))[1], network
    optimizer = ImitationLearner(game, network.config).optimizer
    return run.restore(checkpoint_template(network, optimizer), step)[1].params, network


def checkpoint_template(network: ImitationNetwork, optimizer: Any) -> ImitationCheckpoint:
    """The shapes of a checkpoint."""
    params = params_template(network)
    return ImitationCheckpoint(params, jax.eval_shape(optimizer.init, params), np.int64(0), np.float64(0), np.int64(0))
