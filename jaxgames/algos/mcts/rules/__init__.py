"""Selection rules. A new one is a file beside this one, and its names here: `mcts` exports what `__all__` says."""

from collections.abc import Callable, Mapping
from typing import Any

from jaxgames.algos.mcts.rules.amaf import AMAF, RAVE
from jaxgames.algos.mcts.rules.bounded import Bounded
from jaxgames.algos.mcts.rules.gumbel import Gumbel
from jaxgames.algos.mcts.rules.rule import PUCT, UCT, Rule
from jaxgames.algos.mcts.rules.ucd import UCD, uct1, uct2, uct3

__all__ = ["Rule", "amaf", "bounded", "gumbel", "puct", "rave", "ucd", "uct", "uct1", "uct2", "uct3"]

uct, puct, gumbel, rave, amaf, ucd, bounded = UCT, PUCT, Gumbel, RAVE, AMAF, UCD, Bounded

RULES: Mapping[str, Callable[[], Any]] = {
    "uct": uct,
    "puct": puct,
    "gumbel": gumbel,
    "rave": rave,
    "amaf": amaf,
    "uct1": uct1,
    "uct2": uct2,
    "uct3": uct3,
    "ucd": ucd,
}
"""The rules that need no argument, by their names in `search`."""
