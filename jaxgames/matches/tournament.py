"""A round robin: every player against every other one, in matches with paired dice and swapped sides."""

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.envs.core import Game
from jaxgames.matches.game_log import GameLog
from jaxgames.matches.intervals import Z95
from jaxgames.matches.match import MatchResult, PairedGames, match
from jaxgames.ops import checks
from jaxgames.ops.pytrees import num_rows, take
from jaxgames.players import Player, as_players, generic
from jaxgames.players.host import take_forfeits
from jaxgames.runs.files import JsonLines
from jaxgames.runs.folder import Folder
from jaxgames.sessions.record import GameRecord

Pair = tuple[int, int]
TIMED = 64
"""Positions in which players choose at once when they are timed."""
_REPEATS = 3
SCALE = 400 / math.log(10)
"""Elo points of one unit of the natural logarithm of the odds."""
PRIOR = 1.0
"""Virtual draws of each player."""
_STEPS = 100


class Rating(NamedTuple):
    """A player's Elo, relative to the mean of all players, with its 95 % interval."""

    player: str
    elo: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self._asdict()


@dataclasses.dataclass(frozen=True)
class TournamentResult:
    """The matches of all pairs of players, `a` being the one with the lower number, and each player's time per move.

    `milliseconds` is the time of one move when 64 positions are searched at once (players in plain Python: one).
    """

    game: str
    players: tuple[str, ...]
    games: int
    seed: int
    max_reward: int
    matches: Mapping[Pair, MatchResult]
    milliseconds: tuple[float, ...]

    def table(self, low: str = "ppg", high: str | None = None) -> np.ndarray:
        """Points per game of each row against each column, NaN on the diagonal; or another field of the matches.

        `low` is the field for the first player of a match; `high`, with the sign changed, for the second one.
        """
        table = np.full((len(self.players),) * 2, np.nan)
        for (a, b), result in self.matches.items():
            table[a, b], table[b, a] = getattr(result, low), -getattr(result, high or low)
        return table

    @property
    def margins(self) -> np.ndarray:
        """How far the 95 % intervals of `table()` go from it, to the side where they go farther."""
        ends, points = (self.table("ppg_high", "ppg_low"), self.table("ppg_low", "ppg_high")), self.table()
        return np.maximum(ends[0] - points, points - ends[1])

    @property
    def wins(self) -> np.ndarray:
        """Games won by each row against each column, drawn and stopped ones counted as half."""
        wins = np.zeros((len(self.players),) * 2)
        for (a, b), result in self.matches.items():
            won = round(result.games * (1 + result.win_rate - result.loss_rate)) / 2  # rates are rounded numbers
            wins[a, b], wins[b, a] = won, result.games - won
        return wins

    @property
    def ratings(self) -> list[Rating]:
        """Of all players, in their order."""
        return bradley_terry(self.players, self.wins)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        ratings = [
            rating.to_dict() | {"milliseconds": time_}
            for rating, time_ in zip(self.ratings, self.milliseconds, strict=True)
        ]
        matches = [result.to_dict() for result in self.matches.values()]
        fields = {"game": self.game, "players": list(self.players), "games": self.games, "seed": self.seed}
        return fields | {"ratings": ratings, "matches": matches}


class TournamentFolder(Folder):
    """The folder of a tournament; its header holds the arguments, `results` is a file of lines."""

    HEADER = "tournament.json"
    KIND = "a tournament"
    EXPECTED = "a folder of `jaxgames tournament --out`"
    RESTORE = "restore the file or begin in another folder"
    ANOTHER = "go on there with --resume, or choose another folder"

    @property
    def results(self) -> JsonLines:
        """A file of lines."""
        return JsonLines(self.path / "results.jsonl", synced=True)


def tournament(
    players: Sequence[Player | str],
    games: int = 1000,
    seed: int = 0,
    batch: int = 512,
    known: Mapping[Pair, MatchResult] | None = None,
    finished: Callable[[Pair, MatchResult, list[GameRecord]], None] | None = None,
    progress: Callable[[Pair, int], None] | None = None,
    record: bool = False,
    game: Game | str | None = None,
) -> TournamentResult:
    """Plays all pairs, `games` games each.

    Players of one kind share compiled programs, whatever their parameters. Each pair has its own dice.

    Args:
        players: two or more of one game, or their names.
        games: how many each pair plays; an odd number is rounded up.
        seed: of all random numbers; with the players it decides the results.
        batch: games played at once.
        known: results of an earlier run with the same arguments; these matches are not played again.
        finished: is called with each result when its match is over, with records of the games if `record`.
        progress: is called now and then with the pair and the number of its games that are over.
        record: whether the games are recorded, for `finished`.
        game: the game, or its name, if all players are names.

    Raises `ValueError` for fewer than two players, two of one name, and as `match` does.
    """
    if record and finished is None:
        raise ValueError("record=True needs finished, which gets the records: pass it, or leave record out")
    if len(players) < 2:
        raise ValueError(f"a tournament of {len(players)} players: expected 2 or more")
    games, seed = checks.whole("games", games, None), checks.seed(seed)
    players = as_players(*players, game=game)
    names = tuple(player.name for player in players)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"player {name} is there {names.count(name)} times; expected different ones")
    matches = dict(known or {})
    # The kind that comes first stays first: otherwise every two kinds would need two programs.
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(map(_kind, players)))}
    for number, pair in enumerate(combinations(range(len(players)), 2)):
        if pair in matches:
            continue
        swapped = kinds[_kind(players[pair[0]])] > kinds[_kind(players[pair[1]])]
        a, b = (players[i] for i in (pair[::-1] if swapped else pair))
        log = GameLog(a, b) if record else None
        report = None if progress is None else lambda done, pair=pair: progress(pair, done)
        pair_seed = (seed + 1_000_003 * number) % 2**32
        result = match(a, b, games, pair_seed, batch, progress=report, trace=log.add if log else None)
        matches[pair] = swap(result) if swapped else result
        if finished is not None:
            finished(pair, matches[pair], log.records() if log else [])
    matches = dict(sorted(matches.items()))
    times = _times_per_move(players, seed)
    played = players[0].game
    return TournamentResult(played.id, names, games + games % 2, seed, played.max_reward, matches, times)


