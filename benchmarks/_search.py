"""The searches of `search.py` and `search_networks.py`: ours, mctx's and OpenSpiel's, of the same positions.

The default network is linear, so that the search is what is measured: logits and, by tanh, a value of the observation.

mctx searches all trees in lock-step, and falls out of the processor's cache with many of them. Its best form here is
`jax.lax.map` over blocks of a few positions, which finds the same visits: `best_blocks` finds the size.
"""

import functools
import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _common import compiled, peer
from _figures import Report, Timing
from _games_timing import in_turn

import jaxgames
from jaxgames.algos import mcts
from jaxgames.envs import Game, random_action

PLIES = {"tic_tac_toe": 2, "connect_four": 6, "checkers": 10, "backgammon": 12}
"""Random actions before the positions that are searched: so few that no game is over."""

OURS, MCTX, MCTX_PGX = "jaxgames", "mctx with our game", "mctx with pgx's game"
PROBED = 16
"""Positions by which block sizes are compared: blocks are searched one after the other, so a few tell."""
PEER_SECONDS = 8.0
"""About the most that one run of a peer may take: of a large batch it then searches the first positions only."""
POLICIES = {
    "PUCT": lambda: mcts.puct(qtransform="parent_and_siblings"),
    "Gumbel": lambda: mcts.gumbel(scale=0.0),
    "Recursive": mcts.recursive,
    "OneRound": lambda: mcts.one_round(scale=0.0),
}
"""Our rules with mctx's constants and scale of values; Gumbel without noise, so that visits can be compared."""
OURS_ALONE = ("Recursive", "OneRound")
"""Which of them mctx has not."""


class Search:
    """A search as a compiled program, run as often as fits into some seconds each time.

    `visits` are what its last run found, `block` is the number of positions that it searches together, `part` says
    whether it searches only a part of the positions that the others search.
    """

    mode, unit = "", "simulations"

    def __init__(
        self, by: str, function: Callable, arguments: tuple[Any, ...], amount: int, seconds: float, block: int = 0
    ):
        self.part = False
        self.by, self.amount, self.arguments, self.block, self.number = by, amount, arguments, block, 0
        jax.clear_caches()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.program, self.compile_seconds = compiled(function, *arguments, jax.random.key(0))
        self.calls = 1
        self.run()
        self.once = self._again()
        self.calls = max(1, math.ceil(seconds / self.once))

    def run(self) -> tuple[int, None]:
        """Searches, each time with other random numbers; how many simulations that were."""
        for _ in range(self.calls):
            self.number += 1
            self.visits = jax.block_until_ready(self.program(*self.arguments, jax.random.key(self.number)))
        return self.calls * self.amount, None

    @property
    def name(self) -> str:
        """Whose search it is, in blocks of how many positions, and how many it searches if not the whole batch."""
        blocks = f", blocks of {self.block}" if self.block else ""
        return f"{self.by}{blocks}{f', {len(self.visits[0]):,} of the positions' if self.part else ''}"

    def _again(self) -> float:
        start = time.perf_counter()
        self.run()
        return time.perf_counter() - start


