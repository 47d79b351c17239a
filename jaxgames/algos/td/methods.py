"""The ways to learn by name."""

from jaxgames.algos.td.config import TDConfig
from jaxgames.algos.td.expected import ExpectedTD
from jaxgames.algos.td.learner import ExactTD, Learner, MonteCarlo, NStepTD
from jaxgames.algos.td.sequential import SequentialBackprop, SequentialTD
from jaxgames.ops import checks

METHODS: dict[str, type[Learner]] = {
    "n_step": NStepTD,
    "exact": ExactTD,
    "monte_carlo": MonteCarlo,
    "expected": ExpectedTD,
    "sequential_td": SequentialTD,
    "sequential_backprop": SequentialBackprop,
}


def make_learner(config: TDConfig) -> Learner:
    """The learner that `config.method` names."""
    return METHODS[checks.kind("config", config, TDConfig).method](config)
