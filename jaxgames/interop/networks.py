"""The network inside a player, for programs that want the network alone."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.td.value import ValueNetwork
from jaxgames.envs.registry import make
from jaxgames.nets import MLP
from jaxgames.players.player import Player


class PlayerNetwork(NamedTuple):
    """A network that values positions for the player to act: `mlp.apply(params, encoding(positions)) @ points`."""

    encoding: Any
    mlp: MLP
    params: Any
    points: np.ndarray


class PolicyNetwork(NamedTuple):
    """A network of a policy and a value: `apply(params, observation) -> (logits, value)`."""

    apply: Callable[[Any, Any], Any]
    params: Any


def policy_network_of(player: Player) -> PolicyNetwork | None:
    """The network of AlphaZero's kind that a player plays by or searches with; None if it has none."""
    for owner in (player.turn, player.params):
        if hasattr(owner, "apply"):
            return PolicyNetwork(owner.apply, getattr(owner, "params", player.params))
    return None


def network_of(player: Player) -> PlayerNetwork | None:
    """The network that a player's positions are valued by, also at the leaves of a search; None if it has none.

    Raises `ValueError` for networks that see positions from one side only, and for outputs that name actions.
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
        return PlayerNetwork(owner.encoding, owner.network, params, np.asarray(owner.outcomes.worths, np.float32))
    if isinstance(owner, NetworkConfig):
        genomes, points = owner.genomes(), owner.outcomes.worths if owner.plays == "outcomes" else (1,)
        encoding = make(owner.game).encodings[owner.encoding]
        return PlayerNetwork(encoding, genomes.network, genomes.params(params), np.asarray(points, np.float32))
    return None
