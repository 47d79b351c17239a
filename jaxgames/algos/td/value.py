"""A network as the value of positions: what it sees, what it predicts, and for whom."""

import dataclasses
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.td.outcomes import Outcomes
from jaxgames.algos.td.traces import Outer, Traces
from jaxgames.envs.core import Game, Value
from jaxgames.nets import MLP, first_layer
from jaxgames.nets.mlp import FIRST_LAYER

Params = Any
Positions = Any


class Encoding(Protocol):
    """What a network sees of positions, from the player to act: `encoding(positions) -> float32[n, size]`.

    `swap` exchanges the names of the players in the inputs, and `value`, where a game has it, makes of a network the
    `Value` that the game evaluates fastest.
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
    one side holds for the other. If not, it sees and predicts for the first player, and whose turn it is is one of
    its inputs, as in TD-Gammon.
    """

    game: Game
    encoding: Encoding
    network: MLP
    outcomes: Outcomes = Outcomes()
    symmetric: bool = True

    def init(self, key: Key[Array, ""]) -> Params:
        """Initial parameters."""
        return self.network.init(key, jnp.zeros((1, self.encoding.size), jnp.float32))

    def predict(self, params: Params, positions: Positions, player: Int32[Array, " n"]) -> Float32[Array, "n outcomes"]:
        """The outcomes that the first player (id 0) may expect, where `player` is to act."""
        first = (player == 0)[..., None]
        inputs = self.encoding(positions)
        if not self.symmetric:
            return self.network.apply(params, jnp.where(first, inputs, self.encoding.swap(inputs)))
        outputs = self.network.apply(params, inputs)
        return jnp.where(first, outputs, self.outcomes.flip(outputs))

    def gradients(self, params: Params, positions: Positions, player: Int32[Array, " n"]) -> Traces:
        """The gradients of `predict`, one for each position and outcome; those of the first kernel as an `Outer`."""
        first = player == 0
        inputs = self.encoding(positions)
        if not self.symmetric:
            inputs = jnp.where(first[:, None], inputs, self.encoding.swap(inputs))
        kernel, bias = first_layer(params)

        def rest(params, sums, first):
            outputs = self.network.apply(params, sums, method="from_first_layer")
            return jnp.where(first, outputs, self.outcomes.flip(outputs)) if self.symmetric else outputs

        jacobian = jax.vmap(jax.jacrev(rest, argnums=(0, 1)), in_axes=(None, 0, 0))
        above, sums = jacobian(params, inputs @ kernel + bias[None, :], first)
        layers = {**above["params"], FIRST_LAYER: {"kernel": Outer(inputs, sums), "bias": sums}}
        return {**above, "params": layers}

    def value(self, params: Params, player: Int32[Array, ""] | int = 0) -> Value:
        """Expected points of the player to act, in positions in which `player` is to act."""
        first = jnp.asarray(player, jnp.int32) == 0
        swapped = not self.symmetric

        def points(outputs):
            if swapped:
                outputs = jnp.where(first, outputs, self.outcomes.flip(outputs))
            return self.outcomes.expected(outputs)

        def tail(sums):
            return points(self.network.apply(params, sums, method="from_first_layer"))

        if hasattr(self.encoding, "value"):
            kernel, bias = first_layer(params)
            if swapped:
                kernel = jnp.where(first, kernel, self.encoding.swap(kernel.T).T)
            return self.encoding.value(kernel, bias, tail)

        def value(positions):
            inputs = self.encoding(positions)
            if swapped:
                inputs = jnp.where(first, inputs, self.encoding.swap(inputs))
            return points(self.network.apply(params, inputs))

        return value


@dataclasses.dataclass(frozen=True)
class ObservationEncoding:
    """The observation of any game, flattened: what a network sees if nothing better is known."""

    game: Game

    @property
    def size(self) -> int:
        """Number of inputs."""
        size = 1
        for length in self.game.observation_shape:
            size *= length
        return size

    def __call__(self, positions: Positions) -> Float32[Array, "n size"]:
        """float32[n, size]."""
        observed = jax.vmap(lambda position: self.game.observe_position(position, jnp.bool_(True)))(positions)
        return observed.astype(jnp.float32).reshape(len(observed), self.size)

    def swap(self, inputs: Float32[Array, "n size"]) -> Float32[Array, "n size"]:
        """Not known for observations in general: such networks must be symmetric."""
        raise ValueError(f"observations of {self.game.id} do not tell whose turn it is: use symmetric=True")
