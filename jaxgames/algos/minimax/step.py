"""One step of a depth-first search in every lane; each lane searches one position.

A step does the following in all lanes together.

1. It tries a move of the node. If that ends the game or reaches the horizon, its value is the node's, if it is better.
2. A move that leads on takes the search one level *down*, to the position reached (a push on the stack).
3. If no moves are left, or what the node has makes them pointless (`best` has reached `beta`: a *cut*), the search goes
   *up*, and the node's value is that of a move of the node above (a pop from the stack).

Two short cuts save steps where branches are cut. The position after the last move of a node takes that node's place, as
nothing is left to do there. And where a node could not raise its value, the node above is cut: the search goes up two
levels at once (`pop_two`). So about every step tries a move.

The node's row is written in each step, and the row of the level that the search comes to is read. The moves of a node
are found anew when it is needed again: that is cheaper than to store them.

XLA:CPU computes a shared value anew for each array that is made of it; `materialize` computes it once.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.minimax import moves as sets
from jaxgames.algos.minimax.state import (
    BEGUN,
    BELOW_OWN,
    EXACT,
    LOWER,
    NEGATES,
    OPPONENT,
    OWN_VALUE,
    PARENT_MOVE,
    RAISED,
    TURN,
    UPPER,
    Entry,
    Node,
    Packing,
    SearchState,
    Words,
    from_row,
    look_up,
    store,
    to_row,
)
from jaxgames.envs.core import Game, Value
from jaxgames.ops.materialize import materialize

WIN = 10_000.0
"""The value of one point won at once; each turn that it takes costs 1."""

LIMIT = 9_000.0
"""Evaluations beyond this count as this, so that no guess is better than a win in sight."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a search is about."""

    game: Game  # its rules
    packing: Packing  # how its positions are words
    evaluate: Value  # the worth of positions at the horizon to the player to act
    prune: bool  # whether branches are cut (alpha-beta)
    levels: int  # how many the stack has
    table: int = 0  # entries of the transposition table for each lane

    @property
    def short_cuts(self) -> bool:
        """Whether the search leaves nodes out on the way up. A table is to hold them."""
        return self.prune and not self.table

    @property
    def most(self) -> float:
        """More than any value."""
        return self.game.max_reward * WIN


class Tried(NamedTuple):
    """What came of trying a move."""

    node: Node  # the node after it
    move: UInt32[Array, " lanes"]  # its number
    rank: UInt32[Array, " lanes"]  # at the root, its place in the order of moves
    exhausted: Bool[Array, " lanes"]  # no move is left
    has_move: Bool[Array, " lanes"]  # there was a move to try; else nothing below says anything
    push: Bool[Array, " lanes"]  # it leads on to `child`
    child: Words  # the position reached
    turn_passes: Bool[Array, " lanes"]  # the other player acts there


def step(problem: Problem, state: SearchState, root_moves: UInt32[Array, " moves"]) -> SearchState:
    """One step in every lane. `root_moves`: the moves of the roots, those of one lane after those of another."""
    # 1. Try a move.
    level = state.level
    tried = _try_move(problem, state, root_moves)
    node, push, exhausted = tried.node, tried.push, tried.exhausted
    parent_move, opponent = node.flags >> PARENT_MOVE, (node.flags & OPPONENT) != 0
    active, at_root = level >= 0, level == 0

    # 2. Down, up, or stay? `in_place`: the child takes the node's place, so the level stays.
    cut = active & ~push & (node.best >= node.beta)
    up = materialize(active & ~push & (exhausted | cut), level)
    in_place = materialize(push & exhausted & (level > 0) & problem.short_cuts, level)
    pop_two = materialize(up & _cuts_above(node.flags) & problem.short_cuts & (level > 1), level)
    after = level + (push & ~in_place).astype(jnp.int32) - up.astype(jnp.int32) - pop_two.astype(jnp.int32)
    after = materialize(after, level)

    # 3. Write the node's row. That of a node that is done is of no use, but for its killer: the move to try first on
    # this level next time. If the node above is done too (`pop_two`), its row is written, with the move that cut it.
    killer = jnp.where(pop_two, parent_move, jnp.where(cut & tried.has_move & ~at_root, tried.move, node.order >> 16))
    node = node._replace(order=materialize((node.order & 0xFFFF) | (killer << 16), level))
    count, lane = len(level), jnp.arange(len(level), dtype=jnp.int32)
    place = (level - pop_two.astype(jnp.int32)) * count + lane
    stack = state.stack.at[jnp.where(active, place, len(state.stack))].set(
        to_row(node), mode="drop", unique_indices=True
    )

    # 4. Read the row of the level that the search comes to: on the way up the node there, on the way down its killer.
    row = from_row(stack.at[jnp.maximum(after, 0) * count + lane].get(mode="promise_in_bounds"))

    # 5. Up: the node there gets the value that is returned, if it is better than its own. After `pop_two` it gets none:
    # the value that cut the node between is no better than what it has.
    returned = jnp.minimum(node.best, node.beta)
    returned = materialize(jnp.where(((node.flags & NEGATES) != 0) & ~pop_two, -returned, returned), level)
    raised = jnp.where((returned > row.best) & ~pop_two, jnp.uint32(RAISED), jnp.uint32(0))
    cuts_there = (returned >= row.beta) & ~pop_two & (after > 0)
    upper = row._replace(
        flags=row.flags | raised,
        order=jnp.where(cuts_there, (row.order & 0xFFFF) | (parent_move << 16), row.order),
        best=jnp.maximum(row.best, returned),
    )

    # 6. Down: a new node. Each lane takes its own of the three.
    lower = _down(problem, tried, at_root, in_place, row.order)
    chosen = jax.tree.map(lambda x, y, z: jnp.where(push, x, jnp.where(up, y, z)), lower, upper, node)

    # 7. What is known of the root, and the counts. A node cut by `pop_two` counts as a cut of the node above.
    found = jnp.where(at_root, node.best, returned)
    better = active & ~push & (at_root | (up & (after == 0))) & (found > state.value)
    cuts, above = (cut & ~exhausted).astype(jnp.uint32), pop_two.astype(jnp.uint32)
    table = state.table
    if problem.table:
        kind = jnp.where((node.flags & RAISED) != 0, jnp.uint32(EXACT), jnp.uint32(UPPER))
        kind = jnp.where(node.best >= node.beta, jnp.uint32(LOWER), kind)
        entry = Entry(up & ((node.flags & OWN_VALUE) != 0) & ~at_root, kind, node.best)
        table = store(table, node.position, _tag(state, _turn(node.flags)), entry)
    return state._replace(
        node=chosen,
        table=table,
        level=after,
        stack=stack,
        value=jnp.where(better, found, state.value),
        rank=jnp.where(better, jnp.where(at_root, tried.rank, parent_move), state.rank),
        nodes=state.nodes + tried.has_move.astype(jnp.uint32),
        alpha_cuts=state.alpha_cuts + jnp.where(opponent, cuts, above),
        beta_cuts=state.beta_cuts + jnp.where(opponent, above, cuts),
    )


