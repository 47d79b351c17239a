"""One step of a depth-first search in every lane; each lane searches one position.

A step does the following in all lanes together.

1. It tries a move of the node. If that ends the game or reaches the horizon, its value is the node's, if it is better.
2. A move that leads on takes the search one level *down*, to the position reached (a push on the stack).
3. If no moves are left, or what the node has makes them pointless (`best` has reached `beta`: a *cut*), the search goes
   *up*, and the node's value is that of a move of the node above (a pop from the stack).

Two short cuts save steps where branches are cut. The position after the last move of a node takes that node's place, as
nothing is left to do there. And if a node could not raise its value, the node above is cut: the search goes up two
levels at once (`pop_two`). So nearly every step tries a move.

Each step writes the node's row, and reads the row of the level to which the search goes. The moves of a node
are computed again when needed: that is cheaper than storing them.

XLA:CPU computes a shared value again for each array that depends on it; `materialize` computes it once.
"""

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.minimax import moves as sets
from jaxgames.envs.core import Game, Value
from jaxgames.ops.materialize import materialize
from jaxgames.ops.random_bits import fold_in

Words = list[UInt32[Array, " lanes"]]


# What a search stores: positions as words, the nodes that lanes are at, their stack, and the transposition table.


class Packing:
    """How positions of a game are written as words, one 32-bit word for each element of each array.

    Raises `ValueError` if a position has arrays of 64 bits, or random keys.
    """

    def __init__(self, game: Game):
        single = jax.eval_shape(game.init_position, jax.random.key(0))
        self._leaves, self._structure = jax.tree.flatten(single)
        for leaf in self._leaves:
            if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.extended) or leaf.dtype.itemsize > 4:
                raise ValueError(f"positions of {game.id} hold arrays of {leaf.dtype}; expected at most 32 bits")
        self.sizes = [math.prod(leaf.shape) for leaf in self._leaves]
        self.words = sum(self.sizes)

    def pack(self, positions: Any) -> Words:
        """The words of a batch of positions, each an array of its own."""
        words = []
        for leaf, size in zip(jax.tree.leaves(positions), self.sizes, strict=True):
            flat = _to_words(leaf.reshape(len(leaf), size))
            words += [flat[:, place] for place in range(size)] if leaf.ndim > 1 else [_to_words(leaf)]
        return words

    def unpack(self, words: Words) -> Any:
        """The positions that these words were made of."""
        leaves, start = [], 0
        for leaf, size in zip(self._leaves, self.sizes, strict=True):
            part = words[start : start + size]
            start += size
            flat = jnp.stack(part, axis=1).reshape(-1, *leaf.shape) if leaf.shape else part[0]
            leaves.append(_from_words(flat, leaf.dtype))
        return jax.tree.unflatten(self._structure, leaves)


def _to_words(values: Array) -> UInt32[Array, "..."]:
    if values.dtype.itemsize == 4:
        return lax.bitcast_convert_type(values, jnp.uint32)
    if jnp.issubdtype(values.dtype, jnp.floating):
        return lax.bitcast_convert_type(values.astype(jnp.float32), jnp.uint32)
    return values.astype(jnp.int32).astype(jnp.uint32)


def _from_words(words: UInt32[Array, "..."], dtype: Any) -> Array:
    if jnp.dtype(dtype).itemsize == 4:
        return lax.bitcast_convert_type(words, dtype)
    if jnp.issubdtype(dtype, jnp.floating):
        return lax.bitcast_convert_type(words, jnp.float32).astype(dtype)
    return words.astype(dtype) if dtype != jnp.bool_ else words != 0


# Nodes

OPPONENT, NEGATES, OWN_VALUE, RAISED, BELOW_OWN, BEGUN = (1 << place for place in range(6))
"""What the flags of a node say:

* `OPPONENT`: the root's opponent is to act;
* `NEGATES`: the value changes its sign on the way up, as another player is to act in the node above;
* `OWN_VALUE`: the value is that of the position. (If a position took its parent's place on the stack, the value is
  instead the better one of both.)
* `RAISED`: a move is worth more than what the player was sure of (`best`) when the node was made;
* `BELOW_OWN`: the node above has both `OWN_VALUE` and `NEGATES`;
* `BEGUN`: a move has been tried.
"""

TURN, PARENT_MOVE = 6, 16
"""From these bits on the flags hold the number of the turn, 1 at the root, and the move that led to the node."""

MOST_MOVES = 1 << 15
NO_MOVE = 0xFFFF


