"""Data from games that two players play: every position, what was played there, and who won in the end."""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Bool, Int

from jaxgames.algos.imitation.data import LabeledPositions
from jaxgames.envs.core import Game
from jaxgames.matches.game_log import CHUNK, chunks_of, next_actions
from jaxgames.matches.match import MOST_PLIES, PairedGames, TracedTurns
from jaxgames.ops.pytrees import concatenate, equal, num_rows, take
from jaxgames.ops.random_bits import fold_in
from jaxgames.players import Player
from jaxgames.players.host import on_host

GAMES_PER_SHARD = 2048
MOST_GAMES = 10**7
LEARNED = ("both", "first")


@dataclasses.dataclass(frozen=True)
class OtherDraws:
    """A turn policy with other random bits. Without it a player that meets itself plays both games of a pair alike."""

    turn: Any

    def begin(self, params: Any, games: Int[Array, " batch"]) -> Any:
        """As `LearningTurnPolicy.begin`; nothing for others."""
        return self.turn.begin(params, games) if hasattr(self.turn, "begin") else ()

    def __call__(self, params: Any, positions: Any, bits: Array, memory: Any) -> Any:
        """As `LearningTurnPolicy`."""
        bits = fold_in(bits, 1)
        if hasattr(self.turn, "begin"):
            return self.turn(params, positions, bits, memory)
        return self.turn(params, positions, bits), memory


