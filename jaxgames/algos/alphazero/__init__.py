"""AlphaZero: a network learns from games that it plays by search, for every game.

`make_learner(game, config)` gives `init(key) -> state` and `update(state, key) -> (state, metrics)`. An update
plays some plies of all games, moves finished games into the replay buffer, and makes some optimizer steps: one jitted
function.
"""

from jaxgames.algos.alphazero.config import AlphaZeroConfig
from jaxgames.algos.alphazero.learner import AlphaZeroLearner, AlphaZeroState, load_network, make_learner

__all__ = ["AlphaZeroConfig", "AlphaZeroLearner", "AlphaZeroState", "load_network", "make_learner"]
