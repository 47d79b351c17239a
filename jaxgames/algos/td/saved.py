"""The player that a TD training has saved."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from jaxgames.algos.td.config import TDConfig
from jaxgames.envs.core import Value
from jaxgames.runs import Run


def config_of(settings: dict[str, Any]) -> TDConfig:
    """The settings of a learner, read from JSON. Raises `ValueError` for a name it does not know."""
    known = {field.name for field in dataclasses.fields(TDConfig)}
    for name in settings:
        if name not in known:
            raise ValueError(f"unknown setting {name!r} of a TD learner; known: {', '.join(sorted(known))}")
    return TDConfig(**settings)


def load_player_value(run: Run) -> tuple[Any, Callable[[Any], Value]]:
    """The best weights of a run, and the function that makes of weights the value of positions.

    Raises `ValueError` if the run holds no TD player.
    """
    if "learner" not in run.config:
        raise ValueError(f"{run.path} holds no TD player; expected a run of `jaxgames train td-gammon` or the like")
    network = config_of(run.config["learner"]).network()
    template = jax.eval_shape(network.init, jax.random.key(0))
    return run.load_best(template)[1], network.value
