"""A tiny game for tests: two runners and a die. It has chance, turns of the same player in a row, and double wins."""

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import Game
from jaxgames.envs import Outcome


class Position(NamedTuple):
    """Steps to go of the player to act and of the other one; the roll, 0 if it is still to come."""

    own: jax.Array
    other: jax.Array
    roll: jax.Array


@dataclasses.dataclass(frozen=True)
class Dash(Game[Position]):
    """Action 0 runs the roll, action 1 walks one step, action 2, with a roll of 3 only, walks one step and rolls again.

    Who is home first wins, and doubly while the other has 4 steps to go or more. Both start 6 or 7 steps from home.
    """

    id: ClassVar[str] = "dash"
    num_actions: ClassVar[int] = 3
    observation_shape: ClassVar[tuple[int, ...]] = (3,)
    outcome_probabilities: ClassVar[tuple[float, ...]] = (0.5, 0.25, 0.25)
    max_reward: ClassVar[int] = 2

    def init_position(self, key):
        way, roll = jax.random.randint(key, (2,), jnp.asarray([6, 1]), jnp.asarray([8, 4]), jnp.int32)
        return Position(way, way, roll)

    def legal(self, position):
        return jnp.stack([jnp.bool_(True), jnp.bool_(True), position.roll == 3])

    def play(self, position, action):
        own = position.own - jnp.where(action == 0, position.roll, 1)
        over, again = own <= 0, action == 2
        first, second = jnp.where(again, own, position.other), jnp.where(again, position.other, own)
        reward = jnp.where(position.other >= 4, 2.0, 1.0).astype(jnp.float32)
        return Outcome(Position(first, second, jnp.zeros_like(own)), ~again & ~over, over, reward)

    def chance(self, position, outcome):
        return position._replace(roll=jnp.where(position.roll == 0, outcome + 1, position.roll))

    def observe_position(self, position, acting):
        return jnp.stack(position)


GAME = Dash()


def lead(params, positions):
    """A value: the lead in steps, `params` points each."""
    return params * (positions.other - positions.own).astype(jnp.float32)


@dataclasses.dataclass(frozen=True)
class Lead:
    """`lead` as the method of an object, as networks have it."""

    def value(self, params):
        """The value of positions."""
        return lambda positions: lead(params, positions)
