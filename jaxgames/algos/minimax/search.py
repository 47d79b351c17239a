"""Searches to a fixed depth, of many positions at once."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.minimax import moves as sets
from jaxgames.algos.minimax.jobs import Roots, search_all
from jaxgames.algos.minimax.node import MOST_MOVES, MOST_TURNS
from jaxgames.algos.minimax.packing import Packing
from jaxgames.algos.minimax.tick import Rules
from jaxgames.envs import bits
from jaxgames.envs.core import Game, Value
from jaxgames.envs.turns import single_actions
from jaxgames.envs.words import stream

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
        roots = Roots(
            jnp.stack(packing.pack(positions), axis=1),
            jnp.where(alone, 1, self.depth).astype(jnp.uint32),
            value(positions) if evaluate is None else jnp.zeros(count, jnp.float32),
            _in_order(legal, words if self.ties == "random" else None),
            sets.count(legal).astype(jnp.uint32),
        )
        levels = self.depth if single_actions(game) else self.depth + EXTRA_LEVELS
        rules = Rules(game, packing, value, self.prune, levels)
        found = search_all(rules, roots, self.lanes or _usual_lanes(count))
        rank = jnp.minimum(found.rank, roots.moves.shape[1] - 1).astype(jnp.int32)
        move = jnp.take_along_axis(roots.moves, rank[:, None], axis=1)[:, 0]
        action = jax.vmap(game.action_of_move)(positions, jnp.minimum(move, 32 * len(legal) - 1))
        worth = jnp.where(ended, 0.0, found.value) + 0.0
        return Result(jnp.where(ended, -1, action), worth, *found[2:])


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


def _usual_lanes(count: int) -> int:
    # XLA:CPU gives larger arrays to several threads, which at a few microseconds a step is slower than one.
    most, least = (128, 16) if jax.default_backend() == "cpu" else (8192, 128)
    return min(most, max(least, count))


def _in_order(legal: sets.Moves, words: UInt32[Array, " batch"] | None) -> UInt32[Array, "batch moves"]:
    """The numbers of the legal moves, ascending, or in an order drawn by each word; the others come last."""
    number = jnp.arange(32 * len(legal), dtype=jnp.uint32)
    allowed = jnp.concatenate([bits.has(word[:, None], number[None, :32]) for word in legal], axis=1)
    keys = jnp.broadcast_to(number, allowed.shape)
    if words is not None:
        bits_of_number = (32 * len(legal) - 1).bit_length()
        random = stream(words[:, None], number[None]) >> (bits_of_number + 1)
        keys = (random << bits_of_number) | number
    keys = jnp.sort(jnp.where(allowed, keys, jnp.uint32(0xFFFFFFFF)), axis=1)
    return keys if words is None else keys & ((1 << (32 * len(legal) - 1).bit_length()) - 1)
