"""What a TD training saves, and the player in it."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32

from jaxgames.algos.td.config import TDConfig
from jaxgames.algos.td.exact import ExactTD
from jaxgames.algos.td.learner import Learner, TDState
from jaxgames.algos.td.result import ResultTD
from jaxgames.algos.td.step_sizes import STEP_SIZES, TESTS
from jaxgames.algos.td.window import WindowTD
from jaxgames.envs.core import Value
from jaxgames.runs import Run

METHODS: dict[str, type[Learner]] = {"window": WindowTD, "exact": ExactTD, "result": ResultTD}


class Tests(NamedTuple):
    """The memory of `TestedStepSizes`: the weights after each of the last 25 blocks of games, the oldest first; the
    points of the tests, of which the last `known` count; the number of blocks so far; and the place in the list of
    step sizes.
    """

    younger: Any
    points: Float32[Array, " tests"]
    known: Int32[Array, ""]
    number: Int32[Array, ""]
    place: Int32[Array, ""]


class Checkpoint(NamedTuple):
    """All that a training needs to go on bit by bit: the learner's state, games finished, and the tests of step
    sizes, if any.
    """

    state: TDState
    games: Any
    tests: Tests | None


def make_learner(config: TDConfig) -> Learner:
    """The learner that `config.method` names."""
    return METHODS[config.method](config)


def first_checkpoint(config: TDConfig, state: TDState) -> Checkpoint:
    """The checkpoint before the first game."""
    tests = None
    if config.schedule == "tested":
        younger = jax.tree.map(lambda x: jnp.broadcast_to(x, (TESTS, *x.shape)), state.params)
        tests = Tests(younger, jnp.zeros(TESTS, jnp.float32), *(jnp.int32(0) for _ in range(3)))
        state = state._replace(factor=jnp.full_like(state.factor, STEP_SIZES[0] / config.batch))
    return Checkpoint(state, np.int64(0), tests)


def template(config: TDConfig) -> Checkpoint:
    """The shapes of a checkpoint."""
    learner = make_learner(config)
    shapes = jax.eval_shape(
        lambda key: first_checkpoint(config, learner.init(key))._replace(games=()), jax.random.key(0)
    )
    return shapes._replace(games=np.int64(0))


def config_of(settings: dict[str, Any]) -> TDConfig:
    """The settings of a learner, read from JSON. Raises `ValueError` for a name it does not know."""
    known = {field.name for field in dataclasses.fields(TDConfig)}
    for name in settings:
        if name not in known:
            raise ValueError(f"unknown setting {name!r} of a TD learner; known: {', '.join(sorted(known))}")
    return TDConfig(**settings)


def load_player_value(run: Run, step: int | None = None) -> tuple[Any, Callable[..., Value]]:
    """The best weights of a run, or those of checkpoint `step`, and the function that makes of weights the value of
    positions.

    Raises `ValueError` if the run holds no TD player.
    """
    if "learner" not in run.config:
        raise ValueError(f"{run.path} holds no TD player; expected a run of `jaxgames train td-gammon` or the like")
    config = config_of(run.config["learner"])
    shapes = template(config)
    params = run.load_best(shapes.state.params)[1] if step is None else run.restore(shapes, step)[1].state.params
    return params, config.network().value
