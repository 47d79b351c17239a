"""What a search in many lanes consists of: the nodes that the lanes are at, and the rows that nodes are stored as."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float32, Int32, UInt32

from jaxgames.algos.minimax.moves import Moves
from jaxgames.algos.minimax.packing import Words

OTHER, NEGATED, OWN, RAISED, UNDER_OWN = (1 << place for place in range(5))
"""What the flags of a node say:

* `OTHER`: the player to act is not the root's;
* `NEGATED`: the node's value changes its sign on the way up;
* `OWN`: its value will be that of its position, and of nothing else;
* `RAISED`: its value is above what it has to beat;
* `UNDER_OWN`: the node above is both `OWN` and `NEGATED`.
"""

TURN, VIA = 5, 16
"""From these bits on the flags hold the number of the turn, 1 at the root, and the move that led to the node."""

MOST_TURNS = (1 << (VIA - TURN)) - 1
MOST_MOVES = 1 << 16


class Node(NamedTuple):
    """The node that each lane is at.

    `moves` are those that were not tried yet. `tried` holds in its low half the move that the search is below, in its
    high half the last one that made a cut on this level. The player to act has `best` for sure, and will not get here
    to have more than `beta`.
    """

    position: Words
    moves: Moves
    flags: UInt32[Array, " lanes"]
    tried: UInt32[Array, " lanes"]
    best: Float32[Array, " lanes"]
    beta: Float32[Array, " lanes"]


class Lanes(NamedTuple):
    """The whole search.

    A lane with `level` -1 has nothing to do. `stack` holds the nodes above, row `level * lanes + lane`. `job` is the
    number of the position searched, -1 before the first one; `horizon` the last turn that is searched, `base` the
    evaluation of the root, `word` its random word. `move` and `value` are the best so far; the rest is counted.
    """

    node: Node
    level: Int32[Array, " lanes"]
    stack: UInt32[Array, "rows words"]
    job: Int32[Array, " lanes"]
    horizon: UInt32[Array, " lanes"]
    base: Float32[Array, " lanes"]
    word: UInt32[Array, " lanes"]
    move: UInt32[Array, " lanes"]
    value: Float32[Array, " lanes"]
    nodes: UInt32[Array, " lanes"]
    alpha_cuts: UInt32[Array, " lanes"]
    beta_cuts: UInt32[Array, " lanes"]


def empty(positions: int, moves: int, levels: int, lanes: int) -> Lanes:
    """No search, with room for `levels` levels; positions and sets of moves have so many words."""
    word, number = jnp.zeros(lanes, jnp.uint32), jnp.zeros(lanes, jnp.float32)
    none = jnp.full(lanes, -1, jnp.int32)
    node = Node([word] * positions, (word,) * moves, word, word, number, number)
    stack = jnp.zeros((levels * lanes, positions + moves + 4), jnp.uint32)
    return Lanes(node, none, stack, none, word, number, word, word, number, word, word, word)


def to_row(node: Node) -> UInt32[Array, "lanes words"]:
    """Nodes as rows."""
    numbers = [lax.bitcast_convert_type(number, jnp.uint32) for number in (node.best, node.beta)]
    return jnp.stack([*node.position, *node.moves, node.flags, node.tried, *numbers], axis=1)


def from_row(row: UInt32[Array, "lanes words"], moves: int) -> Node:
    """Nodes from rows, with so many words of moves."""
    *words, best, beta = (row[:, place] for place in range(row.shape[1]))
    *words, flags, tried = words
    numbers = (lax.bitcast_convert_type(number, jnp.float32) for number in (best, beta))
    return Node(words[:-moves], tuple(words[-moves:]), flags, tried, *numbers)
