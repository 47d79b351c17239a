"""Players that search to a fixed depth: minimax and alpha-beta, by the change of material or by any value."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, UInt32

from jaxgames.algos.minimax import LIMIT, Search, result
from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.ops.settings import Setting
from jaxgames.players import from_folder
from jaxgames.players.player import Player
from jaxgames.players.specs import OPTIONAL_RUN, PlayerEntry, budget_text, by_name
from jaxgames.tables.lookup import LeafKnowledge, leaf_lookup

MEN_OF_HALF = 4.0
"""If only material is counted, a lead of this many men is shown as tanh(1) of a win."""
OPTIONS = by_name(
    Setting(
        "ties", str, "random", "among equally good actions `random`, the default, draws one; `first` takes the first",
        choices=("random", "first"),
    ),
    Setting(
        "value", str, "material", "what positions at the horizon are worth: `material`, the default; `pieces`, each of "
        "them 1; or `exact`, by a table where it knows them, else material",
        choices=("material", "pieces", "exact"),
    ),
)  # fmt: skip
"""What may follow the depth in a spec string."""


@dataclasses.dataclass(frozen=True)
class MinimaxTurn:
    """The best action by a search; the horizon is evaluated by `make_value(params)`, or as the option `value` says."""

    search: Search
    make_value: Callable[[Any], Value] | None = None
    value: str = "material"

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """Plays one action in each position; if the game is over, the result is meaningless."""
        value = None if self.make_value is None else self.make_value(params)
        if value is None and self.value == "pieces":
            value = jax.vmap(self.search.game.piece_count)
        results = self.search(positions, bits, value)
        return jax.vmap(self.search.game.play)(positions, jnp.maximum(results.actions, 0))

    @property
    def plies(self) -> int:
        """How far it looks; with a time budget, the most."""
        return self.search.depth

    @property
    def seconds(self) -> float | None:
        """The time that a turn takes, if it has one."""
        return self.search.seconds

    def values(self, params: Any, positions: Any, bits: UInt32[Array, " n"]) -> Float32[Array, " n"]:
        """A forced win counts in points. Otherwise the network's value, or the material as a share of all points."""
        game, search = self.search.game, self.search
        material = jnp.zeros(len(bits), jnp.float32)
        value = None if self.make_value is None else self.make_value(params)
        counts = value is None or self.value == "exact"
        if self.value == "pieces" and value is None:
            value = jax.vmap(game.piece_count)
        elif value is None:
            material = jax.vmap(game.material)(positions)  # the search counts its change only
        if search.depth > 1:
            deeper: Search = dataclasses.replace(search, depth=search.depth - 1, forced=False)
            worth = deeper(positions, bits, value).values
        else:
            worth = jnp.zeros(len(bits), jnp.float32) if value is None else value(positions)
        points, _ = result(worth)
        quiet = worth + material
        if counts:
            quiet = game.max_reward * jnp.tanh(quiet / MEN_OF_HALF)
        return jnp.where(jnp.abs(worth) > LIMIT, points, quiet)


@dataclasses.dataclass(frozen=True)
class ExactOrMaterial:
    """The value of the horizon: exact where a table knows the position, else the material."""

    game: Game
    lookup: LeafKnowledge

    def __call__(self, scores: Any) -> Value:
        """The value by the arrays of the table. A win in the table is worth less than one that the search has found."""

        def value(positions: Any) -> Float32[Array, " n"]:
            known, worth = self.lookup.at_leaf(scores, positions)
            return jnp.where(known, worth * LIMIT, jax.vmap(self.game.material)(positions))

        return value


MOST_DEPTH_IN_TIME = 64
"""The depth at which a search with a time budget ends."""


def alphabeta(
    game: Game, depth: int | float, run: str = "", ties: str = "random", value: str | None = None, prune: bool = True
) -> Player:
    """The player `alphabeta:DEPTH`: alpha-beta by the change of material since the position it is to move in.

    A float is a time in seconds, `alphabeta:1s`: it searches depth after depth until the time is over, and plays the
    move of the last depth it finished.

    `alphabeta:RUN:DEPTH` values the horizon by the network of a run instead. Among equally good actions one is drawn
    (`ties=random`), or the first is taken (`ties=first`). With `value=pieces` all pieces count 1; with `value=exact`
    positions that a table knows have their exact value at the horizon. Raises `ValueError` for games with chance, for
    `value=pieces` in games without captures, and for a run whose player values no positions.
    """
    name = ":".join(filter(None, ("alphabeta" if prune else "minimax", run, budget_text(depth))))
    if isinstance(depth, float):
        search = Search(game, MOST_DEPTH_IN_TIME, prune=prune, ties=ties, seconds=depth)
    else:
        search = Search(game, depth, prune=prune, ties=ties)
    if value == "pieces" and type(game).piece_count is Game.piece_count:
        raise ValueError(f"{name}: {game.id} takes no pieces, so there are none to count; leave out value=pieces")
    if run:
        if value is not None:
            raise ValueError(f"{name}: the run values positions; leave out value={value}")
        params, make_value = from_folder.load_value(run, game)
        return Player(name, game, MinimaxTurn(search, make_value), params)
    if value == "exact":
        lookup, load = leaf_lookup(game)
        return Player(name, game, MinimaxTurn(search, ExactOrMaterial(game, lookup), value), load())
    return Player(name, game, MinimaxTurn(search, value=value or "material"))


def minimax(game: Game, depth: int, run: str = "", ties: str = "random", value: str | None = None) -> Player:
    """The player `minimax:DEPTH` or `minimax:RUN:DEPTH`: as `alphabeta`, without cutting branches off."""
    return alphabeta(game, depth, run, ties, value, prune=False)


PLAYERS = {
    "minimax": PlayerEntry(
        lambda game, run, depth, **options: minimax(game, depth, run, **options),
        "minimax to a depth, by the change of material since the position or by the values of a trained network",
        "minimax needs a depth: write minimax:5",
        ("minimax:5", "minimax:RUN:5"),
        (OPTIONAL_RUN, "N"),
        OPTIONS,
        chance=False,
    ),
    "alphabeta": PlayerEntry(
        lambda game, run, depth, **options: alphabeta(game, depth, run, **options),
        "alpha-beta: the same values as minimax, much faster",
        "alphabeta needs a depth or a time such as 1s: write alphabeta:9",
        ("alphabeta:9", "alphabeta:RUN:9"),
        (OPTIONAL_RUN, "BUDGET"),
        OPTIONS,
        chance=False,
    ),
}
