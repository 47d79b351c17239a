"""Transpositions: the hash table by which trees find nodes of equal positions, or of mirror images."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.algos.mcts.tree import Tree, set_slot, unwrap
from jaxgames.envs.core import Game
from jaxgames.ops import bits
from jaxgames.ops.random_bits import fold_in
from jaxgames.ops.scatter import set_rows


def build_table(tree: Tree, count: Int32[Array, " batch"]) -> Tree:
    """The trees with hashes of all nodes, and a table of the first `count` nodes of each."""
    hashes = _hash_nodes(tree, tree.position, tree.layout.read(tree.edges, "opponent_to_move") != 0)
    table = jnp.zeros(_table_places(tree.capacity) * tree.batch, jnp.int32)

    def enter(slot, tree):
        slot_hashes = lax.dynamic_slice_in_dim(hashes, slot * tree.batch, tree.batch, 0)
        place = jnp.where(slot < count, _find(tree, slot_hashes)[1], len(table))
        return tree.replace(table=set_rows(unwrap(tree.table), place, slot + 1))

    return lax.fori_loop(0, tree.used, enter, tree.replace(hashes=hashes, table=table))


def find_or_insert(
    tree: Tree,
    position: Any,
    opponent_to_move: Bool[Array, " batch"],
    slot: Int32[Array, ""],
    is_new: Bool[Array, " batch"],
) -> tuple[Tree, Int32[Array, " batch"]]:
    """Finds the slots of nodes with these positions, -1 if a tree has none, and enters `slot` if `is_new`."""
    hashes = _hash_nodes(tree, position, opponent_to_move)
    old_slot, place = _find(tree, hashes)
    table = unwrap(tree.table)
    table = set_rows(table, jnp.where(is_new & (old_slot < 0), place, len(table)), slot + 1)
    return tree.replace(hashes=set_slot(unwrap(tree.hashes), hashes, slot), table=table), old_slot


def _table_places(capacity: int) -> int:
    """Places in the table of a tree: a power of two, of which at most half is ever taken."""
    return 1 << (2 * capacity).bit_length()


def _hash_nodes(tree: Tree, position: Any, opponent_to_move: Bool[Array, " n"]) -> UInt32[Array, "n 2"]:
    layout = tree.layout
    return hash_positions(layout.game, position, opponent_to_move, layout.rule.transpositions == "symmetries")


def hash_positions(
    game: Game, position: Any, opponent_to_move: Bool[Array, " n"], symmetric: bool
) -> UInt32[Array, "n 2"]:
    """64 bits for each position and whose turn it is; with `symmetric`, mirror images have the same.

    Two different positions of one tree have the same hash about once in 2^64 / S^2 trees of S nodes.
    """
    if symmetric and len(game.symmetries) > 1:
        seen = jax.vmap(lambda x: game.observe_position(x, jnp.bool_(True)))(position)
        seen = seen.astype(bool).reshape(len(seen), -1)
        images = [_hash(bits.pack(seen[:, symmetry.elements]).T, opponent_to_move) for symmetry in game.symmetries]
        return functools.reduce(_lesser, images)
    leaves = [leaf.reshape(len(leaf), -1) for leaf in jax.tree.leaves(position)]
    return _hash([column.astype(jnp.uint32) for leaf in leaves for column in leaf.T], opponent_to_move)


def _hash(words: Any, opponent_to_move: Bool[Array, " n"]) -> UInt32[Array, "n 2"]:
    one = two = jnp.zeros(len(opponent_to_move), jnp.uint32)
    for number, word in enumerate([opponent_to_move.astype(jnp.uint32), *words], 1):
        # Each word is hashed before the next one is added.
        one, two = fold_in(one ^ word, number), fold_in(two + word, number + 0x10000)
    return jnp.stack([one, two], axis=1)


def _lesser(x: UInt32[Array, "n 2"], y: UInt32[Array, "n 2"]) -> UInt32[Array, "n 2"]:
    less = (x[:, 0] < y[:, 0]) | ((x[:, 0] == y[:, 0]) & (x[:, 1] < y[:, 1]))
    return jnp.where(less[:, None], x, y)


def _find(tree: Tree, hashes: UInt32[Array, "batch 2"]) -> tuple[Int32[Array, " batch"], Int32[Array, " batch"]]:
    """The slot of the node with this hash in each tree, -1 if there is none; and its place in the table.

    Open addressing: it goes from the place that the hash gives to the node itself or to the first free place.
    """
    table, known, batch = unwrap(tree.table), unwrap(tree.hashes), tree.batch
    places = len(table) // batch
    lanes = jnp.arange(batch, dtype=jnp.int32)

    def look(place):
        slot = table[place * batch + lanes] - 1
        same = jnp.all(known[jnp.maximum(slot, 0) * batch + lanes] == hashes, axis=1)
        return slot, (slot >= 0) & ~same

    def step(carry):
        place, _, busy = carry
        place = jnp.where(busy, (place + 1) & (places - 1), place)
        return place, *look(place)

    place = (hashes[:, 0] & np.uint32(places - 1)).astype(jnp.int32)
    place, slot, _ = lax.while_loop(lambda carry: jnp.any(carry[2]), step, (place, *look(place)))
    return slot, place * batch + lanes
