"""Programs are lowered for GPUs and TPUs, so that nothing in them is for CPUs only. They are not compiled. With
`jax_enable_x64` on they are the same.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.alphazero.config import AlphaZeroConfig
from jaxgames.algos.alphazero.learner import make_learner as make_alphazero
from jaxgames.algos.evolution.evolution import Evolution
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies import STRATEGIES
from jaxgames.algos.mcts import rules
from jaxgames.algos.minimax import alphabeta
from jaxgames.algos.td import make_config, make_learner
from jaxgames.envs.rollout import rollout

PLATFORMS = ("cuda", "tpu")
GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon")
BATCH = 6
KEY = jax.eval_shape(lambda: jax.random.key(0))
WIDE = re.compile(r"stablehlo\.(?!constant|broadcast_in_dim|convert|select)\w+ .*tensor<\d\w*xf64>")
"""An operation on an array of float64: more than a number of Python on its way to an array of ours."""


@pytest.fixture
def lower(monkeypatch):
    """Lowers `function(*arguments)` for all platforms. Of the arguments only shapes and dtypes matter.

    Code that asks for the backend is told that there is a GPU; else it would take its way for CPUs.
    """
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")

    def lowered(function, *arguments):
        exported = export.export(jax.jit(function), platforms=PLATFORMS)(*arguments)
        assert exported.platforms == PLATFORMS
        assert "xla_cpu" not in exported.mlir_module()
        with monkeypatch.context() as of_cpu:
            of_cpu.setattr(jax, "default_backend", lambda: "cpu")
            assert exported.out_avals == wide(function, *arguments)

    return lowered


def wide(function, *arguments):
    """What a program gives with `jax_enable_x64` on; nothing may be computed in float64."""
    with jax.enable_x64(True):
        lowered = jax.jit(lambda *arguments: function(*arguments)).lower(*arguments)
    lines = {line.strip() for line in lowered.as_text().splitlines() if WIDE.search(line)}
    assert not lines, "\n".join(sorted(lines)[:5])
    return tuple(jax.core.ShapedArray(out.shape, out.dtype) for out in jax.tree.leaves(lowered.out_info))


def states_of(game):
    """The shapes of a batch of states."""
    return jax.eval_shape(lambda key: jax.vmap(game.init)(jax.random.split(key, BATCH)), KEY)


@pytest.mark.parametrize("name", GAMES)
def test_steps_and_rollouts(name, lower):
    """With all that a training loop reads: observations, masks, rewards."""
    game = jaxgames.make(name)

    def play(states, key):
        states, kept = rollout(game, states, key, 3, auto_reset=True)
        return states, kept.rewards, kept.states.observation, kept.states.legal_action_mask

    def step(state, action, key):
        after = game.step(state, action, key)
        return after, after.observation, after.legal_action_mask

    lower(play, states_of(game), KEY)
    keys = jax.eval_shape(lambda key: jax.random.split(key, BATCH), KEY)
    lower(jax.vmap(step), states_of(game), jnp.zeros(BATCH, jnp.int32), keys)


def network(game):
    """An evaluator with a policy: a network of one layer."""

    def apply(params, observation):
        outputs = observation.reshape(len(observation), -1).astype(jnp.float32) @ params
        return outputs[:, 1:], jnp.tanh(outputs[:, 0])

    return mcts.network(apply, jnp.zeros((int(np.prod(game.observation_shape)), game.num_actions + 1)))


RULES = {name: make() for name, make in rules.RULES.items()} | {"bounded": mcts.bounded(mcts.uct())}
SEARCHES = [(rule, "tic_tac_toe") for rule in RULES]
SEARCHES += [("uct", "backgammon"), ("puct", "checkers"), ("bounded", "connect_four")]


@pytest.mark.parametrize(("rule", "name"), SEARCHES)
def test_searches(rule, name, lower):
    game, select = jaxgames.make(name), RULES[rule]
    evaluate = network(game) if select.needs_policy else mcts.rollout()

    def search(states, key):
        return mcts.search(game, states, key, 8, select=select, evaluate=evaluate)

    lower(search, states_of(game), KEY)


def test_last_good_replies(lower):
    game = jaxgames.make("tic_tac_toe")
    lower(lambda states, key: mcts.search(game, states, key, 8, evaluate=mcts.last_good_reply()), states_of(game), KEY)


def test_alpha_beta(lower):
    game = jaxgames.make("checkers")
    lower(lambda states: alphabeta(game, states, depth=3), states_of(game))


@pytest.mark.parametrize("method", ["n_step", "exact", "monte_carlo"])
@pytest.mark.parametrize("game", ["backgammon", "connect_four"])
def test_temporal_differences(game, method, lower):
    seen = {"backgammon": {}, "connect_four": {"encoding": "observation", "outputs": 2}}[game]
    learner = make_learner(make_config(method, game=game, **seen, batch=4, plies=2, hidden=(3,)))
    lower(learner.update, jax.eval_shape(learner.init, KEY), KEY)


@pytest.mark.parametrize("search", ["gumbel", "puct"])
def test_alphazero(search, lower):
    small = {"hidden": (4,), "batch": 2, "plies": 2, "simulations": 3, "buffer_plies": 2, "minibatch": 4}
    config = AlphaZeroConfig().replace(**small, search=search, steps=1)
    learner = make_alphazero(jaxgames.make("connect_four"), config)
    lower(learner.update, jax.eval_shape(learner.init, KEY), KEY)


EVOLUTION = {
    "groups": {"groups": 2, "members": 3, "keep": 1, "turn": 1},
    "genetic": {"population": 6, "elites": 1, "keep": 2, "opponents": "random*2+hall*2", "crossover": "segments"},
    "open_es": {"population": 6, "opponents": "random*2"},
    "low_rank": {"population": 6, "opponents": "random*2", "rank": 2},
    "hill_climb": {"duel": 2},
    "map_elites": {"population": 6, "opponents": "league*2+random*2", "most_plies": 9, "cells": 3},
    "nsga2": {"population": 6, "opponents": "random*2"},
}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_generations(strategy, lower):
    network = NetworkConfig("tic_tac_toe")
    if strategy == "hill_climb":
        network = NetworkConfig("backgammon", plays="outcomes", encoding="tesauro")
    evolution = Evolution(STRATEGIES[strategy](network.replace(hidden=(3,)), generations=4, **EVOLUTION[strategy]))
    ours = evolution.strategy
    lower(lambda state: ours.generation(state, evolution), jax.eval_shape(ours.init, KEY))


def test_programs_for_cpus_only_are_seen(lower):
    with pytest.raises(NotImplementedError, match="schur"):
        lower(jax.lax.linalg.schur, jnp.eye(3))
