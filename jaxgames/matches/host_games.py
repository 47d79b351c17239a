"""The games of a match in which a player runs as plain Python: the same loop as in `match`, outside of `jit`.

Openings, dice and random bits are those of `match`: two compiled players play the same games here, only slower.
"""

import collections
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, Key, UInt32

from jaxgames.envs.core import Game, Outcome
from jaxgames.ops.pytrees import select, take
from jaxgames.players import Player
from jaxgames.players.host import compile_for, take_forfeits

MOST_PAIRS = 32
"""Games played at once: enough to give compiled players batches, few enough to see progress."""
MOST_REASONS = 20
"""How many reasons of forfeits are listed, the most common ones; all others are counted as one."""


class HostGames(NamedTuple):
    """Points of `a`, plies, and whether stopped, each [pairs, 2] (begun by a, by b); the seconds it took, without
    `compile_seconds`.

    `forfeits` says why games were lost by an exception or an illegal action, and how many.
    """

    points: np.ndarray
    plies: np.ndarray
    stopped: np.ndarray
    seconds: float
    forfeits: Mapping[str, int]
    compile_seconds: float


def play(
    a: Player,
    b: Player,
    pairs: int,
    key: Key[Array, ""],
    most_plies: int,
    batch: int,
    progress: Callable[[int], None] | None,
    trace: Callable[..., None] | None = None,
) -> HostGames:
    """Plays `pairs` pairs of games, as `match` does, at most `batch` games at once.

    A game is stopped after `most_plies`, and at its own `step_limit`.
    `trace` is given the fields of `TracedTurns` for the turns of a player in a ply.
    """
    for player in (a, b):
        take_forfeits(player)
    size = min(max(1, batch // 2), MOST_PAIRS, pairs)
    most_plies = within_limit(a.game, most_plies)
    began = time.perf_counter()
    _Pairs(a, b, key, np.arange(size, dtype=np.int32), pairs, most_plies).compile()
    started, parts = time.perf_counter(), []
    for first in range(0, pairs, size):
        games = _Pairs(a, b, key, first + np.arange(size, dtype=np.int32), pairs, most_plies, trace)
        while games.playing.any():
            games.play_ply()
        parts.append([x.reshape(2, size).T for x in (games.points, games.plies, games.stopped)])
        if progress is not None:
            progress(2 * min(first + size, pairs))
    points, plies, stopped = (np.concatenate(columns)[:pairs] for columns in zip(*parts, strict=True))
    forfeits = collections.Counter([*take_forfeits(a), *take_forfeits(b)])
    told = dict(forfeits.most_common(MOST_REASONS))
    if rest := forfeits.total() - sum(told.values()):
        told["other reasons"] = rest
    return HostGames(points, plies, stopped, time.perf_counter() - started, told, started - began)


class _Pairs:
    """Some pairs of games, in two halves: first those that a begins. Slots with numbers from `pairs` on are empty."""

    def __init__(
        self, a: Player, b: Player, key: Array, numbers: np.ndarray, pairs: int, most_plies: int, trace: Any = None
    ):
        self.trace, self.a_begins = trace, np.arange(2 * len(numbers)) < len(numbers)
        self.a, self.b, self.game, self.key, self.most_plies = a, b, a.game, key, most_plies
        self.pair = np.tile(numbers, 2)
        self.positions = jax.tree.map(np.array, _openings(self.game, key, self.pair))  # copies, to be written to
        self.a_moves = np.arange(len(self.pair)) < len(numbers)
        self.playing = self.pair < pairs
        self.points, self.plies = np.zeros(len(self.pair)), np.zeros(len(self.pair), np.int32)
        self.stopped = np.zeros(len(self.pair), bool)
        self.memory = [jax.tree.map(np.array, player.begin(jnp.asarray(self.pair))) for player in (a, b)]

    def compile(self) -> None:
        """Compiles what plays; players are not asked."""
        bits = np.asarray(_bits(self.key, self.pair, self.plies + 1))
        places = np.arange(len(self.pair))
        positions, over = take(self.positions, places), np.zeros(len(places), bool)
        for player, memory in zip((self.a, self.b), self.memory, strict=True):
            if player.on_host:
                compile_for(player, take(positions, 0))
            else:
                _turn.lower(player, positions, bits[places, 0], take(memory, places)).compile()
        if self.game.outcome_probabilities:
            _chance.lower(self.game, positions, over, bits[places, 1]).compile()

    def play_ply(self) -> None:
        """Plays one turn in each game."""
        bits = np.asarray(_bits(self.key, self.pair, self.plies + 1))
        mine = [np.flatnonzero(self.playing & moves) for moves in (self.a_moves, ~self.a_moves)]
        for player, rows, memory in zip((self.a, self.b), mine, self.memory, strict=True):
            if len(rows):
                self._play_turns(player, rows, bits, memory)

    def _play_turns(self, player: Player, rows: np.ndarray, bits: np.ndarray, memory: Any) -> None:
        number = np.ones(len(rows), np.int32)  # of actions
        places = np.resize(rows, len(self.pair))  # one size, so that what is compiled is compiled once
        if player.on_host:
            outcome = player.turn(player.params, take(self.positions, rows), bits[rows, 0])
            if self.game.step_limit is not None:
                outcome, number = self._cut(rows, jax.tree.map(np.array, outcome))
            outcome = take(jax.tree.map(np.asarray, outcome), np.resize(np.arange(len(rows)), len(places)))
        else:
            outcome, after = _turn(player, take(self.positions, places), bits[places, 0], take(memory, places))
            jax.tree.map(lambda x, new: x.__setitem__(rows, np.asarray(new)[: len(rows)]), memory, after)
        position = _after_chance(self.game, outcome, bits[places, 1])
        position, passes, over, reward = (
            jax.tree.map(lambda x: np.asarray(x)[: len(rows)], x) for x in (position, *outcome[1:])
        )
        if self.trace is not None:
            target = jax.tree.map(lambda x: np.asarray(x)[: len(rows)], outcome.position)
            whose = (self.pair[rows], self.a_begins[rows], self.a_moves[rows])
            self.trace(take(self.positions, rows), target, *whose, np.ones(len(rows), bool), over, reward)
        jax.tree.map(lambda all_rows, new: all_rows.__setitem__(rows, new), self.positions, position)
        self.plies[rows] += number
        self.points[rows] = np.where(over, np.where(self.a_moves[rows], reward, -reward), 0)
        self.stopped[rows] = ~over & (self.plies[rows] >= self.most_plies)
        self.playing[rows] = ~over & ~self.stopped[rows]
        self.a_moves[rows] ^= passes

    def _cut(self, rows: np.ndarray, outcome: Outcome) -> tuple[Outcome, np.ndarray]:
        """Turns of several actions, cut at the game's own limit of actions; and how many actions each has.

        `outcome` holds arrays that are written to.
        """
        number = np.ones(len(rows), np.int32)
        for row, place in enumerate(rows):
            before, target = take(self.positions, place), take(outcome.position, row)
            if all(map(np.array_equal, jax.tree.leaves(before), jax.tree.leaves(target))):
                continue  # a forfeit
            actions = self.game.turn_to(jax.device_get(self.game.state(before)), target)
            number[row] = min(len(actions), self.most_plies - self.plies[place])
            if number[row] < len(actions):
                for action in actions[: number[row]]:
                    before = _play(self.game, before, np.int32(action))
                going_on: tuple[Any, ...] = np.bool_(False), np.bool_(False), np.float32(0)
                cut = Outcome(before, *going_on)
                jax.tree.map(lambda x, new, row=row: x.__setitem__(row, new), outcome, cut)
        return outcome, number


def within_limit(game: Game, most_plies: int) -> int:
    """After how many plies a game is stopped: at its own limit, if that comes before."""
    return most_plies if game.step_limit is None else min(most_plies, game.step_limit)


@partial(jax.jit, static_argnums=0)
def _play(game: Game, position: Any, action: Int32[Array, ""]) -> Any:
    return game.play(position, action).position


@jax.jit
def _turn(player: Player, positions: Any, bits: UInt32[Array, " n"], memory: Any) -> tuple[Outcome, Any]:
    return player.play(positions, bits, memory)


@jax.jit
def _bits(key: Key[Array, ""], pair: Int32[Array, " n"], ply: Int32[Array, " n"]) -> UInt32[Array, "n 2"]:
    return jax.vmap(lambda *game: jax.random.bits(game_key(key, *game), (2,), jnp.uint32))(pair, ply)


@partial(jax.jit, static_argnums=0)
def _openings(game: Game, key: Key[Array, ""], pair: Int32[Array, " n"]) -> Any:
    return jax.vmap(lambda number: game.init_position(game_key(key, number, jnp.int32(0))))(pair)


def _after_chance(game: Game, outcome: Outcome, bits: np.ndarray) -> Any:
    """The positions after chance; those of games that are over stay."""
    return _chance(game, outcome.position, outcome.over, bits) if game.outcome_probabilities else outcome.position


@partial(jax.jit, static_argnums=0)
def _chance(game: Game, position: Any, over: Array, bits: UInt32[Array, " n"]) -> Any:
    return select(over, position, jax.vmap(game.chance)(position, game.draw_outcome(bits)))


def game_key(key: Key[Array, ""], pair: Int32[Array, ""], number: Int32[Array, ""]) -> Key[Array, ""]:
    """The key of both games of a pair for their opening (number 0) or a ply (from 1)."""
    return jax.random.fold_in(jax.random.fold_in(key, pair), number)
