"""Value networks that learn from the results of their own games: online Monte-Carlo learning, one game at a time.

    learner = SelfPlayBackprop(game, PopulationMLP(MLP((18, 9, 3, 1)), inputs=9), encode, members=32, max_plies=9)
    state = learner.init(key)
    state, metrics = learner.update(state, key)

A network values a position for the player who just moved: +1 a win, -1 a loss. It moves to the position that it values
most, one ply ahead; it also has to learn how games end. After each game, against itself or against random moves,
backprop trains its positions one after the other towards the final result. A whole population learns in lock-step,
each network from its own game.
"""

import dataclasses
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.nets import MLP, activation
from jaxgames.nets.mlp import init_each, layers_of, params_of
from jaxgames.nets.spec import MLP_ONLY, NetworkSpec
from jaxgames.ops import checks
from jaxgames.ops.materialize import materialize
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import random_bits
from jaxgames.ops.settings import Settings, group, setting
from jaxgames.runs import Run

__all__ = [
    "Encode",
    "Episodes",
    "PopulationMLP",
    "SeenPositions",
    "SelfPlayBackprop",
    "SelfPlayMetrics",
    "SelfPlaySettings",
    "SelfPlayState",
    "SquareEncoding",
    "SquareFeatures",
    "encode_with",
]

SELF, FIRST, SECOND = 0, 1, 2
"""Kinds of games: against itself; against random moves, the network moving first; the same, moving second."""


class Layer(NamedTuple):
    """One layer of all networks."""

    kernel: Float32[Array, "outputs inputs members"]
    bias: Float32[Array, "outputs members"]


Params = tuple[Layer, ...]


@dataclasses.dataclass(frozen=True)
class PopulationMLP:
    """Many multilayer perceptrons as `network` describes one, with `inputs` inputs and one output each.

    The population is the last axis of every array, and the sums over inputs, units and positions are written out. So
    XLA:CPU makes vector instructions over networks: three times faster for 9-18-9-3-1 than a batch of matrix
    products.

    For small networks: the program is as long as the layers are wide. Raises `ValueError` for several outputs and for
    softmax.
    """

    network: MLP
    inputs: int

    def __post_init__(self) -> None:
        checks.native_fields(self)
        if self.network.sizes[-1] != 1 or self.network.output == "softmax":
            raise ValueError(
                f"the network has {self.network.sizes[-1]} outputs ({self.network.output}); expected one, the value "
                "of a position"
            )

    def init(self, key: Key[Array, ""], members: int) -> Params:
        """The weights of `members` networks; each depends only on its number: a larger population begins the same."""
        weights = init_each(self.network, self.inputs, key, jnp.arange(members, dtype=jnp.uint32))
        return tuple(Layer(layer["kernel"].T, layer["bias"].T) for layer in layers_of(weights))

    def apply(self, params: Params, x: Float32[Array, "inputs n members"]) -> Float32[Array, "n members"]:
        """The values of n positions for each network, from the positions as each of them sees them."""
        hidden, last = activation(self.network.activation), activation(self.network.output)
        for layer in params[:-1]:
            x = hidden(_dense(*layer, x))
        return last(_dense(*params[-1], x))[0]

    def member(self, params: Params, index: int) -> Any:
        """The parameters of one network, for `network.apply`."""
        return params_of({"kernel": layer.kernel[..., index].T, "bias": layer.bias[..., index]} for layer in params)


@jax.custom_vjp
def _dense(
    kernel: Float32[Array, "outputs inputs members"],
    bias: Float32[Array, "outputs members"],
    x: Float32[Array, "inputs n members"],
) -> Float32[Array, "outputs n members"]:
    """kernel x + bias for each network."""
    terms = (kernel[:, i, None, :] * x[None, i] for i in range(kernel.shape[1]))
    return sum(terms, start=jnp.broadcast_to(bias[:, None, :], (len(kernel), *x.shape[1:])))


def _forward(kernel, bias, x):
    return _dense(kernel, bias, x), (kernel, x)


def _backward(kept, gradient):
    kernel, x = kept
    of_kernel = sum((gradient[:, None, n] * x[None, :, n] for n in range(x.shape[1])), start=jnp.zeros_like(kernel))
    of_x = sum((kernel[j, :, None, :] * gradient[None, j] for j in range(len(kernel))), start=jnp.zeros_like(x))
    return of_kernel, jnp.sum(gradient, axis=1), of_x


