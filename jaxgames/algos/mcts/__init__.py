"""Monte-Carlo tree search for every game, thousands of trees at once.

`search(game, states, key, num_simulations, select=..., evaluate=...)` takes a selection rule (`uct`, `puct`, `gumbel`,
`rave`, `amaf`, `uct1`, `uct2`, `uct3`, `ucd`, `bounded`, `recursive`, `one_round`) and an evaluator of leaves
(`rollout`, `last_good_reply`, `mast`, `network`, `valued`, `mixture`). `advance` keeps a tree for the next move.
"""

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Evaluator, exact_leaves, mixture, network, valued
from jaxgames.algos.mcts.evaluators.last_good_reply import LastGoodReply as last_good_reply
from jaxgames.algos.mcts.evaluators.mast import mast
from jaxgames.algos.mcts.evaluators.rollout import Rollout as rollout
from jaxgames.algos.mcts.init import advance
from jaxgames.algos.mcts.path import SelectedLeaf
from jaxgames.algos.mcts.rules.amaf import AMAF as amaf
from jaxgames.algos.mcts.rules.amaf import RAVE as rave
from jaxgames.algos.mcts.rules.bounded import Bounded as bounded
from jaxgames.algos.mcts.rules.gumbel import Gumbel as gumbel
from jaxgames.algos.mcts.rules.gumbel import OneRound as one_round
from jaxgames.algos.mcts.rules.rule import PUCT as puct
from jaxgames.algos.mcts.rules.rule import UCT as uct
from jaxgames.algos.mcts.rules.rule import Recursive as recursive
from jaxgames.algos.mcts.rules.rule import Rule
from jaxgames.algos.mcts.rules.ucd import UCD as ucd
from jaxgames.algos.mcts.rules.ucd import uct1, uct2, uct3
from jaxgames.algos.mcts.search import Noise, SearchResult, search, search_positions
from jaxgames.algos.mcts.search import Noise as dirichlet
from jaxgames.algos.mcts.tree import Layout, Tree

__all__ = [
    "Evaluation",
    "Evaluator",
    "Layout",
    "Noise",
    "Rule",
    "SearchResult",
    "SelectedLeaf",
    "Tree",
    "advance",
    "amaf",
    "bounded",
    "dirichlet",
    "exact_leaves",
    "gumbel",
    "last_good_reply",
    "mast",
    "mixture",
    "network",
    "one_round",
    "puct",
    "rave",
    "recursive",
    "rollout",
    "search",
    "search_positions",
    "ucd",
    "uct",
    "uct1",
    "uct2",
    "uct3",
    "valued",
]
