"""Games small enough to solve completely: the value of every reachable position, ply by ply.

For games in which each action adds something to the board, so that a position is always reached after the same number
of plies: tic-tac-toe and Connect X. It uses only the rules of the game.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int8, UInt32

from jaxgames.envs.connect_four import board
from jaxgames.envs.connect_four.board import Position as Stones
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game
from jaxgames.envs.tic_tac_toe.game import FULL, TicTacToe
from jaxgames.envs.tic_tac_toe.game import Position as Cells
from jaxgames.ops import bits
from jaxgames.tables.connect_four_threats import Threats

UNKNOWN = -128
"""The score of keys that are not reachable positions."""
SOON = 127
"""The score of a finished win, minus one for each ply until then; negative for losses, 0 for draws."""
BATCH = 1 << 16
MOST_BITS = 30
"""The most bits of the keys of a Connect X board: those of 5 x 5."""
_NO_KEY = 0xFFFFFFFF


class WholeIndex(Protocol):
    """Numbers all positions of a game by keys below 2^32."""

    @property
    def game(self) -> Game:
        """The game; without chance, and single actions are turns."""

    @property
    def bits(self) -> int:
        """Of a key, 31 at most."""

    def key(self, positions: Any) -> UInt32[Array, "..."]:
        """The keys of positions; different positions have different keys."""

    def position(self, keys: UInt32[Array, "..."]) -> Any:
        """The positions with these keys."""


@dataclasses.dataclass(frozen=True)
class TicTacToeIndex:
    """All positions of tic-tac-toe. A key is the cells of the player to move, and then those of the other."""

    bits: ClassVar[int] = 18
    game: ClassVar[TicTacToe] = TicTacToe()

    def key(self, positions: Cells) -> UInt32[Array, "..."]:
        """The keys of positions."""
        return (positions.cells & FULL) | (positions.cells >> 16 << 9)

    def position(self, keys: UInt32[Array, "..."]) -> Cells:
        """The positions with these keys."""
        return Cells((keys & FULL) | (keys >> 9 << 16))


@dataclasses.dataclass(frozen=True)
class SmallBoard:
    """All positions of a board of Connect X whose keys, as of `Threats.key`, fit in 30 bits.

    Raises `ValueError` for a larger board.
    """

    game: ConnectFour

    def __post_init__(self) -> None:
        if self.bits > MOST_BITS:
            size = f"{self.game.rows} x {self.game.cols}"
            raise ValueError(f"a board of {size} has too many positions; expected one of 5 x 5 at most")

    @property
    def bits(self) -> int:
        """Of a key."""
        return (self.game.rows + 1) * self.game.cols

    def key(self, positions: Stones) -> UInt32[Array, "..."]:
        """The keys of positions."""
        return Threats(self.game).key(positions.own, board.either(*positions))[0]

    def position(self, keys: UInt32[Array, "..."]) -> Stones:
        """The positions with these keys."""
        # The highest bit of a column is above its stones.
        height = self.game.rows + 1
        own = taken = jnp.zeros_like(keys)
        for column in range(self.game.cols):
            bits_of = (keys >> (column * height)) & jnp.uint32((1 << height) - 1)
            above = bits.highest(bits_of)
            own = own | (bits_of ^ above) << (column * height)
            taken = taken | (above - 1) << (column * height)
        return Stones((own,), (taken ^ own,))


class WholeGame(NamedTuple):
    """All reachable positions: their number by ply, and a score for every key; `UNKNOWN` for others."""

    positions: tuple[int, ...]
    score: Int8[np.ndarray, " keys"]


def solve_whole(index: WholeIndex, report: Callable[[int, int], None] = lambda *_: None) -> WholeGame:
    """Solves a game. `report` is called with each ply and its number of positions."""
    score = np.full(1 << index.bits, UNKNOWN, np.int8)
    layer = np.asarray(index.key(index.game.init_position(jax.random.key(0)))).reshape(1)
    counts: list[int] = []
    layers = []
    while len(layer):
        report(len(counts), len(layer))
        counts.append(len(layer))
        going_on = layer[score[layer] == UNKNOWN]
        layers.append(going_on)
        reached = [np.zeros(0, np.uint32)]
        for keys in _batches(going_on):
            children, over, reward = _expand(index, keys)
            score[children[over]] = np.where(reward[over] > 0, -SOON, 0)  # to the player who would move next
            reached.append(np.unique(children[children != _NO_KEY]))
        layer = np.unique(np.concatenate(reached))
    for going_on in reversed(layers):
        for keys in _batches(going_on):
            children = _expand(index, keys)[0]
            after = score[np.where(children == _NO_KEY, 0, children)]
            worth = np.where(children == _NO_KEY, UNKNOWN, np.sign(after) - after)
            score[keys] = worth.max(axis=1)
    return WholeGame(tuple(counts), score)


def _batches(keys: UInt32[np.ndarray, " n"]) -> Iterator[UInt32[np.ndarray, " some"]]:
    return (keys[first : first + BATCH] for first in range(0, len(keys), BATCH))


def _expand(index: WholeIndex, keys: UInt32[np.ndarray, " n"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The key after each action, `_NO_KEY` where it is not legal; whether that ends the game, and the reward."""
    size = min(BATCH, 1 << (len(keys) - 1).bit_length())  # few different sizes are compiled
    children, over, reward = _play_all(index, np.pad(keys, (0, size - len(keys)), mode="edge"))
    return tuple(np.asarray(array)[: len(keys)] for array in (children, over, reward))  # type: ignore[return-value]


@functools.partial(jax.jit, static_argnums=0)
def _play_all(index: WholeIndex, keys: UInt32[Array, " n"]) -> tuple[Array, Array, Array]:
    positions, actions = index.position(keys), jnp.arange(index.game.num_actions, dtype=jnp.int32)
    play = jax.vmap(index.game.play, in_axes=(None, 0))
    outcomes = jax.vmap(play, in_axes=(0, None))(positions, actions)
    legal = jax.vmap(index.game.legal)(positions)
    children = jnp.where(legal, index.key(outcomes.position), jnp.uint32(_NO_KEY))
    return children, outcomes.over & legal, outcomes.reward
