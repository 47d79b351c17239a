"""Evaluators of leaves. A new one is a file beside this one and a line here."""

from collections.abc import Callable, Mapping
from typing import Any

from jaxgames.algos.mcts.evaluators.last_good_reply import LastGoodReply
from jaxgames.algos.mcts.evaluators.mast import mast as make_mast
from jaxgames.algos.mcts.evaluators.rollout import Rollout

EVALUATORS: Mapping[str, Callable[[], Any]] = {
    "rollout": Rollout,
    "last_good_reply": LastGoodReply,
    "mast": make_mast,
}
"""The evaluators that need no argument, by their names in `search`."""
