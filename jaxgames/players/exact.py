"""Players that know the end: where a position is known exactly they take the best turn, elsewhere another player's."""

import dataclasses
from typing import Any

from jaxtyping import Array, UInt32

from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.turns.best import turn_worth
from jaxgames.ops.pytrees import add_batch_axis, select
from jaxgames.players.generic import random
from jaxgames.players.player import Player, TurnPolicy
from jaxgames.tables.lookup import Knowledge
from jaxgames.tables.registry import LOOKUPS, lookup_of, whole_lookup


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
    """The player with the most that is known of its game: see `lookup_of`.

    Raises `ValueError` for a player that remembers something over a game.
    """
    if hasattr(player.turn, "begin"):
        raise ValueError(f"{name}: {player.name} learns over a game, and would miss exact turns; leave out keep=1")
    lookup, load = lookup_of(player.game)
    return Player(name, player.game, ExactTurn(player.game, lookup, player.turn), (load(), player.params))


def perfect(game: Game) -> Player:
    """The player that knows all of a small game; it wins in as few turns as can be, and draws by any turn that does.

    Raises `ValueError` for a game that is not known as a whole.
    """
    lookup, load = whole_lookup(game)
    drawing = random(game)
    return Player("perfect", game, ExactTurn(game, lookup, drawing.turn), (load(), drawing.params))


def advisor(player: Player, state: State) -> Player:
    """Who is to be asked what to play in a state: what knows the position exactly, else the player."""
    if state._game.id not in LOOKUPS or isinstance(player.turn, ExactTurn) or hasattr(player.turn, "begin"):
        return player
    covered = lookup_of(state._game)[0].covers(add_batch_axis(state._position))
    return exact(player, f"exact:{player.name}") if bool(covered[0]) else player
