"""Players made of another one: weak players, which err now and then, and exact ones, which know the end.

Where a position is known exactly, an exact player takes the best turn, elsewhere the other player's.
"""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32
from typing_extensions import override

from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.turns.best import turn_worth
from jaxgames.ops.pytrees import add_batch_axis, select
from jaxgames.ops.random_bits import fold_in
from jaxgames.players.generic import random
from jaxgames.players.player import Player, TurnPolicy
from jaxgames.tables.lookup import LOOKUPS, Knowledge, lookup_of, whole_lookup


@dataclasses.dataclass(frozen=True)
class _WrappedTurn(TurnPolicy):
    """A turn made of that of another player."""

    game: Game
    turn: TurnPolicy

    @property
    def on_host(self) -> bool:
        """Whether the other player runs as plain Python."""
        return getattr(self.turn, "on_host", False)


@dataclasses.dataclass(frozen=True)
class WeakTurn(_WrappedTurn):
    """The turn of another player or, with a probability, one drawn uniformly from all.

    The parameters are the probability as a number out of 2^24, and those of the other player.
    """

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        threshold, inner = params
        errs = (fold_in(bits, jnp.uint32(1)) >> 8) < threshold
        drawn = self.game.random_turn(positions, fold_in(bits, jnp.uint32(2)))
        return select(errs, drawn, self.turn(inner, positions, bits))


def weak(player: Player, name: str, probability: float) -> Player:
    """The player that takes a random turn with a probability, and else that of `player`.

    Keller, "Entwicklung einer Künstlichen Intelligenz für Tic-Tac-Toe" (2018), section 3.2, proposes it: who never
    errs is soon no fun to play against. Raises `ValueError` for a player that remembers something over a game.
    """
    if player.learns:
        raise ValueError(f"{name}: {player.name} learns over a game, and would miss random turns; leave out keep=1")
    params = (np.uint32(round(probability * 2**24)), player.params)
    return Player(name, player.game, WeakTurn(player.game, player.turn), params)


def sighted(player: Player) -> Player:
    """The player itself, or the one that a weak player is made of."""
    while isinstance(player.turn, WeakTurn):
        player = Player(player.name, player.game, player.turn.turn, player.params[1])
    return player


@dataclasses.dataclass(frozen=True)
class ExactTurn(_WrappedTurn):
    """The turn of another player, unless a table knows better: it wins as fast and loses as slowly as can be.

    Where the other player's turn keeps a draw, it is taken. The parameters are the table's, and the other player's.
    """

    lookup: Knowledge

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
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
    if player.learns:
        raise ValueError(f"{name}: {player.name} learns over a game, and would miss exact turns; leave out keep=1")
    lookup, load = lookup_of(player.game)
    return Player(name, player.game, ExactTurn(player.game, player.turn, lookup), (load(), player.params))


def perfect(game: Game) -> Player:
    """The player that knows all of a small game; it wins in as few turns as can be, and draws by any turn that does.

    Raises `ValueError` for a game that is not known as a whole.
    """
    lookup, load = whole_lookup(game)
    drawing = random(game)
    return Player("perfect", game, ExactTurn(game, drawing.turn, lookup), (load(), drawing.params))


def advisor(player: Player, state: State) -> Player:
    """Who is to be asked what to play in a state: what knows the position exactly, else the player."""
    if state._game.id not in LOOKUPS or isinstance(player.turn, ExactTurn) or player.learns:
        return player
    covered = lookup_of(state._game)[0].covers(add_batch_axis(state._position))
    return exact(player, f"exact:{player.name}") if bool(covered[0]) else player
