"""Temporal-difference learning by self-play, for any game.

config = make_config("n_step", game="backgammon", hidden=(40,))
learner = make_learner(config)
state = learner.init(key)
state, metrics = learner.update(state, key)
"""

from jaxgames.algos.td.config import TDConfig, TestedStepSizes
from jaxgames.algos.td.expected import ExpectedConfig, ExpectedTD
from jaxgames.algos.td.learner import (
    ExactConfig,
    ExactTD,
    Learner,
    Metrics,
    MonteCarlo,
    MonteCarloConfig,
    NStepConfig,
    NStepTD,
)
from jaxgames.algos.td.methods import METHODS, load_player_value, make_config, make_learner
from jaxgames.algos.td.sequential import SequentialBackprop, SequentialConfig, SequentialTD
from jaxgames.algos.td.td_lambda import eligibility_traces, lambda_returns
from jaxgames.algos.td.value import Outcomes, ValueNetwork

__all__ = [
    "METHODS",
    "ExactConfig",
    "ExactTD",
    "ExpectedConfig",
    "ExpectedTD",
    "Learner",
    "Metrics",
    "MonteCarlo",
    "MonteCarloConfig",
    "NStepConfig",
    "NStepTD",
    "Outcomes",
    "SequentialBackprop",
    "SequentialConfig",
    "SequentialTD",
    "TDConfig",
    "TestedStepSizes",
    "ValueNetwork",
    "eligibility_traces",
    "lambda_returns",
    "load_player_value",
    "make_config",
    "make_learner",
]
