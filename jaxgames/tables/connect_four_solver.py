"""Exact scores of Connect Four positions and of their moves, on any board.

A score is k > 0 if the player to move wins with the k-th last of its stones that fit on the board (the last is number
1), 0 for a draw, k < 0 if the other one wins so: the convention of Pons, "Solving Connect 4" (2015-2019).
"""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.envs.connect_four import board
from jaxgames.envs.connect_four.board import Position, Words
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.ops import bits, checks
from jaxgames.ops.materialize import materialize
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import fold_in
from jaxgames.tables.connect_four_threats import BITS, PositionNode, Threats, count_squares, others

# Scores of Connect Four positions by alpha-beta with null windows, many positions side by side.
#
# Each lane asks whether the score of its position is greater than a number, and bisects the range until the score is
# known (Plaat, Schaeffer, Pijls and de Bruin, "Best-first fixed-depth minimax algorithms", 1996, call such a driver
# MTD-bi). With a null window a node is either high or low, so there are no values on the stack. One step tries one move
# in every lane: the position after it is settled at once, by rules or by the transposition table, or it becomes the
# lane's node. A settled node may settle others above it; the lane goes on at the nearest one that has a move left.
#
# All lanes share the table: entries hold the whole position and bounds of its score.

STEPS = 16
"""After so many steps lanes that are done take the next positions."""

_ZERO = 128
"""Added to bounds in a word, so that they are not negative."""


class SolverRoots(NamedTuple):
    """The positions to solve: their nodes, the stones left to play, and the bounds of their scores."""

    node: PositionNode
    left: Int32[Array, " batch"]
    low: Int32[Array, " batch"]
    high: Int32[Array, " batch"]


class SolverState(NamedTuple):
    """The whole search."""

    node: PositionNode  # where each lane is
    known: UInt32[Array, " lanes"]  # bounds of the node's score, by `_to_word`
    level: Int32[Array, " lanes"]  # of the node, 0 at the root
    has_moves: Words  # the levels above the node that have moves left, as bits
    stack: UInt32[Array, "rows node_words"]  # the nodes above it, row `level * lanes + lane`
    table: UInt32[Array, "entries entry_words"]
    job: Int32[Array, " lanes"]  # the number of the position; for an idle lane a number beyond all positions
    root: PositionNode
    left: Int32[Array, " lanes"]  # stones to play at the root
    alpha: Int32[Array, " lanes"]  # the question: is the root's score greater?
    low: Int32[Array, " lanes"]
    high: Int32[Array, " lanes"]
    nodes: UInt32[Array, " lanes"]


class SolvedScores(NamedTuple):
    """Scores of positions, and how many nodes all of them took."""

    scores: Int32[Array, " batch"]
    nodes: UInt32[Array, ""]


