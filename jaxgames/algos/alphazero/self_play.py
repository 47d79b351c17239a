"""Games of self-play: every action by a search with the network of the moment."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos import mcts
from jaxgames.algos.alphazero.buffer import Plies, results_backwards
from jaxgames.algos.alphazero.config import AlphaZeroConfig
from jaxgames.envs.core import Game, State
from jaxgames.envs.rollout import random_action, step_batch
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import random_bits


def begin_games(game: Game, key: Key[Array, ""], number: int, opening_plies: int) -> State:
    """So many new games after 0 to `opening_plies` random plies, each number equally likely.

    A game that the random plies end begins at its first position.
    """
    keys = jax.random.split(key, opening_plies + 2)
    fresh = jax.vmap(game.init)(jax.random.split(keys[0], number))
    length = (random_bits(keys[1], (number,)) % jnp.uint32(opening_plies + 1)).astype(jnp.int32)
    states = fresh
    for ply, ply_key in enumerate(keys[2:]):
        action_key, chance_key = jax.random.split(ply_key)
        after = step_batch(game, states, random_action(action_key, states), chance_key)
        states = select(ply < length, after, states)
    return select(states.terminated | states.truncated, fresh, states)


def play(
    game: Game, config: AlphaZeroConfig, apply: Callable, params: Any, states: State, key: Key[Array, ""]
) -> tuple[State, Plies, dict[str, Array]]:
    """Plays `config.plies` plies of all games; new games follow those that end.

    Returns the states after them, the plies with the results known so far, and counts: games ended and their plies.
    """
    evaluate = mcts.network(apply, params)

    def ply(states, key):
        search_key, draw_key, chance_key, begin_key, fast_key = jax.random.split(key, 5)
        policy, value, choice, is_target = _search(game, config, evaluate, states, search_key, fast_key)
        actions = choice if config.played == "choice" else draw(policy, config.temperature, draw_key)
        after = step_batch(game, states, actions, chance_key)
        ended = after.terminated | after.truncated
        record = Plies(
            states._position,
            policy.astype(jnp.float16),
            value,
            states.current_player,
            jnp.broadcast_to(is_target, ended.shape),
            after.rewards[:, 0],
            ended,
        )
        fresh = begin_games(game, begin_key, len(ended), config.opening_plies)
        return select(ended, fresh, after), (record, jnp.where(ended, after._step_count, 0))

    states, (plies, lengths) = jax.lax.scan(ply, states, jax.random.split(key, config.plies))
    counts = {"games": jnp.sum(plies.known, dtype=jnp.int32), "plies_of_games": jnp.sum(lengths, dtype=jnp.int32)}
    result, known = results_backwards(plies.result, plies.known, config.discount)
    return states, plies._replace(result=result, known=known), counts


def draw(weights: Float32[Array, "games actions"], temperature: float, key: Key[Array, ""]) -> Int32[Array, " games"]:
    """An action of each game, drawn with probabilities proportional to weights^(1 / temperature)."""
    logits = jnp.where(weights > 0, jnp.log(jnp.maximum(weights, 1e-30)) / temperature, -jnp.inf)
    uniform = (random_bits(key, weights.shape) >> 9).astype(jnp.float32) / 2**23 + 2**-24
    return jnp.argmax(logits - jnp.log(-jnp.log(uniform)), axis=1).astype(jnp.int32)


def _search(
    game: Game,
    config: AlphaZeroConfig,
    evaluate: mcts.Evaluator,
    states: State,
    key: Key[Array, ""],
    fast_key: Key[Array, ""],
) -> tuple[Float32[Array, "games actions"], Float32[Array, " games"], Int32[Array, " games"], Bool[Array, ""]]:
    """Policy, value and preferred action by a search, and whether it was a full one."""

    def by(simulations: int) -> Callable:
        def run():
            gumbel = config.search == "gumbel"
            rule: mcts.Rule = mcts.gumbel(config.considered) if gumbel else mcts.puct()
            noise = None if gumbel else mcts.dirichlet(config.noise_alpha, config.noise_fraction)
            found = mcts.search(
                game,
                states,
                key,
                simulations,
                select=rule,
                evaluate=evaluate,
                noise=noise,
                discount=config.discount,
            )
            return found.weights, found.values, found.actions

        return run

    if config.fast_share == 0:
        return *by(config.simulations)(), jnp.bool_(True)
    # One draw for all games: both kinds of search in one batch would take as long as the full one.
    full = jax.random.uniform(fast_key) >= config.fast_share
    return *jax.lax.cond(full, by(config.simulations), by(config.fast_simulations)), full
