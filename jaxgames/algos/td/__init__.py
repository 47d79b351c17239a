"""Temporal-difference learning by self-play, for any game.

config = TDConfig(game="backgammon", hidden=(40,))
learner = make_learner(config)
state = learner.init(key)
state, metrics = learner.update(state, key)
"""

from jaxgames.algos.td.config import TDConfig
from jaxgames.algos.td.exact import ExactTD
from jaxgames.algos.td.learner import Learner, Metrics, TDState
from jaxgames.algos.td.outcomes import Outcomes
from jaxgames.algos.td.result import ResultTD
from jaxgames.algos.td.returns import lambda_returns
from jaxgames.algos.td.saved import load_player_value, make_learner
from jaxgames.algos.td.step_sizes import TestedStepSizes
from jaxgames.algos.td.traces import eligibility_traces
from jaxgames.algos.td.value import ValueNetwork
from jaxgames.algos.td.window import WindowTD

__all__ = [
    "ExactTD",
    "Learner",
    "Metrics",
    "Outcomes",
    "ResultTD",
    "TDConfig",
    "TDState",
    "TestedStepSizes",
    "ValueNetwork",
    "WindowTD",
    "eligibility_traces",
    "lambda_returns",
    "load_player_value",
    "make_learner",
]