def bradley_terry(players: Sequence[str], wins: np.ndarray, prior: float = PRIOR) -> list[Rating]:
    """The maximum likelihood ratings, in the order of the players: Bradley-Terry (1952), on the Elo scale.

    Player i beats player j with probability 1 / (1 + 10^((r_j - r_i) / 400)); a draw counts as half a win for both. One
    virtual draw of each player against an average player keeps ratings finite if somebody won or lost every game.

    `wins[i, j]` are the games that i won against j, plus half of the drawn ones. The intervals are normal, from the
    Fisher information; all games count as independent. Raises `ValueError` for numbers that make no sense.
    """
    wins = np.asarray(wins, float)
    number = len(players)
    if wins.shape != (number, number) or not np.isfinite(wins).all() or (wins < 0).any() or np.diagonal(wins).any():
        raise ValueError(f"wins of {number} players: expected {number} x {number} numbers from 0 up, 0 against oneself")
    games, strength = wins + wins.T, np.zeros(number)
    for _ in range(_STEPS):
        odds = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        average = 1 / (1 + np.exp(-strength))
        gradient = (wins - games * odds).sum(axis=1) + prior * (0.5 - average)
        spread = games * odds * (1 - odds)
        information = np.diag(spread.sum(axis=1) + prior * average * (1 - average)) - spread
        step = np.linalg.solve(information, gradient)
        strength += step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-12))  # far steps of Newton's may overshoot
        if np.abs(step).max() < 1e-10:
            break
    centre = np.eye(number) - 1 / number
    error = np.sqrt(np.diagonal(centre @ np.linalg.inv(information) @ centre))
    elo, margin = SCALE * (strength - strength.mean()), SCALE * Z95 * error
    return [
        Rating(*row)
        for row in zip(players, elo.tolist(), (elo - margin).tolist(), (elo + margin).tolist(), strict=True)
    ]


def swap(result: MatchResult) -> MatchResult:
    """The same match seen by the other player."""
    fields: dict[str, Any] = {
        "a": result.b,
        "b": result.a,
        "ppg": -result.ppg,
        "ppg_low": -result.ppg_high,
        "ppg_high": -result.ppg_low,
    }
    for kind in ("", "gammon_", "backgammon_"):
        won, lost = f"{kind}win_rate" if not kind else f"{kind}rate", f"{kind}loss_rate"
        fields |= {won: getattr(result, lost), lost: getattr(result, won)}
    return dataclasses.replace(result, **fields)


def time_per_move(player: Player, positions: Any) -> float:
    """Seconds of one move when the player chooses in all these positions at once, the best of three; after compiling.

    A player in plain Python is asked about the first position only.
    """
    if player.on_host:
        positions = take(positions, slice(1))
    count = num_rows(positions)
    bits = jax.random.bits(jax.random.key(1), (count,), jnp.uint32)
    choose = Player.play_once if player.on_host else _play_once
    seconds = []
    for _ in range(1 + _REPEATS):
        started = time.perf_counter()
        jax.block_until_ready(choose(player, positions, bits))
        seconds.append(time.perf_counter() - started)
    take_forfeits(player)  # these belong to no game that is reported
    return min(seconds[1:]) / count


def sample_positions(game: Game, seed: int = 0, count: int = TIMED) -> Any:
    """Positions from the middle of random games; openings if all games are over by then."""
    random = generic.random(game)
    games = PairedGames(random, random, 100 * count, seed, slots=4 * count)
    games.play()
    slots = jax.device_get(games.state.slots)
    ready = np.flatnonzero(slots.playing)
    if not len(ready):  # on a tiny board all games end at the same ply
        return jax.jit(jax.vmap(game.init_position))(jax.random.split(jax.random.key(seed), count))
    return take(slots.position, ready[np.arange(count) % len(ready)])


def _times_per_move(players: Sequence[Player], seed: int) -> tuple[float, ...]:
    positions = sample_positions(players[0].game, seed)
    return tuple(1000 * time_per_move(player, positions) for player in players)


def _kind(player: Player) -> Any:
    """What is equal for players that share compiled programs."""
    shapes = tuple((np.shape(leaf), str(np.asarray(leaf).dtype)) for leaf in jax.tree.leaves(player.params))
    return player.turn, jax.tree.structure(player.params), shapes


_play_once = jax.jit(Player.play_once)
