"""Data to learn from: made of games that players play, of files of games, of solved positions.

A maker says how many shards there are and makes each of them by itself, so a making that was stopped goes on.
"""

from jaxgames.arena.data_sets.exact_labels import ExactLabels
from jaxgames.arena.data_sets.make import Maker, make_data, merge_data
from jaxgames.arena.data_sets.played import PlayedGames
from jaxgames.arena.data_sets.recorded import RecordedGames
from jaxgames.arena.data_sets.solved_positions import SolvedPositions

__all__ = ["ExactLabels", "Maker", "PlayedGames", "RecordedGames", "SolvedPositions", "make_data", "merge_data"]
