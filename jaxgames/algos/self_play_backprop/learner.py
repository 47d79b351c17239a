"""Monte-Carlo learning, one game at a time: after each game, backprop of its positions to its final result.

A network values a position for the player who just moved: +1 a win, -1 a loss. It moves to the position that it values
most, one ply ahead; how a game ends it has to learn, too. A population learns in lock-step, each network its own game.
"""

import dataclasses
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.self_play_backprop.population import Params, PopulationMLP
from jaxgames.envs.core import Game
from jaxgames.ops.materialize import materialize
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import random_bits

SELF, FIRST, SECOND = 0, 1, 2
"""Kinds of games: against itself; against random moves, the network moving first; the same, moving second."""


class Encode(Protocol):
    """What the networks see of n positions: `encode(features, positions, mover, turned) -> float32[inputs, n]`.

    `mover` is the id of the player who just moved, for whom the position is to be valued (0 the one who began).
    Positions are seen by the player to act, who is the other one where they are `turned`. `features` are numbers of the
    encoding that may differ between populations of one program.
    """

    def __call__(
        self, features: Any, positions: Any, mover: Int32[Array, " n"], turned: Bool[Array, " n"], /
    ) -> Float32[Array, "inputs n"]:
        """The inputs of n positions."""
        ...


def encode_with(encoding: Any) -> Encode:
    """The `Encode` of an encoding of a game (`game.encodings`): the position seen by the player who just moved."""

    def encode(features, positions, mover, turned):
        del features, mover
        inputs = encoding(positions)
        return jnp.where(turned[:, None], encoding.swap(inputs), inputs).T

    return encode


class Settings(NamedTuple):
    """The numbers of a training. They are traced: populations with other settings run the same program."""

    step_size: Float32[Array, ""]
    cycle: Int32[Array, " length"]
    """The kinds of games, played in turn."""
    both_sides: Bool[Array, ""]
    """Whether positions after random moves are learned, too."""
    features: Any = ()
    """As `Encode` wants them."""


class State(NamedTuple):
    """All that a training is; `games` are those that each network has played."""

    params: Params
    settings: Settings
    games: Int32[Array, ""]


class Played(NamedTuple):
    """Games that were played: the positions after each ply, who moved, whose turn it was next, what is to be learned,
    and how the games ended for the first player. Plies after the end of a game are neither ended nor learned.
    """

    positions: Any
    mover: Int32[Array, "plies games"]
    turned: Bool[Array, "plies games"]
    learned: Bool[Array, "plies games"]
    result: Float32[Array, " games"]


class Metrics(NamedTuple):
    """Of one update, in which each network played a game: its kind, and for each network the result (of the network; of
    the first player in self-play), the sum of squared errors and the number of positions learned.
    """

    kind: Int32[Array, ""]
    result: Float32[Array, " members"]
    squared_error: Float32[Array, " members"]
    positions: Int32[Array, " members"]


