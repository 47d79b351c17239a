"""What positions are worth to a player, whatever kind of player it is, in points of the player to act.

A kind of player is one line of `VALUES`, or it searches by simulations.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, UInt32

from jaxgames.algos.minimax import LIMIT, result
from jaxgames.algos.minimax.search import Search
from jaxgames.players.generic import ExpectimaxTurn, GreedyTurn, LogitsTurn
from jaxgames.players.mcts import MCTSTurn
from jaxgames.players.minimax import MinimaxTurn
from jaxgames.players.player import Player
from jaxgames.players.weak import WeakTurn

Values = Callable[[Any, Any, Any, UInt32[Array, " n"]], Float32[Array, " n"]]
"""`values(turn, params, positions, bits)`: of positions after a turn, before chance."""

MEN_OF_HALF = 4.0
"""Where only material is counted, so many men ahead are shown as tanh(1) of a win."""


def sighted(player: Player) -> Player:
    """The player itself, or the one that a weak player is made of."""
    while isinstance(player.turn, WeakTurn):
        player = Player(player.name, player.game, player.turn.turn, player.params[1])
    return player


def network_of(player: Player) -> Player | None:
    """The player that takes the best turn by the network that a player looks ahead with; None if it has none."""
    player = sighted(player)
    make_value = getattr(player.turn, "make_value", None)
    if type(player.turn) not in VALUES or make_value is None:
        return None
    return Player(player.name, player.game, GreedyTurn(player.game, make_value), player.params)


def searches(player: Player) -> bool:
    """Whether it searches by simulations, or has a policy that guides such a search."""
    return isinstance(sighted(player).turn, MCTSTurn | LogitsTurn)


def looks_ahead(player: Player) -> bool:
    """Whether it looks farther than the positions after its own turn: then every position more takes its time."""
    return isinstance(sighted(player).turn, MCTSTurn | MinimaxTurn | ExpectimaxTurn)


def has_values(player: Player) -> bool:
    """Whether it can say what positions are worth."""
    turn = sighted(player).turn
    return type(turn) in VALUES or searches(player)


def position_values(player: Player, positions: Any, bits: UInt32[Array, " n"]) -> Float32[Array, " n"]:
    """What n positions are worth after a turn, before chance, to the player to act. For players in `VALUES`."""
    return VALUES[type(player.turn)](player.turn, player.params, positions, bits)


def describe(player: Player) -> str:
    """How far the player looks, in words."""
    turn = sighted(player).turn
    if isinstance(turn, MinimaxTurn):
        seconds = turn.search.seconds
        return f"{turn.search.depth} plies" if seconds is None else f"{seconds:g} s"
    if isinstance(turn, ExpectimaxTurn):
        return f"{turn.search.plies} plies"
    return "1 ply" if isinstance(turn, GreedyTurn) else ""


def _greedy(turn: GreedyTurn, params: Any, positions: Any, bits: Array) -> Array:
    del bits
    return turn.make_value(params)(positions)


def _expectimax(turn: ExpectimaxTurn, params: Any, positions: Any, bits: Array) -> Array:
    del bits
    before = dataclasses.replace(turn.search, plies=turn.search.plies - 1)
    return before.expected(positions, turn.make_value(params))


def _minimax(turn: MinimaxTurn, params: Any, positions: Any, bits: Array) -> Array:
    """A win in sight counts in points. Else the network's value, or the material as a share of all points."""
    game, search = turn.search.game, turn.search
    material = jnp.zeros(len(bits), jnp.float32)
    value = None if turn.make_value is None else turn.make_value(params)
    counts = value is None or turn.value == "exact"
    if turn.value == "pieces" and value is None:
        value = jax.vmap(game.piece_count)
    elif value is None:
        material = jax.vmap(game.material)(positions)  # the search counts its change only
    if search.depth > 1:
        deeper: Search = dataclasses.replace(search, depth=search.depth - 1, forced=False)
        found = deeper(positions, bits, value).values
    else:
        found = jnp.zeros(len(bits), jnp.float32) if value is None else value(positions)
    points, _ = result(found)
    quiet = found + material
    if counts:
        quiet = game.max_reward * jnp.tanh(quiet / MEN_OF_HALF)
    return jnp.where(jnp.abs(found) > LIMIT, points, quiet)


VALUES: dict[type, Callable[[Any, Any, Any, Any], Any]] = {
    GreedyTurn: _greedy,
    ExpectimaxTurn: _expectimax,
    MinimaxTurn: _minimax,
}
