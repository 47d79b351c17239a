"""Value networks that learn from the results of games played against themselves and against random moves, one game at a
time: online Monte-Carlo learning, for whole populations of networks at once.

    learner = SelfPlayBackprop(game, PopulationMLP(MLP((18, 9, 3, 1)), inputs=9), encode, members=32, max_plies=9)
    state = learner.init(key)
    state, metrics = learner.update(state, key)
"""

from jaxgames.algos.self_play_backprop.learner import (
    FIRST,
    SECOND,
    SELF,
    Encode,
    Metrics,
    Played,
    SelfPlayBackprop,
    Settings,
    State,
    encode_with,
)
from jaxgames.algos.self_play_backprop.population import PopulationMLP

__all__ = [
    "FIRST",
    "SECOND",
    "SELF",
    "Encode",
    "Metrics",
    "Played",
    "PopulationMLP",
    "SelfPlayBackprop",
    "Settings",
    "State",
    "encode_with",
]