@dataclasses.dataclass(frozen=True)
class SelfPlayBackprop:
    """A population of `members` networks that learn a game without chance.

    A game of more than `max_plies` plies is broken off and nothing is learned from it. Raises `ValueError` for a game
    with chance.
    """

    game: Game
    network: PopulationMLP
    encode: Encode
    members: int
    max_plies: int

    def __post_init__(self) -> None:
        if self.game.outcome_probabilities:
            raise ValueError(f"{self.game.id} has chance; expected a game without")

    def init(self, key: Key[Array, ""], settings: Settings | None = None) -> State:
        """The state before the first game; by default steps of 0.025 and a game of each kind in turn."""
        if settings is None:
            cycle = jnp.asarray([SELF, FIRST, SECOND], jnp.int32)
            settings = Settings(jnp.float32(0.025), cycle, jnp.bool_(True))
        return State(self.network.init(key, self.members), settings, jnp.int32(0))

    def update(self, state: State, key: Key[Array, ""]) -> tuple[State, Metrics]:
        """One game of each network, then one step on half the sum of squared errors of its positions."""
        settings = state.settings
        kind = settings.cycle[state.games % len(settings.cycle)]
        played = self.play(state.params, settings, kind, key)
        sign = jnp.where(played.mover == 0, 1.0, -1.0).astype(jnp.float32)
        targets = sign * played.result[None]

        def loss(params):
            errors = jnp.where(played.learned, targets - self.values(params, settings, played), 0.0)
            return 0.5 * jnp.sum(errors**2), errors

        gradients, errors = jax.grad(loss, has_aux=True)(state.params)
        params = jax.tree.map(lambda w, gradient: w - settings.step_size * gradient, state.params, gradients)
        metrics = Metrics(
            kind=kind,
            result=jnp.where(kind == SECOND, -played.result, played.result),
            squared_error=jnp.sum(errors**2, axis=0),
            positions=jnp.sum(played.learned, axis=0, dtype=jnp.int32),
        )
        return State(params, settings, state.games + 1), metrics

    def values(self, params: Params, settings: Settings, played: Played) -> Float32[Array, "plies games"]:
        """What the networks think of the positions of their games."""
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (played.positions, played.mover, played.turned))
        return self._values(params, settings, *flat).reshape(played.mover.shape)

    def play(
        self, params: Params, settings: Settings, kind: Int32[Array, ""], key: Key[Array, ""], games: int = 1
    ) -> Played:
        """`games` games of one kind for each network; game i * members + m is that of network m."""
        number = games * self.members
        opening = self.game.init_position(key)
        positions = jax.tree.map(lambda x: jnp.broadcast_to(x, (number, *x.shape)), opening)
        start = (positions, jnp.zeros(number, jnp.int32), jnp.zeros(number, bool), jnp.zeros(number, jnp.float32))

        def ply(carry, words):
            positions, player, over, result = carry
            networks = (kind == SELF) | (player == kind - FIRST)
            drawn = jax.vmap(self.game.draw_action)(positions, words)
            action = jax.lax.cond(
                jnp.any(networks & ~over),
                lambda: jnp.where(networks, self.best_action(params, settings, positions, player), drawn),
                lambda: drawn,
            )
            outcome = jax.vmap(self.game.play)(positions, action)
            ends = ~over & outcome.over
            won = jnp.where(player == 0, outcome.reward, -outcome.reward)
            after = (
                select(over, positions, outcome.position),
                jnp.where(outcome.turn_passes, 1 - player, player),
                over | ends,
                jnp.where(ends, won, result),
            )
            turned = jnp.broadcast_to(outcome.turn_passes, over.shape)
            return after, (outcome.position, player, turned, ~over & (networks | settings.both_sides))

        words = random_bits(key, (self.max_plies, number))
        (_, _, over, result), (positions, mover, turned, learned) = jax.lax.scan(ply, start, words)
        return Played(positions, mover, turned, learned & over[None], result)

    def best_action(
        self, params: Params, settings: Settings, positions: Any, player: Int32[Array, " n"]
    ) -> Int32[Array, " n"]:
        """The legal action to the position that the network values most; of equal ones the first.

        `player` is the id of the player to act. Position i * members + m is one for network m.
        """
        actions = jnp.arange(self.game.num_actions, dtype=jnp.int32)
        play = jax.vmap(self.game.play, in_axes=(0, None))
        outcomes = jax.vmap(play, in_axes=(None, 0))(positions, actions)
        shape = (len(actions), len(player))
        mover, turned = jnp.broadcast_to(player[None], shape), jnp.broadcast_to(outcomes.turn_passes, shape)
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (outcomes.position, mover, turned))
        worth = self._values(params, settings, *flat).reshape(shape)
        lowest = np.finfo(np.float32).min
        worth = jnp.where(worth > lowest, worth, lowest)  # NaN too: it must not lose to an illegal action
        legal = jax.vmap(self.game.legal)(positions).T
        return jnp.argmax(jnp.where(legal, worth, -jnp.inf), axis=0).astype(jnp.int32)

    def _values(self, params: Params, settings: Settings, positions: Any, mover: Any, turned: Any) -> Array:
        inputs = self.encode(settings.features, positions, mover, turned)
        inputs = materialize(inputs, settings.cycle[0])  # each input goes to all units of the first layer
        return self.network.apply(params, inputs.reshape(len(inputs), -1, self.members))
