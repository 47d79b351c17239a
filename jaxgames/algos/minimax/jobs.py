"""Many positions searched in fewer lanes: who searches what, and what was found."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.minimax.node import NO_MOVE, OWN, RAISED, TURN, Lanes, Node, empty
from jaxgames.algos.minimax.tick import Rules, tick

STEPS = 64
"""After so many steps lanes that are done get new work."""


class Roots(NamedTuple):
    """The positions to search, as rows of words.

    `horizon` is the last turn that is searched, `base` the evaluation that leaves are compared with. `moves` lists the
    moves of each position in the order in which they are to be tried, `number` of them, in rows of equal length.
    """

    words: UInt32[Array, "batch words"]
    horizon: UInt32[Array, " batch"]
    base: Float32[Array, " batch"]
    moves: UInt32[Array, "batch moves"]
    number: UInt32[Array, " batch"]


class Found(NamedTuple):
    """What is known of each position: the best value, the rank of the first move that has it, and what was counted."""

    value: Float32[Array, " batch"]
    rank: UInt32[Array, " batch"]
    nodes: UInt32[Array, " batch"]
    alpha_cuts: UInt32[Array, " batch"]
    beta_cuts: UInt32[Array, " batch"]


def search_all(rules: Rules, roots: Roots, lanes: int) -> Found:
    """Searches all positions. A lane that is done takes the next one, or later half the root's moves of another lane.

    The value and the move of a position do not depend on the others. The nodes do, where its search was shared.
    """
    count = len(roots.number)
    none = jnp.zeros(count, jnp.uint32)

    def more(carry):
        state, first, _ = carry
        return (first < count) | jnp.any(state.level >= 0)

    def some_steps(carry):
        state, first, found = carry
        found, state = _note(found, state)
        idle = state.level < 0
        job = first + _numbered(idle)
        state = _begin(rules, state, roots, job, idle & (job < count))
        first = jnp.minimum(first + jnp.sum(idle, dtype=jnp.int32), count)
        state = lax.cond(first < count, lambda state: state, lambda state: _share(rules, state, roots), state)

        def going(inner):
            return (inner[0] < STEPS) & jnp.any(inner[1].level >= 0)

        def step(inner):
            return inner[0] + 1, tick(rules, inner[1], listed)

        listed = state.moves.reshape(-1)
        return lax.while_loop(going, step, (jnp.int32(0), state))[1], first, found

    state = empty(rules.packing.words, roots.moves.shape[1], rules.levels, lanes, rules.table)
    nothing = Found(jnp.full(count, -rules.most, jnp.float32), jnp.full(count, NO_MOVE, jnp.uint32), none, none, none)
    state, _, found = lax.while_loop(more, some_steps, (state, jnp.int32(0), nothing))
    return _note(found, state)[0]


def _numbered(which: Bool[Array, " lanes"]) -> Int32[Array, " lanes"]:
    """0, 1, 2, ... for the lanes that are wanted."""
    return jnp.cumsum(which, dtype=jnp.int32) - 1


def _begin(
    rules: Rules, state: Lanes, roots: Roots, job: Int32[Array, " lanes"], begins: Bool[Array, " lanes"]
) -> Lanes:
    """The positions `job` for lanes that begin."""
    at = jnp.clip(job, 0, len(roots.number) - 1)
    least = jnp.full(len(job), -rules.most, jnp.float32)
    return _put(rules, state, roots, begins, at, jnp.zeros(len(job), jnp.uint32), roots.number[at], least)


def _share(rules: Rules, state: Lanes, roots: Roots) -> Lanes:
    """Lanes with nothing to do take the later half of the root's moves that others have not begun.

    Only where the root has a value already: without one there would be nothing to make cuts by. As what is taken comes
    later in the order, the first of equally good moves is always found by the same rule.
    """
    lanes = len(state.level)
    lane = jnp.arange(lanes, dtype=jnp.int32)
    below = state.level > 0
    column = rules.packing.words + 1
    order = jnp.where(below, state.stack[:lanes, column], state.node.order)
    begun, end = order & 0xFFFF, order >> 16
    may_give = (state.level >= 0) & (begun < end)
    if rules.prune:
        may_give &= state.value > -rules.most
    idle = state.level < 0
    pairs = jnp.minimum(jnp.sum(may_give, dtype=jnp.int32), jnp.sum(idle, dtype=jnp.int32))
    gives, takes = may_give & (_numbered(may_give) < pairs), idle & (_numbered(idle) < pairs)
    givers = jnp.full(lanes, lanes, jnp.int32).at[jnp.where(gives, _numbered(gives), lanes)].set(lane, mode="drop")
    giver = jnp.clip(givers[jnp.clip(_numbered(takes), 0, lanes - 1)], 0, lanes - 1)
    middle = begun + (end - begun) // 2
    kept = jnp.where(gives, begun | (middle << 16), order)
    stack = state.stack.at[:lanes, column].set(jnp.where(below, kept, state.stack[:lanes, column]))
    node = state.node._replace(order=jnp.where(below, state.node.order, kept))
    state = state._replace(stack=stack, node=node)
    at = jnp.clip(state.job[giver], 0, len(roots.number) - 1)
    return _put(rules, state, roots, takes, at, middle[giver], end[giver], state.value[giver])


def _put(
    rules: Rules,
    state: Lanes,
    roots: Roots,
    where: Bool[Array, " lanes"],
    job: Int32[Array, " lanes"],
    begin: UInt32[Array, " lanes"],
    end: UInt32[Array, " lanes"],
    value: Float32[Array, " lanes"],
) -> Lanes:
    """Lanes at the root of a position, with its moves from rank `begin` to `end`, of which only those matter that are
    better than `value`.
    """
    lanes = len(job)
    highest = rules.most - 1 if rules.prune else jnp.inf
    node = Node(
        [roots.words[job, place] for place in range(rules.packing.words)],
        jnp.full(lanes, OWN | RAISED | 1 << TURN, jnp.uint32),
        begin | (end << 16),
        value,
        jnp.full(lanes, highest, jnp.float32),
    )
    # No move made a cut yet: what a search finds depends on its own position only.
    rows = state.stack.reshape(-1, lanes, state.stack.shape[1])
    column = rules.packing.words + 1
    order = jnp.where(where, jnp.uint32(NO_MOVE << 16), rows[:, :, column])
    stack = rows.at[:, :, column].set(order).reshape(state.stack.shape)
    zero, none = jnp.zeros(lanes, jnp.uint32), jnp.full(lanes, NO_MOVE, jnp.uint32)
    level = jnp.zeros(lanes, jnp.int32)
    moves = roots.moves[job]
    new = Lanes(node, level, zero, moves, zero, job, roots.horizon[job], roots.base[job], value, none, zero, zero, zero)

    def choose(x, y):
        return jnp.where(where.reshape(-1, *(1,) * (x.ndim - 1)), x, y)

    chosen = jax.tree.map(choose, new, state._replace(stack=zero, table=zero))
    return chosen._replace(stack=stack, table=state.table)


def _note(found: Found, state: Lanes) -> tuple[Found, Lanes]:
    """What was found by now, and the lanes without what is noted."""
    done = (state.level < 0) & (state.job >= 0)
    nowhere = len(found.value)
    job = jnp.where(done, state.job, nowhere)
    better = done & (state.rank != NO_MOVE)
    before = found.value[jnp.clip(job, 0, nowhere - 1)]
    value = found.value.at[jnp.where(better, job, nowhere)].max(state.value, mode="drop")
    now = value[jnp.clip(job, 0, nowhere - 1)]
    rank = found.rank.at[jnp.where(better & (now > before), job, nowhere)].set(NO_MOVE, mode="drop")
    rank = rank.at[jnp.where(better & (now == state.value), job, nowhere)].min(state.rank, mode="drop")
    counts = (
        getattr(found, name).at[job].add(getattr(state, name), mode="drop")
        for name in ("nodes", "alpha_cuts", "beta_cuts")
    )
    return Found(value, rank, *counts), state._replace(job=jnp.where(done, -1, state.job))
