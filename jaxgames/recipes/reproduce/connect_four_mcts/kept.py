"""Matches of searches that keep their trees from move to move, as in table 13 of the thesis."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos import mcts
from jaxgames.algos.mcts import Evaluator, Rule
from jaxgames.envs.connect_four import ConnectFour

GAME = ConnectFour()
ROOM = 3
"""Nodes that a tree has room for, in simulations of a move: what is kept of it is mostly less than two moves' worth."""


class Keeper(NamedTuple):
    """A search that plays the best mean and keeps its tree, and what its evaluator learned, over a game.

    Its trees have room for `ROOM` moves of `most` simulations: keepers that differ in `simulations` only share their
    compiled programs.
    """

    rule: Rule
    evaluate: Evaluator
    simulations: int
    most: int


def play(player: Keeper, opponent: Keeper, games: int, seed: int) -> np.ndarray:
    """Points of the player, -1 to 1, in so many games; it begins the first half of them."""
    halves = [_half(player, opponent, games // 2, first, seed) for first in (0, 1)]
    return np.concatenate(halves)


def _half(player: Keeper, opponent: Keeper, games: int, first: int, seed: int) -> np.ndarray:
    """As `play`, games begun by the player (`first` 0) or by its opponent (1)."""
    opening = jax.tree.map(lambda x: jnp.broadcast_to(x, (games,)), GAME.init_position(jax.random.key(0)))
    states = GAME.state(opening, jnp.full(games, first, jnp.int32))
    kept: dict[int, Any] = {}
    rewards, step = np.zeros(games), jax.jit(jax.vmap(GAME.step))
    for ply in range(GAME.rows * GAME.cols):
        turn = (ply + first) % 2
        side = (player, opponent)[turn]
        tree, memory = kept.get(turn, (None, None))
        found = mcts.search(
            GAME,
            states,
            jax.random.fold_in(jax.random.key(seed), 2 * ply + first),
            side.simulations,
            select=side.rule,
            evaluate=side.evaluate,
            final="mean",
            capacity=ROOM * side.most,
            tree=None if tree is None else mcts.advance(tree, states),
            memory=memory,
        )
        kept[turn] = found.tree, found.memory
        states = step(states, found.actions)
        rewards += np.asarray(states.rewards)[:, 0]
        if np.asarray(states.terminated).all():
            break
    return rewards
