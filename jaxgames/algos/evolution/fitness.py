"""The fitness of candidates by their games with others."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.play import Opponents, Results, check_sides, play
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
    """The candidate's material at the end, less the opponent's. Raises `ValueError` without details."""
    return _detail(results, "material")


def pieces(results: Results) -> Float32[Array, "n games"]:
    """The number of the candidate's pieces at the end, less the opponent's. Raises `ValueError` without details."""
    return _detail(results, "pieces")


def legality(results: Results) -> Float32[Array, "n games"]:
    """100 for each legal action of the candidate, 125 if it captures, and -100 for the illegal one that loses the game.

    For networks that have to learn the rules. Source: Adamczyk, Brinkmann and Ward, Checkers-Simulation, 2018, figure
    4.3. Raises `ValueError` without details.
    """
    moves, captures = (_detail(results, name).astype(jnp.float32) for name in ("moves", "captures"))
    return LEGAL * moves + (CAPTURE - LEGAL) * captures + ILLEGAL * results.illegal.astype(jnp.float32)


LEGAL, CAPTURE, ILLEGAL = 100.0, 125.0, -100.0


def _detail(results: Results, name: str) -> Array:
    found: Array | None = None if results.details is None else getattr(results.details, name)
    if found is None:
        raise ValueError(f"{name} is one of the details of results; ask for them by play(..., details=True)")
    return found


SCORES: Mapping[str, Score] = {score.__name__: score for score in (wins, points, material, pieces, legality)}
"""The scores of a game, by name."""
DETAILED: Mapping[str, tuple[str, ...]] = {
    "material": ("material",),
    "pieces": ("pieces",),
    "legality": ("moves", "captures"),
}
"""The details of results that a score needs, if any."""


def score_named(name: str) -> Score:
    """The score with this name; `ValueError` if there is none."""
    checks.text("score", name, "wins")
    if name not in SCORES:
        raise ValueError(f"unknown score {name!r}; available: {', '.join(SCORES)}")
    return SCORES[name]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ByPlay:
    """The mean score of a candidate's games with some opponents.

    With `common`, all candidates meet the same dice and random moves (common random numbers), which makes their scores
    comparable; else each has its own. Raises `ValueError` for an unknown score or unknown sides.
    """

    policy: Policy = dataclasses.field(metadata={"static": True})
    opponents: Opponents
    score: str = dataclasses.field(default="wins", metadata={"static": True})
    sides: str = dataclasses.field(default="both", metadata={"static": True})
    common: bool = dataclasses.field(default=True, metadata={"static": True})
    most_plies: int = dataclasses.field(default=1_000, metadata={"static": True})

    def __post_init__(self) -> None:
        checks.made("policy", self.policy, POLICY_PARTS, POLICY)
        score_named(self.score)
        check_sides(self.sides)
        checks.whole("most_plies", self.most_plies)

    @property
    def games(self) -> int:
        """Games of each candidate."""
        return self.opponents.count * (2 if self.sides == "both" else 1)

    def __call__(
        self, genomes: Float32[Array, "n dimension"], numbers: Int32[Array, " n"], key: Key[Array, ""]
    ) -> Float32[Array, " n"]:
        """The fitness of candidates, as `evaluate` asks for it."""
        return jnp.mean(self.matrix(genomes, numbers, key), axis=1)

    def matrix(
        self, genomes: Float32[Array, "n dimension"], numbers: Int32[Array, " n"], key: Key[Array, ""]
    ) -> Float32[Array, "n opponents"]:
        """The mean score of each candidate against each opponent."""
        score = score_named(self.score)
        luck = jnp.zeros_like(numbers) if self.common else numbers
        details = DETAILED.get(self.score, ())
        found = score(play(self.policy, genomes, self.opponents, key, luck, self.sides, self.most_plies, details))
        if self.sides != "both":
            return found
        return 0.5 * (found[:, : self.opponents.count] + found[:, self.opponents.count :])


class HallOfFame(NamedTuple):
    """Former champions, float32[size, dimension], in a ring: each new one takes the place of the oldest."""

    genomes: Float32[Array, "size dimension"]
    joined: Int32[Array, ""]

    @classmethod
    def of(cls, genomes: Float32[Array, "size dimension"]) -> "HallOfFame":
        """A hall that begins with these genomes."""
        return cls(genomes, jnp.int32(0))

    def with_champion(self, genome: Float32[Array, " dimension"]) -> "HallOfFame":
        """The hall after this champion joined."""
        place = jnp.arange(len(self.genomes), dtype=jnp.int32) == self.joined % len(self.genomes)
        return HallOfFame(jnp.where(place[:, None], genome[None], self.genomes), self.joined + 1)
