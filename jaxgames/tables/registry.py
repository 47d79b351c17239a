"""The tables that can be built, and where players look for them."""

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jaxgames.tables.bearoff import BearOffs, two_sided
from jaxgames.tables.checkers import CheckersEndings
from jaxgames.tables.folder import MANIFEST, open_table
from jaxgames.tables.lookup import BearOffLookup, Lookup
from jaxgames.tables.retrograde import Index, solve_all

TABLES: Mapping[str, Callable[[int], Any]] = {"checkers": CheckersEndings}
"""By the id of the game, the index of all positions with so many pieces at most."""

FOLDER, VARIABLE = "tables", "JAXGAMES_TABLES"
PIECES = range(8, 1, -1)
AT_ONCE = 3
"""Pieces of a table that takes about two seconds to solve."""


def index_of(game_id: str, pieces: int) -> Index:
    """The index of a game's endings. Raises `ValueError` for a game without tables, and for too many pieces."""
    if game_id not in TABLES:
        raise ValueError(f"no tables can be built for {game_id!r}; there are tables for {', '.join(TABLES)}")
    return TABLES[game_id](pieces)


def usual_folder(index: Index) -> Path:
    """Where the table of an index is kept: in `tables`, or in the folder that JAXGAMES_TABLES names."""
    return Path(os.environ.get(VARIABLE) or FOLDER) / index.name


def largest_lookup(game_id: str) -> tuple[Any, Any]:
    """What knows most of a game's endings and is there, and its arrays; a small table is solved where none was built.

    In backgammon it is the bear-off of 6 checkers on 6 points against 6. Raises `ValueError` for a game without
    tables, and for a broken table.
    """
    if game_id == "backgammon":
        return _bear_off()
    smallest = index_of(game_id, 2)
    for pieces in PIECES:
        if (usual_folder(smallest).with_name(f"{game_id}-{pieces}") / MANIFEST).is_file():
            index = index_of(game_id, pieces)
            lookup = Lookup(index)
            return lookup, lookup.scores(open_table(index, usual_folder(index)).slice)
    return _solved(game_id)


@functools.cache
def _bear_off() -> tuple[Any, Any]:
    lookup = BearOffLookup(BearOffs(points=6, checkers=6))
    return lookup, lookup.scores(two_sided(lookup.offs))


@functools.cache
def _solved(game_id: str) -> tuple[Any, Any]:
    lookup = Lookup(index_of(game_id, AT_ONCE))
    return lookup, lookup.scores(solve_all(lookup.index).__getitem__)
