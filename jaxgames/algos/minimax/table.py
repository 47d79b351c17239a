"""A transposition table: what is known of positions that were searched before, by other moves.

Each lane has a part of its own, and an entry counts only for the position it holds in full, at the same turn of the
same search. So no entry is ever mistaken: not for another position of the same hash, not for the same one with another
depth left, nor for one whose evaluation is compared with another root.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.minimax.packing import Words
from jaxgames.ops.random_bits import fold_in

LOWER, UPPER, EXACT = 1, 2, 3
"""What an entry's value is: the position's value is at least, at most, or just that."""

Table = UInt32[Array, "entries words"]


class Entry(NamedTuple):
    """What the table says; `there` where it says anything."""

    there: Bool[Array, " lanes"]
    kind: UInt32[Array, " lanes"]
    value: Float32[Array, " lanes"]


def empty(words: int, size: int, lanes: int) -> Table:
    """A table with `size` entries for each lane, a power of 2; a position has so many words."""
    return jnp.zeros((size * lanes, words + 3), jnp.uint32)


def look_up(table: Table, position: Words, tag: UInt32[Array, " lanes"]) -> Entry:
    """The entries of positions. `tag` is the number of the search and the turn; no search has the tag 0."""
    row = table.at[_places(table, position)].get(mode="promise_in_bounds")
    there = row[:, len(position)] == tag
    for index, word in enumerate(position):
        there &= row[:, index] == word
    kind, value = row[:, len(position) + 1], row[:, len(position) + 2]
    return Entry(there, kind, lax.bitcast_convert_type(value, jnp.float32))


def store(table: Table, position: Words, tag: UInt32[Array, " lanes"], entry: Entry) -> Table:
    """The table with entries for lanes where that is wanted (`there`); they replace what was in their places."""
    value = lax.bitcast_convert_type(entry.value, jnp.uint32)
    row = jnp.stack([*position, tag, entry.kind, value], axis=1)
    place = jnp.where(entry.there, _places(table, position), len(table))
    return table.at[place].set(row, mode="drop", unique_indices=True)


def _places(table: Table, position: Words) -> Int32[Array, " lanes"]:
    lanes = len(position[0])
    number = jnp.zeros_like(position[0])
    for index, word in enumerate(position):
        number = fold_in(number ^ word, index)
    own = number & (len(table) // lanes - 1)
    return own.astype(jnp.int32) * lanes + jnp.arange(lanes, dtype=jnp.int32)
