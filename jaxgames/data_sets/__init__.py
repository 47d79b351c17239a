"""Data to learn from: made of games that players play, of files of games, of solved positions.

A maker says how many shards there are and makes each of them by itself, so a making that was stopped goes on.
"""

from jaxgames.data_sets.exact_labels import ExactLabels
from jaxgames.data_sets.make import Maker, make_data, merge_data
from jaxgames.data_sets.played import PlayedGames
from jaxgames.data_sets.recorded import RecordedGames
from jaxgames.data_sets.solved_positions import SolvedPositions

__all__ = ["ExactLabels", "Maker", "PlayedGames", "RecordedGames", "SolvedPositions", "make_data", "merge_data"]