class Node(NamedTuple):
    """The node that each lane is at."""

    position: Words  # its words
    flags: UInt32[Array, " lanes"]  # see `OPPONENT` and the others
    # Two halves. The low one is a number: all moves below it were tried. The high one is the killer, the last move
    # that made a cut on this level, which is tried first. At the root both are ranks in the order of its moves: that
    # of the next move, and the rank before which its moves end.
    order: UInt32[Array, " lanes"]
    best: Float32[Array, " lanes"]  # what the player to act is sure of (alpha)
    beta: Float32[Array, " lanes"]  # with more than that, the other player would not let the game come here


class SearchState(NamedTuple):
    """The whole search: each lane searches one position."""

    node: Node  # the node that each lane is at
    level: Int32[Array, " lanes"]  # its level, 0 at the root; -1 in a lane that has nothing to do
    stack: UInt32[Array, "rows node_words"]  # the nodes above it, row `level * lanes + lane`
    moves: UInt32[Array, "lanes moves"]  # those of the root, in the order in which they are tried
    table: UInt32[Array, "entries entry_words"]  # the transposition table
    job: Int32[Array, " lanes"]  # the number of the position searched; -1 for none
    horizon: UInt32[Array, " lanes"]  # the last turn that is searched
    root_value: Float32[Array, " lanes"]  # the evaluation of the root, with which leaves are compared
    value: Float32[Array, " lanes"]  # the best so far
    rank: UInt32[Array, " lanes"]  # by which of the root's moves it is reached
    nodes: UInt32[Array, " lanes"]  # counted so far, as are the cuts
    alpha_cuts: UInt32[Array, " lanes"]  # those where the root's opponent was to act
    beta_cuts: UInt32[Array, " lanes"]  # the others


def init_state(words: int, moves: int, levels: int, lanes: int, entries: int) -> SearchState:
    """A search with nothing to do.

    Args:
      words: of a position.
      moves: that a root has at most.
      levels: for which the stack has room.
      lanes: positions searched at once.
      entries: of the transposition table for each lane, a power of 2 or 0.
    """
    word, number = jnp.zeros(lanes, jnp.uint32), jnp.zeros(lanes, jnp.float32)
    none = jnp.full(lanes, -1, jnp.int32)
    node = Node([word] * words, word, word, number, number)
    stack = jnp.zeros((levels * lanes, words + 4), jnp.uint32)
    listed = jnp.zeros((lanes, moves), jnp.uint32)
    table = jnp.zeros((entries * lanes, words + 3), jnp.uint32)
    return SearchState(node, none, stack, listed, table, none, word, number, number, word, word, word, word)


def to_row(node: Node) -> UInt32[Array, "lanes words"]:
    """Nodes as rows of the stack."""
    numbers = [lax.bitcast_convert_type(number, jnp.uint32) for number in (node.best, node.beta)]
    return jnp.stack([*node.position, node.flags, node.order, *numbers], axis=1)


def from_row(row: UInt32[Array, "lanes words"]) -> Node:
    """Nodes from rows of the stack."""
    *position, flags, order, best, beta = (row[:, place] for place in range(row.shape[1]))
    return Node(position, flags, order, *(lax.bitcast_convert_type(number, jnp.float32) for number in (best, beta)))


# The transposition table: what is known of positions that were searched before, by other moves.
#
# Each lane has its own part, and an entry counts only for the position it holds in full, at the same turn of the
# same search. So no entry is ever mistaken for another position of the same hash, for the same one with
# another remaining depth, or for one whose evaluation is compared with another root.

LOWER, UPPER, EXACT = 1, 2, 3
"""What an entry's value means: the position's value is at least, at most, or exactly that."""

TranspositionTable = UInt32[Array, "entries words"]


class Entry(NamedTuple):
    """What the table knows of a position; `there` says whether it knows anything."""

    there: Bool[Array, " lanes"]
    kind: UInt32[Array, " lanes"]
    value: Float32[Array, " lanes"]


def look_up(table: TranspositionTable, position: Words, tag: UInt32[Array, " lanes"]) -> Entry:
    """The entries of positions. `tag` is the number of the search and the turn; no search has the tag 0."""
    row = table.at[_slots(table, position)].get(mode="promise_in_bounds")
    there = row[:, len(position)] == tag
    for index, word in enumerate(position):
        there &= row[:, index] == word
    kind, value = row[:, len(position) + 1], row[:, len(position) + 2]
    return Entry(there, kind, lax.bitcast_convert_type(value, jnp.float32))


