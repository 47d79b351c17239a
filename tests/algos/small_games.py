"""Games made for tests: small ones that compile fast, and backgammon that starts near its end."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32

from jaxgames.envs.backgammon import ROLLS, Backgammon, Position, board
from jaxgames.envs.core import Game, Outcome

# The games have no notation, drawings or names of actions: learning needs none of them.


class Heap(NamedTuple):
    """What is left on the heap."""

    left: Int32[Array, "..."]


@dataclasses.dataclass(frozen=True)
class Nim(Game[Heap]):
    """Take 1, 2 or 3 from a heap of up to 12; who takes the last one wins. Multiples of 4 are lost."""

    id: ClassVar[str] = "nim"
    num_actions: ClassVar[int] = 3
    observation_shape: ClassVar[tuple[int, ...]] = (13,)

    def init_position(self, key):
        return Heap(jax.random.randint(key, (), 1, 13, jnp.int32))

    def legal(self, position):
        return jnp.arange(1, 4, dtype=jnp.int32) <= position.left

    def play(self, position, action):
        left = position.left - action - 1
        return Outcome(Heap(left), jnp.bool_(True), left == 0, jnp.float32(1))

    def observe_position(self, position, acting):
        return jnp.arange(13, dtype=jnp.int32) == position.left


class Track(NamedTuple):
    """How far each player still has to go, the one to act first, and the die (0: not rolled yet)."""

    own: Int32[Array, "..."]
    other: Int32[Array, "..."]
    die: Int32[Array, "..."]


LENGTH = 9


@dataclasses.dataclass(frozen=True)
class TrackEncoding:
    """Both distances, one of ten each, and whose turn it is: 1, 0."""

    size: int = 22

    def __call__(self, positions: Track) -> Array:
        distances = [jax.nn.one_hot(x, 10, dtype=jnp.float32) for x in (positions.own, positions.other)]
        turn = jnp.broadcast_to(jnp.asarray([1.0, 0.0], jnp.float32), (*positions.own.shape, 2))
        return jnp.concatenate([*distances, turn], axis=-1)

    def swap(self, inputs: Array) -> Array:
        return inputs[..., np.r_[10:20, 0:10, 21, 20]]


@dataclasses.dataclass(frozen=True)
class Dash(Game[Track]):
    """A race with a die of 1, 2 or 3: advance by it, or by half of it and send the other one back.

    A draw if the other one would need just one more step; 2 and 3 points if the way is still long.
    """

    id: ClassVar[str] = "dash"
    num_actions: ClassVar[int] = 2
    observation_shape: ClassVar[tuple[int, ...]] = (22,)
    outcome_probabilities: ClassVar[tuple[float, ...]] = (0.5, 0.25, 0.25)
    max_reward: ClassVar[int] = 3
    encodings: ClassVar[dict[str, Any]] = {"track": TrackEncoding()}

    def init_position(self, key):
        distances = jax.random.randint(key, (2,), 3, 7, jnp.int32)
        return Track(distances[0], distances[1], jnp.int32(2))

    def legal(self, position):
        return jnp.ones(2, bool)

    def play(self, position, action):
        own = position.own - jnp.where(action == 0, position.die, (position.die + 1) // 2)
        other = jnp.where(action == 0, position.other, jnp.minimum(position.other + 1, LENGTH))
        reward = jnp.where(other == 1, 0, jnp.where(other < 5, 1, jnp.where(other < 7, 2, 3)))
        after = Track(other, jnp.maximum(own, 0), jnp.int32(0))
        return Outcome(after, jnp.bool_(True), own <= 0, reward.astype(jnp.float32))

    def chance(self, position, outcome):
        return position._replace(die=jnp.where(position.die == 0, outcome + 1, position.die))

    def observe_position(self, position, acting):
        return TrackEncoding()(position)


@dataclasses.dataclass(frozen=True)
class Relay(Dash):
    """As `Dash`, but a player who has rolled a 1 is to act again."""

    id: ClassVar[str] = "relay"
    alternates: ClassVar[bool] = False

    def play(self, position, action):
        outcome = super().play(position, action)
        again = (position.die == 1) & ~outcome.over
        other, own, die = outcome.position
        same = Track(jnp.where(again, own, other), jnp.where(again, other, own), die)
        return outcome._replace(position=same, turn_passes=~again)


@dataclasses.dataclass(frozen=True)
class ShortRelay(Relay):
    """As `Relay`, but truncated after some actions."""

    id: ClassVar[str] = "short_relay"
    step_limit: int | None = 5


# Checkers of both players by point, and on the bar as 25. Gammons and backgammons can be won, and checkers hit.
_STARTS: tuple[tuple[dict[int, int], dict[int, int]], ...] = (
    ({1: 2, 2: 1, 5: 1}, {3: 2, 1: 2}),
    ({1: 2, 3: 1}, {24: 2, 20: 1, 6: 4, 5: 4, 4: 4}),
    ({6: 3, 5: 3, 4: 3, 2: 2, 1: 4}, {2: 2, 1: 1}),
    ({25: 1, 2: 1}, {3: 2, 5: 2, 1: 1}),
    ({20: 1, 1: 1}, {2: 1, 6: 1, 1: 1}),
)


def _counts(side: dict[int, int]) -> list[int]:
    return [side.get(point, 0) for point in range(1, 26)]


STARTS = np.array([[_counts(own), _counts(other)] for own, other in _STARTS], np.int32)


@dataclasses.dataclass(frozen=True)
class ShortBackgammon(Backgammon):
    """Backgammon that starts when all but a few checkers are borne off, with any roll."""

    id: ClassVar[str] = "short_backgammon"

    def init_position(self, key):
        start_key, roll_key = jax.random.split(key)
        sides = jnp.asarray(STARTS)[jax.random.randint(start_key, (), 0, len(STARTS), jnp.int32)]
        position = Position(board.from_counts(sides[0]), board.from_counts(sides[1]), jnp.uint32(0))
        return self.chance(position, jax.random.randint(roll_key, (), 0, len(ROLLS), jnp.int32))


GAMES: dict[str, type[Game]] = {game.id: game for game in (Nim, Dash, Relay, ShortRelay, ShortBackgammon)}
