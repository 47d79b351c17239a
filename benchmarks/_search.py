"""The searches of `search.py`: ours, mctx's and OpenSpiel's, all of the same positions with the same network.

The network is a linear one, so that the search is what is measured: logits and, by tanh, a value of the observation.
"""

import functools
import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from _common import compiled, peer
from _figures import Timing
from _games_timing import in_turn

import jaxgames
from jaxgames.algos import mcts
from jaxgames.envs.core import Game
from jaxgames.envs.rollout import random_action

PLIES = {"tic_tac_toe": 2, "connect_four": 6, "checkers": 10, "backgammon": 12}
"""Random actions before the positions that are searched: so few that no game is over."""

OURS, MCTX, MCTX_PGX = "jaxgames", "mctx with our game", "mctx with pgx's game"
LONG = 8.0
"""Seconds from which on a search is run but once."""


class Search:
    """A search as a compiled program, run as often as fits into some seconds each time.

    `visits` are what its first run found, `first` is the time of that run.
    """

    mode, unit = "", "simulations"

    def __init__(self, by: str, function: Callable, arguments: tuple[Any, ...], amount: int, seconds: float):
        self.by, self.amount, self.arguments, self.number = by, amount, arguments, 0
        jax.clear_caches()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.program, self.compile_seconds = compiled(function, *arguments, jax.random.key(0))
        self.calls = 1
        wall, cpu = time.perf_counter(), time.process_time()
        self.run()
        self.first = Timing(amount, time.perf_counter() - wall, time.process_time() - cpu)
        if self.first.wall < LONG:
            self.calls = max(1, math.ceil(seconds / self._again()))

    def run(self) -> tuple[int, None]:
        """Searches, each time with other random numbers; how many simulations that were."""
        for _ in range(self.calls):
            self.number += 1
            self.visits = jax.block_until_ready(self.program(*self.arguments, jax.random.key(self.number)))
        return self.calls * self.amount, None

    def _again(self) -> float:
        start = time.perf_counter()
        self.run()
        return time.perf_counter() - start


class OpenSpiel:
    """OpenSpiel's UCT in C++ with random rollouts, from the opening position of a game; one process, one core."""

    mode, by, unit, compile_seconds, calls = "", "OpenSpiel", "simulations", None, 1

    def __init__(self, name: str, c: float, simulations: int, seed: int):
        spiel = peer("pyspiel")
        game = spiel.load_game(name)
        evaluator = spiel.RandomRolloutEvaluator(1, seed)
        self.state, self.amount = game.new_initial_state(), simulations
        self.bot = spiel.MCTSBot(game, evaluator, c, simulations, 4096, False, seed, False)
        self.first = Timing(0, 0.0, 0.0)

    def run(self) -> tuple[int, None]:
        """Searches once."""
        self.bot.mcts_search(self.state)
        return self.amount, None


def measured(runners: Sequence[Any], repeats: int) -> list[list[Timing]]:
    """Timings of all runners, their repeats in turn; a search that takes long has been run already."""
    short = [runner for runner in runners if runner.first.wall < LONG]
    found = {id(runner): timings for runner, (timings, _) in zip(short, in_turn(short, repeats), strict=True)}
    return [found.get(id(runner), [runner.first]) for runner in runners]


def linear(game: Game, key: jax.Array) -> dict[str, jax.Array]:
    """The weights of the network for a game."""
    inputs, keys = math.prod(game.observation_shape), jax.random.split(key)
    scale = 1 / math.sqrt(inputs)
    return {
        "policy": 4 * scale * jax.random.normal(keys[0], (inputs, game.num_actions)),
        "value": scale * jax.random.normal(keys[1], (inputs,)),
    }


