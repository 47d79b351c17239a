"""What a search in many lanes consists of: the nodes that the lanes are at, and the rows that nodes are stored as."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float32, Int32, UInt32

from jaxgames.algos.minimax import table
from jaxgames.algos.minimax.packing import Words
from jaxgames.algos.minimax.table import Table

OTHER, NEGATED, OWN, RAISED, UNDER_OWN, BEGUN = (1 << place for place in range(6))
"""What the flags of a node say:

* `OTHER`: the player to act is not the root's;
* `NEGATED`: the node's value changes its sign on the way up;
* `OWN`: its value will be that of its position, and of nothing else;
* `RAISED`: its value is above what it has to beat;
* `UNDER_OWN`: the node above is both `OWN` and `NEGATED`;
* `BEGUN`: a move has been tried.
"""

TURN, VIA = 6, 16
"""From these bits on the flags hold the number of the turn, 1 at the root, and the move that led to the node."""

MOST_TURNS = (1 << (VIA - TURN)) - 1
MOST_MOVES = 1 << 15
NO_MOVE = 0xFFFF


class Node(NamedTuple):
    """The node that each lane is at.

    `order`: the low half is a number, all moves below which were tried; the high half the move that is tried first, the
    last one that made a cut on this level. At the root these are ranks in the order of its moves: the next one, and the
    one before which its moves end. The player to act has `best` for sure, and will not get here to have more than
    `beta`.
    """

    position: Words
    flags: UInt32[Array, " lanes"]
    order: UInt32[Array, " lanes"]
    best: Float32[Array, " lanes"]
    beta: Float32[Array, " lanes"]


class Lanes(NamedTuple):
    """The whole search.

    A lane with `level` -1 has nothing to do. `stack` holds the nodes above, row `level * lanes + lane`; `table` is the
    transposition table. `moves` are those of the root, in the order in which they are tried. `job` is the number of the
    position searched, -1 for none; `horizon` the last turn that is searched, `base` the evaluation of the root. `value`
    is the best so far, and `rank` says by which of the root's moves; the rest is counted.
    """

    node: Node
    level: Int32[Array, " lanes"]
    stack: UInt32[Array, "rows words"]
    moves: UInt32[Array, "lanes moves"]
    table: Table
    job: Int32[Array, " lanes"]
    horizon: UInt32[Array, " lanes"]
    base: Float32[Array, " lanes"]
    value: Float32[Array, " lanes"]
    rank: UInt32[Array, " lanes"]
    nodes: UInt32[Array, " lanes"]
    alpha_cuts: UInt32[Array, " lanes"]
    beta_cuts: UInt32[Array, " lanes"]


def empty(words: int, moves: int, levels: int, lanes: int, entries: int) -> Lanes:
    """No search, with room for `levels` levels and `entries` entries of the table for each lane.

    A position has so many words, and at most `moves` moves.
    """
    word, number = jnp.zeros(lanes, jnp.uint32), jnp.zeros(lanes, jnp.float32)
    none = jnp.full(lanes, -1, jnp.int32)
    node = Node([word] * words, word, word, number, number)
    stack = jnp.zeros((levels * lanes, words + 4), jnp.uint32)
    listed = jnp.zeros((lanes, moves), jnp.uint32)
    known = table.empty(words, entries, lanes)
    return Lanes(node, none, stack, listed, known, none, word, number, number, word, word, word, word)


def to_row(node: Node) -> UInt32[Array, "lanes words"]:
    """Nodes as rows."""
    numbers = [lax.bitcast_convert_type(number, jnp.uint32) for number in (node.best, node.beta)]
    return jnp.stack([*node.position, node.flags, node.order, *numbers], axis=1)


def from_row(row: UInt32[Array, "lanes words"]) -> Node:
    """Nodes from rows."""
    *position, flags, order, best, beta = (row[:, place] for place in range(row.shape[1]))
    return Node(position, flags, order, *(lax.bitcast_convert_type(number, jnp.float32) for number in (best, beta)))
