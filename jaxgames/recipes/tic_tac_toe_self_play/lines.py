"""How many lines of play each network of `tic-tac-toe-self-play` loses."""

import dataclasses

import jax
import numpy as np
from jaxtyping import Int32

from jaxgames.algos.self_play_backprop import SelfPlayState
from jaxgames.matches.exhaustive import every_line
from jaxgames.players.generic import self_play
from jaxgames.recipes.tic_tac_toe_self_play.population import Populations


def lines_lost(populations: Populations, states: SelfPlayState) -> Int32[np.ndarray, "variants seeds"]:
    """How many of all possible lines of play each network loses, from both sides."""
    states = jax.device_get(states)
    learner = dataclasses.replace(populations.learner, members=1)

    def of_network(variant: int, seed: int) -> int:
        return every_line(self_play("network", *populations.network(states, variant, seed), learner)).lost

    variants, seeds = range(len(populations.variants)), range(populations.seeds)
    return np.array([[of_network(variant, seed) for seed in seeds] for variant in variants], np.int32)
