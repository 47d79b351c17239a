"""`search`: what to play in a batch of positions, by simulations."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.algos.mcts.evaluators.evaluator import Evaluator
from jaxgames.algos.mcts.evaluators.rollout import rollout
from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.noise import Noise
from jaxgames.algos.mcts.rules.rule import Rule, uct
from jaxgames.algos.mcts.simulate import planted, root_evaluated, simulate
from jaxgames.algos.mcts.tree import ILLEGAL, Layout, Tree, check_size
from jaxgames.envs.core import Game, State
from jaxgames.ops.random_bits import fold_in, random_bits


class SearchResult(NamedTuple):
    """What a search came to, for each of B positions; A are the game's actions.

    `actions` are to be played, `visits` the simulations that began with each action, `values` the mean of all, or what
    is proven, in points of the player to act, and `weights` the policy that they amount to, of sum 1. A position in
    which the game is over has no visits and no weights, and the value that its end brought. An evaluation that is no
    number counts as 0, a policy that is none as that of equal chances; `values` is then NaN, not to pass unseen.
    `tree` is all that was searched, `memory` what the evaluator learned.
    """

    actions: Int32[Array, " B"]
    visits: Float32[Array, "B A"]
    values: Float32[Array, " B"]
    weights: Float32[Array, "B A"]
    tree: Tree
    memory: Any


class Settings(NamedTuple):
    """What a search is compiled for."""

    num_simulations: int
    select: Rule
    max_depth: int
    noise: Noise | None
    temperature: float
    capacity: int


def search(
    game: Game,
    states: State,
    key: Key[Array, ""],
    num_simulations: int = 800,
    *,
    select: Rule | None = None,
    evaluate: Evaluator | None = None,
    max_depth: int | None = None,
    noise: Noise | None = None,
    temperature: float = 0.0,
    num_trees: int = 1,
    capacity: int | None = None,
    tree: Tree | None = None,
    memory: Any = None,
) -> SearchResult:
    """Monte-Carlo tree search in a batch of B states, in all trees at once.

    `select` is the rule by which simulations go down a tree (by default `uct()`), `evaluate` what says how good leaves
    are (by default `rollout()`). No simulation goes deeper than `max_depth` edges. `noise` is added to the policy at
    the root, and with a `temperature` T > 0 actions are drawn with probabilities proportional to weights^(1/T), else
    the action is the rule's preference. With `num_trees` N > 1 each position has N trees, whose roots are merged: N
    times as many simulations in little more time, where a batch is small.

    A tree has room for `capacity` nodes, by default one for each simulation, and the root. With `tree`, from
    `advance(result.tree, states)`, the search goes on in what is known already. When a tree is full, simulations go on
    without new nodes. With `memory`, the `result.memory` of an earlier search of the same players to act, an evaluator
    that learns, such as `last_good_reply`, begins with what it knows.

    Works inside `jit`, and is compiled by itself outside. Raises `ValueError` for settings that cannot be, and for a
    search that does not fit into memory.
    """
    select, evaluate = select or uct(), evaluate or rollout()
    batch = states.terminated.shape[0] if states.terminated.ndim == 1 else 0
    if batch == 0 or states._game != game:
        raise ValueError(
            f"states are {list(states.terminated.shape)} of {states._game.id}: expected [batch] of {game.id}, the same "
            "as the game"
        )
    capacity = (num_simulations + 1 if capacity is None else capacity) if tree is None else tree.slots
    depth = capacity if max_depth is None else max_depth  # no path is longer than there are nodes
    settings = Settings(num_simulations, select, depth, noise, float(temperature), capacity)
    _check(settings, evaluate, num_trees)
    if tree is not None:
        _check_tree(game, select, tree, num_trees * batch)
    alive = ~(states.terminated | states.truncated)
    reward = jnp.take_along_axis(states.rewards, states.current_player[:, None], axis=1)[:, 0]
    words = random_bits(key, (num_trees, batch))
    return _search(game, settings, evaluate, states._position, alive, reward, words, tree, memory)


def search_positions(
    game: Game,
    positions: Any,
    words: UInt32[Array, " B"],
    num_simulations: int,
    select: Rule,
    evaluate: Evaluator,
    num_trees: int = 1,
) -> SearchResult:
    """As `search`, in positions that are not over, with a random word for each: the result of one depends on its own
    word only, not on the batch.
    """
    settings = Settings(num_simulations, select, num_simulations, None, 0.0, num_simulations + 1)
    _check(settings, evaluate, num_trees)
    several = jnp.stack([fold_in(words, tree) for tree in range(num_trees)])
    alive = jnp.ones(len(words), bool)
    return _search(game, settings, evaluate, positions, alive, jnp.zeros(len(words), jnp.float32), several, None, None)


def _check(settings: Settings, evaluate: Evaluator, num_trees: int) -> None:
    """Raises `ValueError` for settings that cannot be."""
    counts = {
        "num_simulations": settings.num_simulations,
        "capacity": settings.capacity,
        "max_depth": settings.max_depth,
        "num_trees": num_trees,
    }
    for name, count in counts.items():
        if not isinstance(count, int) or count < 1:
            raise ValueError(f"{name} {count}: expected a whole number from 1 on")
    if not settings.temperature >= 0:
        raise ValueError(f"temperature {settings.temperature}: expected 0 or more")
    name = type(settings.select).__name__
    if settings.select.needs_policy and not evaluate.has_policy:
        raise ValueError(f"{name} needs an evaluator with a policy, such as mcts.network(apply, params)")
    if settings.noise is not None and not settings.select.needs_policy:
        raise ValueError(f"noise is added to a policy, and {name} uses none: select by mcts.puct()")
    if num_trees > 1 and settings.select.plans:
        raise ValueError(f"{name} plans the visits of one tree: expected num_trees 1, not {num_trees}")


def _check_tree(game: Game, select: Rule, tree: Tree, batch: int) -> None:
    """Raises `ValueError` for a tree that another kind of search left."""
    if tree.layout != Layout(game, select):
        raise ValueError(f"the tree is of a search with {tree.layout.rule} in {tree.layout.game.id}: search alike")
    if tree.batch != batch:
        raise ValueError(f"the tree is of {tree.batch} positions: expected {batch}")
    if select.plans:
        raise ValueError(f"{type(select).__name__} plans its visits from the first one on and cannot use a tree again")


@functools.partial(jax.jit, static_argnums=(0, 1))
def _search(
    game: Game,
    settings: Settings,
    evaluate: Evaluator,
    positions: Any,
    alive: Bool[Array, " B"],
    reward: Float32[Array, " B"],
    words: UInt32[Array, "trees B"],
    tree: Tree | None,
    memory: Any,
) -> SearchResult:
    trees, batch = words.shape
    rule = settings.select
    if tree is None:
        check_size(Layout(game, rule), trees * batch, settings.capacity, settings.max_depth)
        positions, alive = jax.tree.map(lambda x: jnp.concatenate([x] * trees), (positions, alive))
        tree = planted(game, rule, positions, alive, words.reshape(-1), settings.capacity)
    else:
        tree = tree.replace(words=words.reshape(-1))
    rule = rule.planned(settings.num_simulations)
    memory = evaluate.init(game, tree.batch) if memory is None else memory
    tree, memory = root_evaluated(evaluate, tree, memory, settings.noise)
    tree, memory = simulate(rule, evaluate, tree, memory, settings.num_simulations, settings.max_depth)
    return _result(rule, tree, memory, trees, reward, settings.temperature)


_MERGED: dict[str, Callable[..., Array]] = {"visits": jnp.sum, "totals": jnp.sum, "lower": jnp.max, "upper": jnp.min}
"""How fields of the roots of several trees become those of one; of other fields those of the first tree stay."""


def _result(
    rule: Rule, tree: Tree, memory: Any, trees: int, reward: Float32[Array, " B"], temperature: float
) -> SearchResult:
    layout, batch = tree.layout, tree.batch // trees
    rows, alive = tree.edges[: tree.batch].reshape(trees, batch, -1), tree.alive[:batch]
    merged = rows[0]
    for name, merge in _MERGED.items():
        if trees > 1 and name in layout.edge_fields:
            part = slice(layout.column(name), layout.column(name) + layout.num_edges)
            merged = merged.at[:, part].set(merge(rows[:, :, part], axis=0))
    nodes = Nodes(tree, jnp.arange(batch, dtype=jnp.int32), merged, tree.words[:batch])
    score = rule.weights(nodes)
    parts = [jnp.where(edges.legal, score(edges), 0.0).reshape(batch, -1) for edges in nodes.blocks]
    weights = jnp.concatenate(parts, axis=1)[:, : layout.game.num_actions]
    weights = weights / jnp.maximum(jnp.sum(weights, axis=1, keepdims=True), 1e-30)
    actions = nodes.best(rule.preference) if temperature == 0 else _drawn(weights, temperature, nodes.words)
    visits = layout.read(merged, "visits")[:, : layout.game.num_actions]
    total = jnp.sum(layout.read(merged, "totals"), axis=1)
    mean = total / jnp.maximum(jnp.sum(visits, axis=1), 1)
    if "lower" in layout.edge_fields:
        legal = layout.read(merged, "child") != ILLEGAL
        low, high = (jnp.max(jnp.where(legal, layout.read(merged, x), -jnp.inf), axis=1) for x in ("lower", "upper"))
        mean = jnp.where(low == high, low, mean)
    values = jnp.where(alive, mean, reward)
    values = jnp.where(jnp.any(tree.faulty.reshape(trees, batch), axis=0), jnp.nan, values)
    return SearchResult(actions, visits, values, jnp.where(alive[:, None], weights, 0), tree, memory)


def _drawn(weights: Float32[Array, "B A"], temperature: float, words: UInt32[Array, " B"]) -> Int32[Array, " B"]:
    """Actions with probabilities proportional to weights^(1 / temperature)."""
    logits = jnp.log(jnp.maximum(weights, 1e-30)) / temperature
    powers = jnp.where(weights > 0, jnp.exp(logits - jnp.max(logits, axis=1, keepdims=True)), 0)
    ends = jnp.cumsum(powers, axis=1)
    drawn = (fold_in(words, 2**30) >> 8).astype(jnp.float32) / 2**24 * ends[:, -1]
    return jnp.minimum(jnp.sum(ends <= drawn[:, None], axis=1), weights.shape[1] - 1).astype(jnp.int32)
