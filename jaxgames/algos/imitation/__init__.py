"""Learning from examples: a network learns the moves and results of a data set, for every game.

`load` reads a data set, `prepare` merges and splits it, `make_learner(game, config)` gives `init(key, training) ->
state` and `update(state, key) -> (state, metrics)`; `evaluate` measures a network on other positions.
"""

from jaxgames.algos.imitation.config import ImitationConfig
from jaxgames.algos.imitation.data import LabeledPositions, load, open_of, prepare
from jaxgames.algos.imitation.learner import ImitationLearner, ImitationState, load_network, make_learner

__all__ = [
    "ImitationConfig",
    "ImitationLearner",
    "ImitationState",
    "LabeledPositions",
    "load",
    "load_network",
    "make_learner",
    "open_of",
    "prepare",
]
