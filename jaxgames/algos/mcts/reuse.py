"""Trees that outlive a move: what is below the position that was reached stays, at the same capacity."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool

from jaxgames.algos.mcts.rules import transpositions
from jaxgames.algos.mcts.simulate import new_rows
from jaxgames.algos.mcts.tree import Tree, block_set
from jaxgames.envs.core import State
from jaxgames.ops.pytrees import equal


def advance(tree: Tree, states: State) -> Tree:
    """The trees for the next search, `search(..., tree=advance(result.tree, states))`.

    Any number of moves and outcomes of chance after the last search: wherever in its tree a state's position stands, it
    becomes the root and keeps what is below it. Where it does not stand there the tree begins anew. The slots of all
    trees count as taken up to those of the fullest one; a search that finds none left goes on without new nodes. Raises
    `ValueError` unless there is one state, of the same game, to each tree.
    """
    if states._game != tree.layout.game or states.terminated.shape != (tree.batch,):
        raise ValueError(
            f"{list(states.terminated.shape)} states of {states._game.id}: expected [{tree.batch}] of "
            f"{tree.layout.game.id}, one for each tree (trees of a search with num_trees above 1 do not outlive it)"
        )
    return _advance(tree, states._position, ~(states.terminated | states.truncated))


@jax.jit
def _advance(tree: Tree, positions: Any, alive: Bool[Array, " batch"]) -> Tree:
    layout, batch = tree.layout, tree.batch
    lanes = jnp.arange(batch, dtype=jnp.int32)
    slots = jnp.arange(tree.slots + 1, dtype=jnp.int32)[:, None]

    stored = jax.tree.map(lambda x, y: x.reshape(-1, *y.shape), tree.position, positions)
    here = jax.vmap(equal, (0, None))(stored, positions) & _reached(tree, (slots == 0) & jnp.ones(batch, bool)[None, :])
    found = jnp.any(here, axis=0)
    root = jnp.argmax(here, axis=0).astype(jnp.int32)
    kept = _reached(tree, (slots == root[None, :]) & found[None, :])
    # The root comes first, all others in the order in which they came: children after their parents.
    number = jnp.where(slots == root[None, :], 0, jnp.cumsum(kept & (slots != root[None, :]), axis=0, dtype=jnp.int32))
    count = jnp.sum(kept, axis=0, dtype=jnp.int32)
    target = jnp.where(kept, number * batch + lanes[None, :], len(tree.edges)).reshape(-1)
    rows = jnp.arange(len(tree.edges), dtype=jnp.int32)
    source = jnp.full_like(rows, len(rows)).at[target].set(rows, mode="drop")  # beyond the end where nothing goes

    edges = tree.edges.at[source].get(mode="fill", fill_value=0)
    position = jax.tree.map(lambda x: x.at[source].get(mode="clip"), tree.position)
    child = layout.read(edges, "child")
    slot = jnp.maximum(child, 0).astype(jnp.int32)
    lane = jnp.tile(lanes, len(slots))[:, None]
    child = jnp.where(child >= 0, number.reshape(-1)[slot * batch + lane].astype(jnp.float32), child)
    edges = edges.at[:, layout.column("child") : layout.column("child") + layout.num_edges].set(child)
    other = layout.read(edges, "other")
    turned = jnp.tile(other[:batch], len(slots))
    edges = edges.at[:, layout.column("other")].set(jnp.abs(other - turned))
    fresh = new_rows(layout, positions, jnp.zeros(batch, bool))
    edges = block_set(edges, jnp.where(found[:, None], edges[:batch], fresh), 0)
    grown = tree.replace(
        position=jax.tree.map(lambda x, y: block_set(x, y, 0), position, positions),
        edges=edges,
        used=jnp.maximum(jnp.max(count), 1),
        alive=alive,
        faulty=jnp.zeros(batch, bool),
    )
    return grown if tree.table is None else transpositions.listed(grown, jnp.maximum(count, 1))


def _reached(tree: Tree, start: Bool[Array, "slots batch"]) -> Bool[Array, "slots batch"]:
    """The slots that can be reached from some."""
    lanes = jnp.arange(tree.batch, dtype=jnp.int32)[:, None]

    def one(slot, reached):
        rows = lax.dynamic_slice_in_dim(tree.edges, slot * tree.batch, tree.batch, 0)
        child = tree.layout.read(rows, "child")
        there = (child >= 0) & reached[slot][:, None]
        return reached.at[jnp.where(there, child.astype(jnp.int32), len(reached)), lanes].set(True, mode="drop")

    def again(carry):
        before, _ = carry
        after = lax.fori_loop(0, tree.used, one, before)
        # Children come after their parents, and one pass finds them all, unless nodes are shared.
        return after, jnp.any(after != before) if tree.table is not None else jnp.bool_(False)

    return lax.while_loop(lambda carry: carry[1], again, (start, jnp.bool_(True)))[0]
