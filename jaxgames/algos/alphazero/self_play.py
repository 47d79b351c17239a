"""Self-play, where each action comes from a search with the present network, and the replay buffer that it fills."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.algos import mcts
from jaxgames.algos.alphazero.config import NOISY, AlphaZeroConfig
from jaxgames.algos.mcts.init import init_tree
from jaxgames.envs.core import Game, State
from jaxgames.envs.rollout import random_action, step_batch
from jaxgames.ops import packing
from jaxgames.ops.device_memory import free_bytes
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import random_bits
from jaxgames.tables.lookup import known_turns, lookup_of


class Plies(NamedTuple):
    """Positions that were searched, `[plies, games]` each.

    Attributes:
        position: of the player to act.
        policy: the search's policy, float16[plies, games, actions].
        root_value: the search's value, in points of the player to act.
        player: the id of the player to act.
        is_target: whether the policy is a target to learn.
        result: points of player 0 at the end of the game, where `known`.
        known: whether the game has ended.
    """

    position: Any
    policy: Array
    root_value: Float32[Array, "plies games"]
    player: Int32[Array, "plies games"]
    is_target: Bool[Array, "plies games"]
    result: Float32[Array, "plies games"]
    known: Bool[Array, "plies games"]


class ReplayBuffer(NamedTuple):
    """A ring of plies. `next` is the row that is written next, `filled` how many rows hold plies."""

    plies: Plies
    next: Int32[Array, ""]
    filled: Int32[Array, ""]


def results_backwards(
    reward: Float32[Array, "plies games"], ended: Bool[Array, "plies games"], discount: float = 1.0
) -> tuple[Float32[Array, "plies games"], Bool[Array, "plies games"]]:
    """The result of each ply's game, and whether the game ends within these plies.

    Args:
        reward: points that player 0 got in each ply.
        ended: whether the game ended in it.
        discount: what a point is worth one ply earlier.
    """

    def back(later, ply):
        result, known = later
        reward, ended = ply
        outcome = jnp.where(ended, reward, discount * result), ended | known
        return outcome, outcome

    games = reward.shape[1]
    start = jnp.zeros(games, jnp.float32), jnp.zeros(games, bool)
    _, (result, known) = jax.lax.scan(back, start, (reward, ended), reverse=True)
    return result, known


def check_room(example: Plies, rows: int) -> None:
    """Raises `ValueError` if a buffer of so many rows is larger than the free memory."""
    games = example.known.shape[1]
    row = sum(x.size // len(x) * x.dtype.itemsize for x in jax.tree.leaves(example))
    free = free_bytes()
    if free is not None and rows * row > free:
        raise ValueError(
            f"no room for the replay buffer: {rows:,} plies of {games:,} games need {rows * row / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB are free: buffer_plies of at most {free // row:,} fits"
        )


def init_buffer(example: Plies, rows: int) -> ReplayBuffer:
    """An empty buffer of so many rows, for plies such as those of `example`."""
    plies = jax.tree.map(lambda x: jnp.zeros((rows, *x.shape[1:]), x.dtype), example)
    return ReplayBuffer(plies, jnp.int32(0), jnp.int32(0))


def add(buffer: ReplayBuffer, plies: Plies, discount: float = 1.0) -> ReplayBuffer:
    """The buffer with new plies in place of its oldest ones. Games that end in the new plies also set older results.

    The plies continue those of the last call. Their number divides the number of rows. A result is worth
    `discount` times as much one ply earlier.
    """
    number, rows = plies.known.shape[0], buffer.plies.known.shape[0]
    # A result that is still unknown belongs to the present game, which ends with the first known result of these plies.
    old = buffer.plies
    row = jnp.arange(rows, dtype=jnp.int32)[:, None]
    settles = ~old.known & plies.known[:1] & (row < buffer.filled)
    age = (buffer.next - 1 - row) % rows + 1  # plies before the first new one
    result = plies.result[:1] * discount ** age.astype(jnp.float32)
    old = old._replace(result=jnp.where(settles, result, old.result), known=old.known | settles)
    written = jax.tree.map(lambda x, new: jax.lax.dynamic_update_slice_in_dim(x, new, buffer.next, 0), old, plies)
    return ReplayBuffer(written, (buffer.next + number) % rows, jnp.minimum(buffer.filled + number, rows))


def sample(buffer: ReplayBuffer, key: Key[Array, ""], number: int) -> Plies:
    """`number` plies drawn from the filled rows, as `[number]`; some may belong to unfinished games."""
    games = buffer.plies.known.shape[1]
    bits = random_bits(key, (2, number))
    row = (bits[0] % jnp.maximum(buffer.filled, 1).astype(jnp.uint32)).astype(jnp.int32)
    game = (bits[1] % jnp.uint32(games)).astype(jnp.int32)
    return jax.tree.map(lambda x: x[row, game], buffer.plies)


REUSED = 3
"""A tree that is used again has room for the simulations of so many searches."""


def begin_games(game: Game, key: Key[Array, ""], number: int, opening_plies: int) -> State:
    """New games after 0 to `opening_plies` random plies, each number equally likely.

    If the random plies end a game, it begins at its first position instead.
    """
    keys = jax.random.split(key, opening_plies + 2)
    fresh = jax.vmap(game.init)(jax.random.split(keys[0], number))
    # Each game draws how many random plies it begins with, and waits after them.
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
    if config.exact:
        with jax.ensure_compile_time_eval():
            lookup, load = lookup_of(game)
            scores = load()

    def ply(carry, key):
        states, tree = carry
        search_key, draw_key, chance_key, begin_key, fast_key = jax.random.split(key, 5)
        # Search, choose an action by the search's result, and play it.
        searched, is_target = _search(game, config, evaluate, states, search_key, fast_key, tree)
        policy, value, choice, tree = searched
        actions = choice if config.played == "choice" else draw(policy, config.temperature, draw_key)
        after = step_batch(game, states, actions, chance_key)
        # The result is known where the game has ended, or where a table knows it.
        ended = after.terminated | after.truncated
        result, known = after.rewards[:, 0], ended
        if config.exact:
            best = known_turns(game, lookup, scores, states._position)
            points = jnp.where(states.current_player == 0, best.points, -best.points)
            result, known = jnp.where(best.covered, points, result), ended | best.covered
        record = Plies(
            states._position,
            policy.astype(jnp.float16),
            value,
            states.current_player,
            jnp.broadcast_to(is_target, ended.shape),
            result,
            known,
        )
        # A new game follows one that has ended; the tree goes on below the move that was played.
        fresh = begin_games(game, begin_key, len(ended), config.opening_plies)
        following = select(ended, fresh, after)
        tree = mcts.advance(tree, following) if config.reuse else None
        return (following, tree), (record, jnp.where(ended, after._step_count, 0))

    # The first search of an update begins anew: the network has changed.
    begin = states, _empty_tree(game, config, states) if config.reuse else None
    scan = jax.lax.scan if config.reuse else packing.scan  # a tree is no batch of words
    (states, _), (plies, lengths) = scan(ply, begin, jax.random.split(key, config.plies))
    counts = {"games": jnp.sum(lengths > 0, dtype=jnp.int32), "plies_of_games": jnp.sum(lengths, dtype=jnp.int32)}
    # Results flow back to the plies before them.
    result, known = results_backwards(plies.result, plies.known, config.discount)
    return states, plies._replace(result=result, known=known), counts


def draw(weights: Float32[Array, "games actions"], temperature: float, key: Key[Array, ""]) -> Int32[Array, " games"]:
    """An action of each game, drawn with probabilities proportional to weights^(1 / temperature)."""
    logs = jnp.log(jnp.maximum(weights, 1e-30))
    if temperature < 0.01:  # beside numbers so large the noise would be rounded, and the first of equal ones win
        logs = logs - jnp.max(logs, axis=1, keepdims=True)
    logits = jnp.where(weights > 0, logs / temperature, -jnp.inf)
    uniform = (random_bits(key, weights.shape) >> 9).astype(jnp.float32) / 2**23 + 2**-24
    return jnp.argmax(logits - jnp.log(-jnp.log(uniform)), axis=1).astype(jnp.int32)


def _search(
    game: Game,
    config: AlphaZeroConfig,
    evaluate: mcts.Evaluator,
    states: State,
    key: Key[Array, ""],
    fast_key: Key[Array, ""],
    tree: mcts.Tree | None,
) -> tuple[tuple[Float32[Array, "games actions"], Float32[Array, " games"], Int32[Array, " games"], Any], Array]:
    """Policy, value and preferred action of a search, its tree for the next ply, and whether it was a full search."""

    def search(simulations: int) -> Any:
        noisy = config.search in NOISY["search"]
        noise = mcts.dirichlet(config.noise_alpha, config.noise_fraction) if noisy else None
        result = mcts.search(
            game,
            states,
            key,
            simulations,
            select=_rule(config),
            evaluate=evaluate,
            noise=noise,
            discount=config.discount,
            tree=tree,
        )
        return result.weights, result.values, result.actions, result.tree if config.reuse else None

    if config.fast_share == 0:
        return search(config.simulations), jnp.bool_(True)
    # One draw for all games: both kinds of search in one batch would take as long as the full one.
    full = jax.random.uniform(fast_key, dtype=jnp.float32) >= config.fast_share
    searches = (functools.partial(search, number) for number in (config.simulations, config.fast_simulations))
    return jax.lax.cond(full, *searches), full


def _rule(config: AlphaZeroConfig) -> mcts.Rule:
    rules: dict[str, mcts.Rule] = {
        "puct": mcts.puct(),
        "recursive": mcts.recursive(),
        "one_round": mcts.one_round(),
    }
    return rules.get(config.search) or mcts.gumbel(config.considered)


def _empty_tree(game: Game, config: AlphaZeroConfig, states: State) -> mcts.Tree:
    alive = ~(states.terminated | states.truncated)
    bits = jnp.zeros(len(alive), jnp.uint32)  # each search has its own
    return init_tree(game, _rule(config), states._position, alive, bits, REUSED * config.simulations + 1)
