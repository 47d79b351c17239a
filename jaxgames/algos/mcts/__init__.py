"""Monte-Carlo tree search for every game, thousands of trees at once.

`search(game, states, key, num_simulations, select=..., evaluate=...)` with a selection rule (`uct`, `puct`, `gumbel`,
`rave`, `amaf`, `uct1`, `uct2`, `uct3`, `bounded`) and an evaluator of leaves (`rollout`, `last_good_reply`, `network`,
`valued`, `mixture`). `advance` keeps a tree for the next move.
"""

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Evaluator, Leaves, mixture, network
from jaxgames.algos.mcts.evaluators.last_good_reply import last_good_reply
from jaxgames.algos.mcts.evaluators.rollout import rollout
from jaxgames.algos.mcts.evaluators.valued import valued
from jaxgames.algos.mcts.noise import Noise, dirichlet
from jaxgames.algos.mcts.reuse import advance
from jaxgames.algos.mcts.rules.amaf import amaf, rave
from jaxgames.algos.mcts.rules.bounded import bounded
from jaxgames.algos.mcts.rules.gumbel import gumbel
from jaxgames.algos.mcts.rules.rule import Rule, puct, uct
from jaxgames.algos.mcts.rules.transpositions import uct1, uct2, uct3
from jaxgames.algos.mcts.search import SearchResult, search, search_positions
from jaxgames.algos.mcts.tree import Layout, Tree

__all__ = [
    "Evaluation",
    "Evaluator",
    "Layout",
    "Leaves",
    "Noise",
    "Rule",
    "SearchResult",
    "Tree",
    "advance",
    "amaf",
    "bounded",
    "dirichlet",
    "gumbel",
    "last_good_reply",
    "mixture",
    "network",
    "puct",
    "rave",
    "rollout",
    "search",
    "search_positions",
    "uct",
    "uct1",
    "uct2",
    "uct3",
    "valued",
]
