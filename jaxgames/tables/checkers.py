"""The endings of checkers as numbers: all positions with few pieces, by the men and kings of either side.

Positions are seen by the player to move, as Black sees the board. A position is between moves: no jump is unfinished.
"""

import dataclasses
import functools
import itertools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from jaxgames.envs.checkers import board
from jaxgames.envs.checkers.board import Position
from jaxgames.envs.checkers.game import Checkers
from jaxgames.ops import checks, subsets
from jaxgames.ops.bits import popcount

MOST_PIECES = 6

HOMES = tuple(np.uint32(0xFFFFFFFF) ^ row for row in board.KING_ROWS)
"""The squares where men of the player to move, and of the other, may be: not in the row that makes them kings."""


class Material(NamedTuple):
    """Men and kings of the player to move, then of the other."""

    own_men: int
    own_kings: int
    other_men: int
    other_kings: int

    @property
    def turned(self) -> "Material":
        """The same pieces with the other player to move."""
        return Material(*self[2:], *self[:2])

    @property
    def size(self) -> int:
        """How many numbers there are. Some have men of both sides on one square, and are not positions."""
        men, other = math.comb(28, self.own_men), math.comb(28, self.other_men)
        free = 32 - self.own_men - self.other_men
        return men * other * math.comb(free, self.own_kings) * math.comb(free - self.own_kings, self.other_kings)

    def __str__(self) -> str:
        return "{}{}-{}{}".format(*self)


@dataclasses.dataclass(frozen=True)
class CheckersEndings:
    """All positions of checkers with at most `pieces` pieces, from 2 to 6, and pieces on both sides.

    Raises `ValueError` for another number of pieces.
    """

    pieces: int

    def __post_init__(self) -> None:
        checks.native_fields(self)
        if not 2 <= checks.whole("pieces", self.pieces, None) <= MOST_PIECES:
            raise ValueError(f"{self.pieces} pieces: expected 2 to {MOST_PIECES}")

    @property
    def game(self) -> Checkers:
        """The game without its draw rule, as in endgame databases: tables do not know how many moves came before."""
        return Checkers()

    @property
    def name(self) -> str:
        """Names the endings among all tables."""
        return f"checkers-{self.pieces}"

    @functools.cached_property
    def slices(self) -> tuple[Material, ...]:
        """All material: slices that lead to each other by steps are adjacent, after those that captures lead to."""
        return tuple(itertools.chain(*self.groups))

    @functools.cached_property
    def groups(self) -> tuple[tuple[Material, ...], ...]:
        """The slices that are solved together. Turns lead from a group to itself or to groups before it."""
        counts = itertools.product(range(self.pieces), repeat=4)
        materials = [Material(*each) for each in counts if sum(each) <= self.pieces]
        materials = [m for m in materials if sum(m[:2]) and sum(m[2:])]
        pairs = {tuple(sorted({m, m.turned})) for m in materials}
        return tuple(sorted(pairs, key=lambda pair: (sum(pair[0]), pair[0].own_men + pair[0].other_men, pair)))

    def positions(self, material: Material, numbers: Int32[Array, " n"]) -> tuple[Position, Bool[Array, " n"]]:
        """The positions with these numbers in a slice, and which of them exist."""
        return _positions(numbers, jnp.asarray(material, jnp.int32), most=self.pieces - 1)

    def locate(self, positions: Position) -> tuple[Int32[Array, " n"], Int32[Array, " n"]]:
        """The slice of each position, as an index of `slices`, and its number in the slice; -1 if there is none."""
        return _locate(positions, self._slice_of(), most=self.pieces - 1)

    @property
    def longest_turn(self) -> int:
        """A piece jumps over each of the other's."""
        return self.pieces - 1

    def covers(self, positions: Position) -> Bool[Array, " n"]:
        """Which positions have few enough pieces, and some of both sides."""
        few = popcount(positions.own | positions.opponent) <= self.pieces
        return few & (positions.own != 0) & (positions.opponent != 0)

    def _slice_of(self) -> np.ndarray:
        """The index of each slice, by its four counts of pieces; -1 for none."""
        table = np.full((self.pieces + 1,) * 4, -1, np.int32)
        for index, material in enumerate(self.slices):
            table[material] = index
        return table


@functools.partial(jax.jit, static_argnames="most")
def _positions(numbers: Int32[Array, " n"], material: Int32[Array, "4"], most: int) -> tuple[Position, Array]:
    own_men, own_kings, other_men, other_kings = (jnp.broadcast_to(count, numbers.shape) for count in material)
    free = 32 - own_men - other_men
    rest, kings_b = jnp.divmod(numbers, subsets.count(free - own_kings, other_kings))
    rest, kings_a = jnp.divmod(rest, subsets.count(free, own_kings))
    men_a, men_b = jnp.divmod(rest, subsets.count(jnp.int32(28), other_men))
    a = subsets.subset_of(men_a, own_men, jnp.broadcast_to(HOMES[0], numbers.shape), most)
    b = subsets.subset_of(men_b, other_men, jnp.broadcast_to(HOMES[1], numbers.shape), most)
    c = subsets.subset_of(kings_a, own_kings, ~(a | b), most)
    d = subsets.subset_of(kings_b, other_kings, ~(a | b | c), most)
    return Position(a | c, b | d, c | d, jnp.zeros(numbers.shape, jnp.uint32)), (a & b) == 0


@functools.partial(jax.jit, static_argnames="most")
def _locate(positions: Position, slice_of: Array, most: int) -> tuple[Array, Array]:
    turned = board.white(positions)
    own, other, kings = (board.turn_board(word, turned) for word in positions[:3])
    a, b, c, d = own & ~kings, other & ~kings, own & kings, other & kings
    own_men, other_men, own_kings, other_kings = (popcount(word) for word in (a, b, c, d))
    free = 32 - own_men - other_men
    number = subsets.number_of(a, jnp.broadcast_to(HOMES[0], a.shape), most)
    number = number * subsets.count(jnp.int32(28), jnp.minimum(other_men, most)) + subsets.number_of(
        b, jnp.broadcast_to(HOMES[1], a.shape), most
    )
    few_own, few_other = (jnp.minimum(count, most) for count in (own_kings, other_kings))
    number = number * subsets.count(free, few_own) + subsets.number_of(c, ~(a | b), most)
    number = number * subsets.count(free - own_kings, few_other) + subsets.number_of(d, ~(a | b | c), most)
    counts = (own_men, own_kings, other_men, other_kings)
    index = slice_of[tuple(jnp.minimum(count, len(slice_of) - 1) for count in counts)]  # -1 for too many, or none
    known = (board.jumper(positions) == 0) & (index >= 0)
    return jnp.where(known, index, -1), jnp.where(known, number, -1)
