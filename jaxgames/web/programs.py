"""The compiled programs of a player: its turns, its values of positions, and its search, which can go on."""

import collections
import contextlib
import functools
import hashlib
import os
import re
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, UInt32

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.mcts.rules.rule import Rule
from jaxgames.envs.core import MOST_ACTIONS, Game, State
from jaxgames.ops.pytrees import equal, select
from jaxgames.players.generic import sighted
from jaxgames.players.player import Player
from jaxgames.sessions.session import choose_turn

SEARCH_BATCHES = (1, 8, 32)
QUICK_BATCHES, ONE = (16,), (1,)
"""The batch sizes for which programs are compiled; a smaller batch is padded. For a player without search, sixteen
positions take less time than compiling a program for fewer."""
VALUE_BATCHES = (16, 128)
SIMULATIONS = 200
"""Of a search that goes on, at a time."""
MOST_SIMULATIONS = 5000
LINE = 8


class SearchReport(NamedTuple):
    """What a running search thinks of one position: values to the player to act; `line` ends with -1."""

    value: Float32[Array, ""]
    visits: Float32[Array, " actions"]
    values: Float32[Array, " actions"]
    line: Int32[Array, " plies"]


class Programs:
    """The compiled programs of all players of one kind, whatever their parameters."""

    def __init__(self, player: Player, folder: Path | None = None) -> None:
        kind = (player.game, player.turn)
        self._turn = ExportedProgram(_turn, kind, folder if sighted(player).rule is None else None)
        self._values = jax.jit(functools.partial(Player.values))  # functions of its own: JAX frees by the function
        self._search = jax.jit(functools.partial(_search))
        self.ready: set[int] = set()

    def lower(self, player: Player, batch: int) -> None:
        """The part of `prepare` that is Python."""
        self._turn.lower(player, *_no_positions(player.game, batch))

    def prepare(self, player: Player, batch: int) -> None:
        """Compiles what `choose` runs."""
        self._turn.compile(player, *_no_positions(player.game, batch))
        self.ready.add(batch)

    def choose(self, player: Player, positions: list[Any], bits: list[int], batch: int) -> list[list[int]]:
        """The actions of a turn in each of at most `batch` positions; none where the player forfeits by an illegal one.

        Raises `PlayerFailed` for a player in plain Python that fails.
        """
        if player.on_host:
            states = [jax.device_get(player.game.state(position)) for position in positions]
            self.ready.add(batch)
            return [list(choose_turn(player, *one)) for one in zip(states, bits, strict=True)]
        words = np.resize(np.array(bits, np.uint32), batch)
        actions = np.asarray(self._turn(player, _stacked(positions, batch), words))
        self.ready.add(batch)
        return [row[row >= 0].tolist() for row in actions[: len(positions)]]

    def values(self, player: Player, positions: list[Any], bits: int) -> np.ndarray:
        """What positions, before chance, are worth to the player to act there."""
        count = len(positions)
        batch = next((size for size in VALUE_BATCHES if size >= count), VALUE_BATCHES[-1])
        parts = []
        for first in range(0, count, batch):
            words = (np.arange(batch, dtype=np.uint64) * 0x9E3779B1 + bits + first).astype(np.uint32)
            parts.append(np.asarray(self._values(player, _stacked(positions[first : first + batch], batch), words)))
        return np.concatenate(parts)[:count]

    def search(self, player: Player, state: State, bits: int, tree: Any = None) -> tuple[SearchReport, Any]:
        """A search of one position, `SIMULATIONS` at a time: the report, and the tree with which to go on."""
        states = jax.tree.map(lambda x: np.asarray(x)[None], state)
        report, tree = self._search(player, states, np.uint32(bits & 0xFFFFFFFF), tree)
        return jax.device_get(report), tree

    def clear(self) -> None:
        """Frees all of them."""
        self.ready.clear()
        programs: tuple[Any, ...] = (self._turn, self._values, self._search)
        for program in programs:
            program.clear_cache()