def _try_move(problem: Problem, state: SearchState, root_moves: UInt32[Array, " moves"]) -> Tried:
    """Tries a move of each node. The root's have their order; elsewhere the killer is the first."""
    # Which moves are left: those from `next_move` on. At the root this is a rank, and the killer's half of `order` is
    # the rank at which the moves end.
    game, level, node = problem.game, state.level, state.node
    next_move, at_root = node.order & 0xFFFF, level == 0
    killer_or_end = node.order >> 16
    left = sets.from_on(jax.vmap(game.moves)(problem.packing.unpack(node.position)), next_move)
    if problem.prune:
        left = sets.without(left, killer_or_end, (node.flags & BEGUN) != 0)
    left = tuple(materialize(word, level) for word in left)
    any_left = jnp.where(at_root, next_move < killer_or_end, ~sets.is_empty(left))
    has_move = materialize((level >= 0) & any_left & (node.best < node.beta), level)

    # The first of them, or the killer if it is legal here.
    move = sets.first(left)
    if problem.prune:
        move = jnp.where(sets.has(left, killer_or_end), killer_or_end, move)
    place = jnp.arange(len(level), dtype=jnp.int32) * state.moves.shape[1] + next_move.astype(jnp.int32)
    move = materialize(jnp.where(at_root, root_moves.at[place].get(mode="clip"), move), level)

    # Play it. A leaf is where the game ends, the horizon is passed, the stack is full, or the table knows enough.
    child, verdict = _play(problem, node.position, move, level)
    turn_passes = verdict == jnp.inf
    late = _turn(node.flags) + turn_passes.astype(jnp.uint32) > state.horizon
    leaf = materialize(~jnp.isinf(verdict) | late | (level + 1 >= problem.levels), level)
    value = materialize(_leaf_value(problem, state, verdict, child), level)
    if problem.table:
        entry = look_up(state.table, child, _tag(state, _turn(node.flags) + 1))
        low, high = (entry.kind & LOWER) != 0, (entry.kind & UPPER) != 0
        enough = (low & high) | (low & (-entry.value <= node.best)) | (high & (-entry.value >= node.beta))
        known = materialize(entry.there & enough & turn_passes & ~leaf, level)
        leaf, value = leaf | known, jnp.where(known, -entry.value, value)

    # The node with the leaf's value, if it is better, and with the move behind it. A killer out of turn leaves
    # `next_move` as it is; `BEGUN` says that it was tried.
    better = has_move & leaf & (value > node.best)
    flags = node.flags | jnp.where(better, jnp.uint32(RAISED), jnp.uint32(0))
    flags = flags | jnp.where(has_move, jnp.uint32(BEGUN), jnp.uint32(0))
    in_order = has_move & (at_root | (move != killer_or_end)) if problem.prune else has_move
    next_move = jnp.where(in_order, jnp.where(at_root, next_move, move) + 1, next_move)
    tried = node._replace(
        flags=materialize(flags, level),
        order=materialize((killer_or_end << 16) | next_move, level),
        best=materialize(jnp.where(better, value, node.best), level),
    )
    exhausted = jnp.where(at_root, next_move >= killer_or_end, sets.is_empty(sets.without(left, move, has_move)))
    exhausted, push = materialize(exhausted, level), materialize(has_move & ~leaf, level)
    return Tried(tried, move, node.order & 0xFFFF, exhausted, has_move, push, child, turn_passes)


