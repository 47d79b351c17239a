"""Data to learn from: made of games that players play, of files of games, of solved positions.

A maker says how many shards there are and makes each of them by itself, so a making that was stopped goes on.
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
