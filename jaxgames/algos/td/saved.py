"""What a TD training saves, and the player in it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos.td.config import TDConfig, current_names
from jaxgames.algos.td.learner import TDState
from jaxgames.algos.td.methods import make_learner
from jaxgames.algos.td.step_sizes import STEP_SIZES, Tests, first_tests
from jaxgames.envs.core import Value
from jaxgames.runs import Run
from jaxgames.runs.settings import settings_from

ADDED = (
    "cumulative",
    "biases",
    "games",
    "output",
    "by_class",
    "restarts",
    "replay",
    "minibatch",
    "steps",
    "average",
    "weight_decay",
    "teacher",
    "members",
)
"""Settings that older runs have not; they had their usual values."""


class TDCheckpoint(NamedTuple):
    """All that a training needs to go on bit by bit: the learner's state, games finished, and the tests of step
    sizes, if any.
    """

    state: TDState
    games: Any
    tests: Tests | None


def first_checkpoint(config: TDConfig, state: TDState) -> TDCheckpoint:
    """The checkpoint before the first game."""
    tests = None
    if config.schedule == "tested":
        tests = first_tests(state.params)
        state = state._replace(factor=jnp.full_like(state.factor, STEP_SIZES[0] / config.batch))
    return TDCheckpoint(state, np.int64(0), tests)


def template(config: TDConfig) -> TDCheckpoint:
    """The shapes of a checkpoint."""
    learner = make_learner(config)
    shapes = jax.eval_shape(
        lambda key: first_checkpoint(config, learner.init(key))._replace(games=()), jax.random.key(0)
    )
    return shapes._replace(games=np.int64(0))


def config_of(settings: Any) -> TDConfig:
    """The settings of a learner, as read from a run's config.json.

    Raises `ValueError` if one is unknown, missing, or no value of its kind.
    """
    found = current_names(settings) if isinstance(settings, dict) else settings
    return settings_from(found, TDConfig(), "a TD learner", ADDED)


def load_player_value(run: Run, step: int | None = None) -> tuple[Any, Callable[..., Value]]:
    """The weights of a run's player, and the function that makes of weights the value of positions.

    They are the best weights, or with `step` those of that checkpoint. Raises `ValueError` if the run holds no TD
    player.
    """
    if "learner" not in run.config:
        raise ValueError(f"{run.path} holds no TD player; expected a run of `jaxgames train td-gammon` or the like")
    try:
        config = config_of(run.config["learner"])
    except ValueError as error:
        raise ValueError(f"{run.path}/config.json: {error}") from None
    network = config.network()
    if step is not None:
        return run.restore(template(config), step)[1].state.params, network.value
    return run.load_best(jax.eval_shape(network.init, jax.random.key(0)))[1], network.value