def in_blocks(search: Callable, block: int) -> Callable:
    """The search `(params, states, key)` of one block of positions after another; `block` divides their number."""

    def run(params, states, key):
        batch = states.terminated.size
        if block >= batch:
            return search(params, states, key)
        parts = jax.tree.map(lambda x: x.reshape(batch // block, block, *x.shape[1:]), states)
        keys = jax.random.split(key, batch // block)
        found = jax.lax.map(lambda part: search(params, *part), (parts, keys))
        return jax.tree.map(lambda x: x.reshape(batch, *x.shape[2:]), found)

    return run


def best_blocks(search: Callable, params: Any, states: Any, simulations: int, sizes: Sequence[int]) -> dict[int, float]:
    """Simulations per second of a search by blocks of these sizes, each timed by a warm run of a few positions."""
    batch, rates = states.terminated.size, {}
    for block in sorted({min(size, batch) for size in sizes}):
        positions = max(block, min(PROBED, batch))
        probe = Search("", in_blocks(search, block), (params, first(states, positions)), positions * simulations, 0.2)
        start = time.perf_counter()
        amount, _ = probe.run()
        rates[block] = amount / (time.perf_counter() - start)
    return rates


def by_blocks(
    by: str, search: Callable, params: Any, states: Any, simulations: int, block: int, speed: float, seconds: float
) -> Search:
    """A peer's search by blocks, of as many positions as it can search in `PEER_SECONDS` at about this `speed`."""
    batch = states.terminated.size
    block = min(block, batch)
    positions = batch
    while positions > block and positions * simulations > PEER_SECONDS * speed:
        positions //= 2
    arguments = params, first(states, positions)
    found = Search(by, in_blocks(search, block), arguments, positions * simulations, seconds, block)
    found.part = positions < batch
    return found


def first(states: Any, positions: int) -> Any:
    """The first few states of a batch."""
    return jax.tree.map(lambda x: x[:positions], states)


def compare_visits(report: Report, what: str, ours: Search, theirs: Search) -> None:
    """Checks that both searches visited the actions at the root equally often, but for rounding."""
    visits = np.asarray(theirs.visits[0])
    same = np.all(np.asarray(ours.visits[0])[: len(visits)] == visits, axis=1)
    report.notes.append(f"{what}: equal root visits as {theirs.name} in {same.sum():,} of {len(same):,} positions")
    report.checks[f"{what}: root visits as {theirs.by} in 9 of 10 positions"] = bool(np.mean(same) >= 0.9)


class OpenSpiel:
    """OpenSpiel's UCT in C++ with random rollouts, from the opening position of a game; one process, one core."""

    mode, by, unit, compile_seconds, calls = "", "OpenSpiel", "simulations", None, 1

    def __init__(self, name: str, c: float, simulations: int, seed: int):
        spiel = peer("pyspiel")
        game = spiel.load_game(name)
        evaluator = spiel.RandomRolloutEvaluator(1, seed)
        self.state, self.amount = game.new_initial_state(), simulations
        self.bot = spiel.MCTSBot(game, evaluator, c, simulations, 4096, False, seed, False)

    def run(self) -> tuple[int, None]:
        """Searches once."""
        self.bot.mcts_search(self.state)
        return self.amount, None


def measured(runners: Sequence[Any], repeats: int) -> list[list[Timing]]:
    """Timings of all runners, their repeats in turn."""
    return [timings for timings, _ in in_turn(runners, repeats)]


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


def ours(game: Game, simulations: int, network: Callable = apply, policy: str = "PUCT") -> Callable:
    """Our search: root visits and actions by `(params, states, key)`."""

    def search(params, states, key):
        rule, evaluate = POLICIES[policy](), mcts.network(network, params)
        found = mcts.search(game, states, key, simulations, select=rule, evaluate=evaluate)
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


def mctx(env: Any, simulations: int, network: Callable = apply, policy: str = "PUCT") -> Callable:
    """mctx's search with a game in the place of a model: root visits and actions by `(params, states, key)`."""
    library = peer("mctx")
    search, options = {
        "PUCT": (library.muzero_policy, {"dirichlet_fraction": 0.0}),
        "Gumbel": (library.gumbel_muzero_policy, {"gumbel_scale": 0.0}),
    }[policy]

    def run(params, states, key):
        root, model = _root(library, network, params, states), _model(library, env, network)
        found = search(params, key, root, model, simulations, ~states.legal_action_mask, **options)
        return found.search_tree.summary().visit_counts, found.action

    return run


def mctx_policy(env: Any, simulations: int, network: Callable, considered: int) -> Callable:
    """mctx's Gumbel search for self-play: improved policies and values of the roots by `(params, states, key)`."""
    library = peer("mctx")

    def run(params, states, key):
        root, model, masked = (
            _root(library, network, params, states),
            _model(library, env, network),
            ~states.legal_action_mask,
        )
        found = library.gumbel_muzero_policy(
            params, key, root, model, simulations, masked, max_num_considered_actions=considered
        )
        return found.action_weights, found.search_tree.summary().value

    return run


def mctx_with_chance(game: Game, simulations: int) -> Callable:
    """`mctx.stochastic_muzero_policy`, which has a node of chance after every action.

    Where no roll follows, this node has one outcome. Its chance nodes take the outcome that is furthest behind its
    probability; ours draw one.
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
            params,
            key,
            _root(library, apply, params, states),
            decision,
            chance,
            simulations,
            ~states.legal_action_mask,
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


def _model(library: Any, env: Any, network: Callable) -> Callable:
    """A game as mctx's recurrent function."""

    def recurrent(params, key, actions, states):
        players = states.current_player
        states = jax.vmap(env.step)(states, actions)
        logits, value = network(params, states.observation)
        output = library.RecurrentFnOutput(
            reward=states.rewards[jnp.arange(len(players)), players],
            discount=_discount(states, players),
            prior_logits=jnp.where(states.legal_action_mask, logits, jnp.finfo(jnp.float32).min),
            value=jnp.where(states.terminated, 0.0, value),
        )
        return output, states

    return recurrent


def _root(library: Any, network: Callable, params: Any, states: Any) -> Any:
    logits, value = network(params, states.observation)
    return library.RootFnOutput(prior_logits=logits, value=value, embedding=states)


def _discount(states: Any, players: jax.Array) -> jax.Array:
    same = jnp.where(states.current_player == players, 1.0, -1.0)
    return jnp.where(states.terminated | states.truncated, 0.0, same)
