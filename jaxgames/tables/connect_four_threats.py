"""What a solver of Connect Four knows of a position without a search: threats, moves that do not lose, their order.

After Pascal Pons, "Solving Connect 4: how to build a perfect AI" (2015-2019): a stone that lets the other player win at
once is never tried; of the others those that make most threats come first, among equals those nearest to the middle.
"""

import dataclasses
import functools
import operator
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.envs.connect_four import board
from jaxgames.envs.connect_four.board import Words
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.ops.bits import popcount
from jaxgames.ops.materialize import materialize

BITS = 4
"""Bits for each column in a list of moves. A column is its number from 1 on; 0 ends the list."""

_ALIKE = 16
"""The most columns for which the sort key of a move has room."""


class PositionNode(NamedTuple):
    """A position in which nobody has a line, and the player to move has no stone that wins at once.

    `moves` lists the columns that do not lose at once, the best first, in `BITS` bits each; empty if there are none.
    """

    own: Words
    taken: Words
    moves: Words


def count_squares(words: Words) -> Int32[Array, "..."]:
    """How many squares a set has."""
    return functools.reduce(operator.add, map(popcount, words))


def others(own: Words, taken: Words) -> Words:
    """The stones of the other player, from the own stones and all stones."""
    return tuple(stones ^ word for stones, word in zip(taken, own, strict=True))


@dataclasses.dataclass(frozen=True)
class Threats:
    """Moves and threats on the board of one game; positions are the mover's stones and all stones, in words."""

    game: ConnectFour

    @property
    def squares(self) -> int:
        """Of the board."""
        return self.game.rows * self.game.cols

    @property
    def words(self) -> int:
        """Of a set of squares."""
        return -(-(self.game.rows + 1) * self.game.cols // 32)

    @property
    def lists(self) -> int:
        """Words of a list of moves."""
        return -(-BITS * self.game.cols // 32)

    def landings(self, taken: Words) -> Words:
        """Where the next stone of each column lands, if it is not full."""
        return board.both(self._above(taken), self.inside)

    def winning(self, own: Words, taken: Words) -> Words:
        """The free squares that would each complete a line."""
        free = tuple(square & ~word for square, word in zip(self.inside, taken, strict=True))
        return board.both(board.completing(own, self._steps, self.game.connect), free)

    def has_line(self, stones: Words) -> Bool[Array, "..."]:
        """Whether these stones hold a line."""
        return board.has_line(stones, self._steps, self.game.connect)

    def wins_at_once(self, own: Words, taken: Words) -> Bool[Array, "..."]:
        """Whether the player to move has a stone that completes a line."""
        return ~board.is_empty(board.both(self.winning(own, taken), self.landings(taken)))

    def key(self, own: Words, taken: Words) -> Words:
        """A position in as many words as one set: the own stones, and the first free place of each column, a square or
        the place above the column, where no own stone can be."""
        return board.either(own, self._above(taken))

    def stone(self, taken: Words, column: UInt32[Array, "..."]) -> Words:
        """The square where a stone in this column, from 0 on, lands; none if it is full."""
        height = self.game.rows + 1
        return board.both(self.landings(taken), board.run(height, column * jnp.uint32(height), self.words))

    def expand(self, own: Words, taken: Words, like: Int32[Array, " lanes"]) -> PositionNode:
        """The node of a position; `like` as of `materialize`."""

        def once(words: Words) -> Words:
            return tuple(materialize(word, like) for word in words)

        threats = once(self.winning(others(own, taken), taken))
        landings = self.landings(taken)
        forced = board.both(landings, threats)
        answers = count_squares(forced)
        beneath = board.shift_down(threats, 1)  # a stone there would let the other win on top of it
        possible = tuple(
            jnp.where(answers > 1, jnp.uint32(0), jnp.where(answers == 1, force, landing)) & ~below
            for force, landing, below in zip(forced, landings, beneath, strict=True)
        )
        return PositionNode(own, taken, self._in_order(own, taken, once(possible), like))

    def _in_order(self, own: Words, taken: Words, possible: Words, like: Int32[Array, " lanes"]) -> Words:
        """These stones as a list of columns, those with most threats first, then those nearest to the middle."""
        cols, height = self.game.cols, self.game.rows + 1
        from_middle = sorted(range(cols), key=lambda column: abs(2 * column - cols + 1))
        columns = jnp.arange(cols, dtype=jnp.uint32)[:, None]
        inside = board.run(height, columns * jnp.uint32(height), self.words)
        stones = board.both(tuple(word[None] for word in possible), inside)  # [cols, lanes]
        own, taken = (tuple(word[None] for word in words) for words in (own, taken))
        threats = self.winning(board.either(own, stones), board.either(taken, stones))
        number = count_squares(threats).astype(jnp.uint32)
        place = jnp.array([from_middle.index(column) for column in range(cols)], jnp.uint32)[:, None]
        key = jnp.where(board.is_empty(stones), jnp.uint32(0xFFFF), (255 - number) * jnp.uint32(_ALIKE) + place)
        key = materialize(key, jnp.broadcast_to(like, key.shape))
        keys = [key[column] for column in range(cols)]
        lists = [jnp.zeros_like(keys[0])] * self.lists
        for column, one in enumerate(keys):
            rank = functools.reduce(operator.add, [(other < one).astype(jnp.uint32) for other in keys])
            name = jnp.where(one == 0xFFFF, jnp.uint32(0), jnp.uint32(column + 1))
            for index in range(self.lists):  # shifts by 32 or more give 0
                lists[index] = lists[index] | name << (BITS * rank - jnp.uint32(32 * index))
        return tuple(materialize(word, like) for word in lists)

    def _above(self, taken: Words) -> Words:
        """The first free place of each column; the place above a full one."""
        bottom = board.words_of(self._row(0), self.words)
        above = board.either(board.shift_up(taken, 1), bottom)
        return tuple(word & ~stone for word, stone in zip(above, taken, strict=True))

    @property
    def _steps(self) -> tuple[int, ...]:
        """From a square to its neighbours: up, and to the next column down, level and up."""
        return 1, self.game.rows, self.game.rows + 1, self.game.rows + 2

    @property
    def inside(self) -> Words:
        """All squares of the board."""
        return board.words_of(sum(map(self._row, range(self.game.rows))), self.words)

    def _row(self, row: int) -> int:
        return sum(1 << column * (self.game.rows + 1) + row for column in range(self.game.cols))
