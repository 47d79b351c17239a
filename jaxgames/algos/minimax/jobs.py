"""Many positions searched in fewer lanes: who searches what, and what was found."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.minimax.node import NO_MOVE, OWN, RAISED, TURN, Lanes, Node, empty
from jaxgames.algos.minimax.tick import Rules, tick
from jaxgames.ops.pytrees import select

STEPS = 128
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
    """Searches all positions. A lane that is done takes the next one; later half of another lane's moves at the root.

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
        begins = idle & (job < count)
        first = jnp.minimum(first + jnp.sum(idle, dtype=jnp.int32), count)
        state, part = _share(rules, state, idle & (first == count) & ~begins)
        at = jnp.clip(jnp.where(begins, job, part.job), 0, count - 1)
        begun = jnp.where(begins, jnp.uint32(0), part.begun)
        end = jnp.where(begins, roots.number[at], part.end)
        value = jnp.where(begins, -rules.most, part.value)
        state = _put(rules, state, roots, Part(begins | part.taken, at, begun, end, value))

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


class Part(NamedTuple):
    """Work for a lane where `taken`: of a root's moves those from rank `begun` to `end` that beat `value`."""

    taken: Bool[Array, " lanes"]
    job: Int32[Array, " lanes"]
    begun: UInt32[Array, " lanes"]
    end: UInt32[Array, " lanes"]
    value: Float32[Array, " lanes"]


def _share(rules: Rules, state: Lanes, idle: Bool[Array, " lanes"]) -> tuple[Lanes, Part]:
    """Idle lanes take the later half of the root's moves that other lanes have not begun.

    What is taken comes later in the order, and has to beat what was found before: so the first of equally good moves is
    found whoever searches it.
    """
    lanes, column = len(state.level), rules.packing.words + 1
    lane, below = jnp.arange(lanes, dtype=jnp.int32), state.level > 0
    order = jnp.where(below, state.stack[:lanes, column], state.node.order)
    begun, end = order & 0xFFFF, order >> 16
    may_give = (state.level >= 0) & (begun < end)
    pairs = jnp.minimum(jnp.sum(may_give, dtype=jnp.int32), jnp.sum(idle, dtype=jnp.int32))
    gives, takes = may_give & (_numbered(may_give) < pairs), idle & (_numbered(idle) < pairs)
    givers = jnp.zeros(lanes, jnp.int32).at[jnp.where(gives, _numbered(gives), lanes)].set(lane, mode="drop")
    giver = givers[jnp.clip(_numbered(takes), 0, lanes - 1)]
    middle = begun + (end - begun) // 2
    kept = jnp.where(gives, begun | (middle << 16), order)
    stack = state.stack.at[:lanes, column].set(jnp.where(below, kept, state.stack[:lanes, column]))
    node = state.node._replace(order=jnp.where(below, state.node.order, kept))
    part = Part(takes, state.job[giver], middle[giver], end[giver], state.value[giver])
    return state._replace(stack=stack, node=node), part


def _put(rules: Rules, state: Lanes, roots: Roots, part: Part) -> Lanes:
    """Lanes with new work, at the root of its position."""
    where, job, lanes = part.taken, part.job, len(part.job)
    node = Node(
        [roots.words[job, place] for place in range(rules.packing.words)],
        jnp.full(lanes, OWN | RAISED | 1 << TURN, jnp.uint32),
        part.begun | (part.end << 16),
        part.value,
        jnp.full(lanes, rules.most - 1 if rules.prune else jnp.inf, jnp.float32),
    )
    # No move made a cut yet: what a search finds depends on its own position only.
    rows = state.stack.reshape(-1, lanes, state.stack.shape[1])
    column = rules.packing.words + 1
    order = jnp.where(where, jnp.uint32(NO_MOVE << 16), rows[:, :, column])
    stack = rows.at[:, :, column].set(order).reshape(state.stack.shape)
    zero, none = jnp.zeros(lanes, jnp.uint32), jnp.full(lanes, NO_MOVE, jnp.uint32)
    level = jnp.zeros(lanes, jnp.int32)
    moves = roots.moves[job]
    horizon, base = roots.horizon[job], roots.base[job]
    new = Lanes(node, level, zero, moves, zero, job, horizon, base, part.value, none, zero, zero, zero)

    chosen = select(where, new, state._replace(stack=zero, table=zero))
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
