"""Data to learn from: made from games that players play, from files of games, or from solved positions.

A maker says how many shards there are and makes each independently, so stopped work can be continued.
"""

from jaxgames.data_sets.makers import (
    Maker,
    data_info,
    exact_labels,
    make_data,
    merge_data,
    played_games,
    recorded_games,
    solved_positions,
    solved_tests,
)

__all__ = [
    "Maker",
    "data_info",
    "exact_labels",
    "make_data",
    "merge_data",
    "played_games",
    "recorded_games",
    "solved_positions",
    "solved_tests",
]
