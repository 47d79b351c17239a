"""Exact values inside jitted programs: from a table, or from a solver if that is cheap.

All have the form of `Knowledge`, which all users of exact values take: players, hints, leaves, targets, labels.
"""

import dataclasses
import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Float64, Int8, Int16, Int32
from typing_extensions import override

from jaxgames.envs.backgammon.board import Position, to_counts
from jaxgames.envs.connect_four import board
from jaxgames.envs.connect_four.board import Position as ConnectFourPosition
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game, Outcome
from jaxgames.envs.tic_tac_toe.game import TicTacToe
from jaxgames.runs.files import fingerprint
from jaxgames.tables.bearoff import BearOffs, two_sided
from jaxgames.tables.checkers import MOST_PIECES, CheckersEndings
from jaxgames.tables.connect_four_solver import Solver
from jaxgames.tables.connect_four_threats import Threats, count_squares
from jaxgames.tables.folder import TableFolder, open_table
from jaxgames.tables.retrograde import LOSS, WIN, Index, Values, solve_all
from jaxgames.tables.whole_games import SOON, SmallBoard, TicTacToeIndex, WholeIndex, solve_whole

FAR = 4096
"""More turns than any win takes. A win is worth 1, minus 1 / `FAR` for each turn that it takes."""


class Knowledge(ABC):
    """Exact values of some positions of a game; hashable."""

    @abstractmethod
    def covers(self, positions: Any) -> Bool[Array, " batch"]:
        """For which positions the best turn is known."""

    @abstractmethod
    def worth(self, scores: Any, positions: Any) -> Float32[Array, " batch"]:
        """What positions are worth to the player to act, in points; a nearer win is worth more.

        Meaningless unless a position is covered, or one turn after one that is. `scores` are the arrays.
        """

    def points(self, worth: Float32[Array, " batch"]) -> Float32[Array, " batch"]:
        """The points that positions of such worth bring with best play; by default 1, 0 or -1, however soon."""
        return jnp.sign(worth)


class LeafKnowledge(Knowledge):
    """Knowledge that is cheap enough for every leaf of a search, such as a table."""

    def at_leaf(self, scores: Any, positions: Any) -> tuple[Bool[Array, " batch"], Float32[Array, " batch"]]:
        """Which positions are known without look-ahead, at the beginning of a turn, and what they are worth; by
        default all that are covered.
        """
        return self.covers(positions), self.worth(scores, positions)


class KnownTurns(NamedTuple):
    """The knowledge of positions that are `covered`: the best turn, what it is worth, and its points."""

    covered: Bool[Array, " batch"]
    best: Outcome
    worth: Float32[Array, " batch"]
    points: Float32[Array, " batch"]


def known_turns(game: Game, lookup: Knowledge, scores: Any, positions: Any) -> KnownTurns:
    """The best turns of positions, by the exact values of the positions after them."""
    best, worth = game.best_turn(positions, lambda after: lookup.worth(scores, after))
    return KnownTurns(lookup.covers(positions), best, worth, lookup.points(worth))


@functools.partial(jax.jit, static_argnums=0)
def covered(lookup: Knowledge, positions: Any) -> Bool[Array, " batch"]:
    """`lookup.covers` outside of `jit`: compiled for each size of a batch."""
    return lookup.covers(positions)


class TableScores(NamedTuple):
    """A table as arrays. `score`: `FAR` minus the turns to a win, negative for losses, 0 for draws.

    `first`: where each slice begins.
    """

    score: Int16[Array, " positions"]
    first: Int32[Array, " slices"]


