"""The learning methods by name; what a training saves, and the player in it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgames.algos.td.config import STEP_SIZES, TDConfig, Tests, first_tests
from jaxgames.algos.td.expected import ExpectedConfig, ExpectedTD
from jaxgames.algos.td.learner import ExactConfig, ExactTD, Learner, MonteCarlo, MonteCarloConfig, NStepConfig, NStepTD
from jaxgames.algos.td.sequential import SequentialBackprop, SequentialConfig, SequentialTD
from jaxgames.envs.core import Value
from jaxgames.ops import checks
from jaxgames.ops.settings import own
from jaxgames.runs import Run


class Method(NamedTuple):
    """A way to learn: its settings, and its learner."""

    config: type[TDConfig]
    learner: type[Learner]


METHODS = {
    "n_step": Method(NStepConfig, NStepTD),
    "exact": Method(ExactConfig, ExactTD),
    "monte_carlo": Method(MonteCarloConfig, MonteCarlo),
    "expected": Method(ExpectedConfig, ExpectedTD),
    "sequential_td": Method(SequentialConfig, SequentialTD),
    "sequential_backprop": Method(SequentialConfig, SequentialBackprop),
}


def method_named(name: Any) -> Method:
    """The method with this name. Raises `ValueError` if there is none."""
    if name not in METHODS:
        raise ValueError(f"method={name!r}: expected one of {', '.join(METHODS)}")
    return METHODS[name]


def make_config(method: str = "n_step", **settings: Any) -> TDConfig:
    """The settings of a method; those that are not given have their defaults.

    Raises `ValueError` for a setting that the method lacks.
    """
    kind = method_named(method).config
    usual = kind(method=method)
    if unknown := [name for name in settings if name not in usual.declarations()]:
        known = ", ".join(usual.declarations())
        raise ValueError(f"unknown setting {unknown[0]!r} of method={method}; available: {known}")
    mine = {name: settings.pop(name) for name in own(kind) if name in settings}
    return kind(**mine, method=method, net=usual.net.replace(**settings))


def with_method(config: TDConfig, method: str) -> TDConfig:
    """The settings for another method: settings that both have keep their values, if they have an effect there.

    Except `plies` to or from `monte_carlo`, where a whole game must fit into them.
    """
    declared, settings = make_config(method).declarations(), config.values()
    shared = {name: value for name, value in settings.items() if name in declared and name != "method"}
    if method != config.method and "monte_carlo" in (method, config.method):
        shared.pop("plies", None)
    for name, value in [*shared.items()]:
        if declared[name].choices and value not in declared[name].choices:
            del shared[name]
    after = make_config(method).values() | shared
    return make_config(method, **{name: value for name, value in shared.items() if declared[name].has_meaning(after)})


def make_learner(config: TDConfig) -> Learner:
    """The learner that `config.method` names."""
    method = METHODS[checks.kind("config", config, TDConfig).method]
    return method.learner(checks.kind("config", config, method.config))


class TDCheckpoint(NamedTuple):
    """All that a training needs to continue with the same bits: the learner's state, games finished, and the tests of
    step sizes, if any.
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
    """The weights of a run's player, and the function that turns weights into a value of positions.

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
