"""Players that search to a fixed depth: minimax and alpha-beta, by the change of material or by any value."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, UInt32

from jaxgames.algos.minimax import LIMIT, Search
from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.players import from_folder
from jaxgames.players.player import Player
from jaxgames.tables.lookup import LeafKnowledge
from jaxgames.tables.registry import leaf_lookup

OPTIONS = {"ties": ("random", "first"), "value": ("material", "pieces", "exact")}
"""What may follow the depth in a spec string, the default first."""


@dataclasses.dataclass(frozen=True)
class MinimaxTurn:
    """The best action by a search, whose horizon is evaluated by `make_value(params)`, if there is one, or by a name of
    `OPTIONS["value"]`.
    """

    search: Search
    make_value: Callable[[Any], Value] | None = None
    value: str = "material"

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """Plays one action in each position; where the game is over, what it leads to means nothing."""
        value = None if self.make_value is None else self.make_value(params)
        if value is None and self.value == "pieces":
            value = jax.vmap(self.search.game.piece_count)
        found = self.search(positions, bits, value)
        return jax.vmap(self.search.game.play)(positions, jnp.maximum(found.actions, 0))


@dataclasses.dataclass(frozen=True)
class ExactOrMaterial:
    """The value of the horizon: exact where a table knows the position, else the material."""

    game: Game
    lookup: LeafKnowledge

    def __call__(self, scores: Any) -> Value:
        """The value by the arrays of the table. A win in the table is worth less than one in sight."""

        def value(positions: Any) -> Float32[Array, " n"]:
            known, worth = self.lookup.at_leaf(scores, positions)
            return jnp.where(known, worth * LIMIT, jax.vmap(self.game.material)(positions))

        return value


MOST_DEPTH_IN_TIME = 64
"""The depth at which a search with a budget of time ends."""


def alphabeta(game: Game, depth: int | float, run: str = "", **options: str) -> Player:
    """The player `alphabeta:DEPTH`: alpha-beta by the change of material since the position it is to move in.

    A float is a time in seconds, `alphabeta:1s`: one depth after the other, until it is over; the move is that of the
    last depth that was searched to its end.

    `alphabeta:RUN:DEPTH` values the horizon by the network of a run instead. Of equally good actions one is drawn
    (`ties=random`), or it is the first one (`ties=first`). With `value=pieces` all pieces count 1; with `value=exact`
    positions that a table knows have their exact value at the horizon. Raises `ValueError`
    for unknown options and values, for games with chance, and for a run whose player values no positions.
    """
    return _player("alphabeta", game, depth, run, options, prune=True)


def minimax(game: Game, depth: int, run: str = "", **options: str) -> Player:
    """The player `minimax:DEPTH` or `minimax:RUN:DEPTH`: as `alphabeta`, without cutting branches off."""
    return _player("minimax", game, depth, run, options, prune=False)


def _player(name: str, game: Game, depth: int | float | str, run: str, options: dict[str, str], prune: bool) -> Player:
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
        amount, search = (
            f"{depth:g}s",
            Search(game, MOST_DEPTH_IN_TIME, prune=prune, ties=settings["ties"], seconds=depth),
        )
    else:
        amount, search = str(depth), Search(game, depth, prune=prune, ties=settings["ties"])  # type: ignore[arg-type]
    if not run and settings["value"] == "exact":
        lookup, load = leaf_lookup(game)
        turn = MinimaxTurn(search, ExactOrMaterial(game, lookup), "exact")
        return Player(f"{name}:{amount}{text}", game, turn, load())
    if not run:
        return Player(f"{name}:{amount}{text}", game, MinimaxTurn(search, value=settings["value"]))
    if "value" in options:
        raise ValueError(f"{name}:{run}:{amount}{text}: the run values positions; leave out value={options['value']}")
    params, make_value = from_folder.load_value(run, game)
    return Player(f"{name}:{run}:{amount}{text}", game, MinimaxTurn(search, make_value), params)
