"""All turns of many positions at once: the children of a batch as a flat list, in pages of a fixed size.

A turn is one action, or several if the same player goes on, as in a multiple jump. Works for every game without
chance by its rules alone. Compiled once for each game: batches are padded to `SIZE` positions.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int, Int32, UInt32

from jaxgames.envs.core import Game
from jaxgames.ops import bits, ragged
from jaxgames.ops.jax_internals import is_true
from jaxgames.ops.pytrees import concatenate, num_rows, take, unique_rows

SIZE = 16384
"""Positions in a batch, and children in a page: enough to keep a device busy, and little memory."""


class Children(NamedTuple):
    """What actions lead to: whose child each is (an index), the action, and what `Outcome` says.

    `complete`: the turn ends with the action; else the same player goes on.
    """

    parent: Int[np.ndarray, " n"]
    action: Int[np.ndarray, " n"]
    position: Any
    complete: Bool[np.ndarray, " n"]
    over: Bool[np.ndarray, " n"]
    reward: Float32[np.ndarray, " n"]


class Turns(NamedTuple):
    """Whole turns: the index of each turn's parent, the position after it, and what `Outcome` says."""

    parent: Int32[np.ndarray, " n"]
    position: Any
    over: Bool[np.ndarray, " n"]
    reward: Float32[np.ndarray, " n"]


class Expansion:
    """The children of a batch of at most `size` positions (a pytree of arrays, none of them over)."""

    def __init__(self, game: Game, positions: Any, size: int = SIZE):
        count = num_rows(positions)
        if count > size:
            raise ValueError(f"{count} positions: expected at most {size}")
        self._list, self._page = _programs(game, size)
        padded = jax.tree.map(lambda x: _padded(np.asarray(x), size), positions)
        self._children = (padded, *self._list(padded, np.int32(count)))
        self.total = int(self._children[2][-1])
        self._size = size

    def pages(self) -> Iterator[Children]:
        """All children, page by page."""
        for first in range(0, self.total, self._size):
            page = self._page(*self._children, np.int32(first))
            yield jax.tree.map(lambda x, n=self.total - first: np.asarray(x)[:n], Children(*page))


def turns(game: Game, positions: Any, size: int = SIZE, *, distinct: bool = False) -> Turns:
    """All turns of at most `size` positions, none of them over.

    With `distinct`, turns of several actions that lead a position to the same one are one turn.
    """
    parent, whole, parents_of_longer = np.arange(num_rows(positions), dtype=np.int32), [], []
    while len(parent):
        unfinished = []
        for owner, batch in batches(parent, positions, size):
            for page in Expansion(game, batch, size).pages():
                page = page._replace(parent=owner[page.parent])
                whole.append(take(page, page.complete))
                unfinished.append(take(page, ~page.complete))
        parent, positions = (concatenate([getattr(x, name) for x in unfinished]) for name in ("parent", "position"))
        parents_of_longer.append(parent)
    children = concatenate(whole)
    if distinct and len(concatenate(parents_of_longer)):
        # Only these parents have turns of several actions; different single actions lead to different positions.
        compared = np.isin(children.parent, concatenate(parents_of_longer))
        kept = ~compared
        first, _ = unique_rows((children.parent[compared], take(children.position, compared)))
        kept[np.flatnonzero(compared)[first]] = True
        children = take(children, kept)
    return Turns(children.parent, children.position, children.over, children.reward)


@functools.cache
def single_actions(game: Game) -> bool:
    """Whether every action ends the turn, if the program of `play` shows this: `turn_passes` is a constant."""
    position = jax.eval_shape(game.init_position, jax.random.key(0))
    program = jax.make_jaxpr(lambda *move: game.play(*move).turn_passes)(position, jax.ShapeDtypeStruct((), jnp.int32))
    return is_true(program)


def batches(parent: np.ndarray, positions: Any, size: int) -> Iterator[tuple[np.ndarray, Any]]:
    """Positions and their parents, at most `size` at a time."""
    for first in range(0, len(parent), size):
        yield parent[first : first + size], take(positions, slice(first, first + size))


def _padded(leaf: np.ndarray, size: int) -> np.ndarray:
    padded = np.zeros((size, *leaf.shape[1:]), leaf.dtype)
    padded[: len(leaf)] = leaf
    return padded


@functools.lru_cache(maxsize=32)
def _programs(game: Game, size: int) -> tuple[Callable, Callable]:
    """Lists the legal actions of a batch as sets; and finds the children of one page of that list."""
    words = -(-game.num_actions // 32)

    def list_actions(positions: Any, count: Int32[Array, ""]) -> tuple[UInt32[Array, " sets"], Int32[Array, " sets"]]:
        legal = jax.vmap(game.legal)(positions) & (jnp.arange(size, dtype=jnp.int32) < count)[:, None]
        bytes_ = jnp.packbits(jnp.pad(legal, ((0, 0), (0, words * 32 - game.num_actions))), axis=1, bitorder="little")
        a, b, c, d = bytes_.astype(jnp.uint32).reshape(size * words, 4).T
        sets = a | (b << 8) | (c << 16) | (d << 24)
        return sets, ragged.cumsum(bits.popcount(sets))

    def expand_page(
        positions: Any, sets: UInt32[Array, " sets"], ends: Int32[Array, " sets"], first: Int32[Array, ""]
    ) -> tuple:
        counts = bits.popcount(sets)
        owner, _ = ragged.owners(jnp.maximum(ends - first, 0), counts, size)
        rank = jnp.arange(size, dtype=jnp.int32) + first - (ends - counts)[owner]
        action = (owner % words) * 32 + bits.nth_set(sets[owner], rank.astype(jnp.uint32)).astype(jnp.int32)
        action, parent = lax.optimization_barrier((action, owner // words))
        outcome = jax.vmap(game.play)(take(positions, parent), action)
        complete = outcome.turn_passes | outcome.over
        return parent, action, outcome.position, complete, outcome.over, outcome.reward

    return jax.jit(list_actions), jax.jit(expand_page)
