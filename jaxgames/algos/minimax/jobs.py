"""Many positions searched in fewer lanes: which lane searches what, and the results."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.minimax.step import NO_MOVE, OWN_VALUE, RAISED, TURN, Node, Problem, SearchState, init_state, step
from jaxgames.ops.pytrees import select

STEPS = 128
"""After so many steps lanes that are done get new work."""


class Roots(NamedTuple):
    """The positions to search."""

    words: UInt32[Array, "batch words"]  # their words
    horizon: UInt32[Array, " batch"]  # the last turn that is searched
    value: Float32[Array, " batch"]  # the evaluation that leaves are compared with
    # the moves of each position in the order in which they are tried, in rows of equal length
    moves: UInt32[Array, "batch moves"]
    number: UInt32[Array, " batch"]  # how many of them are moves


class Found(NamedTuple):
    """The results so far for each position: the best value, the rank of the first move that has it, and the counts."""

    value: Float32[Array, " batch"]
    rank: UInt32[Array, " batch"]
    nodes: UInt32[Array, " batch"]
    alpha_cuts: UInt32[Array, " batch"]
    beta_cuts: UInt32[Array, " batch"]


class Work(NamedTuple):
    """Work for a lane where `taken`: the moves of `job` from rank `begin` to `end`, to find one that beats `value`."""

    taken: Bool[Array, " lanes"]
    job: Int32[Array, " lanes"]
    begin: UInt32[Array, " lanes"]
    end: UInt32[Array, " lanes"]
    value: Float32[Array, " lanes"]


def search_all(
    problem: Problem, roots: Roots, lanes: int, stop: Callable[[Array], Bool[Array, ""]] | None = None
) -> tuple[Found, Bool[Array, ""]]:
    """Searches all positions; also says whether it finished, which it does unless `stop(after)` is true before. It
    calls `stop` from time to time, when `after` is known.

    A lane that is done takes the next position. When there is none left, it takes the later half of the moves that
    another lane still has at its root. The value and the move of a position do not depend on the other positions. The
    number of nodes does, if lanes share a search.
    """
    count = len(roots.number)
    zeros = jnp.zeros(count, jnp.uint32)

    def more(carry):
        return is_open(*carry[:2]) & ~carry[3]

    def is_open(state, first):
        return (first < count) | jnp.any(state.level >= 0)

    def some_steps(carry):
        # 1. Collect the lanes' results.
        state, first, results, _ = carry
        results, state = harvest(results, state)

        # 2. Idle lanes take the positions from `first` on, which no lane has taken yet.
        idle = state.level < 0
        job = first + _numbered(idle)
        begins = idle & (job < count)
        first = jnp.minimum(first + jnp.sum(idle, dtype=jnp.int32), count)

        # 3. When there are none left, they take moves of other lanes.
        state, stolen = steal_work(problem, state, idle & (first == count) & ~begins)
        at = jnp.clip(jnp.where(begins, job, stolen.job), 0, count - 1)
        begin = jnp.where(begins, jnp.uint32(0), stolen.begin)
        end = jnp.where(begins, roots.number[at], stolen.end)
        value = jnp.where(begins, -problem.most, stolen.value)
        state = assign(problem, state, roots, Work(begins | stolen.taken, at, begin, end, value))

        # 4. Some steps in all lanes.
        def busy(inner):
            return (inner[0] < STEPS) & jnp.any(inner[1].level >= 0)

        def one_step(inner):
            return inner[0] + 1, step(problem, inner[1], root_moves)

        root_moves = state.moves.reshape(-1)
        state = lax.while_loop(busy, one_step, (jnp.int32(0), state))[1]
        return state, first, results, jnp.bool_(False) if stop is None else stop(state.level)

    state = init_state(problem.packing.words, roots.moves.shape[1], problem.levels, lanes, problem.table)
    nothing = Found(
        jnp.full(count, -problem.most, jnp.float32), jnp.full(count, NO_MOVE, jnp.uint32), zeros, zeros, zeros
    )
    begin = (state, jnp.int32(0), nothing, jnp.bool_(False))
    state, first, results, _ = lax.while_loop(more, some_steps, begin)
    return harvest(results, state)[0], ~is_open(state, first)


def _numbered(which: Bool[Array, " lanes"]) -> Int32[Array, " lanes"]:
    """0, 1, 2, ... for the lanes that are wanted."""
    return jnp.cumsum(which, dtype=jnp.int32) - 1


def steal_work(problem: Problem, state: SearchState, idle: Bool[Array, " lanes"]) -> tuple[SearchState, Work]:
    """Idle lanes take the later half of the root's moves that other lanes have not begun.

    Stolen moves come later in the order and must be strictly better than what the giver has found: so of equally good
    moves the first one is found, whoever searches it.
    """
    # The root's moves that each lane has left, [begin, end): in the node itself if the lane is at the root, else in the
    # stack's row of level 0.
    lanes, column = len(state.level), problem.packing.words + 1
    lane, below = jnp.arange(lanes, dtype=jnp.int32), state.level > 0
    order = jnp.where(below, state.stack[:lanes, column], state.node.order)
    begin, end = order & 0xFFFF, order >> 16
    may_give = (state.level >= 0) & (begin < end)

    # The n-th idle lane takes from the n-th lane that has something to give.
    pairs = jnp.minimum(jnp.sum(may_give, dtype=jnp.int32), jnp.sum(idle, dtype=jnp.int32))
    gives, takes = may_give & (_numbered(may_give) < pairs), idle & (_numbered(idle) < pairs)
    givers = jnp.zeros(lanes, jnp.int32).at[jnp.where(gives, _numbered(gives), lanes)].set(lane, mode="drop")
    giver = givers[jnp.clip(_numbered(takes), 0, lanes - 1)]

    # The giver's moves now end in the middle, wherever its root is stored.
    middle = begin + (end - begin) // 2
    kept = jnp.where(gives, begin | (middle << 16), order)
    stack = state.stack.at[:lanes, column].set(jnp.where(below, kept, state.stack[:lanes, column]))
    node = state.node._replace(order=jnp.where(below, state.node.order, kept))
    work = Work(takes, state.job[giver], middle[giver], end[giver], state.value[giver])
    return state._replace(stack=stack, node=node), work


def assign(problem: Problem, state: SearchState, roots: Roots, work: Work) -> SearchState:
    """Lanes with new work, at the root of its position."""
    # The root: nothing is certain yet except the value with which the work begins.
    where, job, lanes = work.taken, work.job, len(work.job)
    node = Node(
        [roots.words[job, place] for place in range(problem.packing.words)],
        jnp.full(lanes, OWN_VALUE | RAISED | 1 << TURN, jnp.uint32),
        work.begin | (work.end << 16),
        work.value,
        jnp.full(lanes, problem.most - 1 if problem.prune else jnp.inf, jnp.float32),
    )
    # Forget the killers of the position before: what a search finds depends on its own position only.
    rows = state.stack.reshape(-1, lanes, state.stack.shape[1])
    column = problem.packing.words + 1
    order = jnp.where(where, jnp.uint32(NO_MOVE << 16), rows[:, :, column])
    stack = rows.at[:, :, column].set(order).reshape(state.stack.shape)

    # Everything else starts over. The table stays: its entries hold the number of their search.
    zero, none = jnp.zeros(lanes, jnp.uint32), jnp.full(lanes, NO_MOVE, jnp.uint32)
    level = jnp.zeros(lanes, jnp.int32)
    moves = roots.moves[job]
    horizon, value = roots.horizon[job], roots.value[job]
    new = SearchState(node, level, zero, moves, zero, job, horizon, value, work.value, none, zero, zero, zero)

    chosen = select(where, new, state._replace(stack=zero, table=zero))
    return chosen._replace(stack=stack, table=state.table)


def harvest(results: Found, state: SearchState) -> tuple[Found, SearchState]:
    """The results so far, and the lanes without their finished work.

    Several lanes may have searched parts of one position: the best value counts, and of the moves that have it the
    first.
    """
    done = (state.level < 0) & (state.job >= 0)
    nowhere = len(results.value)
    job = jnp.where(done, state.job, nowhere)
    better = done & (state.rank != NO_MOVE)
    before = results.value[jnp.clip(job, 0, nowhere - 1)]
    value = results.value.at[jnp.where(better, job, nowhere)].max(state.value, mode="drop")
    now = value[jnp.clip(job, 0, nowhere - 1)]
    # A better value invalidates the old rank; then the lowest rank with the new value counts.
    rank = results.rank.at[jnp.where(better & (now > before), job, nowhere)].set(NO_MOVE, mode="drop")
    rank = rank.at[jnp.where(better & (now == state.value), job, nowhere)].min(state.rank, mode="drop")
    counts = (
        getattr(results, name).at[job].add(getattr(state, name), mode="drop")
        for name in ("nodes", "alpha_cuts", "beta_cuts")
    )
    return Found(value, rank, *counts), state._replace(job=jnp.where(done, -1, state.job))