@dataclasses.dataclass(frozen=True)
class Lookup(LeafKnowledge):
    """Values of positions by a table; hashable, the table is an argument."""

    index: Index

    def scores(self, values_of: Callable[[int], Values]) -> TableScores:
        """The arrays of a table, from the values of each slice by its index."""
        sizes = [part.size for part in self.index.slices]
        first = np.concatenate([[0], np.cumsum(sizes)])
        score = np.zeros(first[-1], np.int16)
        for number, start in enumerate(first[:-1]):
            values = values_of(number)
            sign = (values.value == WIN).astype(np.int16) - (values.value == LOSS)
            score[start : start + sizes[number]] = sign * (FAR - np.asarray(values.turns))
        return TableScores(jnp.asarray(score), jnp.asarray(first[:-1], jnp.int32))

    @override
    def covers(self, positions: Any) -> Bool[Array, " batch"]:
        """For which positions the table knows the best turn."""
        return self.index.covers(positions)

    @override
    def at_leaf(self, scores: TableScores, positions: Any) -> tuple[Bool[Array, " batch"], Float32[Array, " batch"]]:
        part, number = self.index.locate(positions)
        score = scores.score[jnp.where(part >= 0, scores.first[part] + number, 0)]
        return part >= 0, score.astype(jnp.float32) / FAR

    @override
    def worth(self, scores: TableScores, positions: Any, actions: int | None = None) -> Float32[Array, " batch"]:
        """The worth of positions that the table covers to the player to act, from -1 to 1.

        In the middle of a turn it is the worth of the best continuation, of so many actions at most.
        """
        actions = self.index.longest_turn - 1 if actions is None else actions
        between, score = self.at_leaf(scores, positions)
        if not actions:
            return score
        rest = self.index.game.best_turn(positions, lambda after: self.worth(scores, after, actions - 1))[1]
        return jnp.where(between, score, rest)


@dataclasses.dataclass(frozen=True)
class BearOffLookup(LeafKnowledge):
    """Values of backgammon when both sides bear off, by the probability to be off first: no gammon is possible then."""

    offs: BearOffs

    def scores(self, win: Float64[np.ndarray, "positions positions"]) -> Float32[Array, " pairs"]:
        """The points per game of the player to roll, from the probabilities of `two_sided`."""
        return jnp.asarray((2 * win - 1).ravel(), jnp.float32)

    @override
    def covers(self, positions: Position) -> Bool[Array, " batch"]:
        """Which positions have few checkers on both sides, all at home."""
        own, other = self._numbers(positions)
        return (own >= 0) & (other >= 0)

    @override
    def worth(self, scores: Float32[Array, " pairs"], positions: Position) -> Float32[Array, " batch"]:
        """The points per game of the player to roll in positions that the table covers, from -1 to 1."""
        own, other = self._numbers(positions)
        return scores[jnp.maximum(own, 0) * self.offs.size + jnp.maximum(other, 0)]

    @override
    def at_leaf(
        self, scores: Float32[Array, " pairs"], positions: Position
    ) -> tuple[Bool[Array, " batch"], Float32[Array, " batch"]]:
        # Before the roll.
        return self.covers(positions) & (positions.dice == 0), self.worth(scores, positions)

    @override
    def points(self, worth: Float32[Array, " batch"]) -> Float32[Array, " batch"]:
        """The same."""
        return worth

    def _numbers(self, positions: Position) -> tuple[Array, Array]:
        return self.offs.number(to_counts(positions.own)), self.offs.number(to_counts(positions.opponent))


@dataclasses.dataclass(frozen=True)
class WholeLookup(LeafKnowledge):
    """Values of all positions of a small game."""

    index: WholeIndex

    @override
    def covers(self, positions: Any) -> Bool[Array, " batch"]:
        """All positions."""
        return jnp.ones(jax.tree.leaves(positions)[0].shape, bool)

    @override
    def worth(self, scores: Int8[Array, " keys"], positions: Any) -> Float32[Array, " batch"]:
        """From -1 to 1."""
        return scores[self.index.key(positions).astype(jnp.int32)].astype(jnp.float32) / SOON


LATE, ENTRIES = 14, 1 << 16
"""In Connect X, with at most so many stones to play a position is solved in about a millisecond."""


