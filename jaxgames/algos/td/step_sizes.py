"""The step sizes of the comparison of learning methods: smaller as soon as the player stops getting better."""

import dataclasses
from typing import Any, NamedTuple

from jaxtyping import Array, Float32, Int32

STEP_SIZES = (0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0025, 0.001)
"""From 0.25 down to 0.001. The thesis names 0.25, 0.1, 0.05 and 0.001; those between continue its pattern."""
GAMES_PER_TEST = 200
GAMES_BETWEEN_TESTS = 1_000
TESTS = 25


@dataclasses.dataclass(frozen=True)
class TestedStepSizes:
    """Every 1,000 games the player meets its own state 25,000 games younger in 200 games; when 25 tests in a row sum
    to less than zero points, the next step size begins.
    """

    index: int = 0
    recent: tuple[float, ...] = ()

    @property
    def step_size(self) -> float:
        """The present step size."""
        return STEP_SIZES[self.index]

    def after_test(self, points: float) -> "TestedStepSizes":
        """The schedule after a test in which the player won `points` in all from its younger self."""
        recent = (*self.recent, points)[-TESTS:]
        if len(recent) < TESTS or sum(recent) >= 0:
            return dataclasses.replace(self, recent=recent)
        return TestedStepSizes(min(self.index + 1, len(STEP_SIZES) - 1))


class Tests(NamedTuple):
    """What a checkpoint holds of `TestedStepSizes`."""

    younger: Any  # the weights after each of the last 25 blocks of games, the oldest first
    points: Float32[Array, " tests"]  # of the last 25 tests, the latest last
    known: Int32[Array, ""]  # how many of them count
    number: Int32[Array, ""]  # blocks of games so far
    place: Int32[Array, ""]  # the index of the step size
