"""Players against each other: matches with paired dice and swapped sides, tournaments, knock-outs, tables of
results, all lines of play of one player, and rollouts of positions.
"""

from jaxgames.matches import solved
from jaxgames.matches.exhaustive import LinesResult, every_line
from jaxgames.matches.knockout import KnockoutResult, knockout
from jaxgames.matches.match import MatchResult, match
from jaxgames.matches.report import result_table
from jaxgames.matches.rollout import RolloutResult, rollout
from jaxgames.matches.tournament import Rating, TournamentResult, bradley_terry, tournament

__all__ = [
    "KnockoutResult",
    "LinesResult",
    "MatchResult",
    "Rating",
    "RolloutResult",
    "TournamentResult",
    "bradley_terry",
    "every_line",
    "knockout",
    "match",
    "result_table",
    "rollout",
    "solved",
    "tournament",
]
