"""Trees that outlive a move: what is below the position that was reached stays, at the same capacity."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool

from jaxgames.algos.mcts import table
from jaxgames.algos.mcts.init import init_rows
from jaxgames.algos.mcts.tree import Tree, set_slot
from jaxgames.envs.checks import state_batch
from jaxgames.envs.core import State
from jaxgames.ops import checks
from jaxgames.ops.pytrees import equal


def advance(tree: Tree, states: State) -> Tree:
    """The trees for the next search, `search(..., tree=advance(result.tree, states))`.

    Looks for the position of each state in its tree, any number of moves and rolls after the last search, makes it the
    root, and keeps what is below it. A position that is not in its tree begins a new one. The slots of all trees count
    as taken up to those of the fullest one; when a search finds none left, it goes on without new nodes. Raises
    `ValueError` unless there is one state of the same game for each tree, and `TypeError` for what is no tree.
    """
    if not isinstance(tree, Tree):
        raise TypeError(f"tree {checks.describe(tree)}: expected result.tree of a search")
    if state_batch(tree.layout.game, states) != tree.batch:
        raise ValueError(
            f"{list(states.terminated.shape)} states of {states._game.id}: expected [{tree.batch}] of "
            f"{tree.layout.game.id}, one for each tree (trees of a search with num_trees above 1 do not outlive it)"
        )
    return _advance(tree, states._position, ~(states.terminated | states.truncated))


@jax.jit
def _advance(tree: Tree, positions: Any, alive: Bool[Array, " batch"]) -> Tree:
    layout, batch = tree.layout, tree.batch
    lanes = jnp.arange(batch, dtype=jnp.int32)
    slots = jnp.arange(tree.capacity + 1, dtype=jnp.int32)[:, None]

    stored = jax.tree.map(lambda x, y: x.reshape(-1, *y.shape), tree.position, positions)
    here = jax.vmap(equal, (0, None))(stored, positions)
    here = here & _below(tree, (slots == 0) & jnp.ones(batch, bool)[None, :])
    found = jnp.any(here, axis=0)
    root = jnp.argmax(here, axis=0).astype(jnp.int32)
    kept = _below(tree, (slots == root[None, :]) & found[None, :])
    # The root comes first, all others in the order in which they came: children after their parents.
    others = jnp.cumsum(kept & (slots != root[None, :]), axis=0, dtype=jnp.int32)
    new_slot = jnp.where(slots == root[None, :], 0, others)
    count = jnp.sum(kept, axis=0, dtype=jnp.int32)
    target = jnp.where(kept, new_slot * batch + lanes[None, :], len(tree.edges)).reshape(-1)
    rows = jnp.arange(len(tree.edges), dtype=jnp.int32)
    source = jnp.full_like(rows, len(rows)).at[target].set(rows, mode="drop")  # beyond the end where nothing goes

    edges = tree.edges.at[source].get(mode="fill", fill_value=0)
    position = tree.positions(source)
    child = layout.read(edges, "child")
    slot = jnp.maximum(child, 0).astype(jnp.int32)
    lane = jnp.tile(lanes, len(slots))[:, None]
    child = jnp.where(child >= 0, new_slot.reshape(-1)[slot * batch + lane].astype(jnp.float32), child)
    edges = edges.at[:, layout.part("child")].set(child)
    opponent = layout.read(edges, "opponent_to_move")
    at_root = jnp.tile(opponent[:batch], len(slots))
    edges = edges.at[:, layout.column("opponent_to_move")].set(jnp.abs(opponent - at_root))
    fresh = init_rows(layout, positions, jnp.zeros(batch, bool))
    edges = set_slot(edges, jnp.where(found[:, None], edges[:batch], fresh), 0)
    advanced = tree.replace(
        position=jax.tree.map(lambda x, y: set_slot(x, y, 0), position, positions),
        edges=edges,
        used=jnp.maximum(jnp.max(count), 1),
        alive=alive,
        had_nan=jnp.zeros(batch, bool),
    )
    return advanced if tree.table is None else table.build_table(advanced, jnp.maximum(count, 1))


def _below(tree: Tree, start: Bool[Array, "slots batch"]) -> Bool[Array, "slots batch"]:
    """The slots of some nodes and of all nodes below them."""
    lanes = jnp.arange(tree.batch, dtype=jnp.int32)[:, None]

    def one(slot, below):
        rows = lax.dynamic_slice_in_dim(tree.edges, slot * tree.batch, tree.batch, 0)
        child = tree.layout.read(rows, "child")
        there = (child >= 0) & below[slot][:, None]
        return below.at[jnp.where(there, child.astype(jnp.int32), len(below)), lanes].set(True, mode="drop")

    def again(carry):
        before, _ = carry
        after = lax.fori_loop(0, tree.used, one, before)
        # Children come after their parents, so one pass finds them all, unless nodes are shared.
        return after, jnp.any(after != before) if tree.table is not None else jnp.bool_(False)

    return lax.while_loop(lambda carry: carry[1], again, (start, jnp.bool_(True)))[0]
