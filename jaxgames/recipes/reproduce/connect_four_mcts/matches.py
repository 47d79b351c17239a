"""Matches of searches: of one kind at several settings, all at once, where constants are arrays with a number for each
game; and of searches that keep their trees from move to move, as in table 13 of the thesis.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, UInt32

from jaxgames.algos import mcts
from jaxgames.algos.mcts import Evaluator, Rule
from jaxgames.envs.connect_four import ConnectFour, Position
from jaxgames.envs.core import Outcome
from jaxgames.matches.match import PairedGames, interval
from jaxgames.players import Player
from jaxgames.players.mcts import MCTSTurn

GAME = ConnectFour()


def empty_boards(count: int) -> Position:
    """The position at the beginning, for so many games."""
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (count,)), GAME.init_position(jax.random.key(0)))


@dataclasses.dataclass(frozen=True)
class SweepTurn:
    """A search whose setting is that of the game it plays in: setting n plays `pairs` pairs of games, from number
    n x `pairs` on. The parameters are the evaluator and, by name, an array with a number for each setting.
    """

    search: MCTSTurn
    pairs: int
    keep: bool = False

    def begin(self, params: tuple[Evaluator, Mapping[str, Array]], games: Int32[Array, " batch"]) -> Any:
        """The numbers of each game's setting, and nothing learned yet."""
        evaluate, settings = params
        numbers = {name: values[jnp.minimum(games // self.pairs, len(values) - 1)] for name, values in settings.items()}
        return numbers, _transposed(evaluate.init(GAME, len(games))) if self.keep else ()

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"], memory: Any) -> tuple[Outcome, Any]:
        """Plays one action in each position."""
        numbers, learned = memory
        known = _transposed(learned) if self.keep else None
        outcome, learned = self.search.search(params[0], positions, bits, known, numbers)
        return outcome, (numbers, _transposed(learned) if self.keep else ())


def _transposed(learned: Any) -> Any:
    """What is learned, whose axis of games a search has last and a player's memory first, as the other one has it."""
    return jax.tree.map(lambda x: x.T, learned)


def sweep(
    rule: Rule,
    evaluate: Evaluator,
    settings: Mapping[str, Sequence[float]],
    pairs: int,
    simulations: int,
    keep: bool = False,
) -> Player:
    """The player that searches by these settings, each an entry of all sequences, and plays the best mean."""
    turn = SweepTurn(MCTSTurn(GAME, rule, simulations, 1, "mean"), pairs, keep)
    numbers = {name: np.asarray(values, np.float32) for name, values in settings.items()}
    return Player("sweep", GAME, turn, (evaluate, numbers))


def play(
    player: Player, opponent: Player, settings: int, pairs: int, seed: int, slots: int
) -> list[tuple[float, float, float]]:
    """Points per game of each setting against the opponent, with intervals; at most `slots` games at once."""
    slots = min(slots, 1 << (2 * settings * pairs - 1).bit_length())
    games = PairedGames(player, opponent, settings * pairs, seed, slots)
    games.play_all()
    return [(own.mean(), *interval(own.mean(axis=1), 1)) for own in games.points.reshape(settings, pairs, 2)]


# Searches that keep their trees.

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


def play_with_trees(player: Keeper, opponent: Keeper, games: int, seed: int) -> np.ndarray:
    """Points of the player, -1 to 1, in so many games; it begins the first half of them."""
    halves = [_half(player, opponent, games // 2, first, seed) for first in (0, 1)]
    return np.concatenate(halves)


def _half(player: Keeper, opponent: Keeper, games: int, first: int, seed: int) -> np.ndarray:
    """As `play_with_trees`, games begun by the player (`first` 0) or by its opponent (1)."""
    states = GAME.state(empty_boards(games), jnp.full(games, first, jnp.int32))
    kept: dict[int, Any] = {}
    rewards, step = np.zeros(games), jax.jit(jax.vmap(GAME.step))
    for ply in range(GAME.rows * GAME.cols):
        turn = (ply + first) % 2
        side = (player, opponent)[turn]
        tree, memory = kept.get(turn, (None, None))
        result = mcts.search(
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
        kept[turn] = result.tree, result.memory
        states = step(states, result.actions)
        rewards += np.asarray(states.rewards)[:, 0]
        if np.asarray(states.terminated).all():
            break
    return rewards
