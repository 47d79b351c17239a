"""Players against each other: matches with paired dice and swapped sides, knock-outs, tables of their results, every
line of play of one player; and games under way for people, with their records.
"""

from jaxgames.arena.exhaustive import LinesResult, every_line
from jaxgames.arena.knockout import KnockoutResult, knockout
from jaxgames.arena.match import MatchResult, match
from jaxgames.arena.record import GameRecord
from jaxgames.arena.session import Session
from jaxgames.arena.table import result_table, results_table, show

__all__ = [
    "GameRecord",
    "KnockoutResult",
    "LinesResult",
    "MatchResult",
    "Session",
    "every_line",
    "knockout",
    "match",
    "result_table",
    "results_table",
    "show",
]
