"""The fitness of candidates from their games with others: scores of games, and measures of how candidates play."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.play import Networks, Opponents, RandomMoves, Results, check_sides, play
from jaxgames.algos.evolution.policies import POLICY, POLICY_PARTS, Policy
from jaxgames.ops import checks

Score = Callable[[Results], Float32[Array, "n games"]]


def wins(results: Results) -> Float32[Array, "n games"]:
    """1 for a win, 1/2 for a draw, -1 for an illegal action, which also loses the game; 0 for any other loss."""
    score = jnp.where(results.points > 0, 1.0, jnp.where(results.points < 0, jnp.float32(0), 0.5))
    return score - results.illegal.astype(jnp.float32)


def points(results: Results) -> Float32[Array, "n games"]:
    """The candidate's points: 1 for a win, in some games more, 0 for a draw."""
    return results.points


def material(results: Results) -> Float32[Array, "n games"]:
    """The candidate's material at the end, minus the opponent's. Raises `ValueError` without details."""
    return _detail(results, "material")


def pieces(results: Results) -> Float32[Array, "n games"]:
    """The number of the candidate's pieces at the end, minus the opponent's. Raises `ValueError` without details."""
    return _detail(results, "pieces")


def legality(results: Results) -> Float32[Array, "n games"]:
    """100 for each legal action of the candidate, 125 if it captures, and -100 for the illegal one that loses the game.

    For networks that have to learn the rules. Source: Adamczyk, Brinkmann and Ward, Checkers-Simulation, 2018, figure
    4.3. Raises `ValueError` without details.
    """
    moves, captures = (_number(results, name) for name in ("moves", "captures"))
    return LEGAL * moves + (CAPTURE - LEGAL) * captures + ILLEGAL * results.illegal.astype(jnp.float32)


LEGAL, CAPTURE, ILLEGAL = 100.0, 125.0, -100.0


def _detail(results: Results, name: str) -> Array:
    detail: Array | None = None if results.details is None else getattr(results.details, name)
    if detail is None:
        raise ValueError(f"{name} is one of the details of results; ask for them by play(..., details=True)")
    return detail


def _number(results: Results, name: str) -> Float32[Array, "n games"]:
    return _detail(results, name).astype(jnp.float32)


SCORES: Mapping[str, Score] = {score.__name__: score for score in (wins, points, material, pieces, legality)}
"""The scores of a game, by name."""
DETAILED: Mapping[str, tuple[str, ...]] = {
    "material": ("material",),
    "pieces": ("pieces",),
    "legality": ("moves", "captures"),
}
"""The details of results that a score needs, if any."""


class Measure(NamedTuple):
    """A number computed from all games of a candidate: how, from which details of results, and its usual range in games
    of at most so many plies.

    `is_mean`: whether it is a mean over games. Another one is computed of several kinds of opponents from all games
    together.
    """

    of: Callable[[Results], Float32[Array, " n"]]
    details: tuple[str, ...]
    usual: Callable[[int], tuple[float, float]]
    is_mean: bool = True


def length(results: Results) -> Float32[Array, " n"]:
    """The mean number of turns of a game, those of both."""
    return jnp.mean(_number(results, "plies"), axis=1)


def spread(results: Results) -> Float32[Array, " n"]:
    """The standard deviation of the number of turns of a game: 0 if all games are the same."""
    return jnp.std(_number(results, "plies"), axis=1)


def draws(results: Results) -> Float32[Array, " n"]:
    """The share of games without a winner, those that were stopped among them."""
    return jnp.mean((results.points == 0).astype(jnp.float32), axis=1)


def captures(results: Results) -> Float32[Array, " n"]:
    """The share of the candidate's moves that capture."""
    moves = jnp.sum(_number(results, "moves"), axis=1)
    return jnp.sum(_number(results, "captures"), axis=1) / jnp.maximum(moves, 1.0)


MEASURES: Mapping[str, Measure] = {
    "length": Measure(length, ("plies",), lambda most_plies: (0.0, float(most_plies))),
    "spread": Measure(spread, ("plies",), lambda most_plies: (0.0, most_plies / 4), is_mean=False),
    "draws": Measure(draws, (), lambda most_plies: (0.0, 1.0)),
    "captures": Measure(captures, ("moves", "captures"), lambda most_plies: (0.0, 0.5), is_mean=False),
}
"""The measures of games besides the scores, by name."""


def score_named(name: str) -> Score:
    """The score with this name; `ValueError` if there is none."""
    checks.text("score", name, "wins")
    if name not in SCORES:
        raise ValueError(f"unknown score {name!r}; available: {', '.join(SCORES)}")
    return SCORES[name]


def won(results: Results) -> Float32[Array, "n games"]:
    """1 for a win of the candidate, 1/2 for a draw, 0 for a loss, whatever lost it."""
    return 0.5 + 0.5 * jnp.sign(results.points)


