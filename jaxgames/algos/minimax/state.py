"""What a search stores: positions as words, the nodes that lanes are at, their stack, and the transposition table."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.core import Game
from jaxgames.ops.random_bits import fold_in

Words = list[UInt32[Array, " lanes"]]


# Positions


class Packing:
    """How positions of a game are written as words, one 32-bit word for each element of each array.

    Raises `ValueError` if a position has arrays of 64 bits, or random keys.
    """

    def __init__(self, game: Game):
        single = jax.eval_shape(game.init_position, jax.random.key(0))
        self._leaves, self._structure = jax.tree.flatten(single)
        for leaf in self._leaves:
            if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.extended) or leaf.dtype.itemsize > 4:
                raise ValueError(f"positions of {game.id} hold arrays of {leaf.dtype}; expected at most 32 bits")
        self.sizes = [math.prod(leaf.shape) for leaf in self._leaves]
        self.words = sum(self.sizes)

    def pack(self, positions: Any) -> Words:
        """The words of a batch of positions, each an array of its own."""
        words = []
        for leaf, size in zip(jax.tree.leaves(positions), self.sizes, strict=True):
            flat = _to_words(leaf.reshape(len(leaf), size))
            words += [flat[:, place] for place in range(size)] if leaf.ndim > 1 else [_to_words(leaf)]
        return words

    def unpack(self, words: Words) -> Any:
        """The positions that these words were made of."""
        leaves, start = [], 0
        for leaf, size in zip(self._leaves, self.sizes, strict=True):
            part = words[start : start + size]
            start += size
            flat = jnp.stack(part, axis=1).reshape(-1, *leaf.shape) if leaf.shape else part[0]
            leaves.append(_from_words(flat, leaf.dtype))
        return jax.tree.unflatten(self._structure, leaves)


def _to_words(values: Array) -> UInt32[Array, "..."]:
    if values.dtype.itemsize == 4:
        return lax.bitcast_convert_type(values, jnp.uint32)
    if jnp.issubdtype(values.dtype, jnp.floating):
        return lax.bitcast_convert_type(values.astype(jnp.float32), jnp.uint32)
    return values.astype(jnp.int32).astype(jnp.uint32)


def _from_words(words: UInt32[Array, "..."], dtype: Any) -> Array:
    if jnp.dtype(dtype).itemsize == 4:
        return lax.bitcast_convert_type(words, dtype)
    if jnp.issubdtype(dtype, jnp.floating):
        return lax.bitcast_convert_type(words, jnp.float32).astype(dtype)
    return words.astype(dtype) if dtype != jnp.bool_ else words != 0


# Nodes

OPPONENT, NEGATES, OWN_VALUE, RAISED, BELOW_OWN, BEGUN = (1 << place for place in range(6))
"""What the flags of a node say:

* `OPPONENT`: the root's opponent is to act;
* `NEGATES`: the value changes its sign on the way up, as another player is to act in the node above;
* `OWN_VALUE`: the value is that of the position. (Not so where a position took its parent's place on the stack: the
  value is then the better one of both.)
