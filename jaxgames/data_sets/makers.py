"""Makers of data: from games of two players, files of games or solved positions; and exact labels for any of them."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from jaxgames.algos.imitation.data import (
    LabeledPositions,
    SplitCounts,
    header_of,
    joined,
    load_each,
    open_of,
    prepare,
    to_arrays,
)
from jaxgames.envs.connect_four.board import from_plain
from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.matches import solved
from jaxgames.matches.game_log import CHUNK, GameLog, single_actions
from jaxgames.matches.match import MOST_PLIES, PairedGames, TracedTurns
from jaxgames.ops import checks
from jaxgames.ops.pytrees import equal, in_chunks, num_rows, take
from jaxgames.ops.random_bits import fold_in
from jaxgames.players import Player
from jaxgames.records import load as load_records
from jaxgames.runs.checkpoints import to_numpy
from jaxgames.runs.files import digest, fingerprint
from jaxgames.runs.folder import DataSetFolder
from jaxgames.sessions.record import GameRecord, game_options
from jaxgames.sessions.session import PlayedTurn, Session, after_actions
from jaxgames.tables.lookup import Knowledge, covered, known_turns, lookup_of

GAMES_PER_SHARD = 2048
RECORDS_PER_SHARD = 1024
MOST_GAMES = 10**7
LEARNED = ("both", "first")


@dataclasses.dataclass(frozen=True)
class Maker:
    """Makes labeled positions, in independent shards, so that stopped work can be continued.

    Attributes:
        game: the game.
        shards: how many shards there are.
        made: everything that determines the data, ready for JSON.
        rows: gives the rows of one shard.
    """

    game: Game
    shards: int
    made: Mapping[str, Any]
    rows: Callable[[int], LabeledPositions]


@dataclasses.dataclass(frozen=True)
class OtherDraws:
    """A turn policy with other random bits. Without it a player against itself plays both games of a pair alike."""

    turn: Any

    def begin(self, params: Any, games: Int[Array, " batch"]) -> Any:
        """The memory of a `LearningTurnPolicy`; nothing for others."""
        return self.turn.begin(params, games) if hasattr(self.turn, "begin") else ()

    def __call__(self, params: Any, positions: Any, bits: Array, memory: Any) -> Any:
        """The turns, and the memory after them."""
        bits = fold_in(bits, 1)
        if hasattr(self.turn, "begin"):
            return self.turn(params, positions, bits, memory)
        return self.turn(params, positions, bits), memory


def played_games(
    a: Player,
    b: Player,
    games: int,
    seed: int = 0,
    moves_of: str = "both",
    games_per_shard: int = GAMES_PER_SHARD,
    most_plies: int = MOST_PLIES,
) -> Maker:
    """The games of `a` against `b`, as `matches.match` plays them, in pairs with sides swapped; but `b` has its own
    random numbers.

    Args:
        a: a player.
        b: another player of the same game, or the same one.
        games: how many; an odd number is rounded up.
        seed: of all random numbers; with the players it decides the data.
        moves_of: `both`, or `first`: only positions where `a` is to move.
        games_per_shard: how many games are made at once.
        most_plies: a game is stopped after so many plies, and then has no value.

    Raises `ValueError` for numbers out of range, players of different games, and players in plain Python.
    """
    games, seed = checks.whole("games", games, high=MOST_GAMES), checks.seed(seed)
    games_per_shard = checks.whole("games_per_shard", games_per_shard)
    most_plies = checks.whole("most_plies", most_plies, high=checks.MOST)
    if moves_of not in LEARNED:
        raise ValueError(f"unknown moves-of {moves_of!r}; available: {', '.join(LEARNED)}")
    for player in (a, b):
        if player.on_host:
            raise ValueError(f"{player.name} runs as plain Python: only compiled players make data")
    if a.game != b.game:
        raise ValueError(f"{a.name} plays {a.game.id}, {b.name} plays {b.game.id}; expected two players of one game")
    pairs, pairs_per_shard = (games + 1) // 2, max(1, games_per_shard // 2)
    other = dataclasses.replace(b, turn=OtherDraws(b.turn))

    def rows(shard: int) -> LabeledPositions:
        first = shard * pairs_per_shard
        here = min(pairs_per_shard, pairs - first)
        log = GameLog(a, b)
        key = jax.random.fold_in(jax.random.key(seed), shard)
        slots = min(1024, 1 << (2 * here - 1).bit_length())
        PairedGames(a, other, here, key, slots, most_plies, log.add).play_all()
        turns = log.turns()
        number = 2 * (np.asarray(turns.pair, np.int64) + first) + ~np.asarray(turns.a_began)
        return of_turns(a.game, turns, number, np.asarray(turns.a_moved) if moves_of == "first" else None)

    made = {
        "by": "players", "players": [a.name, b.name], "sha256": [digest(to_numpy(player.params)) for player in (a, b)],
        "games": 2 * pairs, "seed": seed, "moves_of": moves_of, "games_per_shard": 2 * pairs_per_shard,
        "most_plies": most_plies,
    }  # fmt: skip
    return Maker(a.game, -(-pairs // pairs_per_shard), made, rows)


def recorded_games(game: Game, files: Sequence[str | Path]) -> Maker:
    """The games of files in the formats of `jaxgames.records`; every action is a row.

    Raises `ValueError` for files of other games or options, for one that is named twice, and if there are no games, or
    none has a move.
    """
    names = [str(file) for file in files]
    _check_once(names)
    records: list[GameRecord] = []
    for file in names:
        games = load_records(file, game.id)
        for number, record in enumerate(games, 1):
            if make(record.game, **record.options) != game:
                options = dict(record.options) or "usual ones"
                raise ValueError(f"{file}, game {number}: {record.game} with options {options}, not {game}")
        records += games
    if not records:
        raise ValueError(f"no games in {', '.join(names) or 'no files'}")
    if not any(record.turns for record in records):
        raise ValueError(f"no moves in the games of {', '.join(names)}")

    def rows(shard: int) -> LabeledPositions:
        first = shard * RECORDS_PER_SHARD
        steps: list[tuple[Any, int, float, bool, int]] = []
        for number, record in enumerate(records[first : first + RECORDS_PER_SHARD], first):
            for turn in Session.replay(record).turns:
                points = record.points or 0.0
                value = points if turn.seat == 0 else -points
                steps += [(*step, value, record.points is not None, number) for step in _steps(turn)]
        positions, actions, values, known, numbers = zip(*steps, strict=True) if steps else [()] * 5
        columns = (np.array(values) + 0.0, np.array(known, bool), np.array(numbers, np.int64))
        return labeled(game, _stacked(game, positions), np.array(actions, np.int64), *columns)

    made = {"by": "files", **_made_of(names), "games": len(records)}
    return Maker(game, -(-len(records) // RECORDS_PER_SHARD), made, rows)


def solved_positions(game: Game, files: Sequence[str | Path]) -> Maker:
    """The positions of files that `jaxgames.matches.solved` reads, each as a separate game: the best moves, all equally
    likely, and the result with best play.

    Raises `ValueError` for other files, for one that is named twice, and for positions on another board than the
    game's.
    """
    files = list(files)  # an iterator would be read only once
    known = _read_solved(game, files)

    def rows(shard: int) -> LabeledPositions:
        positions, mask = _with_legal_actions(game, known)
        number = len(known)
        policy = np.zeros((number, game.num_actions), np.float16)
        weight = np.zeros(number, np.float32)
        for row, one in enumerate(known):
            if one.moves is not None:
                best = np.array(one.moves) == one.score
                policy[row], weight[row] = best / best.sum(), 1
        value = np.sign([one.score for one in known]).astype(np.float32)
        ones, numbers = np.ones(number, np.float32), np.arange(number, dtype=np.int64)
        return LabeledPositions(positions, mask, policy, weight, value, ones, numbers, np.zeros(number, bool))

    made = {"by": "solved", **_made_of(files), "positions": len(known)}
    return Maker(game, 1, made, rows)


def solved_tests(game: Game, files: Sequence[str | Path]) -> tuple[Any, Bool[np.ndarray, "positions actions"]]:
    """The solved positions of files, and their legal actions: tests as `merge_data` takes them.

    Raises `ValueError` as `solved_positions`.
    """
    return _with_legal_actions(game, _read_solved(game, files))


def exact_labels(maker: Maker) -> Maker:
    """The rows of another maker. In exactly known positions the value is that of best play, and the policy an action
    of a best turn, unless the action that was played also loses nothing.

    Raises `ValueError` for a game without exact knowledge.
    """
    lookup, load_scores = lookup_of(maker.game)
    scores = load_scores()

    def label(shard: int) -> LabeledPositions:
        rows = maker.rows(shard)
        policy, weight = rows.policy.copy(), rows.policy_weight.copy()
        value, value_weight = rows.value.copy(), rows.value_weight.copy()
        numbers = np.flatnonzero(known_rows(lookup, rows.position))
        if len(numbers):
            played = np.argmax(rows.policy[numbers], axis=1).astype(np.int32)
            asked = take(rows.position, numbers), played
            points, best, keeps = in_chunks(lambda each: _label(maker.game, lookup, scores, *each), asked, CHUNK)
            value[numbers], value_weight[numbers] = points, 1
            changes = ~keeps | (rows.policy_weight[numbers] == 0)
            changed = numbers[changes]
            policy[changed], weight[changed] = 0, 1
            policy[changed, best[changes]] = 1
        return rows._replace(policy=policy, policy_weight=weight, value=value, value_weight=value_weight)

    return dataclasses.replace(maker, made={**maker.made, "exact": True}, rows=label)


def known_rows(lookup: Knowledge, positions: Any) -> Bool[np.ndarray, " n"]:
    """Which positions are known exactly, `CHUNK` at a time."""
    return in_chunks(partial(covered, lookup), positions, CHUNK) if num_rows(positions) else np.zeros(0, bool)


def _check_once(paths: Sequence[str | Path]) -> None:
    """Raises `ValueError` if a file or folder is named twice: all of it would count twice."""
    resolved = [Path(path).resolve() for path in paths]
    for number, path in enumerate(resolved):
        if path in resolved[:number]:
            raise ValueError(f"{paths[number]} is named twice; expected each file or folder once")


def _made_of(files: Sequence[str | Path]) -> dict[str, list[str]]:
    """The names of files, and the checksums of their contents."""
    return {"files": [Path(file).name for file in files], "sha256": [fingerprint(Path(file))[1] for file in files]}


def _stacked(game: Game, positions: Sequence[Any]) -> Any:
    """Positions as a batch, which may be empty."""
    shapes = jax.eval_shape(game.init_position, jax.random.key(0))
    return jax.tree.map(lambda of, *leaves: np.array(leaves, of.dtype).reshape(-1, *of.shape), shapes, *positions)


def _read_solved(game: Game, files: Sequence[str | Path]) -> list[solved.Solved]:
    known: list[solved.Solved] = []
    _check_once(files)
    for file in files:
        positions = solved.read(file)
        if (board := solved.board_of(positions)) != game:
            raise ValueError(f"{file} holds positions of {board}, not of {game}")
        known += positions
    if not known:
        raise ValueError(f"no positions in {', '.join(map(str, files)) or 'no files'}")
    return known


def _with_legal_actions(game: Game, positions: Sequence[solved.Solved]) -> tuple[Any, np.ndarray]:
    stacked = _stacked(game, [from_plain(one.board) for one in positions])
    return stacked, legal_actions(game, stacked)


def _steps(turn: PlayedTurn) -> list[tuple[Any, int]]:
    """The positions and actions of a turn."""
    state, steps = turn.before, []
    for action in turn.actions:
        steps.append((jax.device_get(state._position), action))
        if len(steps) < len(turn.actions):
            state = after_actions(state, [action])
    return steps


@functools.partial(jax.jit, static_argnums=(0, 1))
def _label(game: Game, lookup: Knowledge, scores: Any, positions: Any, played: Array) -> tuple[Array, Array, Array]:
    """The points, an action of a best turn, and whether the action that was played is as good."""
    known = known_turns(game, lookup, scores, positions)
    nowhere = jnp.zeros(played.shape, bool)
    best = game.turn_actions(positions, known.best.position, nowhere, known.best.position)[0]
    after = jax.vmap(game.play)(positions, played)
    rest = known_turns(game, lookup, scores, after.position)
    worth = jnp.where(after.turn_passes, -lookup.worth(scores, after.position), rest.worth)
    worth = jnp.where(after.over, after.reward, worth)
    return known.points, best, worth >= known.worth - 1e-6


# Rows of data: a row for every action that was played, with who won in the end.


def of_turns(
    game: Game, turns: TracedTurns, number: Int[np.ndarray, " n"], wanted: Bool[np.ndarray, " n"] | None = None
) -> LabeledPositions:
    """A row for every action of turns, in the order of the turns, which are those of one game after another.

    Args:
        game: the game.
        turns: that were played.
        number: that of each turn's game.
        wanted: the turns whose actions become rows; None for all. The others are played, too.
    """
    points = np.where(turns.a_moved, turns.reward, -turns.reward)
    ended, over = np.unique(number[turns.over], return_index=True)
    at = np.searchsorted(ended, number)
    known = np.isin(number, ended)
    of_a = points[turns.over][over][np.minimum(at, max(len(ended) - 1, 0))] if len(ended) else np.zeros(len(number))
    value = np.where(known, np.where(turns.a_moved, of_a, -of_a), 0.0)
    played = ~np.asarray(equal(turns.position, turns.target))  # otherwise the game was forfeited there
    turn, position, action = single_actions(
        game, turns.position, turns.target, played if wanted is None else played & wanted
    )
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
    if not num_rows(positions):
        return np.zeros((0, game.num_actions), bool)
    return in_chunks(partial(_legal, game), positions, CHUNK)


@partial(jax.jit, static_argnums=0)
def _legal(game: Game, positions: Any) -> Bool[Array, "n actions"]:
    return jax.vmap(game.legal)(positions)


# Making data sets: shard by shard; and one merged and split data set from several.

ROWS_PER_SHARD = 65_536
"""Of merged data."""


def make_data(
    maker: Maker, path: str | Path, progress: Callable[[int, int], None] = lambda done, shards: None
) -> DataSetFolder:
    """Makes a data set, or continues one. `progress` is called with the number of finished shards and of all shards.

    Raises `ValueError` if there is anything else in the folder.
    """
    header = header_of(maker.game, game_options(maker.game), dict(maker.made), maker.shards)
    folder = DataSetFolder.begin_or_go_on(path, header)
    for number in folder.missing():
        folder.write(number, to_arrays(maker.rows(number)))
        progress(maker.shards - len(folder.missing()), maker.shards)
    return folder


def merge_data(
    game: Game,
    sources: Sequence[str | Path],
    path: str | Path,
    tests: Any = None,
    validation: float = 0.05,
    split: str = "game",
    seed: int = 0,
    note: Mapping[str, Any] | None = None,
) -> tuple[DataSetFolder, SplitCounts]:
    """One data set from several, as `prepare` makes it from their rows.

    Args:
        game: the game.
        sources: folders of data sets of this game, each once.
        path: the new folder.
        tests: positions and their legal actions to remove, with their mirror images; None for none.
        validation: the share of the rows that is kept for validation.
        split: by `game` or by `position`.
        seed: of the split.
        note: added to the description of how the data were made.

    Raises `ValueError` as `prepare`, for data of another game, for a source that is named twice, and if the folder
    holds a complete data set.
    """
    if not sources:
        raise ValueError("no data to merge: expected the folder of one data set or more")
    _check_once(sources)
    if DataSetFolder.is_at(path) and not DataSetFolder.open(path).missing():
        raise ValueError(f"{path} exists already and is never overwritten; {DataSetFolder.ANOTHER}")
    options = game_options(game)
    folders = [open_of(source, game, options) for source in sources]
    rows, counts = prepare(game, joined(load_each(folders, game)), tests, validation, split, seed)
    made = {
        "by": "merge", "validation": validation, "split": split, "seed": seed, **(note or {}),
        "sha256": digest(to_arrays(rows).values()), "counts": counts._asdict(),
        "sources": [folder.header["made"] for folder in folders],
    }  # fmt: skip
    shards = -(-len(rows.game) // ROWS_PER_SHARD)
    folder = DataSetFolder.begin_or_go_on(path, header_of(game, options, made, shards))
    for number in folder.missing():
        part = slice(number * ROWS_PER_SHARD, (number + 1) * ROWS_PER_SHARD)
        folder.write(number, to_arrays(take(rows, part)))
    return folder, counts


def data_info(path: str | Path) -> dict[str, Any]:
    """What is in a data set, ready for JSON. Its `values` are `wins`, `draws`, `losses` and, where equal positions were
    merged, `means` of several results. Raises `ValueError` if the folder is not one, or is broken.
    """
    folder = DataSetFolder.open_complete(path)
    columns = folder.read_all(("policy_weight", "value", "value_weight", "game", "validation"))
    known = columns["value"][columns["value_weight"] > 0]
    results = columns["value"][columns["value_weight"] == 1]  # others are means of several, of merged rows
    return {
        "data": str(folder.path),
        **{name: folder.header[name] for name in ("game", "options", "version", "made", "shards")},
        "positions": len(columns["game"]),
        "games": len(np.unique(columns["game"])),
        "policies": int((columns["policy_weight"] > 0).sum()),
        "values": len(known),
        "means": len(known) - len(results),
        "wins": int((results > 0).sum()),
        "draws": int((results == 0).sum()),
        "losses": int((results < 0).sum()),
        "validation": int(columns["validation"].sum()),
        "bytes": folder.bytes_on_disk(),
    }