def store(table: TranspositionTable, position: Words, tag: UInt32[Array, " lanes"], entry: Entry) -> TranspositionTable:
    """The table with the entries of those lanes whose entry is `there`; they replace what was in their slots."""
    value = lax.bitcast_convert_type(entry.value, jnp.uint32)
    row = jnp.stack([*position, tag, entry.kind, value], axis=1)
    slot = jnp.where(entry.there, _slots(table, position), len(table))
    return table.at[slot].set(row, mode="drop", unique_indices=True)


def _slots(table: TranspositionTable, position: Words) -> Int32[Array, " lanes"]:
    lanes = len(position[0])
    number = jnp.zeros_like(position[0])
    for index, word in enumerate(position):
        number = fold_in(number ^ word, index)
    own = number & (len(table) // lanes - 1)
    return own.astype(jnp.int32) * lanes + jnp.arange(lanes, dtype=jnp.int32)


# The step.

WIN = 10_000.0
"""The value of one point won at once; each turn that it takes costs 1."""

LIMIT = 9_000.0
"""Evaluations are clipped to this, so that no guess is better than a forced win."""


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
        """Whether the search skips nodes on the way up. With a table it must not, as the table should hold them."""
        return self.prune and not self.table

    @property
    def most(self) -> float:
        """More than any value."""
        return self.game.max_reward * WIN


class Tried(NamedTuple):
    """The result of trying a move."""

    node: Node  # the node after it
    move: UInt32[Array, " lanes"]  # its number
    rank: UInt32[Array, " lanes"]  # at the root, its place in the order of moves
    exhausted: Bool[Array, " lanes"]  # no move is left
    has_move: Bool[Array, " lanes"]  # there was a move to try; otherwise the fields below mean nothing
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

    # 3. Write the node's row. That of a finished node is useful only for its killer: the move to try first on
    # this level next time. If the node above is done too (`pop_two`), its row is written, with the move that cut it.
    killer = jnp.where(pop_two, parent_move, jnp.where(cut & tried.has_move & ~at_root, tried.move, node.order >> 16))
    node = node._replace(order=materialize((node.order & 0xFFFF) | (killer << 16), level))
    count, lane = len(level), jnp.arange(len(level), dtype=jnp.int32)
    place = (level - pop_two.astype(jnp.int32)) * count + lane
    stack = state.stack.at[jnp.where(active, place, len(state.stack))].set(
        to_row(node), mode="drop", unique_indices=True
    )

    # 4. Read the row of the level to which the search goes: on the way up the node there, on the way down its killer.
    row = from_row(stack.at[jnp.maximum(after, 0) * count + lane].get(mode="promise_in_bounds"))

    # 5. Up: the node there gets the returned value, if it is better than its own. After `pop_two` it gets none:
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

    # 6. Down: a new node. Each lane takes one of the three.
    lower = _down(problem, tried, at_root, in_place, row.order)
    chosen = jax.tree.map(lambda x, y, z: jnp.where(push, x, jnp.where(up, y, z)), lower, upper, node)

    # 7. The root's results so far, and the counts. A node cut by `pop_two` counts as a cut of the node above.
    value = jnp.where(at_root, node.best, returned)
    better = active & ~push & (at_root | (up & (after == 0))) & (value > state.value)
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
        value=jnp.where(better, value, state.value),
        rank=jnp.where(better, jnp.where(at_root, tried.rank, parent_move), state.rank),
        nodes=state.nodes + tried.has_move.astype(jnp.uint32),
        alpha_cuts=state.alpha_cuts + jnp.where(opponent, cuts, above),
        beta_cuts=state.beta_cuts + jnp.where(opponent, above, cuts),
    )


def _try_move(problem: Problem, state: SearchState, root_moves: UInt32[Array, " moves"]) -> Tried:
    """Tries a move of each node. The root's moves have their own order; elsewhere the killer comes first."""
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
    """The position after a move, and a verdict: the reward if it ends the game, else inf if the turn passes or -inf.

    The verdict is one number so that the rules are computed only once.
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
    guess = jnp.where(guess == guess, jnp.clip(guess, -LIMIT, LIMIT), -LIMIT)  # NaN counts as the worst
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
        # The worst that can still happen is to lose by one's own move, so the player is sure of that much.
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

    It does if no move raised it above what its player was already sure of: the node above must not exceed that.
    """
    wanted = OWN_VALUE | NEGATES | BELOW_OWN
    return (flags & (wanted | RAISED)) == wanted


def _tag(state: SearchState, turn: UInt32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    """For the table: the number of the search, and that of the turn."""
    return (state.job.astype(jnp.uint32) << (PARENT_MOVE - TURN)) | turn


def _turn(flags: UInt32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    return (flags >> TURN) & ((1 << (PARENT_MOVE - TURN)) - 1)
