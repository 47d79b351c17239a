"""Players against each other: matches with paired dice and swapped sides, tournaments, knock-outs, tables of their
results, and every line of play of one player.
"""

from jaxgames.matches.exhaustive import LinesResult, every_line
from jaxgames.matches.knockout import KnockoutResult, knockout
from jaxgames.matches.match import MatchResult, match
from jaxgames.matches.report import result_table

__all__ = [
    "KnockoutResult",
    "LinesResult",
    "MatchResult",
    "every_line",
    "knockout",
    "match",
    "result_table",
]
