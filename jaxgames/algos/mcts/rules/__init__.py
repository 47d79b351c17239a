"""Selection rules. A new one is a file beside this one and a line here."""

from collections.abc import Callable, Mapping
from typing import Any

from jaxgames.algos.mcts.rules.amaf import AMAF, RAVE
from jaxgames.algos.mcts.rules.gumbel import Gumbel, OneRound
from jaxgames.algos.mcts.rules.rule import PUCT, UCT, Recursive
from jaxgames.algos.mcts.rules.ucd import UCD, uct1, uct2, uct3

RULES: Mapping[str, Callable[[], Any]] = {
    "uct": UCT,
    "puct": PUCT,
    "gumbel": Gumbel,
    "rave": RAVE,
    "amaf": AMAF,
    "uct1": uct1,
    "uct2": uct2,
    "uct3": uct3,
    "ucd": UCD,
    "recursive": Recursive,
    "one_round": OneRound,
}
"""The rules that need no argument, by their names in `search`."""
