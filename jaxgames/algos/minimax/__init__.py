"""Minimax and alpha-beta to a fixed depth, for batches of positions of any game without chance.

Every position has a lane with its own stack, and one program steps through the trees of all lanes at once; a lane
that is done takes the next position. Source of the method: Knuth and Moore, "An analysis of alpha-beta pruning" (1975).
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from jaxgames.algos.minimax.search import Result, Search, network, result
from jaxgames.algos.minimax.step import LIMIT, WIN
from jaxgames.envs.checks import state_batch
from jaxgames.envs.core import Game, State, Value
from jaxgames.ops import checks

__all__ = ["LIMIT", "WIN", "Result", "Search", "alphabeta", "minimax", "network", "result"]


def alphabeta(
    game: Game,
    states: State,
    depth: int,
    key: Key[Array, ""] | None = None,
    *,
    evaluate: Value | None = None,
    **settings: Any,
) -> Result:
    """The best action of each of a batch of states by alpha-beta search, and what it is worth.

    The values are those of `minimax`, from a fraction of the nodes. Outside of `jit`, the search is compiled anew in
    each call.

    Args:
      game: one without chance.
      states: of shape [batch].
      depth: how many turns deep; a turn of several actions counts as one.
      key: draws one of equally good actions, all equally likely; without a key the first is taken, in the order
        of the game's moves.
      evaluate: what positions at the horizon are worth to the player to act, float32[n]; by default the change of
        `game.material` since the root.
      **settings: those of `Search` but `ties`, which `key` decides.

    Raises `ValueError` for states of another shape, a batch of 0 and settings out of range.
    """
    return _search(Search(game, depth, ties="first" if key is None else "random", **settings), states, key, evaluate)


def minimax(
    game: Game,
    states: State,
    depth: int,
    key: Key[Array, ""] | None = None,
    *,
    evaluate: Value | None = None,
    **settings: Any,
) -> Result:
    """As `alphabeta`, but every move is searched: without the setting `prune`."""
    ties = "first" if key is None else "random"
    return _search(Search(game, depth, prune=False, ties=ties, **settings), states, key, evaluate)


def _search(search: Search, states: State, key: Key[Array, ""] | None, evaluate: Value | None) -> Result:
    shape = (state_batch(search.game, states),)
    if shape == (0,):
        raise ValueError("states: a batch of 0: expected one state or more")
    if key is not None:
        checks.key(key)
    if evaluate is not None:
        checks.function("evaluate", evaluate, "(positions) -> values")
    random = jnp.zeros(shape, jnp.uint32) if key is None else jax.random.bits(key, shape, jnp.uint32)
    return search(states._position, random, evaluate, states.terminated | states.truncated)
