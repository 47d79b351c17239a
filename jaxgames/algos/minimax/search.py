"""Searches to a fixed depth, of many positions at once."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.minimax import moves as sets
from jaxgames.algos.minimax.jobs import Found, Roots, search_all
from jaxgames.algos.minimax.step import LIMIT, MOST_MOVES, WIN, Packing, Problem
from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game, Value
from jaxgames.envs.turns.expand import single_actions
from jaxgames.ops import bits, checks, clock
from jaxgames.ops.random_bits import fold_in
from jaxgames.ops.settings import Settings, setting

MOST_DEPTH = 500
"""The greatest depth: with more turns a late win could be worth less than an evaluation."""

EXTRA_LEVELS = 24
"""How many more levels than turns there are, if a turn may be several actions. A longer line is evaluated there."""


class Result(NamedTuple):
    """What a search found."""

    actions: Int32[Array, " batch"]  # the best one; -1 where the game is over
    # the value to the player to act; 0 if the game is over. (`result` reads them.)
    values: Float32[Array, " batch"]
    nodes: UInt32[Array, " batch"]  # how many were visited, without the root
    alpha_cuts: UInt32[Array, " batch"]  # how often branches were cut off with the root's opponent to act
    beta_cuts: UInt32[Array, " batch"]  # the same with the root's player to act


def result(values: Float32[Array, "..."]) -> tuple[Float32[Array, "..."], Int32[Array, "..."]]:
    """The points that the player to act wins by force, and after how many turns; 0 and 0 if nothing is decided.

    The turns of both players count, the first one as 1.
    """
    size = jnp.abs(values)
    points = jnp.where(size > LIMIT, jnp.ceil(size / WIN), 0.0)
    return jnp.sign(values) * points, (points * WIN - jnp.where(points > 0, size, 0.0)).astype(jnp.int32)


@dataclasses.dataclass(frozen=True)
class Search(Settings):
    """A search to a fixed depth, called with a batch of positions of a game without chance.

    With a time budget it searches depths 1, 2, 3, ... up to `depth` until the time is over. The result is that of the
    last depth that was finished in all positions. Outside of `jit`, each call is compiled anew.

    Raises `TypeError` or `ValueError` for settings out of range, and for a game with chance.
    """

    of: ClassVar[str] = "a search to a fixed depth"
    game: Game
    depth: int = setting(
        dataclasses.MISSING, "how many turns deep; a turn of several actions counts as one", low=1, high=MOST_DEPTH
    )
    prune: bool = setting(True, "whether it is alpha-beta; else minimax")
    ties: str = setting(
        "first",
        "which of equally good actions is played: the first in the order of the game's moves, or a random one",
        choices=("first", "random"),
    )
    forced: bool = setting(
        True, "whether a position with one legal move is answered at once, with its value of depth 1"
    )
    table: int = setting(
        0, "entries of each lane's transposition table, a power of 2; 0: no table", low=0, when={"prune": True}
    )
    lanes: int | None = setting(None, "how many searches go on at once; by default as many as suit the device", low=1)
    seconds: float | None = setting(None, "how long the whole batch may take, without compiling", above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if a_game(self.game).outcome_probabilities:
            raise ValueError(f"{self.game.id} has chance: minimax and alpha-beta search games without")
        if self.table & (self.table - 1):
            raise ValueError(f"table {self.table}: expected a power of 2, or 0")

    def __call__(
        self,
        positions: Any,
        random: UInt32[Array, " batch"],
        evaluate: Value | None = None,
        over: Bool[Array, " batch"] | None = None,
    ) -> Result:
        """Searches positions.

        Args:
          positions: a batch of them.
          random: random bits for each, which decide between equally good actions.
          evaluate: what positions at the horizon are worth to the player to act, float32[n]; by default the change of
            `game.material` since the root. Evaluations count as at most `LIMIT` and at least -`LIMIT`, and NaN as the
            worst for the player who moves there.
          over: positions that are not searched.

        Raises `ValueError` if the evaluation gives anything else, and for a batch of 0.
        """
        game, packing = self.game, Packing(self.game)
        value = jax.vmap(game.material) if evaluate is None else evaluate
        count = len(jax.tree.leaves(positions)[0])
        if count == 0:
            raise ValueError("positions: a batch of 0: expected one position or more")
        _check_value(value, positions, count)
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
            _in_order(legal, random if self.ties == "random" else None),
            sets.count(legal).astype(jnp.uint32),
        )
        levels = self.depth if single_actions(game) else self.depth + EXTRA_LEVELS
        problem = Problem(game, packing, value, self.prune, levels, self.table)
        lanes = self.lanes or _usual_lanes(count)
        if self.seconds is None:
            results, _ = search_all(problem, roots, lanes)
        else:
            results = self._deepen(problem, roots, lanes, alone)
        rank = jnp.minimum(results.rank, roots.moves.shape[1] - 1).astype(jnp.int32)
        move = jnp.take_along_axis(roots.moves, rank[:, None], axis=1)[:, 0]
        action = jax.vmap(game.action_of_move)(positions, jnp.minimum(move, 32 * len(legal) - 1))
        worth = jnp.where(ended | (results.value == 0), 0.0, results.value)  # no -0
        return Result(jnp.where(ended, -1, action), worth, *results[2:])

    def _deepen(self, problem: Problem, roots: Roots, lanes: int, alone: Bool[Array, " batch"]) -> Found:
        """Searches deeper and deeper until the time is over, or everything is decided."""
        start, budget = clock.microseconds(roots.number), jnp.float32(1e6 * (self.seconds or 0))

        def stop(after: Array) -> Bool[Array, ""]:
            return (clock.microseconds(after) - start).astype(jnp.float32) >= budget

        def one(carry):
            depth, _, old = carry
            deeper = roots._replace(horizon=jnp.where(alone, 1, depth))
            new, is_done = search_all(problem, deeper, lanes, lambda after: (depth > 1) & stop(after))
            results = jax.tree.map(lambda x, y: jnp.where(is_done, x, y), new, old)
            return depth + 1, is_done, results

        def more(carry):
            depth, is_done, results = carry
            is_open = (jnp.abs(results.value) <= LIMIT) & (roots.number > 1)
            return is_done & (depth <= self.depth) & ((depth == 1) | jnp.any(is_open))

        zeros = jnp.zeros_like(roots.number)
        first = 1 + ((start | 1) == 0).astype(jnp.uint32)  # 1, and not known before the clock was read
        begin = (first, jnp.bool_(True), Found(jnp.zeros_like(roots.value), zeros, zeros, zeros, zeros))
        return lax.while_loop(more, one, begin)[2]


def _check_value(value: Value, positions: Any, count: int) -> None:
    """Raises `ValueError` unless the evaluation gives one number for each position."""
    values = jax.eval_shape(value, positions)
    if not hasattr(values, "shape") or values.shape != (count,) or values.dtype != jnp.float32:
        got = f"{values.dtype}{list(values.shape)}" if hasattr(values, "shape") else type(values).__name__
        raise ValueError(f"the evaluation of {count} positions gives {got}: expected float32[{count}]")


def _usual_lanes(count: int) -> int:
    """How many lanes suit the device, for so many positions; a few positions share more lanes than that."""
    # XLA:CPU gives larger arrays to several threads, which at a few microseconds a step is slower than one.
    most, each = (128, 8) if jax.default_backend() == "cpu" else (8192, 32)
    return min(most, each * count)


def _in_order(legal: sets.Moves, random: UInt32[Array, " batch"] | None) -> UInt32[Array, "batch moves"]:
    """The numbers of the legal moves, ascending or in an order drawn by random bits. What follows them is no move."""
    size = 32 * len(legal)
    number, width = jnp.arange(size, dtype=jnp.uint32), (size - 1).bit_length()
    allowed = jnp.concatenate([bits.has(word[:, None], number[None, :32]) for word in legal], axis=1)
    keys = number[None]
    if random is not None:
        keys |= fold_in(random[:, None], number[None]) >> (width + 1) << width  # one bit is left to mark non-moves
    keys = jnp.sort(jnp.where(allowed, keys, jnp.uint32(0xFFFFFFFF)), axis=1)
    return keys & jnp.uint32((1 << width) - 1)


def network(game: Game, apply: Callable[[Any, Array], Array], params: Any) -> Value:
    """The evaluation by a network `apply(params, observations)`, which gives one number for each observation.

    Observations are float32, of the player to act, whose expected points the numbers are. Raises `ValueError` if the
    network is of another shape.
    """
    a_game(game)
    checks.function("apply", apply, "(params, observations) -> values")

    def value(positions: Any) -> Float32[Array, " n"]:
        observed = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions).astype(
            jnp.float32
        )
        try:
            values = apply(params, observed)
        except (TypeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            wanted = f"observations float32{list(observed.shape)} of {game.id}"
            raise ValueError(f"the network does not take {wanted}: {reason}") from error
        shape = getattr(values, "shape", None)
        if shape is None or shape[:1] != (len(observed),) or math.prod(shape) != len(observed):
            got = type(values).__name__ if shape is None else list(shape)
            raise ValueError(f"the network gives {got} for {len(observed)} positions: expected one number for each")
        return values.reshape(len(observed)).astype(jnp.float32)

    return value
