"""Players against each other: matches with paired dice and swapped sides, tables of their results, and every line of
play of one player.
"""

from jaxgames.arena.exhaustive import LinesResult, every_line
from jaxgames.arena.match import MatchResult, match
from jaxgames.arena.table import result_table, results_table, show

__all__ = ["LinesResult", "MatchResult", "every_line", "match", "result_table", "results_table", "show"]
