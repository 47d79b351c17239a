"""The players of a value, looking further ahead: 2-ply and 3-ply play with any trained network."""

import dataclasses
from collections.abc import Callable
from typing import Any

from jaxtyping import Array, UInt32

from jaxgames.algos.expectimax import Expectimax
from jaxgames.envs.core import Outcome, Value
from jaxgames.players.generic import GreedyTurn
from jaxgames.players.player import Player


@dataclasses.dataclass(frozen=True)
class DeepTurn:
    """The turn that is best some plies ahead, by the values `make_value(params)`."""

    search: Expectimax
    make_value: Callable[[Any], Value]

    def __call__(self, params: Any, positions: Any, words: UInt32[Array, " batch"]) -> Outcome:
        """Plays a turn in each position."""
        del words
        return self.search.best_turn(positions, self.make_value(params))[0]


def deeper(player: Player, name: str, plies: int, keep: int | None = None, within: float | None = None) -> Player:
    """The player that values positions as `player` does, and looks `plies` plies ahead (see `Expectimax`).

    Raises `ValueError` if the player does not choose by the values of positions, and for numbers out of range.
    """
    if not isinstance(player.turn, GreedyTurn):
        raise ValueError(f"{player.name} does not value positions, so it cannot look {plies} plies ahead")
    search = Expectimax(player.game, plies, keep, within)
    if plies == 1:
        return dataclasses.replace(player, name=name)
    return dataclasses.replace(player, name=name, turn=DeepTurn(search, player.turn.make_value))
