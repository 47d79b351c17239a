"""Monte-Carlo tree search for every game, thousands of trees at once.

`search(game, states, key, num_simulations, select=..., evaluate=...)` takes a selection rule (`uct`, `puct`, `gumbel`,
`rave`, `amaf`, `uct1`, `uct2`, `uct3`, `ucd`, `bounded`) and an evaluator of leaves (`rollout`, `last_good_reply`,
`mast`, `network`, `valued`, `mixture`). `advance` keeps a tree for the next move.
"""

from jaxgames.algos.mcts import evaluators, rules
from jaxgames.algos.mcts.evaluators import *  # noqa: F403
from jaxgames.algos.mcts.path import SelectedLeaf
from jaxgames.algos.mcts.reuse import advance
from jaxgames.algos.mcts.rules import *  # noqa: F403
from jaxgames.algos.mcts.search import Noise, SearchResult, dirichlet, search, search_positions
from jaxgames.algos.mcts.tree import Layout, Tree

__all__ = [
    "Layout",
    "Noise",
    "SearchResult",
    "SelectedLeaf",
    "Tree",
    "advance",
    "dirichlet",
    "search",
    "search_positions",
]
__all__ += evaluators.__all__
__all__ += rules.__all__