@dataclasses.dataclass(frozen=True)
class NullWindowSearch:
    """Searches positions of one board.

    Args:
      game: the board.
      lanes: positions searched at once, a power of 2.
      entries: of the transposition table, a power of 2 and no fewer than lanes.
    """

    game: ConnectFour
    lanes: int
    entries: int

    @functools.cached_property
    def rules(self) -> Threats:
        """Moves and threats on this board."""
        return Threats(self.game)

    def __call__(self, own: Words, taken: Words) -> SolvedScores:
        """The scores of positions: the stones of the player to move, and all stones."""
        roots = self._roots(own, taken)
        order = jnp.argsort(-roots.left)  # the longest searches come first, so that lanes end together
        roots = jax.tree.map(lambda x: x[order], roots)
        count = len(roots.left)

        def more(carry):
            lanes, first, _ = carry
            return (first < count) | jnp.any(lanes.job < count)

        def some_steps(carry):
            lanes, first, scores = carry
            done = lanes.low == lanes.high
            scores = scores.at[jnp.where(done, lanes.job, count)].set(lanes.low, mode="drop")
            idle = done | (lanes.job == count)
            job = jnp.where(idle, jnp.minimum(first + jnp.cumsum(idle, dtype=jnp.int32) - 1, count), lanes.job)
            lanes = self._begin(lanes, roots, idle, job)
            first = jnp.minimum(first + jnp.sum(idle, dtype=jnp.int32), count)
            return lax.fori_loop(0, STEPS, lambda _, x: self._step(x, count), lanes), first, scores

        begin = (self._empty(count), jnp.int32(0), roots.low)
        lanes, _, scores = lax.while_loop(more, some_steps, begin)
        return SolvedScores(jnp.zeros_like(scores).at[order].set(scores), jnp.sum(lanes.nodes, dtype=jnp.uint32))

    def _roots(self, own: Words, taken: Words) -> SolverRoots:
        rules = self.rules
        left = rules.squares - count_squares(taken)
        node = rules.expand(own, taken, left)
        low, high = _bounds(board.is_empty(node.moves), left)
        for where, score in (
            (rules.wins_at_once(own, taken), (left + 1) // 2),
            (left == 0, jnp.zeros_like(left)),
            (rules.has_line(others(own, taken)), -(left // 2) - 1),
        ):
            low, high = jnp.where(where, score, low), jnp.where(where, score, high)
        return SolverRoots(node, left, low, high)

    def _empty(self, count: int) -> SolverState:
        rules, lanes = self.rules, self.lanes
        word, number = jnp.zeros(lanes, jnp.uint32), jnp.zeros(lanes, jnp.int32)
        node = PositionNode((word,) * rules.words, (word,) * rules.words, (word,) * rules.lists)
        stack = jnp.zeros((rules.squares * lanes, 2 * rules.words + rules.lists + 1), jnp.uint32)
        table = jnp.zeros((self.entries, rules.words + 1), jnp.uint32)
        job = jnp.full(lanes, count, jnp.int32)
        levels = (word,) * -(-rules.squares // 32)
        return SolverState(node, word, number, levels, stack, table, job, node, number, number, number, number, word)

    def _begin(
        self, lanes: SolverState, roots: SolverRoots, where: Bool[Array, " lanes"], job: Int32[Array, " lanes"]
    ) -> SolverState:
        """The lanes with new positions to solve."""
        at = jnp.minimum(job, len(roots.left) - 1)
        root, left, low, high = jax.tree.map(lambda x: x[at], roots)
        alpha = _middle(low, high)
        new = lanes._replace(root=root, left=left, low=low, high=high, alpha=alpha, node=root, job=job)
        new = new._replace(
            known=_to_word(*_limits(left)),
            level=jnp.zeros_like(job),
            has_moves=jax.tree.map(jnp.zeros_like, lanes.has_moves),
        )
        # The stack and the table are not selected from, as they are large.
        chosen = select(where, new._replace(stack=job, table=job), lanes._replace(stack=job, table=job))
        return chosen._replace(stack=lanes.stack, table=lanes.table)

    def _step(self, state: SolverState, count: int) -> SolverState:
        rules, level, node = self.rules, state.level, state.node
        active = (state.job < count) & (state.low < state.high)

        def once(value):
            return jax.tree.map(lambda x: materialize(x, level), value)

        # 1. Play the next move of the node.
        column = (node.moves[0] & ((1 << BITS) - 1)) - 1
        stone = rules.stone(node.taken, column)
        own, taken = once(others(node.own, node.taken)), once(board.either(node.taken, stone))
        rest = once(board.shift_down(node.moves, BITS))
        has_rest = ~board.is_empty(rest)

        # 2. Is the position after it settled? `alpha` is the question at the node, for the player to move there.
        alpha = jnp.where(level & 1 == 0, state.alpha, -state.alpha - 1)
        child = rules.expand(own, taken, level)
        left = state.left - level - 1
        low, high = _bounds(board.is_empty(child.moves), left)
        key = once(rules.key(own, taken))
        slot = self._slot(key)
        entry = state.table.at[slot].get(mode="promise_in_bounds")
        there = functools.reduce(jnp.logical_and, [entry[:, index] == word for index, word in enumerate(key)])
        known_low, known_high = _from_word(entry[:, -1])
        low = once(jnp.where(there, jnp.maximum(low, known_low), low))
        high = once(jnp.where(there, jnp.minimum(high, known_high), high))
        is_high = once(active & (low > -alpha - 1))
        is_low = once(active & ~is_high & (high <= -alpha - 1))
        push = once(active & ~is_high & ~is_low)

        # 3. Where to go on: down, at the node, or at a node above. If the child is low the node is high, the one
        # above has one move less, ...; if a node has no move left it is low, the one above is high, ...
        ends = once(is_low | (is_high & ~has_rest))
        above = _highest(state.has_moves, level, level & 1 ^ is_low.astype(jnp.int32))
        target = once(jnp.where(push, level + 1, jnp.where(ends, above, level)))
        has_moves = tuple(
            jnp.where(
                push,
                _with_bit(word, level - 32 * index, has_rest),
                jnp.where(ends, word & _below(target - 32 * index), word),
            )
            for index, word in enumerate(state.has_moves)
        )

        # 4. The stack: the node's row on the way down, the rows of the target and of the node above on the way up.
        lane = jnp.arange(self.lanes, dtype=jnp.int32)
        row = jnp.stack([*node.own, *node.taken, *rest, state.known], axis=1)
        place = jnp.where(push, level * self.lanes + lane, len(state.stack))
        stack = state.stack.at[place].set(row, mode="drop", unique_indices=True)
        there_row = stack.at[jnp.maximum(target, 0) * self.lanes + lane].get(mode="promise_in_bounds")
        parent_row = stack.at[jnp.maximum(level - 1, 0) * self.lanes + lane].get(mode="promise_in_bounds")

        # 5. The table stores the node, and the node above if that is settled, too.
        here, parent = (
            (ends, is_low, alpha, (node.own, node.taken), state.known),
            (ends & (target < level - 1), ~is_low, -alpha - 1, self._of_row(parent_row)[0][:2], parent_row[:, -1]),
        )
        table = state.table
        for wanted, raised, question, (mover, stones), word in (here, parent):
            floor, ceiling = _from_word(word)
            floor = jnp.where(raised, jnp.maximum(floor, question + 1), floor)
            ceiling = jnp.where(raised, ceiling, jnp.minimum(ceiling, question))
            key = once(rules.key(mover, stones))
            entry = jnp.stack([*key, _to_word(floor, ceiling)], axis=1)
            table = table.at[jnp.where(wanted, self._slot(key), self.entries)].set(entry, mode="drop")

        # 6. The root: its next question bisects the range that the answer leaves.
        answered = once(ends & (target < 0))
        is_above = is_low == (level & 1 == 0)
        root_low = jnp.where(answered & is_above, state.alpha + 1, state.low)
        root_high = jnp.where(answered & ~is_above, state.alpha, state.high)
        goes_up = ends & ~answered
        upper, upper_known = self._of_row(there_row)
        stays = (PositionNode(node.own, node.taken, rest), state.known)
        new = select(push, (child, _to_word(low, high)), select(goes_up, (upper, upper_known), stays))
        new = select(answered, (state.root, _to_word(*_limits(state.left))), new)
        new = select(active, new, (node, state.known))
        return state._replace(
            node=new[0],
            known=new[1],
            level=jnp.where(active, jnp.maximum(target, 0), level),
            has_moves=has_moves,
            stack=stack,
            table=table,
            alpha=jnp.where(answered, _middle(root_low, root_high), state.alpha),
            low=root_low,
            high=root_high,
            nodes=state.nodes + active.astype(jnp.uint32),
        )

    def _of_row(self, row: UInt32[Array, "lanes words"]) -> tuple[PositionNode, UInt32[Array, " lanes"]]:
        words, columns = self.rules.words, [row[:, index] for index in range(row.shape[1])]
        own, taken, moves = columns[:words], columns[words : 2 * words], columns[2 * words : -1]
        return PositionNode(tuple(own), tuple(taken), tuple(moves)), columns[-1]

    def _slot(self, key: Words) -> Int32[Array, " lanes"]:
        number = jnp.zeros_like(key[0])
        for index, word in enumerate(key):
            number = fold_in(number ^ word, index)
        return (number & jnp.uint32(self.entries - 1)).astype(jnp.int32)


def _bounds(lost: Bool[Array, "..."], left: Int32[Array, "..."]) -> tuple[Int32[Array, "..."], Int32[Array, "..."]]:
    """Bounds of the score of a position in which no stone wins at once, and whether all stones lose."""
    low, high = _limits(left)
    low, high = (jnp.where(left <= 2, 0, bound) for bound in (low, high))
    return jnp.where(lost, -(left // 2), low), jnp.where(lost, -(left // 2), high)


def _limits(left: Int32[Array, "..."]) -> tuple[Int32[Array, "..."], Int32[Array, "..."]]:
    """The least and the most that a position can be worth if neither of the next two stones wins."""
    return 1 - left // 2, (left - 1) // 2


def _middle(low: Int32[Array, "..."], high: Int32[Array, "..."]) -> Int32[Array, "..."]:
    """The question that bisects the range, but near 0 first: shallow searches can tell whether a win is early."""
    middle = low + (high - low) // 2
    middle = jnp.where((middle <= 0) & (-(-low // 2) < middle), -(-low // 2), middle)
    return jnp.where((middle >= 0) & (high // 2 > middle), high // 2, middle)


def _highest(levels: Words, below: Int32[Array, " lanes"], parity: Int32[Array, " lanes"]) -> Int32[Array, " lanes"]:
    """The highest level below one of those that are even, or odd; -1 for none."""
    alternate = jnp.where(parity == 0, jnp.uint32(0x55555555), jnp.uint32(0xAAAAAAAA))
    top = jnp.full_like(below, -1)
    for index, word in enumerate(levels):
        word = word & alternate & _below(below - 32 * index)
        top = jnp.where(word != 0, 32 * index + bits.top_index(word).astype(jnp.int32), top)
    return top


def _below(place: Int32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    """The bits below a place, which may be outside of the word."""
    inside = bits.below(jnp.clip(place, 0, 31).astype(jnp.uint32))
    return jnp.where(place > 31, jnp.uint32(0xFFFFFFFF), inside)


def _with_bit(
    word: UInt32[Array, " lanes"], place: Int32[Array, " lanes"], value: Bool[Array, " lanes"]
) -> UInt32[Array, " lanes"]:
    one = jnp.where((place >= 0) & (place < 32), bits.bit(jnp.clip(place, 0, 31).astype(jnp.uint32)), jnp.uint32(0))
    return jnp.where(value, word | one, word & ~one)


def _to_word(low: Int32[Array, "..."], high: Int32[Array, "..."]) -> UInt32[Array, "..."]:
    return ((low + _ZERO) | ((high + _ZERO) << 8)).astype(jnp.uint32)


def _from_word(word: UInt32[Array, "..."]) -> tuple[Int32[Array, "..."], Int32[Array, "..."]]:
    return (word & 255).astype(jnp.int32) - _ZERO, (word >> 8).astype(jnp.int32) - _ZERO


# The solver.

LANES = {"cpu": 32}
MANY_LANES = 4096
"""The number of lanes on devices that are not listed in `LANES`."""


ENTRIES_OF_ONE = 1 << 22
"""Entries of the transposition table if there is only one position to solve."""


class MoveScores(NamedTuple):
    """The score of each column for the player to move; `legal` says which of them are moves; `nodes` were searched."""

    scores: Int32[Array, "batch cols"]
    legal: Bool[Array, "batch cols"]
    nodes: UInt32[Array, ""]


@dataclasses.dataclass(frozen=True)
class Solver:
    """Solves batches of positions of one board; hashable, and made for `jit`.

    Args:
      game: the board.
      lanes: positions searched at once, by default what suits the device.
      entries: of the transposition table, of 12 bytes each on the board of 6 x 7.

    Raises `ValueError` for sizes that are no powers of 2.
    """

    game: ConnectFour
    lanes: int | None = None
    entries: int = 1 << 20

    def __post_init__(self) -> None:
        checks.native_fields(self)
        for name, value in (("lanes", self._lanes), ("entries", self.entries)):
            if checks.whole(name, value, None) < 1 or value & (value - 1):
                raise ValueError(f"{name}={value}: expected a power of 2")

    def __call__(self, positions: Position, where: Bool[Array, " batch"] | None = None) -> SolvedScores:
        """The exact scores of positions; if the game is over, its score for the player who would move.

        `where` says which positions to solve; other scores mean nothing.
        """
        taken = board.either(*positions)
        lanes = min(self._lanes, 1 << (len(taken[0]) - 1).bit_length())
        own = positions.own
        if where is not None:  # other positions get one that costs no search: all stones are the other player's
            own = tuple(jnp.where(where, word, jnp.uint32(0)) for word in own)
            inside = Threats(self.game).inside
            taken = tuple(jnp.where(where, word, full) for word, full in zip(taken, inside, strict=True))
        return NullWindowSearch(self.game, lanes, max(lanes, self.entries))(own, taken)

    def moves(self, positions: Position) -> MoveScores:
        """The exact score of every column; if the game is over no column is a move."""
        rules, columns = Threats(self.game), jnp.arange(self.game.cols, dtype=jnp.uint32)[None]
        taken = board.either(*positions)
        stone = rules.stone(tuple(word[:, None] for word in taken), columns)  # [batch, cols]
        legal = ~board.is_empty(stone) & ~rules.has_line(positions.opponent)[:, None]
        after = Position(
            tuple(jnp.broadcast_to(word[:, None], legal.shape).ravel() for word in positions.opponent),
            tuple((word[:, None] | new).ravel() for word, new in zip(positions.own, stone, strict=True)),
        )
        solved = self(after, legal.ravel())
        return MoveScores(-solved.scores.reshape(legal.shape), legal, solved.nodes)

    @property
    def _lanes(self) -> int:
        return LANES.get(jax.default_backend(), MANY_LANES) if self.lanes is None else self.lanes