_dense.defvjp(_forward, _backward)


class SeenPositions(NamedTuple):
    """What the networks see of n positions, and for whom they value them: 1 for the player who just moved, else -1."""

    inputs: Float32[Array, "inputs n"]
    sign: Float32[Array, " n"]


class Encode(Protocol):
    """What the networks see of n positions: `encode(features, positions, mover, turn_passed)`.

    Args:
      features: numbers of the encoding that may differ between populations of one program.
      positions: as the player to act sees them.
      mover: the id of the player who just moved, for whom they are valued (0 is the one who began).
      turn_passed: whether the player to act is the other one.
    """

    def __call__(
        self, features: Any, positions: Any, mover: Int32[Array, " n"], turn_passed: Bool[Array, " n"], /
    ) -> SeenPositions:
        """The inputs of n positions, and for whom they are valued."""
        ...


def encode_with(encoding: Any) -> Encode:
    """The `Encode` of an encoding of a game (`game.encodings`): the position seen by the player who just moved."""

    def encode(features, positions, mover, turn_passed):
        del features, mover
        inputs = encoding(positions)
        seen = jnp.where(turn_passed[:, None], encoding.swap(inputs), inputs).T
        return SeenPositions(seen, jnp.ones(len(inputs), jnp.float32))

    return encode


class SquareFeatures(NamedTuple):
    """How `SquareEncoding` turns squares into numbers."""

    empty: Float32[Array, ""]
    """The number of an empty square."""
    absolute: Float32[Array, ""]
    """Above 0: the first player's squares are 1 and the second's -1, and the value is the first player's; else the
    squares of the player who just moved are 1, and the value is that player's."""
    side: Float32[Array, ""]
    """The size of a last input, positive if the first player is to act, negative if the second one is."""


@dataclasses.dataclass(frozen=True)
class SquareEncoding:
    """An `Encode` by `SquareFeatures`: a number for each square of a game with one kind of piece, and a last input."""

    game: Game

    @property
    def inputs(self) -> int:
        """How many there are."""
        return int(np.prod(self.game.observation_shape[:-1])) + 1

    def __call__(self, features: SquareFeatures, positions: Any, mover: Array, turn_passed: Array) -> SeenPositions:
        """The squares of n positions as numbers."""
        # Positions last, which is four times faster.
        planes = jax.vmap(self.game.observe_position, out_axes=-1)(positions, ~turn_passed)
        own, other = (planes[..., plane, :].reshape(self.inputs - 1, -1) for plane in (0, 1))
        name = jnp.where(mover == 0, jnp.float32(1), -1.0).astype(jnp.float32)
        sign = jnp.where(features.absolute > 0, name, 1.0)
        squares = jnp.where(own, sign[None], jnp.where(other, -sign[None], features.empty))
        turn = jnp.where(turn_passed, -name, name) * features.side
        return SeenPositions(jnp.concatenate([squares, turn[None]]), sign)


class SelfPlaySettings(NamedTuple):
    """The settings of a training that are traced: populations with other values run the same program."""

    step_size: Float32[Array, ""]
    cycle: Int32[Array, " length"]  # the kinds of games, played in turn
    both_sides: Bool[Array, ""]  # whether positions after random moves are learned, too
    features: Any = ()  # as `Encode` wants them


class SelfPlayState(NamedTuple):
    """The whole state of a training; `games` counts the games of each network."""

    params: Params
    settings: SelfPlaySettings
    games: Int32[Array, ""]


class Episodes(NamedTuple):
    """Whole games, ply by ply. Plies after the end of a game are not learned."""

    positions: Any  # after each ply
    mover: Int32[Array, "plies games"]  # who made it
    turn_passed: Bool[Array, "plies games"]  # whether the other player was next
    learned: Bool[Array, "plies games"]  # whether the position is learned
    result: Float32[Array, " games"]  # of the first player


class SelfPlayMetrics(NamedTuple):
    """Of one update, in which each network played a game."""

    kind: Int32[Array, ""]  # of the game
    result: Float32[Array, " members"]  # of the network; in self-play of the first player
    squared_error: Float32[Array, " members"]  # the sum over positions
    positions: Int32[Array, " members"]  # how many were learned