class ProgramCache:
    """The programs of the most recently used kinds of players."""

    def __init__(self, most: int, folder: Path | None = None):
        self._most, self._folder, self._lock = most, folder, threading.Lock()
        self._kinds: collections.OrderedDict[Hashable, Programs] = collections.OrderedDict()

    def clear(self) -> None:
        """Frees all of them."""
        with self._lock:
            for programs in self._kinds.values():
                programs.clear()
            self._kinds.clear()

    def of(self, player: Player) -> Programs:
        """The programs of a player."""
        kind = (player.game, player.turn)
        with self._lock:
            programs = self._kinds.pop(kind, None) or Programs(player, self._folder)
            self._kinds[kind] = programs
            while len(self._kinds) > self._most:
                _, dropped = self._kinds.popitem(last=False)
                dropped.clear()
        return programs


def batches_of(player: Player) -> tuple[int, ...]:
    """How many positions the programs of a player are for, in order."""
    if player.on_host:
        return ONE
    player = sighted(player)
    looks_ahead = player.rule is not None or (player.plies or 1) > 1  # then every position more takes its time
    return SEARCH_BATCHES if looks_ahead else QUICK_BATCHES


def grows(player: Player) -> bool:
    """Whether the player's search can go on: it searches by simulations, or its values can guide such a search."""
    player = sighted(player)
    if player.rule is not None:
        return not player.rule.schedules_root
    if player.policy is not None:
        return True
    return player.value is not None and player.plies == 1 and not player.game.outcome_probabilities


def _no_positions(game: Game, batch: int) -> tuple[Any, np.ndarray]:
    """Empty arguments of the program of `choose`."""
    single = jax.eval_shape(game.init_position, jax.random.key(0))
    return jax.tree.map(lambda leaf: np.zeros((batch, *leaf.shape), leaf.dtype), single), np.zeros(batch, np.uint32)


def _stacked(positions: list[Any], batch: int) -> Any:
    filled = positions + positions[:1] * (batch - len(positions))
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *filled)


def _turn(player: Player, positions: Any, bits: UInt32[Array, " batch"]) -> Int32[Array, "batch plies"]:
    """The actions of each turn, -1 after the last one; of one that goes on longer than that, those that fit.

    Nothing but -1 where the player has chosen an illegal action: such an outcome is lost where it began.
    """
    game, batch = player.game, len(bits)
    outcome = player.play_once(positions, bits)
    target = outcome.position
    forfeits = outcome.over & (outcome.reward < 0) & equal(target, positions)

    def go_on(carry: tuple[Array, Any, Array, Array]) -> tuple[Array, Any, Array, Array]:
        ply, now, done, played = carry
        actions, _ = game.turn_actions(now, target, jnp.ones(batch, bool), target)
        after = jax.vmap(game.play)(now, actions)
        played = jax.lax.dynamic_update_index_in_dim(played, jnp.where(done, -1, actions), ply, 1)
        done |= after.over | after.turn_passes | equal(after.position, target)
        return ply + 1, select(done, now, after.position), done, played

    start = jnp.int32(0), positions, forfeits, jnp.full((batch, MOST_ACTIONS), -1, jnp.int32)
    return jax.lax.while_loop(lambda carry: (carry[0] < MOST_ACTIONS) & ~carry[2].all(), go_on, start)[3]


def _settings(player: Player) -> tuple[Rule, Any]:
    """The rule and the evaluator of a search: the player's own, or PUCT by its values."""
    if player.rule is not None:
        return player.rule, player.params
    if player.policy is not None:
        return mcts.puct(), mcts.network(player.policy.apply, player.params)
    assert player.value is not None
    return mcts.puct(), mcts.valued(player.value, player.params)


def _search(player: Player, states: State, bits: UInt32[Array, ""], tree: Any) -> tuple[SearchReport, Any]:
    """`SIMULATIONS` more in a tree, None for a new one."""
    rule, evaluate = _settings(player)
    result = mcts.search(
        player.game,
        states,
        jax.random.key(bits),
        SIMULATIONS,
        select=rule,
        evaluate=evaluate,
        tree=tree,
        capacity=MOST_SIMULATIONS + 1,
    )
    assert result.tree is not None  # none by `recursive`, which cannot go on and so is never asked to
    tree, layout, actions = result.tree, result.tree.layout, player.game.num_actions
    sums = layout.read(tree.edges[:1], "value_sums")[0, :actions]
    visits = layout.read(tree.edges[:1], "visits")[0, :actions]

    def follow(carry: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], Array]:
        slot, open_ = carry
        row = jax.lax.dynamic_slice_in_dim(tree.edges, slot, 1)
        counts = layout.read(row, "visits")[0, :actions]
        action = jnp.argmax(counts).astype(jnp.int32)
        open_ &= (counts[action] > 0) & (layout.read(row, "is_chance")[0] == 0)
        child = layout.read(row, "child")[0, action].astype(jnp.int32)
        return (jnp.maximum(child, 0), open_ & (child >= 0)), jnp.where(open_, action, -1)

    _, line = jax.lax.scan(follow, (jnp.int32(0), jnp.bool_(True)), None, length=LINE)
    return SearchReport(result.values[0], visits, sums / jnp.maximum(visits, 1), line), tree