def _play(
    problem: Problem, words: Words, move: UInt32[Array, " lanes"], level: Array
) -> tuple[Words, Float32[Array, " lanes"]]:
    """The position after a move, and a verdict: the reward if that ends the game, else inf if the turn passes or -inf.

    The verdict is one number so that the rules are computed once for all that is made of it.
    """
    position = problem.packing.unpack(words)
    action = materialize(jax.vmap(problem.game.action_of_move)(position, move), level)
    outcome = jax.vmap(problem.game.play)(position, action)
    child = [materialize(word, level) for word in problem.packing.pack(outcome.position)]
    verdict = jnp.where(outcome.over, outcome.reward, jnp.where(outcome.turn_passes, jnp.float32(jnp.inf), -jnp.inf))
    return child, materialize(verdict, level)


def _leaf_value(
    problem: Problem, state: SearchState, verdict: Float32[Array, " lanes"], child: Words
) -> Float32[Array, " lanes"]:
    """What a position that is not searched is worth to the player who moved there."""
    flags = state.node.flags
    turn = _turn(flags).astype(jnp.int32).astype(jnp.float32)
    final = verdict * WIN - jnp.sign(verdict) * turn
    guess, opponent = problem.evaluate(problem.packing.unpack(child)), (flags & OPPONENT) != 0
    guess = jnp.where(verdict > 0, -guess, guess) - jnp.where(opponent, -state.root_value, state.root_value)
    guess = jnp.where(guess == guess, jnp.clip(guess, -LIMIT, LIMIT), -LIMIT)  # NaN is no reason to go anywhere
    return jnp.where(jnp.isinf(verdict), guess, final)


def _down(
    problem: Problem,
    tried: Tried,
    at_root: Bool[Array, " lanes"],
    in_place: Bool[Array, " lanes"],
    order: UInt32[Array, " lanes"],
) -> Node:
    """The child as a node one level down, or in the place of its parent.

    Args:
      problem: what the search is about.
      tried: the move that leads to the child.
      at_root: whether that is one of the root's.
      in_place: whether the child takes its parent's place; it then has its parent's parent above it.
      order: the row that was last on the child's level, for its killer.
    """
    node, flags, turn_passes = tried.node, tried.node.flags, tried.turn_passes
    turn = _turn(flags) + turn_passes.astype(jnp.uint32)
    negates = jnp.where(turn_passes, jnp.uint32(NEGATES), jnp.uint32(0))
    below = (flags & (OWN_VALUE | NEGATES)) == (OWN_VALUE | NEGATES)
    kind = jnp.where(turn_passes, jnp.uint32(OWN_VALUE), jnp.uint32(0))
    kind = kind | jnp.where(below, jnp.uint32(BELOW_OWN), jnp.uint32(0))
    kind = jnp.where(in_place, (flags & NEGATES) ^ negates, negates | kind)
    opponent = (flags & OPPONENT) ^ turn_passes.astype(jnp.uint32)
    # The root's moves go by their ranks.
    parent_move = jnp.where(in_place, flags >> PARENT_MOVE, jnp.where(at_root, tried.rank, tried.move))
    if problem.prune:
        # The worst that can still happen is to lose by the own move: so much the player has for sure.
        least = turn.astype(jnp.int32).astype(jnp.float32) - problem.most
        best = jnp.where(turn_passes, -node.beta, node.best)
        kind = kind | jnp.where(least > best, jnp.uint32(RAISED), jnp.uint32(0))
        best, beta = jnp.maximum(best, least), jnp.where(turn_passes, -node.best, node.beta)
    else:
        best, beta = jnp.full_like(node.best, -jnp.inf), node.beta
    flags = opponent | kind | (turn << TURN) | (parent_move << PARENT_MOVE)
    return Node(tried.child, flags, (order >> 16) << 16, best, beta)


def _cuts_above(flags: UInt32[Array, " lanes"]) -> Bool[Array, " lanes"]:
    """Whether the value of such a node makes a cut in the node above.

    It does if nothing raised it above what its player had before: that is what the node above must not exceed.
    """
    wanted = OWN_VALUE | NEGATES | BELOW_OWN
    return (flags & (wanted | RAISED)) == wanted


def _tag(state: SearchState, turn: UInt32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    """For the table: the number of the search, and that of the turn."""
    return (state.job.astype(jnp.uint32) << (PARENT_MOVE - TURN)) | turn


def _turn(flags: UInt32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    return (flags >> TURN) & ((1 << (PARENT_MOVE - TURN)) - 1)