@dataclasses.dataclass(frozen=True)
class SelfPlayBackprop:
    """A population of `members` networks that learn a game without chance.

    A game of more than `max_plies` plies, or than its own `step_limit`, is stopped, and nothing is learned from it.
    Raises `ValueError` for a game with chance.
    """

    game: Game
    network: PopulationMLP
    encode: Encode
    members: int
    max_plies: int

    def __post_init__(self) -> None:
        checks.native_fields(self)
        if self.game.outcome_probabilities:
            raise ValueError(f"{self.game.id} has chance; expected a game without")

    def init(self, key: Key[Array, ""], settings: SelfPlaySettings | None = None) -> SelfPlayState:
        """The state before the first game; by default steps of 0.025, a game of each kind in turn, and no `features`,
        which `SquareEncoding` needs.
        """
        if settings is None:
            cycle = jnp.asarray([SELF, FIRST, SECOND], jnp.int32)
            settings = SelfPlaySettings(jnp.float32(0.025), cycle, jnp.bool_(True))
        return SelfPlayState(self.network.init(key, self.members), settings, jnp.int32(0))

    def update(self, state: SelfPlayState, key: Key[Array, ""]) -> tuple[SelfPlayState, SelfPlayMetrics]:
        """One game of each network, then for each of its positions, in order, one step on half the squared error.

        Outside of `jit`, games and steps are compiled anew in each call.
        """
        settings = state.settings
        kind = settings.cycle[state.games % len(settings.cycle)]
        played = self.play(state.params, settings, kind, key)
        movers = jnp.where(played.mover == 0, jnp.float32(1), -1.0).astype(jnp.float32)
        inputs, sign = self._seen(settings, *_flat((played.positions, played.mover, played.turn_passed)))
        inputs = jnp.moveaxis(inputs.reshape(len(inputs), *movers.shape), 0, 1)
        targets = sign.reshape(movers.shape) * movers * played.result[None]

        def step(params: Params, position: tuple[Array, Array, Array]) -> tuple[Params, Array]:
            x, target, learned = position

            def loss(params):
                error = jnp.where(learned, target - self.network.apply(params, x[:, None])[0], 0.0)
                return 0.5 * jnp.sum(error**2), error

            gradients, error = jax.grad(loss, has_aux=True)(params)
            return jax.tree.map(lambda w, gradient: w - settings.step_size * gradient, params, gradients), error

        params, errors = jax.lax.scan(step, state.params, (inputs, targets, played.learned))
        metrics = SelfPlayMetrics(
            kind=kind,
            result=jnp.where(kind == SECOND, -played.result, played.result),
            squared_error=jnp.sum(errors**2, axis=0),
            positions=jnp.sum(played.learned, axis=0, dtype=jnp.int32),
        )
        return SelfPlayState(params, settings, state.games + 1), metrics

    def play(
        self, params: Params, settings: SelfPlaySettings, kind: Int32[Array, ""], key: Key[Array, ""], games: int = 1
    ) -> Episodes:
        """`games` games of one `kind` for each network of `params`; game i * members + m is that of network m.

        `settings` say how networks choose, `key` decides what is random. Outside of `jit`, the games are compiled anew
        in each call.
        """
        number = games * self.members
        opening = self.game.init_position(jax.random.fold_in(key, 1))
        positions = jax.tree.map(lambda x: jnp.broadcast_to(x, (number, *x.shape)), opening)
        start = (positions, jnp.zeros(number, jnp.int32), jnp.zeros(number, bool), jnp.zeros(number, jnp.float32))

        def ply(carry, bits):
            positions, player, over, result = carry
            chooses = (kind == SELF) | (player == kind - FIRST)  # if a network is to move
            drawn = jax.vmap(self.game.draw_action)(positions, bits)
            action = jax.lax.cond(
                jnp.any(chooses & ~over),
                lambda: jnp.where(chooses, self.best_action(params, settings, positions, player), drawn),
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
            turn_passed = jnp.broadcast_to(outcome.turn_passes, over.shape)
            return after, (outcome.position, player, turn_passed, ~over & (chooses | settings.both_sides))

        limit = self.max_plies if self.game.step_limit is None else min(self.max_plies, self.game.step_limit)
        bits = random_bits(key, (limit, number))
        (_, _, over, result), (positions, mover, turn_passed, learned) = jax.lax.scan(ply, start, bits)
        return Episodes(positions, mover, turn_passed, learned & over[None], result)

    def best_action(
        self, params: Params, settings: SelfPlaySettings, positions: Any, player: Int32[Array, " n"]
    ) -> Int32[Array, " n"]:
        """The legal action to the position that the network values most; among equals the first.

        `player` is the id of the player to act. Position i * members + m is one for network m.
        """
        return jnp.argmax(self.action_values(params, settings, positions, player), axis=1).astype(jnp.int32)

    def action_values(
        self, params: Params, settings: SelfPlaySettings, positions: Any, player: Int32[Array, " n"]
    ) -> Float32[Array, "n actions"]:
        """What the position after each action is worth to the player who takes it, minus infinity if illegal."""
        actions = jnp.arange(self.game.num_actions, dtype=jnp.int32)
        play = jax.vmap(self.game.play, in_axes=(0, None))
        outcomes = jax.vmap(play, in_axes=(None, 0))(positions, actions)
        shape = (len(actions), len(player))
        mover, turn_passed = jnp.broadcast_to(player[None], shape), jnp.broadcast_to(outcomes.turn_passes, shape)
        inputs, sign = self._seen(settings, *_flat((outcomes.position, mover, turn_passed)))
        outputs = self.network.apply(params, inputs.reshape(len(inputs), -1, self.members))
        values = sign.reshape(shape) * outputs.reshape(shape)
        lowest = np.finfo(np.float32).min
        values = jnp.where(values > lowest, values, lowest)  # NaN too: it must not lose to an illegal action
        legal = jax.vmap(self.game.legal)(positions).T
        return jnp.where(legal, values, -jnp.inf).T

    def _seen(self, settings: SelfPlaySettings, positions: Any, mover: Array, turn_passed: Array) -> SeenPositions:
        inputs, sign = self.encode(settings.features, positions, mover, turn_passed)
        return SeenPositions(materialize(inputs, settings.cycle[0]), sign)  # each input goes to all units of a layer


def _flat(tree: Any) -> Any:
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), tree)


