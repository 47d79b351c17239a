"""Entries of the registry made of functions that other people write."""

import re
from collections.abc import Callable
from typing import Any

from jaxgames.envs.core import Game
from jaxgames.players.host import ActionTurn, HostTurn, Move
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry


def python_player(move: Move, help: str = "", game: str | None = None, chance: bool = True) -> PlayerEntry:
    """The entry of a plain Python function `move(state) -> action`, which is asked about one state at a time.

    Args:
        move: gets a `State` in which the player is to act. It returns an action, or all actions of its turn.
        help: a line about it.
        game: the id of the only game it plays; None for any.
        chance: whether it plays games with chance.
    """

    def make(game: Game, name: str) -> Player:
        return Player(name, game, HostTurn(game, move, name))

    return PlayerEntry(make, help or _first_line(move), "", (), games=(game,) if game else (), chance=chance)


def jax_player(
    act: Callable[..., Any], params: Any = None, help: str = "", game: str | None = None, chance: bool = True
) -> PlayerEntry:
    """The entry of a function of JAX, `act(states, bits) -> int32[batch]`, which is compiled with the match.

    Args:
        act: gets a batch of states in which the player is to act, and 32 random bits for each of them.
        params: a pytree of arrays, such as the weights of a network; then `act(params, states, bits)` is asked. Players
            of the same `act` share compiled programs, so the next checkpoint of a training needs no compilation.
        help: a line about it.
        game: the id of the only game it plays; None for any.
        chance: whether it plays games with chance.
    """

    def make(game: Game, name: str) -> Player:
        return Player(name, game, ActionTurn(game, act), params)

    return PlayerEntry(make, help or _first_line(act), "", (), games=(game,) if game else (), chance=chance)


def entry_of(name: str, found: Any) -> PlayerEntry:
    """The entry `name` of what a plug-in has: an entry, or a function `move(state)`. Raises `ValueError` otherwise."""
    if not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise ValueError(f"{name!r} is no name of a player: expected letters, digits, - and _")
    if not isinstance(found, PlayerEntry):
        if not callable(found):
            raise ValueError(f"player {name!r} is {type(found).__name__}; expected a function move(state) or an entry")
        found = python_player(found)
    if found.examples:
        return found
    inner = found.make  # of a function: it has neither arguments nor options, and is told its name
    return found._replace(
        make=lambda game: inner(game, name), usage=f"{name} has no options: write {name}", examples=(name,)
    )


def _first_line(function: Any) -> str:
    return (getattr(function, "__doc__", None) or "a player of a plug-in").strip().splitlines()[0].rstrip(".")
