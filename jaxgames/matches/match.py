"""A match of two players: points per game, from pairs of games with the same dice and swapped sides.

All games are played at once, in lock-step. A game sits in a *slot*; in the first half of the slots player a is to move,
in the second half player b, so each player gets only positions in which it is to move. After a ply the halves
change places. The next game takes the slot of a finished one. Every game that begins is played to its end, so short
games do not count more than long ones.
"""

import dataclasses
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.envs.core import Game
from jaxgames.matches import host_games
from jaxgames.matches.host_games import game_key
from jaxgames.matches.intervals import mean_margin
from jaxgames.ops import checks
from jaxgames.ops.pytrees import select
from jaxgames.players import Player, as_players

MOST_GAMES = 10**8  # their results take 1.7 GB
MOST_PLIES = 10_000
PLIES_PER_CALL = 32


@dataclasses.dataclass(frozen=True)
class MatchResult:
    """The result of a match of `a` against `b`, seen by `a`.

    `ppg` are points per game, `ppg_low` to `ppg_high` their 95 % interval: normal, from the means of the pairs, or by
    the rule of three where all pairs end alike (see `interval`). Rates are fractions of all games; as usual in
    backgammon, gammons include backgammons. `stopped` games had too many plies: they count as games of no points.
    `seconds` does not contain the compilation, which took `compile_seconds`;
    `max_reward` is the most points that a game is worth. `forfeits` says why players in plain Python lost games by an
    exception or an illegal action, and how many.
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
    forfeits: Mapping[str, int] = dataclasses.field(default_factory=dict)
    compile_seconds: float = 0.0

    @property
    def score(self) -> float:
        """In games worth one point: won games plus half of the drawn ones, as a fraction of all."""
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
    a: Player | str,
    b: Player | str,
    games: int,
    seed: int = 0,
    batch: int = 512,
    most_plies: int = MOST_PLIES,
    progress: Callable[[int], None] | None = None,
    trace: Callable[["TracedTurns"], None] | None = None,
    game: Game | str | None = None,
) -> MatchResult:
    """Plays `games` games of `a` against `b`.

    The two games of a pair have the same opening and the same dice at every ply; `a` begins one of them, `b` the other.
    Matches with the same `batch` and the same kinds of players share a compiled program.

    Args:
        a: a player, or its name, such as `uct:50`.
        b: another player of the same game.
        games: how many; an odd number is rounded up, since games are played in pairs.
        seed: of all random numbers; with the players it decides the result.
        batch: games played at once. The result does not depend on it.
        most_plies: a game is stopped after so many plies, or at its own `step_limit`, and is then worth nothing. A
            turn of several actions that a compiled player chooses as a whole is one ply.
        progress: is called now and then with the number of games that are over.
        trace: is called with all turns that are played; `jaxgames.matches.game_log` makes records of them.
        game: the game, or its name: needed if both players are names that do not imply a game.

    Raises `ValueError` for less than one game, and for players of different games.
    """
    games, seed = checks.whole("games", games, None), checks.seed(seed)
    batch, most_plies = checks.whole("batch", batch), checks.whole("most_plies", most_plies, high=checks.MOST)
    if not 1 <= games <= MOST_GAMES:
        raise ValueError(f"cannot play {games} games; expected 1 or more, at most {MOST_GAMES:,}")
    a, b = as_players(a, b, game=game)
    pairs = (games + 1) // 2
    forfeits: Mapping[str, int] = {}
    compile_seconds = 0.0
    if a.on_host or b.on_host:
        report = None if trace is None else lambda *turns: trace(TracedTurns(*turns))
        played = host_games.play(a, b, pairs, jax.random.key(seed), most_plies, batch, progress, report)
        points, plies, stopped, seconds, forfeits, compile_seconds = played
    else:
        slots = min(batch + batch % 2, 1 << (2 * pairs - 1).bit_length())  # few numbers of slots, so few compilations
        paired = PairedGames(a, b, pairs, seed, slots, most_plies, trace)
        compile_seconds = paired.compile()
        seconds = paired.play_all(progress)
        points, plies, stopped = paired.points, paired.plies, paired.stopped
    low, high = interval(points.mean(axis=1), a.game.max_reward)
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
        forfeits=dict(forfeits),
        compile_seconds=compile_seconds,
    )


class GameSlots(NamedTuple):
    """The games in progress, in two halves: first those in which a is to move, then those of b.

    `memory` is what each player remembers of its games. Slots that are not `playing` are empty. A game that is
    `waiting` is in the wrong half for one ply, because the same player is to move again.
    """

    position: Any
    pair: Int32[Array, " slots"]
    plies: Int32[Array, " slots"]
    a_began: Bool[Array, " slots"]
    playing: Bool[Array, " slots"]
    waiting: Bool[Array, " slots"]
    memory: tuple[Any, Any]


class MatchState(NamedTuple):
    """The games in progress, and the next pair to begin: for games that a begins, and for games that b begins."""

    slots: GameSlots
    next_pair: Int32[Array, "2"]


class FinishedGames(NamedTuple):
    """For each slot and ply the game that ended there: its pair, or -1 if none ended; the points are a's.

    `stopped` games had too many plies; they are worth nothing.
    """

    pair: Int32[Array, "..."]
    a_began: Bool[Array, "..."]
    points: Float32[Array, "..."]
    plies: Int32[Array, "..."]
    stopped: Bool[Array, "..."]


class TracedTurns(NamedTuple):
    """The turns of some plies, in their order: where each began, and where it ended before chance.

    Entries that are not `moved` are void. `a_moved` says whose turn it was; a player may have several in a row. Where
    the game is `over`, that player wins `reward`; by a forfeit if the position is still the same.
    """

    position: Any
    target: Any
    pair: Int32[Array, "..."]
    a_began: Bool[Array, "..."]
    a_moved: Bool[Array, "..."]
    moved: Bool[Array, "..."]
    over: Bool[Array, "..."]
    reward: Float32[Array, "..."]


class PairedGames:
    """The games of a match, played on from call to call; what is over is in `points`, `plies`, `stopped`, `done`.

    All of these are [pairs, 2]: first the games that `a` begins, then those of `b`; the points are those of `a`. Pairs
    begin in their order. Neither `slots` nor the other pairs change the result of a pair. A game is stopped after
    `most_plies`, and at its own `step_limit`.
    """

    def __init__(
        self,
        a: Player,
        b: Player,
        pairs: int,
        seed: int | Key[Array, ""] = 0,
        slots: int = 512,
        most_plies: int = MOST_PLIES,
        trace: Callable[[TracedTurns], None] | None = None,
    ):
        self.points, self.plies = np.zeros((pairs, 2), np.float64), np.zeros((pairs, 2), np.int64)
        self.stopped, self.done = np.zeros((pairs, 2), bool), np.zeros((pairs, 2), bool)
        self._key = jax.random.key(checks.seed(seed)) if isinstance(seed, int | np.integer) else seed
        self._players, self._trace = (a, b), trace
        self._limit = jnp.int32(host_games.within_limit(a.game, most_plies))
        self.state = _init((a, b), slots)

    def compile(self) -> float:
        """Compiles the program, so that it does not count when `play` is timed. Returns the seconds it took."""
        started = time.perf_counter()
        jax.block_until_ready(self._call(0))  # no pairs, so no game
        return time.perf_counter() - started

    def play(self) -> int:
        """Plays 32 plies of the games under way, or fewer if all end before. Returns how many games are over."""
        self.state, finished, turns = self._call(len(self.points))
        finished = jax.device_get(finished)
        there = finished.pair >= 0
        which = finished.pair[there], 1 - finished.a_began[there].astype(int)
        self.points[which], self.plies[which] = finished.points[there], finished.plies[there]
        self.stopped[which], self.done[which] = finished.stopped[there], True
        if self._trace is not None:
            self._trace(jax.device_get(turns))
        return int(self.done.sum())

    def play_all(self, progress: Callable[[int], None] | None = None) -> float:
        """Plays all games to their ends. Returns the seconds it took, without the compilation."""
        self.compile()
        started, over = time.perf_counter(), 0
        while over < self.done.size:
            over = self.play()
            if progress is not None:
                progress(over)
        return time.perf_counter() - started

    def _call(self, pairs: int) -> Any:
        return _play_plies(
            self._players, self.state, self._key, jnp.int32(pairs), self._limit, traced=self._trace is not None
        )


def _init(players: tuple[Player, Player], slots: int) -> MatchState:
    """An even number of empty slots."""
    single = jax.eval_shape(players[0].game.init_position, jax.random.key(0))
    position = jax.tree.map(lambda x: jnp.zeros((slots, *x.shape), x.dtype), single)
    number, flag = jnp.zeros(slots, jnp.int32), jnp.zeros(slots, bool)
    a, b = (player.begin(number) for player in players)
    return MatchState(GameSlots(position, number, number, flag, flag, flag, (a, b)), jnp.zeros(2, jnp.int32))


@partial(jax.jit, static_argnames="traced")
def _play_plies(
    players: tuple[Player, Player],
    state: MatchState,
    key: Key[Array, ""],
    pairs: Int32[Array, ""],
    most_plies: Int32[Array, ""],
    traced: bool = False,
) -> tuple[MatchState, FinishedGames, TracedTurns | None]:
    """Plays 32 plies, or fewer if all games of `pairs` pairs are over; a game is stopped after `most_plies`.

    The fields of the finished games are of shape [32, slots]; those of the turns, which are returned if `traced`, too.
    """

    def ply(carry):
        number, state, record = carry
        state = _fill_slots(players, state, key, pairs)
        slots, finished, turns = _play_turns(players, state.slots, key, most_plies)
        new = (finished, turns if traced else None)
        record = jax.tree.map(lambda plies, new: plies.at[number].set(new), record, new)
        half = len(slots.pair) // 2
        return number + 1, state._replace(slots=jax.tree.map(lambda x: jnp.roll(x, half, axis=0), slots)), record

    def more(carry):
        number, state, _ = carry
        return (number < PLIES_PER_CALL) & (jnp.any(state.slots.playing) | jnp.any(state.next_pair < pairs))

    shape = (PLIES_PER_CALL, len(state.slots.pair))
    nothing = (jnp.int32(-1), jnp.bool_(False), jnp.float32(0), jnp.int32(0), jnp.bool_(False))
    no_games = FinishedGames(*(jnp.full(shape, x) for x in nothing))
    no_turns = None
    if traced:
        flags = jnp.zeros(shape, bool)
        positions = jax.tree.map(lambda x: jnp.zeros((PLIES_PER_CALL, *x.shape), x.dtype), state.slots.position)
        pair, reward = jnp.zeros(shape, jnp.int32), jnp.zeros(shape, jnp.float32)
        no_turns = TracedTurns(positions, positions, pair, flags, flags, flags, flags, reward)
    _, state, (finished, turns) = lax.while_loop(more, ply, (jnp.int32(0), state, (no_games, no_turns)))
    return state, finished, turns


def _fill_slots(
    players: tuple[Player, Player], state: MatchState, key: Key[Array, ""], pairs: Int32[Array, ""]
) -> MatchState:
    """Begins games in the empty slots, as long as there are pairs to play."""
    slots, next_pair = state
    game = players[0].game
    empty = (~slots.playing).reshape(2, -1)
    pair = (next_pair[:, None] - 1 + jnp.cumsum(empty, axis=1, dtype=jnp.int32)).reshape(-1)
    begins = ~slots.playing & (pair < pairs)
    opening = jax.vmap(lambda number: game.init_position(game_key(key, number, jnp.int32(0))))(pair)
    a_moves = jnp.arange(len(pair), dtype=jnp.int32) < len(pair) // 2
    filled = GameSlots(
        position=select(begins, opening, slots.position),
        pair=jnp.where(begins, pair, slots.pair),
        plies=jnp.where(begins, 0, slots.plies),
        a_began=jnp.where(begins, a_moves, slots.a_began),
        playing=slots.playing | begins,
        waiting=slots.waiting & ~begins,
        memory=tuple(
            select(begins, player.begin(pair), old) for player, old in zip(players, slots.memory, strict=True)
        ),
    )
    return MatchState(filled, next_pair + jnp.sum(begins.reshape(2, -1), axis=1, dtype=jnp.int32))


def _play_turns(
    players: tuple[Player, Player], slots: GameSlots, key: Key[Array, ""], most_plies: Int32[Array, ""]
) -> tuple[GameSlots, FinishedGames, TracedTurns]:
    """Plays one turn in every game that does not wait."""
    game, half = players[0].game, len(slots.pair) // 2
    bits = jax.vmap(lambda *game: jax.random.bits(game_key(key, *game), (2,), jnp.uint32))(slots.pair, slots.plies + 1)
    halves, outcomes, memory = (slice(None, half), slice(half, None)), [], []
    moved = slots.playing & ~slots.waiting
    for player, here, old in zip(players, halves, slots.memory, strict=True):
        position, own = jax.tree.map(lambda x, here=here: x[here], (slots.position, old))
        played, own = player.play(position, bits[here, 0], own)
        outcomes.append(played)
        memory.append(jax.tree.map(lambda x, y, here=here: x.at[here].set(y), old, own))
    outcome = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), *outcomes)
    over = moved & outcome.over
    position = outcome.position
    if game.outcome_probabilities:
        drawn = jax.vmap(game.chance)(position, game.draw_outcome(bits[:, 1]))
        # By the rules no dice follow the end of a game; drawing none also saves the players work.
        position = select(over, position, drawn)
    plies = slots.plies + moved.astype(jnp.int32)
    stopped = moved & ~over & (plies >= most_plies)
    ended = over | stopped
    a_moves = jnp.arange(2 * half, dtype=jnp.int32) < half
    points_of_a = jnp.where(a_moves, outcome.reward, -outcome.reward)
    after = slots._replace(
        position=select(moved, position, slots.position),
        plies=plies,
        playing=slots.playing & ~ended,
        waiting=moved & ~outcome.turn_passes,
        memory=tuple(select(moved, new, old) for new, old in zip(memory, slots.memory, strict=True)),
    )
    points = jnp.where(over, points_of_a, 0.0).astype(jnp.float32)
    finished = FinishedGames(jnp.where(ended, slots.pair, -1), slots.a_began, points, plies, stopped)
    reward = outcome.reward.astype(jnp.float32)
    where = (slots.position, outcome.position, slots.pair, slots.a_began, a_moves)
    return after, finished, TracedTurns(*where, moved, over, reward)


def interval(pair_means: np.ndarray, most: float) -> tuple[float, float]:
    """The 95 % interval of the mean of independent pairs, normal; the whole possible range, if there is only one pair.

    If all are equal it is that of the rule of three: a share of the pairs that has not come up is below
    1 - 0.05^(1 / pairs) with 95 %, and those would end as well, or as badly, as can be.
    """
    pairs, mean = len(pair_means), float(pair_means.mean())
    if pairs < 2:
        return -float(most), float(most)
    if np.ptp(pair_means) == 0:
        unseen = 1 - 0.05 ** (1 / pairs)
        return mean - unseen * (mean + most), mean + unseen * (most - mean)
    margin = mean_margin(pair_means)
    return float(pair_means.mean() - margin), float(pair_means.mean() + margin)