def apply(params: dict[str, jax.Array], observation: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Logits and values of a batch of observations."""
    flat = observation.reshape(len(observation), -1).astype(jnp.float32)
    return flat @ params["policy"], jnp.tanh(flat @ params["value"])


def actions_played(game: Game, key: jax.Array, batch: int) -> tuple[Any, jax.Array]:
    """States after a few random actions, and these, `[plies, batch]`."""
    states = jax.vmap(game.init)(jax.random.split(jax.random.fold_in(key, 0), batch))

    def step(states, key):
        actions = random_action(key, states)
        keys = jax.random.split(jax.random.fold_in(key, 1), batch)
        return jax.vmap(game.step)(states, actions, keys), actions

    return jax.lax.scan(step, states, jax.random.split(jax.random.fold_in(key, 1), PLIES[game.id]))


def replayed(env: Any, actions: jax.Array) -> Any:
    """States of another library's game after the same actions."""
    states = jax.vmap(env.init)(jax.random.split(jax.random.key(0), actions.shape[1]))
    return jax.lax.scan(lambda states, played: (jax.vmap(env.step)(states, played), None), states, actions)[0]


def ours(game: Game, simulations: int) -> Callable:
    """PUCT with the constants and the scale of values of mctx: root visits by `(params, states, key)`."""

    def search(params, states, key):
        rule, network = mcts.puct(qtransform="parent_and_siblings"), mcts.network(apply, params)
        found = mcts.search(game, states, key, simulations, select=rule, evaluate=network)
        return found.visits, found.actions

    return search


def uct(game: Game, simulations: int, trees: int = 1, c: float = 0.8) -> Callable:
    """UCT with random rollouts, `trees` for each position: root visits by `(states, key)`."""

    def search(states, key):
        found = mcts.search(
            game, states, key, simulations, select=mcts.uct(c), evaluate=mcts.rollout(), num_trees=trees
        )
        return found.visits, found.actions

    return search


def mctx(env: Any, simulations: int) -> Callable:
    """`mctx.muzero_policy` with a game in the place of a model: root visits by `(params, states, key)`."""
    library = peer("mctx")

    def recurrent(params, key, actions, states):
        players = states.current_player
        states = jax.vmap(env.step)(states, actions)
        logits, value = apply(params, states.observation)
        output = library.RecurrentFnOutput(
            reward=states.rewards[jnp.arange(len(players)), players],
            discount=_discount(states, players),
            prior_logits=jnp.where(states.legal_action_mask, logits, jnp.finfo(jnp.float32).min),
            value=jnp.where(states.terminated, 0.0, value),
        )
        return output, states

    def search(params, states, key):
        found = library.muzero_policy(
            params, key, _root(library, params, states), recurrent, simulations, ~states.legal_action_mask,
            dirichlet_fraction=0.0,
        )
        return found.search_tree.summary().visit_counts, found.action

    return search


def mctx_with_chance(game: Game, simulations: int) -> Callable:
    """`mctx.stochastic_muzero_policy`, which has a node of chance after every action.

    Where no roll is awaited that has one outcome. Its chance nodes take the outcome that is furthest behind its
    probability, where ours draw one.
    """
    library, chances = peer("mctx"), jnp.log(jnp.array(game.outcome_probabilities))
    certain = jnp.where(jnp.arange(len(chances)) == 0, 0.0, -jnp.inf)

    def decision(params, key, actions, states):
        players = states.current_player
        after = jax.vmap(game.apply)(states, actions)
        _, value = apply(params, after.observation)
        rolled = jax.vmap(game.resolve)(after, jnp.zeros_like(actions))
        changed = jax.tree.map(lambda x, y: (x != y).reshape(len(x), -1).any(1), rolled, after)
        awaits = functools.reduce(jnp.logical_or, jax.tree.leaves(changed))
        reward = after.rewards[jnp.arange(len(players)), players]
        value = jnp.where(after.terminated, reward, value * _discount(after, players))
        logits = jnp.where(awaits[:, None], chances[None], certain[None])
        return library.DecisionRecurrentFnOutput(chance_logits=logits, afterstate_value=value), (after, players)

    def chance(params, key, outcomes, afterstates):
        after, players = afterstates
        states = jax.vmap(game.resolve)(after, jnp.maximum(outcomes, 0))
        logits, value = apply(params, states.observation)
        output = library.ChanceRecurrentFnOutput(
            action_logits=jnp.where(states.legal_action_mask, logits, jnp.finfo(jnp.float32).min),
            value=jnp.where(states.terminated, 0.0, value),
            reward=after.rewards[jnp.arange(len(players)), players],
            discount=_discount(states, players),
        )
        return output, states

    def search(params, states, key):
        found = library.stochastic_muzero_policy(
            params, key, _root(library, params, states), decision, chance, simulations, ~states.legal_action_mask,
            dirichlet_fraction=0.0,
        )
        return found.search_tree.summary().visit_counts, found.action

    return search


def pgx_game(name: str) -> Any:
    """pgx's game, without its warnings; None if there is no such game or no pgx."""
    pgx = peer("pgx")
    if pgx is None or name not in pgx.available_envs():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pgx.make(name)


def make(name: str) -> Game:
    """Our game."""
    return jaxgames.make(name)


def _root(library: Any, params: Any, states: Any) -> Any:
    logits, value = apply(params, states.observation)
    return library.RootFnOutput(prior_logits=logits, value=value, embedding=states)


def _discount(states: Any, players: jax.Array) -> jax.Array:
    same = jnp.where(states.current_player == players, 1.0, -1.0)
    return jnp.where(states.terminated | states.truncated, 0.0, same)