* `RAISED`: a move is worth more than what the player had for sure (`best`) when the node was made;
* `BELOW_OWN`: the node above has both `OWN_VALUE` and `NEGATES`;
* `BEGUN`: a move has been tried.
"""

TURN, PARENT_MOVE = 6, 16
"""From these bits on the flags hold the number of the turn, 1 at the root, and the move that led to the node."""

MOST_MOVES = 1 << 15
NO_MOVE = 0xFFFF


class Node(NamedTuple):
    """The node that each lane is at."""

    position: Words  # its words
    flags: UInt32[Array, " lanes"]  # see `OPPONENT` and the others
    # Two halves. The low one is a number, all moves below which were tried; the high one the killer, the last move
    # that made a cut on this level, which is tried first. At the root both are ranks in the order of its moves: the
    # next one, and the one before which its moves end.
    order: UInt32[Array, " lanes"]
    best: Float32[Array, " lanes"]  # what the player to act has for sure (alpha)
    beta: Float32[Array, " lanes"]  # with more than that, the other player would not let the game come here


class SearchState(NamedTuple):
    """The whole search: each lane searches one position."""

    node: Node  # the node that each lane is at
    level: Int32[Array, " lanes"]  # its level, 0 at the root; -1 in a lane that has nothing to do
    stack: UInt32[Array, "rows words"]  # the nodes above it, row `level * lanes + lane`
    moves: UInt32[Array, "lanes moves"]  # those of the root, in the order in which they are tried
    table: UInt32[Array, "entries words"]  # the transposition table
    job: Int32[Array, " lanes"]  # the number of the position searched; -1 for none
    horizon: UInt32[Array, " lanes"]  # the last turn that is searched
    root_value: Float32[Array, " lanes"]  # the evaluation of the root, with which leaves are compared
    value: Float32[Array, " lanes"]  # the best so far
    rank: UInt32[Array, " lanes"]  # by which of the root's moves it is reached
    nodes: UInt32[Array, " lanes"]  # counted so far, as are the cuts
    alpha_cuts: UInt32[Array, " lanes"]  # those where the root's opponent was to act
    beta_cuts: UInt32[Array, " lanes"]  # the others


def init_state(words: int, moves: int, levels: int, lanes: int, entries: int) -> SearchState:
    """A search with nothing to do.

    Args:
      words: of a position.
      moves: that a root has at most.
      levels: for which the stack has room.
      lanes: positions searched at once.
      entries: of the transposition table for each lane, a power of 2 or 0.
    """
    word, number = jnp.zeros(lanes, jnp.uint32), jnp.zeros(lanes, jnp.float32)
    none = jnp.full(lanes, -1, jnp.int32)
    node = Node([word] * words, word, word, number, number)
    stack = jnp.zeros((levels * lanes, words + 4), jnp.uint32)
    listed = jnp.zeros((lanes, moves), jnp.uint32)
    table = jnp.zeros((entries * lanes, words + 3), jnp.uint32)
    return SearchState(node, none, stack, listed, table, none, word, number, number, word, word, word, word)


def to_row(node: Node) -> UInt32[Array, "lanes words"]:
    """Nodes as rows of the stack."""
    numbers = [lax.bitcast_convert_type(number, jnp.uint32) for number in (node.best, node.beta)]
    return jnp.stack([*node.position, node.flags, node.order, *numbers], axis=1)


def from_row(row: UInt32[Array, "lanes words"]) -> Node:
    """Nodes from rows of the stack."""
    *position, flags, order, best, beta = (row[:, place] for place in range(row.shape[1]))
    return Node(position, flags, order, *(lax.bitcast_convert_type(number, jnp.float32) for number in (best, beta)))


# The transposition table: what is known of positions that were searched before, by other moves.
#
# Each lane has a part of its own, and an entry counts only for the position it holds in full, at the same turn of the
# same search. So no entry is ever mistaken: not for another position of the same hash, not for the same one with
# another depth left, nor for one whose evaluation is compared with another root.

LOWER, UPPER, EXACT = 1, 2, 3
"""What an entry's value is: the position's value is at least, at most, or just that."""

TranspositionTable = UInt32[Array, "entries words"]


class Entry(NamedTuple):
    """What the table says of a position; `there` where it says anything."""

    there: Bool[Array, " lanes"]
    kind: UInt32[Array, " lanes"]
    value: Float32[Array, " lanes"]


def look_up(table: TranspositionTable, position: Words, tag: UInt32[Array, " lanes"]) -> Entry:
    """The entries of positions. `tag` is the number of the search and the turn; no search has the tag 0."""
    row = table.at[_slots(table, position)].get(mode="promise_in_bounds")
    there = row[:, len(position)] == tag
    for index, word in enumerate(position):
        there &= row[:, index] == word
    kind, value = row[:, len(position) + 1], row[:, len(position) + 2]
    return Entry(there, kind, lax.bitcast_convert_type(value, jnp.float32))


def store(table: TranspositionTable, position: Words, tag: UInt32[Array, " lanes"], entry: Entry) -> TranspositionTable:
    """The table with the entries of those lanes whose entry is `there`; they replace what was in their slots."""
    value = lax.bitcast_convert_type(entry.value, jnp.uint32)
    row = jnp.stack([*position, tag, entry.kind, value], axis=1)
    slot = jnp.where(entry.there, _slots(table, position), len(table))
    return table.at[slot].set(row, mode="drop", unique_indices=True)


def _slots(table: TranspositionTable, position: Words) -> Int32[Array, " lanes"]:
    lanes = len(position[0])
    number = jnp.zeros_like(position[0])
    for index, word in enumerate(position):
        number = fold_in(number ^ word, index)
    own = number & (len(table) // lanes - 1)
    return own.astype(jnp.int32) * lanes + jnp.arange(lanes, dtype=jnp.int32)