# What a training saves as its best player.

CYCLE = 6
"""The games of a cycle: all schedules repeat after so many games, so that one program runs all of them."""


@dataclasses.dataclass(frozen=True)
class SelfPlayConfig(Settings):
    """Networks that value the squares of a game, and the longest game. Raises `ValueError` for what makes no sense."""

    of = "self-play"
    game: str = setting("", "the game, by its id; without one there is nothing to learn yet")
    most_plies: int = setting(9, "a longer game is broken off", low=1)
    layers: NetworkSpec = group(NetworkSpec(initializer="uniform:1"), MLP_ONLY | {"biases": (True,)})

    def learner(self, members: int) -> SelfPlayBackprop:
        """How so many of them learn."""
        game = make(self.game)
        encode = SquareEncoding(game)
        network = PopulationMLP(self.layers.mlp(1), encode.inputs)
        return SelfPlayBackprop(game, network, encode, members, self.most_plies)


def load_self_play(run: Run) -> tuple[Params, SelfPlaySettings, SelfPlayBackprop]:
    """The weights of a run's best network, how it sees positions, and how it chooses moves.

    Raises `ValueError` if the run holds none, or its configuration is broken.
    """
    written = run.config["self_play"]
    try:
        learner = SelfPlayConfig.from_json(written).learner(members=1)
    except ValueError as error:
        raise ValueError(f"{run.path}/config.json describes no network of self-play: {error}") from None
    features = SquareFeatures(*(jnp.float32(0) for _ in SquareFeatures._fields))
    settings = SelfPlaySettings(jnp.float32(0), jnp.zeros(CYCLE, jnp.int32), jnp.bool_(True), features)
    params = jax.eval_shape(lambda key: learner.init(key, settings).params, jax.random.key(0))
    saved: tuple[Params, SelfPlaySettings] = run.load_best((params, jax.eval_shape(lambda: settings)))[1]
    return *saved, learner
