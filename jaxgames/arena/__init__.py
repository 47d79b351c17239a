"""Players against each other: matches with paired dice and swapped sides, and tables of their results."""

from jaxgames.arena.match import MatchResult, match
from jaxgames.arena.table import result_table, results_table, show

__all__ = ["MatchResult", "match", "result_table", "results_table", "show"]
