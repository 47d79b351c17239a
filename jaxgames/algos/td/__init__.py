"""Temporal-difference learning by self-play, for any game.

config = TDConfig(game="backgammon", hidden=(40,))
learner = make_learner(config)
state = learner.init(key)
state, metrics = learner.update(state, key)
"""

from jaxgames.algos.td.config import TDConfig
from jaxgames.algos.td.learner import ExactTD, Learner, Metrics, MonteCarlo, NStepTD, TDState
from jaxgames.algos.td.methods import make_learner
from jaxgames.algos.td.saved import load_player_value
from jaxgames.algos.td.step_sizes import TestedStepSizes
from jaxgames.algos.td.td_lambda import eligibility_traces, lambda_returns
from jaxgames.algos.td.value import Outcomes, ValueNetwork

__all__ = [
    "ExactTD",
    "Learner",
    "Metrics",
    "MonteCarlo",
    "NStepTD",
    "Outcomes",
    "TDConfig",
    "TDState",
    "TestedStepSizes",
    "ValueNetwork",
    "eligibility_traces",
    "lambda_returns",
    "load_player_value",
    "make_learner",
]
