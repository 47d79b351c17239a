"""Exact knowledge: tables of all positions of a kind, solved by the games' own rules."""

from jaxgames.tables.bearoff import BearOffs, OneSided, one_sided, two_sided
from jaxgames.tables.checkers import CheckersEndings
from jaxgames.tables.connect_four_solver import MoveScores, Solver
from jaxgames.tables.folder import EndingsTable, build, open_table
from jaxgames.tables.lookup import Knowledge, KnownTurns, LeafKnowledge, known_turns, leaf_lookup, lookup_of
from jaxgames.tables.whole_games import SmallBoard, TicTacToeIndex, WholeGame, solve_whole

__all__ = [
    "BearOffs",
    "CheckersEndings",
    "EndingsTable",
    "Knowledge",
    "KnownTurns",
    "LeafKnowledge",
    "MoveScores",
    "OneSided",
    "SmallBoard",
    "Solver",
    "TicTacToeIndex",
    "WholeGame",
    "build",
    "known_turns",
    "leaf_lookup",
    "lookup_of",
    "one_sided",
    "open_table",
    "solve_whole",
    "two_sided",
]
