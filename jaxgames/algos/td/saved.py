"""What a TD training saves, and the player in it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgames.algos.td.config import TDConfig
from jaxgames.algos.td.learner import Learner
from jaxgames.algos.td.methods import make_learner, method_named
from jaxgames.algos.td.step_sizes import STEP_SIZES, Tests, first_tests
from jaxgames.envs.core import Value
from jaxgames.ops import checks
from jaxgames.runs import Run


class TDCheckpoint(NamedTuple):
    """All that a training needs to go on bit by bit: the learner's state, games finished, and the tests of step
    sizes, if any.
    """

    state: Any
    games: Any
    tests: Tests | None


def first_checkpoint(learner: Learner, state: Any) -> TDCheckpoint:
    """The checkpoint before the first game."""
    if getattr(learner.config, "schedule", "") != "tested":
        return TDCheckpoint(state, np.int64(0), None)
    tests = first_tests(state.params)
    return TDCheckpoint(learner.with_step_size(state, STEP_SIZES[0]), np.int64(0), tests)


def template(learner: Learner) -> TDCheckpoint:
    """The shapes of a checkpoint."""
    shapes = jax.eval_shape(
        lambda key: first_checkpoint(learner, learner.init(key))._replace(games=()), jax.random.key(0)
    )
    return shapes._replace(games=np.int64(0))


def config_of(settings: Any) -> TDConfig:
    """The settings of a learner, as read from a run's config.json.

    Raises `ValueError` if one is unknown, missing, or no value of its kind.
    """
    if not isinstance(settings, dict):
        raise ValueError(f"the settings of {TDConfig.of} are {checks.describe(settings)}; expected names with values")
    return method_named(settings.get("method")).config.from_json(settings)


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
        return run.restore(template(make_learner(config)), step)[1].state.params, network.value
    return run.load_best(jax.eval_shape(network.init, jax.random.key(0)))[1], network.value
