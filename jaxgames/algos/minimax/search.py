"""Searches to a fixed depth, of many positions at once."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.minimax import moves as sets
from jaxgames.algos.minimax.node import MOST_MOVES, MOST_TURNS, NO_MOVE, OWN, RAISED, TURN, Lanes, Node, empty
from jaxgames.algos.minimax.packing import Packing
from jaxgames.algos.minimax.tick import Rules, tick
from jaxgames.envs.core import Game, Value
from jaxgames.envs.turns import single_actions

STEPS = 32
"""After so many steps lanes that are done get new positions."""

EXTRA_LEVELS = 24
"""In games where a turn may be several actions: so many more levels than turns."""


class Result(NamedTuple):
    """What a search found, and how many nodes it looked at and cut branches off.

    `actions`: the best one, -1 where the game is over. `values`: what it is worth to the player to act. `nodes` does
    not count the root. `alpha_cuts` are those where the root's opponent was to act, `beta_cuts` the others.
    """

    actions: Int32[Array, " batch"]
    values: Float32[Array, " batch"]
    nodes: UInt32[Array, " batch"]
    alpha_cuts: UInt32[Array, " batch"]
    beta_cuts: UInt32[Array, " batch"]


@dataclasses.dataclass(frozen=True)
class Search:
    """A search to a depth, with its settings; called with positions and a random word for each.
    """

    game: Game
    depth: int
    prune: bool = True
    ties: str = "first"
    forced: bool = True
    lanes: int | None = None
    tries: int = 2

    def __post_init__(self) -> None:
        check_depth(self.depth)
        if self.game.outcome_probabilities:
            raise ValueError(f"{self.game.id} has chance: expected a game without; see expectimax")
        if self.ties not in ("first", "random"):
            raise ValueError(f"ties={self.ties!r}: expected 'first' or 'random'")
        if self.lanes is not None and not (isinstance(self.lanes, int) and self.lanes >= 1):
            raise ValueError(f"lanes={self.lanes!r}: expected a whole number from 1 on")

    def __call__(
        self,
        positions: Any,
        words: UInt32[Array, " batch"],
        evaluate: Value | None = None,
        over: Bool[Array, " batch"] | None = None,
    ) -> Result:
        """Searches a batch of positions."""
        game, packing = self.game, Packing(self.game)
        value = jax.vmap(game.material) if evaluate is None else evaluate
        count = len(jax.tree.leaves(positions)[0])
        check_value(value, positions, count)
        legal = jax.vmap(game.moves)(positions)
        if 32 * len(legal) > MOST_MOVES:
            raise ValueError(f"{game.id} has {game.num_actions} actions: expected at most {MOST_MOVES}")
        ended = jax.vmap(game.ended)(positions) | sets.is_empty(legal)
        ended = ended if over is None else ended | over
        legal = tuple(jnp.where(ended, jnp.uint32(0), word) for word in legal)
        alone = sets.count(legal) == 1 if self.forced else jnp.zeros(count, bool)
        roots = _Roots(
            [*packing.pack(positions), *legal],
            jnp.where(alone, 1, self.depth).astype(jnp.uint32),
            value(positions) if evaluate is None else jnp.zeros(count, jnp.float32),
            words,
        )
        levels = self.depth if single_actions(game) else self.depth + EXTRA_LEVELS
        rules = Rules(game, packing, value, self.prune, self.ties == "random", levels, self.tries)
        found = _search(rules, roots, min(count, self.lanes or _usual_lanes()), len(legal))
        action = jax.vmap(game.action_of_move)(positions, found[:, 0])
        worth = lax.bitcast_convert_type(found[:, 1], jnp.float32)
        counts = (found[:, place] for place in (2, 3, 4))
        return Result(jnp.where(ended, -1, action), jnp.where(ended, 0.0, worth) + 0.0, *counts)


def check_depth(depth: int) -> None:
    """Raises `ValueError` unless the depth is a number of turns that can be searched."""
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= MOST_TURNS - 1:
        raise ValueError(f"depth={depth!r}: expected a whole number of turns from 1 to {MOST_TURNS - 1}")


def check_value(value: Value, positions: Any, count: int) -> None:
    """Raises `ValueError` unless the evaluation gives one number for each position."""
    found = jax.eval_shape(value, positions)
    if not hasattr(found, "shape") or found.shape != (count,) or found.dtype != jnp.float32:
        got = f"{found.dtype}{list(found.shape)}" if hasattr(found, "shape") else type(found).__name__
        raise ValueError(f"the evaluation of {count} positions gives {got}: expected float32[{count}]")


class _Roots(NamedTuple):
    words: list[UInt32[Array, " batch"]]
    horizon: UInt32[Array, " batch"]
    base: Float32[Array, " batch"]
    word: UInt32[Array, " batch"]


def _usual_lanes() -> int:
    # XLA:CPU gives larger arrays to several threads, which at a few microseconds a step is slower than one.
    return 128 if jax.default_backend() == "cpu" else 8192


def _search(rules: Rules, roots: _Roots, lanes: int, moves: int) -> UInt32[Array, "batch 5"]:
    """Move, value and counts for each root: lanes that are done take the next root."""
    count = len(roots.word)
    table = jnp.stack(roots.words, axis=1)

    def more(carry):
        state, first, _ = carry
        return (first < count) | jnp.any(state.level >= 0)

    def some_steps(carry):
        state, first, found = carry
        found = _noted(state, found)
        idle = state.level < 0
        job = first - 1 + jnp.cumsum(idle, dtype=jnp.int32)
        state = _begin(rules, state, roots, table, job, idle & (job < count), moves)
        first = jnp.minimum(first + jnp.sum(idle, dtype=jnp.int32), count)

        def going(inner):
            return (inner[0] < STEPS) & jnp.any(inner[1].level >= 0)

        _, state = lax.while_loop(going, lambda inner: (inner[0] + 1, tick(rules, inner[1])), (jnp.int32(0), state))
        return state, first, found

    state = empty(rules.packing.words, moves, rules.levels, lanes)
    start = state, jnp.int32(0), jnp.zeros((count, 5), jnp.uint32)
    state, _, found = lax.while_loop(more, some_steps, start)
    return _noted(state, found)


def _begin(rules: Rules, state: Lanes, roots: _Roots, table: Array, job: Array, begins: Array, moves: int) -> Lanes:
    """New roots for lanes that are done."""
    count = len(roots.word)
    at = jnp.clip(job, 0, count - 1)
    lanes = len(job)
    flags = jnp.full(lanes, OWN | RAISED | 1 << TURN, jnp.uint32)
    highest = rules.most - 1 if rules.prune else jnp.inf
    words = [table[at, place] for place in range(table.shape[1])]
    left = tuple(words[-moves:])
    node = Node(
        words[:-moves],
        flags,
        jnp.where(sets.is_empty(left), jnp.uint32(NO_MOVE), jnp.uint32(0)) | jnp.uint32(NO_MOVE << 16),
        jnp.full(lanes, -rules.most, jnp.float32),
        jnp.full(lanes, highest, jnp.float32),
    )
    zero = jnp.zeros(lanes, jnp.uint32)
    new = Lanes(
        node,
        jnp.zeros(lanes, jnp.int32),
        state.stack,
        at,
        roots.horizon[at],
        roots.base[at],
        left,
        roots.word[at],
        zero,
        jnp.full(lanes, -rules.most, jnp.float32),
        zero,
        zero,
        zero,
    )
    # No move made a cut yet: what a search finds depends on its own position only.
    rows = state.stack.reshape(-1, lanes, state.stack.shape[1])
    order = jnp.where(begins, jnp.uint32(NO_MOVE << 16), rows[:, :, rules.packing.words + 1])
    stack = rows.at[:, :, rules.packing.words + 1].set(order).reshape(state.stack.shape)
    new, state = new._replace(stack=zero), state._replace(stack=zero, job=jnp.where(state.level < 0, -1, state.job))
    return jax.tree.map(lambda x, y: jnp.where(begins, x, y), new, state)._replace(stack=stack)


def _noted(state: Lanes, found: UInt32[Array, "batch 5"]) -> UInt32[Array, "batch 5"]:
    """What was found, with the results of lanes that are done."""
    value = lax.bitcast_convert_type(state.value, jnp.uint32)
    rows = jnp.stack([state.move, value, state.nodes, state.alpha_cuts, state.beta_cuts], axis=1)
    done = (state.level < 0) & (state.job >= 0)
    return found.at[jnp.where(done, state.job, len(found))].set(rows, mode="drop", unique_indices=True)
