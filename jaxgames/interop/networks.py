"""The network inside a player, for programs that want the network alone."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.td.value import ValueNetwork
from jaxgames.envs.backgammon.strategic import BOTH
from jaxgames.envs.registry import make
from jaxgames.nets import MLP
from jaxgames.nets.mlp import layers_of, params_of
from jaxgames.nets.policy_value import PolicyValueNet, Windows
from jaxgames.players.player import Player


class PlayerNetwork(NamedTuple):
    """A network that values positions for the player to act: `apply(encoding(positions)) @ points`.

    With `by_class` there is one for each class of positions, and the parameters have an axis in front.
    """

    encoding: Any
    mlp: MLP
    params: Any
    points: np.ndarray
    by_class: bool = False

    def apply(self, inputs: Any) -> Any:
        """The outputs, from inputs float32[n, size]."""
        params = jax.tree.map(jnp.asarray, self.params)
        if not self.by_class:
            return self.mlp.apply(params, inputs)
        *others, last = (jax.tree.map(lambda x, i=i: x[i], params) for i in range(self.encoding.classes))
        outputs = self.mlp.apply(last, inputs)
        kind = _class_of_inputs(inputs)
        for number, own in enumerate(others):
            outputs = jnp.where(kind == number, self.mlp.apply(own, inputs), outputs)
        return outputs


class PolicyNetwork(NamedTuple):
    """A network of a policy and a value: `apply(params, observation) -> (logits, value)`."""

    apply: Callable[[Any, Any], Any]
    params: Any


def _class_of_inputs(inputs: Any) -> Any:
    """The class of positions, int32[n, 1], from the last inputs of `Strategic`, which tell it (`strategic.BOTH`)."""
    race, *crashed = (inputs[:, inputs.shape[1] - place, None] > 0.5 for place in range(len(BOTH), 0, -1))
    return jnp.where(race, 2, jnp.where(crashed[0] | crashed[1], jnp.int32(1), 0))


def policy_network_of(player: Player) -> PolicyNetwork | None:
    """The policy and value network by which a player plays or searches; None if it has none."""
    turn: Any = player.turn
    for owner in (turn, player.params, getattr(getattr(turn, "make_value", None), "owner", None)):
        network: Any = getattr(owner, "policy", owner)
        if hasattr(network, "apply") and not isinstance(owner, ValueNetwork):
            return PolicyNetwork(network.apply, getattr(owner, "params", player.params))
    return None


def value_head_of(player: Player, policy: PolicyNetwork) -> PlayerNetwork:
    """The values of a policy network as a separate network.

    Raises `ValueError` unless it is fully connected, with or without windows: other first layers are not sums over
    stones.
    """
    module = getattr(policy.apply, "owner", None)
    if not isinstance(module, PolicyValueNet) or module.convolutions:
        raise ValueError(f"{player.name}: only fully connected networks and networks of windows can be exported")
    game, params = player.game, dict(policy.params["params"])
    shape = game.observation_shape
    inputs = math.prod(shape)
    layers = []
    if module.window:
        windows, weights = Windows(module.window, module.channels, shape), {"params": params.pop("Windows_0")}
        bias = np.asarray(windows.apply(weights, np.zeros((1, inputs), np.float32)))
        kernel = np.asarray(windows.apply(weights, np.eye(inputs, dtype=np.float32))) - bias
        # What the windows do not cover: stones count 0 or 1, which the activation does not change.
        kernel = np.concatenate([np.eye(inputs, dtype=np.float32), kernel], axis=1)
        layers.append({"kernel": kernel, "bias": np.concatenate([np.zeros(inputs, np.float32), bias[0]])})
    layers += [{name: np.asarray(x) for name, x in layer.items()} for layer in layers_of({"params": params})]
    layers[-1] = {name: x[..., -1:] for name, x in layers[-1].items()}
    mlp = MLP(tuple(layer["bias"].size for layer in layers), module.activation, module.output)

    def encoding(positions: Any) -> Any:
        seen = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)
        return seen.reshape(len(seen), -1).astype(np.float32)

    return PlayerNetwork(encoding, mlp, params_of(layers), np.asarray([module.max_value], np.float32))


def network_of(player: Player) -> PlayerNetwork | None:
    """The network by which a player values positions, also at the leaves of a search; None if it has none.

    Raises `ValueError` for networks that see positions only from one side, and for outputs that name actions.
    """
    turn: Any = player.turn
    evaluator = player.params if hasattr(player.params, "make_value") else turn  # of a search by simulations
    params = player.params.params if evaluator is player.params else player.params
    if isinstance(getattr(turn, "network", None), NetworkConfig):
        raise ValueError(f"{player.name}: its network names actions and values no positions")
    owner = getattr(getattr(evaluator, "make_value", None), "owner", None)
    if isinstance(owner, ValueNetwork):
        if not owner.symmetric:
            raise ValueError(f"{player.name}: its network sees positions from the first player; use symmetric=True")
        points = np.asarray(owner.outcomes.worths, np.float32)
        return PlayerNetwork(owner.encoding, owner.network, params, points, owner.by_class)
    if isinstance(owner, NetworkConfig):
        genomes, worths = owner.genomes(), owner.outcomes.worths if owner.plays == "outcomes" else (1,)
        encoding = make(owner.game).encodings[owner.encoding]
        return PlayerNetwork(encoding, genomes.network, genomes.params(params), np.asarray(worths, np.float32))
    return None
