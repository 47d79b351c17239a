"""Evaluators of leaves. A new one is a file beside this one, and its names here: `mcts` exports what `__all__` says."""

from collections.abc import Callable, Mapping
from typing import Any

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Evaluator, exact_leaves, mixture, network, valued
from jaxgames.algos.mcts.evaluators.last_good_reply import LastGoodReply
from jaxgames.algos.mcts.evaluators.mast import mast
from jaxgames.algos.mcts.evaluators.rollout import Rollout

__all__ = [
    "Evaluation",
    "Evaluator",
    "exact_leaves",
    "last_good_reply",
    "mast",
    "mixture",
    "network",
    "rollout",
    "valued",
]

rollout, last_good_reply = Rollout, LastGoodReply

EVALUATORS: Mapping[str, Callable[[], Any]] = {"rollout": rollout, "last_good_reply": last_good_reply, "mast": mast}
"""The evaluators that need no argument, by their names in `search`."""