@dataclasses.dataclass(frozen=True)
class LateLookup(Knowledge):
    """Values of Connect X when at most `LATE` stones can be played, by the solver."""

    game: ConnectFour

    @override
    def covers(self, positions: ConnectFourPosition) -> Bool[Array, " batch"]:
        """Which positions have few free squares."""
        return Threats(self.game).squares - count_squares(board.either(*positions)) <= LATE

    @override
    def worth(self, scores: tuple[()], positions: ConnectFourPosition) -> Float32[Array, " batch"]:
        """From -1 to 1: the share of the winner's stones that it has left when it wins."""
        solved = Solver(self.game, entries=ENTRIES)(positions, self.covers(positions))
        return solved.scores.astype(jnp.float32) / (Threats(self.game).squares // 2 + 1)


# The tables that can be built, and where players look for them.

Load = Callable[[], Any]
"""Returns the arrays of exact values; solves a table that was not built."""

TABLES: Mapping[str, Callable[[int], Any]] = {"checkers": CheckersEndings}
"""By the id of the game, the index of all positions with so many pieces at most."""

FOLDER, VARIABLE = "tables", "JAXGAMES_TABLES"
AT_ONCE = 3
"""The pieces of a table that takes about two seconds to solve."""
SMALL_BITS = 25
"""The bits of the keys of a board that is solved in about five seconds, and whose table takes 32 MiB."""


def index_of(game_id: str, pieces: int) -> Index:
    """The index of a game's endings. Raises `ValueError` for a game without tables, and for too many pieces."""
    if game_id not in TABLES:
        raise ValueError(f"no tables can be built for {game_id!r}; there are tables for {', '.join(TABLES)}")
    return TABLES[game_id](pieces)


def usual_folder(index: Index) -> Path:
    """Where the table of an index is kept: in `tables`, or in the folder that JAXGAMES_TABLES names."""
    return Path(os.environ.get(VARIABLE) or FOLDER) / index.name


def lookup_of(game: Game) -> tuple[Knowledge, Load]:
    """The largest exact knowledge of a game that is available at once, and a function that loads its arrays.

    Tic-tac-toe is known completely, Connect X when few stones are left to play, backgammon when both bear off with 6
    checkers on 6 points. In checkers it is the largest table that was built; without any, 3 pieces are solved.

    Raises `ValueError` for another game; `load` does for a broken table.
    """
    if game.id not in LOOKUPS:
        raise ValueError(f"no exact values of {game.id!r} are known; there are some of {', '.join(LOOKUPS)}")
    return LOOKUPS[game.id](game)


def leaf_lookup(game: Game) -> tuple[LeafKnowledge, Load]:
    """As `lookup_of`, if it is a table. Raises `ValueError` if positions must be solved by a search."""
    lookup, load = whole_lookup(game) if is_small(game) else lookup_of(game)
    if not isinstance(lookup, LeafKnowledge):
        raise ValueError(f"{game.id} has no table for the leaves of a search, except on boards up to 4 x 5")
    return lookup, load


def whole_lookup(game: Game) -> tuple[Knowledge, Load]:
    """The values of all positions of a small game. Raises `ValueError` if `is_small` is false."""
    if not is_small(game):
        raise ValueError(f"{game.id} is not known completely; tic_tac_toe is, and Connect X up to 4 x 5")
    index = SmallBoard(game) if isinstance(game, ConnectFour) else TicTacToeIndex()
    return WholeLookup(index), functools.partial(_solve_whole, index)


def is_small(game: Game) -> bool:
    """Whether all positions of a game can be solved at once, in seconds."""
    if isinstance(game, ConnectFour):
        return (game.rows + 1) * game.cols <= SMALL_BITS
    return isinstance(game, TicTacToe)


def _checkers(game: Game) -> tuple[Knowledge, Load]:
    for pieces in range(MOST_PIECES, AT_ONCE, -1):
        lookup = Lookup(index_of(game.id, pieces))
        path = usual_folder(lookup.index)
        if TableFolder.is_at(path) and not TableFolder.open(path).missing(lookup.index):
            return lookup, functools.partial(_read, lookup, path.absolute(), fingerprint(path / TableFolder.HEADER))
    lookup = Lookup(index_of(game.id, AT_ONCE))
    return lookup, functools.partial(_solve_endings, lookup)


@functools.lru_cache(maxsize=1)
def _read(lookup: Lookup, path: Path, header: tuple[int, str]) -> Any:
    """The arrays of a table that was built. Its header, which holds the checksums of all files, says which one."""
    del header
    return lookup.scores(open_table(lookup.index, path).slice)


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
"""What `lookup_of` returns, by the id of the game."""
