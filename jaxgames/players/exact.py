"""Players that know the end: where a position is known exactly they take the best turn, elsewhere another player's."""

import dataclasses
from typing import Any

from jaxtyping import Array, UInt32

from jaxgames.envs.core import Game, Outcome
from jaxgames.envs.turns.best import turn_worth
from jaxgames.ops.pytrees import select
from jaxgames.players.generic import random
from jaxgames.players.player import Player, TurnPolicy
from jaxgames.tables.lookup import Knowledge
from jaxgames.tables.registry import lookup_of, whole_lookup


@dataclasses.dataclass(frozen=True)
class ExactTurn:
    """The turn of another player, unless a table knows better: it wins as fast and loses as slowly as can be.

    Where the other player's turn keeps a draw, it is taken. The parameters are the table's, and the other player's.
    """

    game: Game
    lookup: Knowledge
    turn: TurnPolicy

    @property
    def on_host(self) -> bool:
        """As of the other player."""
        return getattr(self.turn, "on_host", False)

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """As `TurnPolicy`."""
        scores, inner = params

        def worth(after):
            return self.lookup.worth(scores, after)

        chosen = self.turn(inner, positions, bits)
        best, most = self.game.best_turn(positions, worth)
        holds = (most == 0) & (turn_worth(chosen, worth) == 0)
        return select(self.lookup.covers(positions) & ~holds, best, chosen)


def exact(player: Player, name: str) -> Player:
    """The player with the most that is known of its game: see `lookup_of`."""
    lookup, scores = lookup_of(player.game)
    return Player(name, player.game, ExactTurn(player.game, lookup, player.turn), (scores, player.params))


def perfect(game: Game) -> Player:
    """The player that knows all of a small game; it wins in as few turns as can be, and draws by any turn that does.

    Raises `ValueError` for a game that is not known as a whole.
    """
    lookup, scores = whole_lookup(game)
    drawing = random(game)
    return Player("perfect", game, ExactTurn(game, lookup, drawing.turn), (scores, drawing.params))
