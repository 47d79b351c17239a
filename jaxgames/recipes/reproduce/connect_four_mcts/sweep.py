"""Matches of one kind of search at several settings, all at once: constants are arrays, one number for each game."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, UInt32

from jaxgames.algos.mcts import Evaluator, Rule
from jaxgames.envs.connect_four import ConnectFour
from jaxgames.envs.core import Outcome
from jaxgames.matches.match import PairedGames, interval
from jaxgames.players import Player
from jaxgames.players.mcts import MCTSTurn

GAME = ConnectFour()


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
        return numbers, self._by_game(evaluate.init(GAME, len(games)), len(games)) if self.keep else ()

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"], memory: Any) -> tuple[Outcome, Any]:
        """Plays one action in each position."""
        numbers, learned = memory
        known = jax.tree.map(lambda x: x.T, learned) if self.keep else None
        outcome, learned = self.search.search(params[0], positions, bits, known, numbers)
        return outcome, (numbers, self._by_game(learned, len(bits)) if self.keep else ())

    def _by_game(self, learned: Any, games: int) -> Any:
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


def play(player: Player, opponent: Player, settings: int, pairs: int, seed: int, slots: int) -> list[dict[str, Any]]:
    """Percent of the points of each setting against the opponent, with intervals; at most `slots` games at once."""
    slots = min(slots, 1 << (2 * settings * pairs - 1).bit_length())
    games = PairedGames(player, opponent, settings * pairs, seed, slots)
    games.play_all()
    found = []
    for own in games.points.reshape(settings, pairs, 2):
        low, high = interval(own.mean(axis=1), 1)
        percents = [50 * (1 + x) for x in (own.mean(), max(low, -1), min(high, 1))]
        found.append(dict(zip(("ours", "low", "high"), percents, strict=True), games=2 * pairs))
    return found