# Programs on the disk: what has been traced once on this machine is only compiled at the next start.
#
# Tracing is the larger part of a start with a warm compile cache, and plain Python. So the module of a program is kept
# as JAX exports it (StableHLO, no pickle), named by a hash of all that it is made of.

MOST_FILES = 64
_ADDRESS = re.compile(r"<function ([\w.]+) at 0x[0-9a-f]+>")


class ExportedProgram:
    """A function of pytrees that gives one array, compiled for each set of shapes.

    Args:
        function: what is compiled.
        kind: what the function depends on besides its arguments' shapes.
        folder: where modules are kept; None: nowhere.
    """

    def __init__(self, function: Callable[..., Any], kind: Hashable, folder: Path | None = None):
        self._function, self._folder = function, folder
        self._name = _ADDRESS.sub(r"\1", repr((function, kind)))
        if " at 0x" in self._name or "<l" in self._name:  # lambdas and locals: no name says what they do
            self._folder = None
        self._lowered: dict[Hashable, Any] = {}
        self._compiled: dict[Hashable, Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        """The function's array."""
        return self.compile(*arguments)(*jax.tree.leaves(arguments))

    def compile(self, *arguments: Any) -> Any:
        """The program for arguments of these shapes; it takes their leaves."""
        shapes = _shapes(arguments)
        if shapes not in self._compiled:
            self._compiled[shapes] = self.lower(*arguments).compile()
            self._lowered.pop(shapes, None)
        return self._compiled[shapes]

    def lower(self, *arguments: Any) -> Any:
        """The part of compiling that is Python; several threads may do the same."""
        leaves, tree = jax.tree.flatten(arguments)
        shapes = _shapes(arguments)
        lowered = self._lowered.get(shapes)
        if lowered is None:
            lowered = self._lowered[shapes] = self._load(leaves, tree, shapes).trace(*leaves).lower()
        return lowered

    def clear_cache(self) -> None:
        """Frees what is compiled."""
        self._lowered.clear()
        self._compiled.clear()

    def _load(self, leaves: list[Any], tree: Any, shapes: tuple[str, ...]) -> Any:
        """The function of the leaves, for `jit`."""

        def flat(*leaves: Any) -> Any:
            return self._function(*jax.tree.unflatten(tree, leaves))

        if self._folder is None:
            return jax.jit(flat)
        words = (self._name, *shapes, fingerprint(), jax.default_backend())
        path = self._folder / f"{hashlib.sha256(repr(words).encode()).hexdigest()[:40]}.stablehlo"
        try:
            with contextlib.suppress(OSError, ValueError):
                return jax.jit(jax.export.deserialize(bytearray(path.read_bytes())).call)
            exported = jax.export.export(jax.jit(flat))(*leaves)
            _write(path, bytes(exported.serialize()))
            return jax.jit(exported.call)
        except Exception:  # what JAX cannot export, or a file that is none: it is traced at every start
            return jax.jit(flat)


def _shapes(arguments: Any) -> tuple[str, ...]:
    return tuple(jax.typeof(leaf).str_short() for leaf in jax.tree.leaves(arguments))


@functools.cache
def fingerprint() -> str:
    """A text that changes with JAX and with every edit of this package."""
    root, digest = Path(jaxgames.__file__).parent, hashlib.sha256(jax.__version__.encode())
    for path in sorted(root.rglob("*.py")):
        about = path.stat()
        digest.update(f"{path.relative_to(root)} {about.st_size} {about.st_mtime_ns};".encode())
    return digest.hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Keeps a file, atomically; if there are too many the oldest goes."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_suffix(f".{os.getpid()}")
        written.write_bytes(content)
        written.replace(path)
        files = sorted(path.parent.glob("*.stablehlo"), key=lambda file: file.stat().st_mtime)
        for old in files[:-MOST_FILES]:
            old.unlink()
