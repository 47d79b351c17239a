"""Players that search to a fixed depth: minimax and alpha-beta, by the change of material or by any value."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, UInt32

from jaxgames.algos.minimax import Search
from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.players.player import Player

OPTIONS = {"ties": ("random", "first")}
"""What may follow the depth in a spec string, the default first."""


@dataclasses.dataclass(frozen=True)
class MinimaxTurn:
    """The best action by a search, whose horizon is evaluated by `make_value(params)`, if there is one."""

    search: Search
    make_value: Callable[[Any], Value] | None = None

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """Plays one action in each position; where the game is over, what it leads to means nothing."""
        value = None if self.make_value is None else self.make_value(params)
        found = self.search(positions, bits, value)
        return jax.vmap(self.search.game.play)(positions, jnp.maximum(found.actions, 0))


MOST_DEPTH_IN_TIME = 64
"""The depth at which a search with a budget of time ends."""


def alphabeta(game: Game, depth: int | float, **options: str) -> Player:
    """The player `alphabeta:DEPTH`: alpha-beta by the change of material since the position it is to move in.

    A float is a time in seconds, `alphabeta:1s`: one depth after the other, until it is over; the move is that of the
    last depth that was searched to its end.

    Of equally good actions one is drawn (`ties=random`), or it is the first one (`ties=first`). Raises `ValueError` for
    unknown options and values, and for games with chance.
    """
    return _player("alphabeta", game, depth, options, prune=True)


def minimax(game: Game, depth: int, **options: str) -> Player:
    """The player `minimax:DEPTH`: as `alphabeta`, without cutting branches off."""
    return _player("minimax", game, depth, options, prune=False)


def _player(name: str, game: Game, depth: int | float | str, options: dict[str, str], prune: bool) -> Player:
    for option, chosen in options.items():
        if option not in OPTIONS:
            raise ValueError(f"{name} has no option {option!r}; it has: {', '.join(OPTIONS)}")
        if chosen not in OPTIONS[option]:
            raise ValueError(f"{option}={chosen}: expected {' or '.join(OPTIONS[option])}")
    settings = {option: values[0] for option, values in OPTIONS.items()} | options
    if isinstance(depth, str) and depth.isdecimal():
        depth = int(depth)
    text = "".join(f",{option}={chosen}" for option, chosen in options.items())
    if isinstance(depth, float):
        search = Search(game, MOST_DEPTH_IN_TIME, prune=prune, seconds=depth, **settings)  # type: ignore[arg-type]
        return Player(f"{name}:{depth:g}s{text}", game, MinimaxTurn(search))
    search = Search(game, depth, prune=prune, **settings)  # type: ignore[arg-type]
    return Player(f"{name}:{depth}{text}", game, MinimaxTurn(search))
