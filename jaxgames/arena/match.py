"""A match of two players: points per game, from pairs of games with the same dice and swapped sides."""

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.arena.lanes import empty_table, play_on
from jaxgames.players import Player

MOST_PLIES = 10_000
_Z95 = 1.959964  # 97.5 % quantile of the normal distribution


@dataclasses.dataclass(frozen=True)
class MatchResult:
    """What a match of `a` against `b` came to, seen by `a`.

    `ppg` are points per game, `ppg_low` to `ppg_high` their 95 % interval: normal, from the means of the pairs. Rates
    are fractions of all games; as usual in backgammon, gammons include backgammons. `stopped` games had too many plies:
    they count as games of no points. `seconds` does not contain the compilation, `max_reward` is the most points that a
    game is worth.
    """

    game: str
    a: str
    b: str
    seed: int
    games: int
    ppg: float
    ppg_low: float
    ppg_high: float
    win_rate: float
    gammon_rate: float
    backgammon_rate: float
    loss_rate: float
    gammon_loss_rate: float
    backgammon_loss_rate: float
    draw_rate: float
    stopped: int
    plies_per_game: float
    seconds: float
    games_per_second: float
    max_reward: int

    @property
    def score(self) -> float:
        """In games of single points: won games, and half of the drawn ones, as a fraction of all."""
        return (1 + self.ppg) / 2

    @property
    def score_low(self) -> float:
        """The lower end of the score's 95 % interval."""
        return max(0.0, (1 + self.ppg_low) / 2)

    @property
    def score_high(self) -> float:
        """The upper end of the score's 95 % interval."""
        return min(1.0, (1 + self.ppg_high) / 2)

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return dataclasses.asdict(self)


def match(
    a: Player,
    b: Player,
    games: int,
    seed: int = 0,
    batch: int = 512,
    most_plies: int = MOST_PLIES,
    progress: Callable[[int], None] | None = None,
) -> MatchResult:
    """Plays `games` games of `a` against `b`; an odd number is rounded up, since games are played in pairs.

    The two games of a pair have the same opening and the same dice at every ply; `a` begins one of them, `b` the other.
    The result depends on `seed` only, not on `batch`, the number of games played at once; matches with the same `batch`
    and the same kinds of players share a compiled program. `progress` is told now and then how many games are over. A
    game is stopped after `most_plies` plies, and then worth nothing.

    Raises `ValueError` for less than one game, and for players of different games.
    """
    if games < 1:
        raise ValueError(f"cannot play {games} games; expected 1 or more")
    if batch < 1 or most_plies < 1:
        raise ValueError(f"batch {batch} and most_plies {most_plies}: expected at least 1")
    if a.game != b.game:
        raise ValueError(f"{a.name} plays {a.game.id}, {b.name} plays {b.game.id}; expected two players of one game")
    pairs = (games + 1) // 2
    lanes = min(batch + batch % 2, 1 << (2 * pairs - 1).bit_length())  # few numbers of lanes, so few compilations
    points, plies, stopped, seconds = _play(a, b, pairs, seed, lanes, most_plies, progress)
    low, high = _interval(points.mean(axis=1), a.game.max_reward)
    return MatchResult(
        game=a.game.id,
        a=a.name,
        b=b.name,
        seed=seed,
        games=2 * pairs,
        ppg=float(points.mean()),
        ppg_low=low,
        ppg_high=high,
        win_rate=float((points > 0).mean()),
        gammon_rate=float((points > 1).mean()),
        backgammon_rate=float((points > 2).mean()),
        loss_rate=float((points < 0).mean()),
        gammon_loss_rate=float((points < -1).mean()),
        backgammon_loss_rate=float((points < -2).mean()),
        draw_rate=float(((points == 0) & ~stopped).mean()),
        stopped=int(stopped.sum()),
        plies_per_game=float(plies.mean()),
        seconds=seconds,
        games_per_second=2 * pairs / seconds,
        max_reward=a.game.max_reward,
    )


def _play(a, b, pairs, seed, lanes, most_plies, progress):
    """Points of `a`, plies, and whether stopped, each [pairs, 2] (begun by a, by b); and the seconds it took."""
    key, table = jax.random.key(seed), empty_table(a.game, lanes)
    players, limit = (a, b), jnp.int32(most_plies)
    jax.block_until_ready(play_on(players, table, key, jnp.int32(0), limit))  # compiles; no pairs, so no game
    points, plies = np.zeros((pairs, 2), np.float64), np.zeros((pairs, 2), np.int64)
    stopped, done = np.zeros((pairs, 2), bool), 0
    started = time.perf_counter()
    while done < 2 * pairs:
        table, ended = play_on(players, table, key, jnp.int32(pairs), limit)
        ended = jax.device_get(ended)
        there = ended.pair >= 0
        which = ended.pair[there], 1 - ended.a_began[there].astype(int)
        points[which], plies[which], stopped[which] = ended.points[there], ended.plies[there], ended.stopped[there]
        done += int(there.sum())
        if progress is not None:
            progress(done)
    return points, plies, stopped, time.perf_counter() - started


def _interval(pair_means: np.ndarray, most: float) -> tuple[float, float]:
    """The 95 % interval of the mean of independent pairs; all that is possible, if there is only one."""
    if len(pair_means) < 2:
        return -float(most), float(most)
    margin = _Z95 * pair_means.std(ddof=1) / math.sqrt(len(pair_means))
    return float(pair_means.mean() - margin), float(pair_means.mean() + margin)
