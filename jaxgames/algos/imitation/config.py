"""The settings of learning from examples, and the network that learns.

The network has an encoding of its inputs; its outputs are a policy and a value, or name moves by a head.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.imitation.data import SPLITS
from jaxgames.envs.core import Game, Value
from jaxgames.envs.heads import heads_of
from jaxgames.nets import ACTIVATIONS, NetworkSpec
from jaxgames.ops.settings import Settings, group, keep_at_most, own, setting

FORMS: dict[str, tuple[Any, ...]] = {
    "form": ("mlp", "residual", "conv"), "output": tuple(ACTIVATIONS), "biases": (True,), "dtype": ("float32",),
}  # fmt: skip
MOVES, RESULTS = {"learns": ("both", "policy")}, {"learns": ("both", "value")}


@dataclasses.dataclass(frozen=True)
class ImitationConfig(Settings):
    """Settings of a learner. Raises `ValueError` for values that make no sense."""

    of = "imitation"
    network: NetworkSpec = group(NetworkSpec, FORMS)
    head: str = setting(
        "",
        "how the outputs of form=mlp name moves: a name from heads_of(game). By default there is a logit for each "
        "action, and a value",
        when={"form": "mlp"},
    )
    encoding: str = setting("observation", "what the network sees: observation, or a name from game.encodings")
    learns: str = setting("both", "moves, results, or both", choices=("both", "policy", "value"))
    plays: str = setting(
        "policy",
        "policy: plays the best move by its policy; value: by its values of the positions after each turn",
        choices=("policy", "value"),
    )
    policy_loss: str = setting(
        "cross_entropy",
        "cross_entropy: over legal actions; squared, absolute: errors of all outputs, added up",
        choices=("cross_entropy", "squared", "absolute"),
        when=MOVES,
    )
    value_loss: str = setting("squared", "error of the value", choices=("squared", "absolute"), when=RESULTS)
    value_weight: float = setting(1.0, "weight of the value loss beside the policy loss", low=0, when=RESULTS)
    value_range: str = setting(
        "points",
        "points: the result in points, divided by the most points of a game: from -1 to 1; unit: the same from 0 to 1",
        choices=("points", "unit"),
        when=RESULTS,
    )
    counts: bool = setting(False, "whether a position merged from several weighs as much as all of them; else 1")
    symmetries: bool = setting(True, "whether each position is learned in a random symmetry of the board")
    positions: int = setting(0, "learns from only this many positions, drawn by the seed; 0: from all", low=0)
    validation: float = setting(
        0.05, "share of the data kept for validation, if they are not split already", above=0, high=1
    )
    split: str = setting("game", "whether they are then split by games or by positions", choices=SPLITS)
    minibatch: int = setting(256, "positions of a step", low=1)
    optimizer: str = setting("adamw", "what turns a gradient into a step", choices=("adamw", "adam", "sgd", "momentum"))
    step_size: float = setting(0.002, "the first step size", above=0)
    last_step_size: float = setting(0.0001, "the step size at the end; it falls to this as a cosine", low=0)
    weight_decay: float = setting(
        0.0001, "each step shrinks the weights by this share, times the step size", low=0, when={"optimizer": "adamw"}
    )
    epochs: int = setting(20, "how often all positions are learned", low=1)
    blocks_per_epoch: int = setting(1, "how often in an epoch the validation loss is measured", low=1)
    patience: int = setting(
        5,
        "training stops after this many measurements without a lower validation loss; the weights of the lowest play",
        low=1,
    )
    steps: int = setting(1000, "optimizer steps of the whole training", low=1, derived=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.validation < 1:
            raise ValueError(f"validation {self.validation}: expected a share above 0 and below 1")
        keep_at_most(self, "last_step_size", "step_size")
        if self.plays != self.learns and self.learns != "both":
            raise ValueError(f"plays={self.plays}, but it learns only the {self.learns}")
        values_positions = self.learns != "policy" or self.head or self.network.form == "residual"
        if not values_positions and self.network.output != own(NetworkSpec)["output"].default:
            raise ValueError(f"output={self.network.output} has no effect without learns=both or value, or a head")
        if self.head and self.learns != "policy":
            raise ValueError(f"head={self.head} learns moves only: choose learns=policy")
        if self.head and self.policy_loss == "cross_entropy":
            raise ValueError(f"head={self.head} learns by policy_loss=squared or absolute")


RANGES = {"sigmoid": (0.0, 1.0), "softsign_unit": (0.0, 1.0), "identity": (0.0, 1.0), "relu": (0.0, 1.0)}
"""The two targets of the outputs of these activation functions; all others learn -1 or 1."""

FORM = ("network", "head", "encoding", "learns", "plays", "policy_loss", "symmetries")
"""The settings that make a network what it is."""


@dataclasses.dataclass(frozen=True)
class ImitationNetwork:
    """The network of some settings for a game. Raises `ValueError` for inputs or heads that the game does not have."""

    game: Game
    config: ImitationConfig

    def __post_init__(self) -> None:
        game, config = self.game, self.config
        known = ("observation", *game.encodings)
        if config.encoding not in known:
            raise ValueError(f"unknown encoding {config.encoding!r} of {game.id}; available: {', '.join(known)}")
        if config.head:
            if config.encoding == "observation":
                raise ValueError(
                    f"head={config.head} needs an encoding; available: {', '.join(game.encodings) or 'none'}"
                )
            _ = self.evolved  # raises for an unknown head
        elif not self._sees_observations:
            raise ValueError(
                f"encoding {config.encoding!r} of {game.id} is not made of observations: choose encoding=observation"
            )
        if config.symmetries and len(game.symmetries) > 1 and not self._sees_observations:
            raise ValueError(
                f"positions of {game.id} in encoding {config.encoding!r} cannot be mirrored: symmetries=false"
            )
        if config.network.sees_planes and len(self.input_shape) != 3:
            raise ValueError(
                f"form={config.network.form} needs inputs [rows, columns, planes]; {config.encoding} of {game.id} has "
                f"{list(self.input_shape)}: choose another encoding, or form=mlp"
            )

    @property
    def for_play(self) -> "ImitationNetwork":
        """The same network with default values for all that matters only in training: equal networks share programs."""
        kept = {name: getattr(self.config, name) for name in FORM}
        return ImitationNetwork(self.game, ImitationConfig(**kept))

    @property
    def evolved(self) -> NetworkConfig:
        """The same network, if its outputs name moves, in the form of an evolved one."""
        config = self.config
        return NetworkConfig(self.game.id, "outputs", config.encoding, config.head, layers=config.network)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of a position's inputs."""
        if self._encoding is None:
            return tuple(self.game.observation_shape)
        return tuple(getattr(self._encoding, "shape", (self._encoding.size,)))

    @functools.cached_property
    def module(self) -> Any:
        """The flax module."""
        game, network = self.game, self.config.network
        if self.config.head:
            return network.mlp(heads_of(game)[self.config.head].size)
        return network.policy_value(game.num_actions, self.input_shape, float(game.max_reward))

    def init(self, key: Key[Array, ""]) -> Any:
        """First weights."""
        return self.module.init(key, jnp.zeros((1, *self.input_shape), jnp.float32))

    def inputs(self, positions: Any, symmetry: Int32[Array, " n"] | None = None) -> Array:
        """What the network sees of positions, each in the symmetry of this number; None for the board as it is."""
        if not self._sees_observations:
            return self._shaped(self._encoding(positions))
        observation = jax.vmap(lambda position: self.game.observe_position(position, jnp.bool_(True)))(positions)
        if symmetry is not None:
            elements = jnp.asarray(np.stack([one.elements for one in self.game.symmetries]))[symmetry]
            flat = jnp.take_along_axis(observation.reshape(len(symmetry), -1), elements, axis=1)
            observation = flat.reshape(observation.shape)
        return self.of_observation(observation)

    def of_observation(self, observation: Array) -> Array:
        """What the network sees, computed from observations."""
        if self._encoding is None:
            return observation.astype(jnp.float32)
        return self._shaped(self._encoding.from_observation(observation))

    def apply(self, params: Any, observation: Array) -> tuple[Float32[Array, "n actions"], Float32[Array, " n"]]:
        """Logits and values, as AlphaZero's networks give them. Not with a head."""
        return self.module.apply(params, self.of_observation(observation))

    def make_value(self, params: Any) -> Value:
        """Values of positions for the player to act, in points."""
        return lambda positions: self.module.apply(params, self.inputs(positions))[1]

    def make_mean_value(self, params: Any) -> Value:
        """As `make_value`, the mean over all images of a position by the game's symmetries."""

        def value(positions: Any) -> Float32[Array, " n"]:
            rows = len(jax.tree.leaves(positions)[0])
            images = [
                self.module.apply(params, self.inputs(positions, jnp.full(rows, number, jnp.int32)))[1]
                for number in range(len(self.game.symmetries))
            ]
            return jnp.mean(jnp.stack(images), axis=0)

        return value

    def outputs(self, params: Any, inputs: Array) -> tuple[Float32[Array, "n outputs"], Float32[Array, " n"]]:
        """The outputs of the policy, and values; zeros if the network has none."""
        if not self.config.head:
            return self.module.apply(params, inputs)
        outputs = self.module.apply(params, inputs)
        return outputs, jnp.zeros(len(outputs), jnp.float32)

    def policy_targets(self, policy: Float32[Array, "n actions"], positions: Any) -> Float32[Array, "n outputs"]:
        """The targets of outputs that name moves: one end of their range if named, the other if not."""
        low, high = RANGES.get(self.config.network.output, (-1.0, 1.0))
        return low + (high - low) * heads_of(self.game)[self.config.head].targets(policy, positions)

    def chosen(
        self, outputs: Float32[Array, "n outputs"], positions: Any, mask: Bool[Array, "n actions"]
    ) -> Int32[Array, " n"]:
        """The legal action that the policy rates highest."""
        if not self.config.head:
            return jnp.argmax(jnp.where(mask, outputs, -jnp.inf), axis=1).astype(jnp.int32)
        head = heads_of(self.game)[self.config.head]
        rows = jax.tree.map(lambda x: x[None], positions)
        return head(outputs.T[None], rows)[0][0]

    @property
    def _encoding(self) -> Any:
        return None if self.config.encoding == "observation" else self.game.encodings[self.config.encoding]

    @property
    def _sees_observations(self) -> bool:
        return self._encoding is None or hasattr(self._encoding, "from_observation")

    def _shaped(self, inputs: Array) -> Array:
        return inputs.reshape(len(inputs), *self.input_shape)
