"""Players of any game: the random one, and the one that takes the best turn by a value of positions."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from jaxtyping import Array, UInt32

from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.players.player import Player


@dataclasses.dataclass(frozen=True)
class RandomTurn:
    """A turn drawn uniformly from those that lead to different positions. No parameters."""

    game: Game

    def __call__(self, params: Any, positions: Any, words: UInt32[Array, " batch"]) -> Outcome:
        """Plays a turn in each position."""
        del params
        return self.game.random_turn(positions, words)


@dataclasses.dataclass(frozen=True)
class GreedyTurn:
    """The best turn by the values `make_value(params)`."""

    game: Game
    make_value: Callable[[Any], Value]

    def __call__(self, params: Any, positions: Any, words: UInt32[Array, " batch"]) -> Outcome:
        """Plays a turn in each position."""
        del words
        return self.game.best_turn(positions, self.make_value(params))[0]


@dataclasses.dataclass(frozen=True)
class _Method:
    """A bound method that equals that of an equal object; Python's equals only that of the same one."""

    owner: Any
    function: Callable

    def __call__(self, *arguments: Any) -> Any:
        return self.function(self.owner, *arguments)


def random(game: Game) -> Player:
    """The player that takes any turn with the same probability."""
    return Player("random", game, RandomTurn(game))


def greedy(game: Game, name: str, params: Any, make_value: Callable[[Any], Value]) -> Player:
    """The player that looks one turn ahead: the best turn if positions are worth `make_value(params)`.

    `make_value` is a hashable function, such as a method of a frozen dataclass. Players with equal `make_value` and
    shapes of `params` share compiled programs.
    """
    if inspect.ismethod(make_value):
        make_value = _Method(make_value.__self__, make_value.__func__)
    return Player(name, game, GreedyTurn(game, make_value), params)
