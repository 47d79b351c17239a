"""What is measured of a candidate's games besides their score: how it plays."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float32

from jaxgames.algos.evolution.play import Results


class Measure(NamedTuple):
    """A number of all games of a candidate together: how it is counted, of which details of results, and between which
    numbers it usually lies in games of at most so many plies.
    """

    of: Callable[[Results], Float32[Array, " n"]]
    details: tuple[str, ...]
    usual: Callable[[int], tuple[float, float]]


def _detail(results: Results, name: str) -> Float32[Array, "n games"]:
    found: Any = getattr(results.details, name)
    return found.astype(jnp.float32)


def length(results: Results) -> Float32[Array, " n"]:
    """The mean number of turns of a game, those of both."""
    return jnp.mean(_detail(results, "plies"), axis=1)


def spread(results: Results) -> Float32[Array, " n"]:
    """The standard deviation of the number of turns of a game: 0 for who plays the same game again and again."""
    return jnp.std(_detail(results, "plies"), axis=1)


def draws(results: Results) -> Float32[Array, " n"]:
    """The share of games without a winner, those that were stopped among them."""
    return jnp.mean((results.points == 0).astype(jnp.float32), axis=1)


def captures(results: Results) -> Float32[Array, " n"]:
    """The share of the candidate's moves that take a piece."""
    moves = jnp.sum(_detail(results, "moves"), axis=1)
    return jnp.sum(_detail(results, "captures"), axis=1) / jnp.maximum(moves, 1.0)


MEASURES: Mapping[str, Measure] = {
    "length": Measure(length, ("plies",), lambda most_plies: (0.0, float(most_plies))),
    "spread": Measure(spread, ("plies",), lambda most_plies: (0.0, most_plies / 4)),
    "draws": Measure(draws, (), lambda most_plies: (0.0, 1.0)),
    "captures": Measure(captures, ("moves", "captures"), lambda most_plies: (0.0, 0.5)),
}
"""The measures of games besides the scores, by name."""
