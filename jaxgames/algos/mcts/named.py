"""The rules and evaluators of a search by name, and what is said of anything that is neither."""

from collections.abc import Callable, Mapping
from typing import Any

from jaxgames.algos.mcts.evaluators.evaluator import EXPECTED as EVALUATOR
from jaxgames.algos.mcts.evaluators.evaluator import check_evaluator
from jaxgames.algos.mcts.evaluators.last_good_reply import last_good_reply
from jaxgames.algos.mcts.evaluators.mast import mast
from jaxgames.algos.mcts.evaluators.rollout import rollout
from jaxgames.algos.mcts.rules.amaf import amaf, rave
from jaxgames.algos.mcts.rules.gumbel import gumbel
from jaxgames.algos.mcts.rules.rule import EXPECTED as RULE
from jaxgames.algos.mcts.rules.rule import check_rule, puct, uct
from jaxgames.algos.mcts.rules.transpositions import uct1, uct2, uct3
from jaxgames.algos.mcts.rules.ucd import ucd
from jaxgames.ops import checks

Makers = Mapping[str, Callable[[], Any]]

RULES: Makers = {make.__name__: make for make in (uct, puct, gumbel, rave, amaf, uct1, uct2, uct3, ucd)}
"""The rules that need no argument."""
EVALUATORS: Makers = {make.__name__: make for make in (rollout, last_good_reply, mast)}
"""The evaluators that need no argument."""


def rule(value: Any) -> Any:
    """A selection rule: one that was made, or a name of `RULES`; None is `uct`."""
    return check_rule("select", _by_name("select", value, RULES, uct, RULE))


def evaluator(value: Any) -> Any:
    """An evaluator: one that was made, or a name of `EVALUATORS`; None is `rollout`."""
    return check_evaluator("evaluate", _by_name("evaluate", value, EVALUATORS, rollout, EVALUATOR))


def _by_name(name: str, value: Any, known: Makers, default: Callable[[], Any], expected: str) -> Any:
    if isinstance(value, str) and value not in known:
        raise ValueError(f"{name} {checks.describe(value)}: expected {expected}, or one of {', '.join(known)}")
    return default() if value is None else known[value]() if isinstance(value, str) else value
