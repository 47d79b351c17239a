"""Players against each other: matches with paired dice and swapped sides, and tables of their results."""

from jaxgames.arena.match import MatchResult, match

__all__ = ["MatchResult", "match"]
