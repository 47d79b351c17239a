"""The step sizes of the comparison of learning methods: smaller as soon as the player stops getting better.

L. D. Ebert, *Sammenligning af tre typer neurale netværks indlæringsmetoder* (Aarhus, 2007), section 4.3.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32

STEP_SIZES = (0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0025, 0.001)
"""From 0.25 down to 0.001, for all three methods: Ebert (2007), section 4.3."""
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

    @property
    def schedule(self) -> TestedStepSizes:
        """The schedule as it stands."""
        return TestedStepSizes(int(self.place), tuple(map(float, self.points[TESTS - int(self.known) :])))

    @property
    def has_younger(self) -> bool:
        """Whether there are weights 25,000 games younger: the first 25 blocks have none."""
        return int(self.number) >= TESTS

    def after_block(self, params: Any, points: float | None) -> "Tests":
        """The tests after a block that led to these weights, which won so many points in the test, if it had one."""
        schedule = self.schedule if points is None else self.schedule.after_test(points)
        recent = [0.0] * (TESTS - len(schedule.recent)) + list(schedule.recent)
        return Tests(
            younger=jax.tree.map(lambda all_, new: jnp.concatenate([all_[1:], new[None]]), self.younger, params),
            points=jnp.asarray(recent, jnp.float32),
            known=jnp.int32(len(schedule.recent)),
            number=self.number + 1,
            place=jnp.int32(schedule.index),
        )


def first_tests(params: Any) -> Tests:
    """The tests before the first game."""
    younger = jax.tree.map(lambda x: jnp.broadcast_to(x, (TESTS, *x.shape)), params)
    return Tests(younger, jnp.zeros(TESTS, jnp.float32), *(jnp.int32(0) for _ in range(3)))
