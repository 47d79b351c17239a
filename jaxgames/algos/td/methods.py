"""The ways to learn by name."""

from typing import Any, NamedTuple

from jaxgames.algos.td.config import TDConfig
from jaxgames.algos.td.expected import ExpectedConfig, ExpectedTD
from jaxgames.algos.td.learner import (
    ExactConfig,
    ExactTD,
    Learner,
    MonteCarlo,
    MonteCarloConfig,
    NStepConfig,
    NStepTD,
)
from jaxgames.algos.td.sequential import SequentialBackprop, SequentialConfig, SequentialTD
from jaxgames.ops import checks
from jaxgames.ops.settings import own


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
    """The settings of a method, those that are not given as they are by default.

    Raises `ValueError` for a setting that the method has not.
    """
    kind = method_named(method).config
    usual = kind(method=method)
    if unknown := [name for name in settings if name not in usual.declarations()]:
        known = ", ".join(usual.declarations())
        raise ValueError(f"unknown setting {unknown[0]!r} of method={method}; available: {known}")
    mine = {name: settings.pop(name) for name in own(kind) if name in settings}
    return kind(**mine, method=method, net=usual.net.replace(**settings))


def with_method(config: TDConfig, method: str) -> TDConfig:
    """The settings of another method: what both have stays where it has a meaning there."""
    declared, settings = make_config(method).declarations(), config.values()
    shared = {name: value for name, value in settings.items() if name in declared and name != "method"}
    for name, value in [*shared.items()]:
        if declared[name].choices and value not in declared[name].choices:
            del shared[name]
    after = make_config(method).values() | shared
    return make_config(method, **{name: value for name, value in shared.items() if declared[name].has_meaning(after)})


def make_learner(config: TDConfig) -> Learner:
    """The learner that `config.method` names."""
    method = METHODS[checks.kind("config", config, TDConfig).method]
    return method.learner(checks.kind("config", config, method.config))