class PlayedGames:
    """The games of `a` against `b`, as `matches.match` plays them, in pairs with sides swapped; but `b` draws by random
    numbers of its own.

    Args:
        a: a player.
        b: another player of the same game, or the same one.
        games: how many; an odd number is rounded up.
        seed: of all random numbers; with the players it decides the data.
        moves_of: `both`, or `first`: only positions where `a` is to move.
        games_per_shard: how many are made at once.
        most_plies: a game is stopped after so many plies, and then has no value.

    Raises `ValueError` for numbers out of range, players of different games, and players in plain Python.
    """

    def __init__(
        self,
        a: Player,
        b: Player,
        games: int,
        seed: int = 0,
        moves_of: str = "both",
        games_per_shard: int = GAMES_PER_SHARD,
        most_plies: int = MOST_PLIES,
    ):
        if not 1 <= games <= MOST_GAMES:
            raise ValueError(f"cannot play {games} games; expected 1 or more, at most {MOST_GAMES:,}")
        if moves_of not in LEARNED:
            raise ValueError(f"unknown moves-of {moves_of!r}; available: {', '.join(LEARNED)}")
        for player in (a, b):
            if on_host(player):
                raise ValueError(f"{player.name} runs as plain Python: only compiled players make data")
        if a.game != b.game:
            raise ValueError(
                f"{a.name} plays {a.game.id}, {b.name} plays {b.game.id}; expected two players of one game"
            )
        self.players, self.seed, self.moves_of, self.most_plies = (a, b), seed, moves_of, most_plies
        self.pairs, self.pairs_per_shard = (games + 1) // 2, max(1, games_per_shard // 2)

    @property
    def game(self) -> Game:
        """As `Maker.game`."""
        return self.players[0].game

    @property
    def shards(self) -> int:
        """As `Maker.shards`."""
        return -(-self.pairs // self.pairs_per_shard)

    @property
    def made(self) -> Mapping[str, Any]:
        """As `Maker.made`."""
        return {
            "by": "players", "players": [player.name for player in self.players], "games": 2 * self.pairs,
            "seed": self.seed, "moves_of": self.moves_of, "games_per_shard": 2 * self.pairs_per_shard,
            "most_plies": self.most_plies,
        }  # fmt: skip

    def rows(self, shard: int) -> LabeledPositions:
        """As `Maker.rows`."""
        first = shard * self.pairs_per_shard
        pairs = min(self.pairs_per_shard, self.pairs - first)
        parts: list[TracedTurns] = []

        def keep(turns: TracedTurns) -> None:
            where = np.nonzero(turns.moved)  # ply by ply, as they were played
            parts.append(jax.tree.map(lambda x: np.asarray(x)[where], turns))

        key = jax.random.fold_in(jax.random.key(self.seed), shard)
        slots = min(1024, 1 << (2 * pairs - 1).bit_length())
        a, b = self.players
        other = dataclasses.replace(b, turn=OtherDraws(b.turn))
        PairedGames(a, other, pairs, key, slots, self.most_plies, keep).play_all()
        turns = concatenate(parts)
        turns = take(turns, np.lexsort((np.arange(len(turns.pair)), ~turns.a_began, turns.pair)))
        game = 2 * (np.asarray(turns.pair, np.int64) + first) + ~np.asarray(turns.a_began)
        return of_turns(self.game, turns, game, np.asarray(turns.a_moved) if self.moves_of == "first" else None)


def of_turns(
    game: Game, turns: TracedTurns, number: Int[np.ndarray, " n"], wanted: Bool[np.ndarray, " n"] | None = None
) -> LabeledPositions:
    """A row for every action of turns, in the order of the turns, which are those of one game after another.

    Args:
        game: the game.
        turns: that were played.
        number: that of each turn's game.
        wanted: whose actions are rows; None for all. The others are played all the same.
    """
    points = np.where(turns.a_moved, turns.reward, -turns.reward)
    ended, over = np.unique(number[turns.over], return_index=True)
    at = np.searchsorted(ended, number)
    known = np.isin(number, ended)
    of_a = points[turns.over][over][np.minimum(at, max(len(ended) - 1, 0))] if len(ended) else np.zeros(len(number))
    value = np.where(known, np.where(turns.a_moved, of_a, -of_a), 0.0)
    played = ~np.asarray(equal(turns.position, turns.target))  # else the game was forfeited there
    turn, position, action = _actions(game, turns.position, turns.target, played if wanted is None else played & wanted)
    return labeled(game, position, action, value[turn] + 0.0, known[turn], number[turn])


def labeled(
    game: Game,
    position: Any,
    action: Int[np.ndarray, " n"],
    value: np.ndarray,
    known: Bool[np.ndarray, " n"],
    number: Int[np.ndarray, " n"],
) -> LabeledPositions:
    """Rows of actions that were played, with points of the player to act where they are `known`."""
    policy = np.zeros((len(action), game.num_actions), np.float16)
    policy[np.arange(len(action)), action] = 1
    return LabeledPositions(
        position,
        legal_actions(game, position),
        policy,
        np.ones(len(action), np.float32),
        value.astype(np.float32),
        known.astype(np.float32),
        number.astype(np.int64),
        np.zeros(len(action), bool),
    )


def legal_actions(game: Game, positions: Any) -> Bool[np.ndarray, "n actions"]:
    """The legal actions of positions, `CHUNK` at a time."""
    number = num_rows(positions)
    parts = [np.asarray(_legal(game, take(positions, rows))) for rows in chunks_of(np.arange(number))]
    return np.concatenate([*parts, np.zeros((0, game.num_actions), bool)])[:number]


def _actions(
    game: Game, positions: Any, targets: Any, wanted: Bool[np.ndarray, " n"]
) -> tuple[Int[np.ndarray, " m"], Any, Int[np.ndarray, " m"]]:
    """All actions of turns in their order: the turn each belongs to, the position before it, and the action."""
    going, positions = np.flatnonzero(wanted), jax.tree.map(np.array, positions)
    found: list[tuple[np.ndarray, Any, np.ndarray]] = []
    while len(going):
        actions, there = np.zeros(len(going), np.int32), np.zeros(len(going), bool)
        found.append((going, take(positions, going), actions))
        for start, rows in _numbered(going):
            action, after, done = jax.device_get(next_actions(game, take(positions, rows), take(targets, rows)))
            size = min(CHUNK, len(going) - start)
            actions[start : start + size], there[start : start + size] = action[:size], done[:size]
            jax.tree.map(lambda old, new, r=rows, n=size: old.__setitem__(r[:n], new[:n]), positions, after)
        going = going[~there]
    if not found:
        return going, take(positions, going), going.astype(np.int32)
    turn, before, action = (concatenate(list(parts)) for parts in zip(*found, strict=True))
    order = np.argsort(turn, kind="stable")  # the passes are in the order of a turn's actions
    return turn[order], take(before, order), action[order]


def _numbered(rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    return zip(range(0, len(rows), CHUNK), chunks_of(rows), strict=True)


@partial(jax.jit, static_argnums=0)
def _legal(game: Game, positions: Any) -> Bool[Array, "n actions"]:
    return jax.vmap(game.legal)(positions)
