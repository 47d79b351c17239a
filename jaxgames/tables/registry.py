"""The tables that can be built, and where players look for them."""

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp

from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game
from jaxgames.envs.tic_tac_toe.game import TicTacToe
from jaxgames.tables.bearoff import BearOffs, two_sided
from jaxgames.tables.checkers import MOST_PIECES, CheckersEndings
from jaxgames.tables.folder import TableFolder, open_table
from jaxgames.tables.lookup import BearOffLookup, Knowledge, LateLookup, LeafKnowledge, Lookup, WholeLookup
from jaxgames.tables.retrograde import Index, solve_all
from jaxgames.tables.whole_games import SmallBoard, TicTacToeIndex, solve_whole

Load = Callable[[], Any]
"""Gives the arrays of what is known; solves what was not built."""

TABLES: Mapping[str, Callable[[int], Any]] = {"checkers": CheckersEndings}
"""By the id of the game, the index of all positions with so many pieces at most."""

FOLDER, VARIABLE = "tables", "JAXGAMES_TABLES"
AT_ONCE = 3
"""Pieces of a table that takes about two seconds to solve."""
SMALL_BITS = 25
"""Of the keys of a board that is solved in about five seconds, and whose table takes 32 MiB."""


def index_of(game_id: str, pieces: int) -> Index:
    """The index of a game's endings. Raises `ValueError` for a game without tables, and for too many pieces."""
    if game_id not in TABLES:
        raise ValueError(f"no tables can be built for {game_id!r}; there are tables for {', '.join(TABLES)}")
    return TABLES[game_id](pieces)


def usual_folder(index: Index) -> Path:
    """Where the table of an index is kept: in `tables`, or in the folder that JAXGAMES_TABLES names."""
    return Path(os.environ.get(VARIABLE) or FOLDER) / index.name


def lookup_of(game: Game) -> tuple[Knowledge, Load]:
    """What knows most of a game and is there at once, and a function that loads its arrays.

    Tic-tac-toe is known as a whole, Connect X where few stones are left to play, backgammon when both bear off with 6
    checkers on 6 points. In checkers it is the largest table that was built; without any, 3 pieces are solved.

    Raises `ValueError` for another game; `load` does for a broken table.
    """
    if game.id not in LOOKUPS:
        raise ValueError(f"nothing is known exactly of {game.id!r}; but of {', '.join(LOOKUPS)}")
    return LOOKUPS[game.id](game)


def leaf_lookup(game: Game) -> tuple[LeafKnowledge, Load]:
    """As `lookup_of`, where it is a table. Raises `ValueError` where a position has to be solved by a search."""
    lookup, load = whole_lookup(game) if is_small(game) else lookup_of(game)
    if not isinstance(lookup, LeafKnowledge):
        raise ValueError(f"{game.id} has no table for the leaves of a search, but on boards up to 4 x 5")
    return lookup, load


def whole_lookup(game: Game) -> tuple[Knowledge, Load]:
    """The values of all positions of a small game. Raises `ValueError` where `is_small` is false."""
    if not is_small(game):
        raise ValueError(f"not all of {game.id} is known; but of tic_tac_toe, and of Connect X up to 4 x 5")
    index = SmallBoard(game) if isinstance(game, ConnectFour) else TicTacToeIndex()
    return WholeLookup(index), functools.partial(_solve_whole, index)


def is_small(game: Game) -> bool:
    """Whether all positions of a game can be solved at once, in seconds."""
    if isinstance(game, ConnectFour):
        return (game.rows + 1) * game.cols <= SMALL_BITS
    return isinstance(game, TicTacToe)


def _checkers(game: Game) -> tuple[Knowledge, Load]:
    smallest = index_of(game.id, 2)
    for pieces in range(MOST_PIECES, 1, -1):
        if TableFolder.is_at(usual_folder(smallest).with_name(f"{game.id}-{pieces}")):
            lookup = Lookup(index_of(game.id, pieces))
            return lookup, functools.partial(_read, lookup)
    lookup = Lookup(index_of(game.id, AT_ONCE))
    return lookup, functools.partial(_solve_endings, lookup)


def _read(lookup: Lookup) -> Any:
    return lookup.scores(open_table(lookup.index, usual_folder(lookup.index)).slice)


def _bear_off(game: Game) -> tuple[Knowledge, Load]:
    lookup = BearOffLookup(BearOffs(points=6, checkers=6))
    return lookup, functools.partial(_solve_bear_off, lookup)


@functools.cache
def _solve_bear_off(lookup: BearOffLookup) -> Any:
    return lookup.scores(two_sided(lookup.offs))


@functools.cache
def _solve_endings(lookup: Lookup) -> Any:
    return lookup.scores(solve_all(lookup.index).__getitem__)


@functools.cache
def _solve_whole(index: Any) -> Any:
    return jnp.asarray(solve_whole(index).score)


LOOKUPS: Mapping[str, Callable[[Any], tuple[Knowledge, Load]]] = {
    "tic_tac_toe": whole_lookup,
    "connect_four": lambda game: (LateLookup(game), tuple),
    "checkers": _checkers,
    "backgammon": _bear_off,
}
"""By the id of the game, what `lookup_of` gives."""
