"""What a training by self-play saves as its best player."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from jaxgames.algos.self_play_backprop import (
    Params,
    PopulationMLP,
    SelfPlayBackprop,
    SelfPlaySettings,
    SquareEncoding,
    SquareFeatures,
)
from jaxgames.envs.registry import make
from jaxgames.nets import MLP
from jaxgames.runs import Run

CYCLE = 6
"""Kinds of games in a cycle: all schedules repeat after so many games, so that one program does them all."""


@dataclasses.dataclass(frozen=True)
class SelfPlayConfig:
    """Networks that value the squares of a game, and the longest game."""

    game: str
    hidden: tuple[int, ...]
    activation: str
    most_plies: int

    def learner(self, members: int) -> SelfPlayBackprop:
        """How so many of them learn. Their first weights are uniform in [-1, 1]."""
        game = make(self.game)
        encode = SquareEncoding(game)
        network = MLP((*self.hidden, 1), self.activation, self.activation, "uniform:1")
        return SelfPlayBackprop(game, PopulationMLP(network, encode.inputs), encode, members, self.most_plies)


def load_self_play(run: Run) -> tuple[Params, SelfPlaySettings, SelfPlayBackprop]:
    """The weights of a run's best network, how it sees positions, and how it chooses moves.

    Raises `ValueError` if the run holds none, or its configuration is broken.
    """
    try:
        config = SelfPlayConfig(**run.config["self_play"] | {"hidden": tuple(run.config["self_play"]["hidden"])})
        learner = config.learner(members=1)
    except TypeError as error:
        raise ValueError(f"{run.path}/config.json describes no network of self-play: {error}") from None
    params, settings = run.load_best(jax.eval_shape(partial(_saved, learner), jax.random.key(0)))[1]
    return params, settings, learner


def _saved(learner: SelfPlayBackprop, key: Key[Array, ""]) -> tuple[Params, SelfPlaySettings]:
    """What is saved of a network."""
    features = SquareFeatures(*(jnp.float32(0) for _ in SquareFeatures._fields))
    settings = SelfPlaySettings(jnp.float32(0), jnp.zeros(CYCLE, jnp.int32), jnp.bool_(True), features)
    return learner.init(key, settings).params, settings
