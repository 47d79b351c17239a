"""A network as the value of positions: what it sees, which outcomes of the game it predicts, and for whom."""

import dataclasses
import math
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.td.td_lambda import OuterProduct, Traces
from jaxgames.envs.core import Game, Value
from jaxgames.nets import MLP, first_layer
from jaxgames.nets.mlp import layers_of, params_of
from jaxgames.ops import checks

# A perceptron that is the mean of several: their hidden units stand side by side.
#
# Before the output function the mean over members k of h_k W_k + b is one product: (h_1 ... h_K) times (W_1 ... W_K) /
# K, plus b. So the mean is a perceptron like any other, with all their hidden units. Members err differently, and their
# mean errs less than one of them (L. K. Hansen and P. Salamon, "Neural network ensembles", 1990). Here they have one
# hidden layer, and share the biases of the outputs.


def apart(params: Any, members: int) -> Any:
    """The members of `MLP((members * hidden, outputs))`, as parameters of `MLP((hidden, outputs))`.

    Members are a new first axis of each array; other axes, such as classes, may come before those of the layers.
    """
    if members == 1:
        return jax.tree.map(lambda x: x[None], params)

    def split(x: jax.Array, axis: int) -> jax.Array:
        axis = x.ndim + axis
        x = x.reshape(*x.shape[:axis], members, x.shape[axis] // members, *x.shape[axis + 1 :])
        return jnp.moveaxis(x, axis, 0)

    first, last = map(dict, layers_of(params))
    first = {name: split(x, -1) for name, x in first.items()}
    kernel = split(last.pop("kernel"), -2)
    last = {name: jnp.broadcast_to(x, (members, *x.shape)) for name, x in last.items()}
    return params_of([first, last | {"kernel": kernel}])


def repeated(params: Any, members: int) -> Any:
    """A perceptron with `members` times the hidden units that computes the same: the mean of equal members."""
    if members == 1:
        return params
    first, last = map(dict, layers_of(params))
    first = {name: jnp.concatenate([x] * members, axis=-1) for name, x in first.items()}
    last |= {"kernel": jnp.concatenate([last["kernel"]] * members, axis=-2)}
    return scale_outputs(params_of([first, last]), 1 / members)


def scale_outputs(params: Any, factor: float) -> Any:
    """The output weights times a number: 1 / members turns the sum over members into a mean."""
    if factor == 1:
        return params
    *layers, last = layers_of(params)
    return params_of([*layers, {**last, "kernel": last["kernel"] * factor}])


Params = Any
Positions = Any


@dataclasses.dataclass(frozen=True)
class Outcomes:
    """One output for each outcome, named by the points it gives the player: `(1, -1, 2, -2)` are win, lose, win and
    lose a gammon.

    The outcomes exclude each other, so expected points are the outputs times `points`; if they are `cumulative`, each
    output adds its worth beyond the one before: win + win a gammon - lose - lose a gammon. Results beyond the
    largest outcome count as the largest (a backgammon is a gammon to a network with four outputs); a draw is no
    outcome.
    """

    points: tuple[int, ...] = (1, -1, 2, -2)
    cumulative: bool = False
    """Whether a won gammon counts as a win, too: then an output is the probability of so many points or more."""

    def __post_init__(self) -> None:
        checks.native_fields(self)
        checks.sizes("points", self.points)
        checks.flag("cumulative", self.cumulative)
        if not self.points or set(self.points) != {-p for p in self.points} or 0 in self.points:
            raise ValueError(f"outcomes {self.points}: every number of points is needed with both signs, as in (1, -1)")

    def __len__(self) -> int:
        return len(self.points)

    def target(self, reward: Float32[Array, "..."]) -> Float32[Array, "... outcomes"]:
        """1 for the outcome with this reward, 0 elsewhere. If `cumulative`, 1 for those of fewer points too."""
        most = float(max(self.points))
        reward = jnp.clip(reward, -most, most)[..., None]
        points = jnp.asarray(self.points, jnp.float32).reshape((1,) * (reward.ndim - 1) + (-1,))
        reached = reward * jnp.sign(points) >= jnp.abs(points) if self.cumulative else reward == points
        return reached.astype(jnp.float32)

    def flip(self, outputs: Float32[Array, "... outcomes"]) -> Float32[Array, "... outcomes"]:
        """The same prediction for the other player."""
        return outputs[..., np.array([self.points.index(-p) for p in self.points])]

    def expected(self, outputs: Float32[Array, "... outcomes"]) -> Float32[Array, "..."]:
        """Expected points."""
        return outputs @ jnp.asarray(self.worths, jnp.float32)  # on CPU twice as fast as a sum over products

    @property
    def worths(self) -> tuple[int, ...]:
        """What each output adds to the expected points."""
        if not self.cumulative:
            return self.points
        steps = [0, *sorted({abs(p) for p in self.points})]
        before = dict(zip(steps[1:], steps, strict=False))
        return tuple((abs(p) - before[abs(p)]) * (1 if p > 0 else -1) for p in self.points)


class Encoding(Protocol):
    """What a network sees of positions, from the player to act: `encoding(positions) -> float32[n, size]`.

    `swap` exchanges the players in the inputs. If a game has a faster way to evaluate a network, its
    encoding has `value(kernel, bias, tail, swapped)` too: the `Value` of a first layer and a function of its sums. An
    encoding with classes of positions has their number, `classes`, and `class_of(positions) -> int32[n]`.
    """

    size: int

    def __call__(self, positions: Positions) -> Float32[Array, "n size"]:
        """The inputs of positions."""
        ...

    def swap(self, inputs: Float32[Array, "n size"]) -> Float32[Array, "n size"]:
        """The same inputs with the names of the players exchanged."""
        ...


@dataclasses.dataclass(frozen=True)
class ValueNetwork:
    """A network that predicts the outcomes of a game.

    If `symmetric`, it sees every position from the player to act, and predicts for that player: what it learns for
    one side holds for the other. If not, it sees and predicts for the first player, and one of its inputs says whose
    turn it is, as in TD-Gammon.
    """

    game: Game
    encoding: Any  # an Encoding; its `value`, `classes` and `class_of` are optional
    network: MLP
    outcomes: Outcomes = Outcomes()
    symmetric: bool = True
    by_class: bool = False
    """Whether each class of positions has its own network: then parameters have an axis of classes in front."""

    def init(self, key: Key[Array, ""]) -> Params:
        """Initial parameters; those of all classes are the same."""
        params = self.network.init(key, jnp.zeros((1, self.encoding.size), jnp.float32))
        return self.for_each_class(params) if self.by_class else params

    def for_each_class(self, params: Params) -> Params:
        """The parameters of one network as those of the network of every class."""
        return jax.tree.map(lambda x: jnp.repeat(x[None], self.encoding.classes, axis=0), params)

    def predict(self, params: Params, positions: Positions, player: Int32[Array, " n"]) -> Float32[Array, "n outcomes"]:
        """The outcomes that the first player (id 0) may expect when `player` is to act."""
        first = (player == 0)[..., None]
        outputs = self._outputs(params, positions, first)
        return jnp.where(first, outputs, self.outcomes.flip(outputs)) if self.symmetric else outputs

    def gradients(self, params: Params, positions: Positions, player: Int32[Array, " n"]) -> Traces:
        """The gradients of `predict`, one for each position and outcome; the first kernel's as an `OuterProduct`."""
        first = player == 0
        inputs = self._inputs(positions, first[:, None])
        kernel, bias = first_layer(params)

        def rest(params, sums, first):
            outputs = self.network.apply(params, sums, method="from_first_layer")
            return jnp.where(first, outputs, self.outcomes.flip(outputs)) if self.symmetric else outputs

        jacobian = jax.vmap(jax.jacrev(rest, argnums=(0, 1)), in_axes=(None, 0, 0))
        above, sums = jacobian(params, inputs @ kernel + bias[None, :], first)
        layer = {"kernel": OuterProduct(inputs, sums), "bias": sums}
        names = layers_of(params)[0]
        return params_of([{name: layer[name] for name in names}, *layers_of(above)[1:]])

    def value(self, params: Params, player: Int32[Array, ""] | int = 0) -> Value:
        """Expected points of the player to act, in positions in which `player` is to act."""
        first = jnp.asarray(player, jnp.int32) == 0

        def points(outputs):
            if not self.symmetric:
                outputs = jnp.where(first, outputs, self.outcomes.flip(outputs))
            return self.outcomes.expected(outputs)

        def tail(sums, number=None):
            own = params if number is None else jax.tree.map(lambda x: x[number], params)
            return points(self.network.apply(own, sums, method="from_first_layer"))

        if hasattr(self.encoding, "value"):
            return self.encoding.value(*first_layer(params), tail, None if self.symmetric else ~first)
        return lambda positions: points(self._outputs(params, positions, first))

    def _outputs(self, params: Params, positions: Positions, first: Bool[Array, "..."]) -> Float32[Array, "n outcomes"]:
        """The outputs of the network, or of that of each position's class."""
        inputs = self._inputs(positions, first)
        if not self.by_class:
            return self.network.apply(params, inputs)
        kind = self.encoding.class_of(positions)[..., None]
        each = jax.vmap(lambda params: self.network.apply(params, inputs))(params)
        outputs = jnp.zeros_like(each[0])
        for number, one in enumerate(each):
            outputs = jnp.where(kind == number, one, outputs)
        return outputs

    def _inputs(self, positions: Positions, first: Bool[Array, "..."]) -> Float32[Array, "n size"]:
        """What the network sees, where the first player (`first`) or the second one is to act."""
        inputs = self.encoding(positions)
        return inputs if self.symmetric else jnp.where(first, inputs, self.encoding.swap(inputs))


@dataclasses.dataclass(frozen=True)
class ObservationEncoding:
    """The observation of any game, flattened: what a network sees if nothing better is known."""

    game: Game

    @property
    def size(self) -> int:
        """Number of inputs."""
        return math.prod(self.game.observation_shape)

    def __call__(self, positions: Positions) -> Float32[Array, "n size"]:
        """float32[n, size]."""
        observed = jax.vmap(lambda position: self.game.observe_position(position, jnp.bool_(True)))(positions)
        return observed.astype(jnp.float32).reshape(len(observed), self.size)

    def swap(self, inputs: Float32[Array, "n size"]) -> Float32[Array, "n size"]:
        """Not known for general observations: such networks must be symmetric."""
        raise ValueError(f"observations of {self.game.id} do not tell whose turn it is: use symmetric=True")