def measured(results: Results, name: str) -> Float32[Array, " n"]:
    """A measure of each candidate's games: one of `MEASURES`, or the mean of a score; a minus in front negates it.

    Raises `ValueError` for an unknown name.
    """
    plain, sign = name.removeprefix("-"), -1.0 if name.startswith("-") else 1.0
    check_measure(plain)
    measure = MEASURES[plain].of(results) if plain in MEASURES else jnp.mean(SCORES[plain](results), axis=1)
    return jnp.float32(sign) * measure


def check_measure(name: str) -> None:
    """Raises `ValueError` if this is neither a measure nor a score."""
    if name not in MEASURES and name not in SCORES:
        raise ValueError(f"unknown measure {name!r}; available: {', '.join((*MEASURES, *SCORES))}")


def is_mean(name: str) -> bool:
    """Whether a score or a measure is a mean over games, with or without a minus."""
    plain = name.removeprefix("-")
    return plain not in MEASURES or MEASURES[plain].is_mean


def details_of(name: str) -> tuple[str, ...]:
    """The details of results that a score or a measure needs, with or without a minus."""
    plain = name.removeprefix("-")
    return MEASURES[plain].details if plain in MEASURES else DETAILED.get(plain, ())


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ByPlay:
    """The mean score of a candidate's games with some opponents.

    With `common`, all candidates meet the same dice and random moves (common random numbers), which makes their scores
    comparable; otherwise each has its own. With `measures` it gives several numbers for each candidate: the score, then
    descriptors of play or further objectives. They are `length`, `spread`, `draws`, `captures` or scores; `-length` is
    the negative length. Outside of `jit`, the games are compiled anew in each call. Raises `ValueError` for unknown
    scores, measures or sides.
    """

    policy: Policy = dataclasses.field(metadata={"static": True})
    opponents: Opponents
    score: str = dataclasses.field(default="wins", metadata={"static": True})
    sides: str = dataclasses.field(default="both", metadata={"static": True})
    common: bool = dataclasses.field(default=True, metadata={"static": True})
    most_plies: int = dataclasses.field(default=1_000, metadata={"static": True})
    measures: tuple[str, ...] = dataclasses.field(default=(), metadata={"static": True})

    def __post_init__(self) -> None:
        checks.native_fields(self, "common", "most_plies", "measures")
        checks.made("policy", self.policy, POLICY_PARTS, POLICY)
        score_named(self.score)
        for name in self.measures:
            checks.text("measure", name, "length")
            check_measure(name.removeprefix("-"))
        check_sides(self.sides)
        checks.whole("most_plies", self.most_plies)

    @property
    def games(self) -> int:
        """Games of each candidate."""
        return self.opponents.count * (2 if self.sides == "both" else 1)

    @property
    def opponent_bytes(self) -> int | None:
        """Bytes of the networks that are met; None if other players are met."""
        if isinstance(self.opponents, Networks):
            return 4 * self.opponents.genomes.size
        return 0 if isinstance(self.opponents, RandomMoves) else None

    def __call__(
        self, genomes: Float32[Array, "n dimension"], numbers: Int32[Array, " n"], key: Key[Array, ""]
    ) -> Float32[Array, " n"] | Float32[Array, "n columns"]:
        """The fitness of candidates, as `evaluate` calls it: their scores; with `measures` a row for each."""
        return self.of_results(self.results(genomes, numbers, key))

    def matrix(
        self, genomes: Float32[Array, "n dimension"], numbers: Int32[Array, " n"], key: Key[Array, ""]
    ) -> Float32[Array, "n opponents"]:
        """The mean score of each candidate against each opponent."""
        return self.by_opponent(score_named(self.score)(self.results(genomes, numbers, key)))

    def results(
        self, genomes: Float32[Array, "n dimension"], numbers: Int32[Array, " n"], key: Key[Array, ""]
    ) -> Results:
        """The games of candidates, with the details that the score and the measures need."""
        luck = jnp.zeros_like(numbers) if self.common else numbers
        details = tuple(dict.fromkeys(detail for name in (self.score, *self.measures) for detail in details_of(name)))
        return play(self.policy, genomes, self.opponents, key, luck, self.sides, self.most_plies, details)

    def by_opponent(self, values: Float32[Array, "n games"]) -> Float32[Array, "n opponents"]:
        """The mean value of the games with each opponent."""
        if self.sides != "both":
            return values
        return 0.5 * (values[:, : self.opponents.count] + values[:, self.opponents.count :])

    def of_results(self, results: Results) -> Float32[Array, " n"] | Float32[Array, "n columns"]:
        """The fitness of candidates that have played such games."""
        scores = jnp.mean(self.by_opponent(score_named(self.score)(results)), axis=1)
        if not self.measures:
            return scores
        return jnp.stack([scores, *(measured(results, name) for name in self.measures)], axis=1)
