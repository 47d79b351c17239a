"""First weights of an AlphaZero training from the run of another one, or of one by imitation."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxgames.algos.alphazero import saved as alphazero
from jaxgames.algos.imitation import saved as imitation
from jaxgames.envs.core import Game
from jaxgames.runs import Run


def first_params(path: str, game: Game, network: Any) -> Any:
    """The weights of the run in folder `path` for a network.

    Raises `ValueError` for runs of other kinds or games, and for networks of another shape.
    """
    run = Run.open(path)
    load = {"imitation": imitation.load_network, "alphazero": alphazero.load_network}.get(run.config["kind"])
    if load is None:
        raise ValueError(f"{path} holds no network to begin with: expected a run of imitation or of AlphaZero")
    if run.config["game"] != game.id:
        raise ValueError(f"{path} holds a network of {run.config['game']}, not of {game.id}")
    params, *_ = load(run, game)
    observation = jnp.zeros((1, *game.observation_shape), jnp.float32)
    fresh = jax.eval_shape(network.init, jax.random.key(0), observation)
    if jax.tree.map(jnp.shape, params) != jax.tree.map(jnp.shape, fresh):
        raise ValueError(f"{path} holds a network of another shape: train both with the same network and hidden layers")
    return params
