"""`search`: what to play in a batch of positions, by simulations."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.algos.mcts import halving, levels
from jaxgames.algos.mcts.evaluators import EVALUATORS
from jaxgames.algos.mcts.evaluators.evaluator import AN_EVALUATOR, Evaluator, check_evaluator, check_memory
from jaxgames.algos.mcts.init import awaits_chance, init_tree
from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.rules import RULES
from jaxgames.algos.mcts.rules.gumbel import OneRound
from jaxgames.algos.mcts.rules.rule import A_RULE, Recursive, Rule, check_numbers, check_rule
from jaxgames.algos.mcts.simulate import evaluate_root, simulate, simulate_for
from jaxgames.algos.mcts.tree import MAX_SLOTS, Layout, Tree, check_size
from jaxgames.envs.checks import a_game, position_batch, state_batch
from jaxgames.envs.core import Game, State
from jaxgames.ops import checks, clock
from jaxgames.ops.materialize import materialize
from jaxgames.ops.pytrees import equal
from jaxgames.ops.random_bits import fold_in, random_bits
from jaxgames.ops.settings import Above, Settings, setting


class SearchResult(NamedTuple):
    """What a search found in each of B positions of a game with A actions.

    If the game is over, `visits` and `weights` are 0 and the value is the result. At chance nodes
    there is no action to choose: `actions`, `visits` and `weights` are 0 and mean nothing.

    Attributes:
        actions: the actions to be played.
        visits: the simulations that began with each action.
        values: the root's mean value in points of the player to act, exact if proven; NaN if the evaluator
            gave NaN or infinity, which the search takes for 0 (and logits with NaN for equal ones).
        weights: the policy that follows from the visits, of sum 1.
        tree: the search trees; None for `recursive` and `one_round`, which keep none.
        memory: what the evaluator learned.
    """

    actions: Int32[Array, " B"]
    visits: Float32[Array, "B A"]
    values: Float32[Array, " B"]
    weights: Float32[Array, "B A"]
    tree: Tree | None
    memory: Any


@dataclasses.dataclass(frozen=True)
class Noise(Settings):
    """Noise for self-play, as in AlphaZero: the policy at the root is (1 - fraction) P + fraction Dirichlet(alpha)."""

    of: ClassVar[str] = "noise"
    alpha: float = setting(
        0.3, "the parameter of the Dirichlet distribution", low=1e-6, high=1_000_000, when={"fraction": Above(0)}
    )
    fraction: float = setting(0.25, "how much the noise counts", low=0, high=1)

    def mix(
        self, prior: Float32[Array, "B A"], legal: Bool[Array, "B A"], bits: UInt32[Array, " B"]
    ) -> Float32[Array, "B A"]:
        """The policy with noise among the legal actions."""

        def log_gammas(seed):
            return jax.random.loggamma(jax.random.key(seed), self.alpha, (prior.shape[1],), jnp.float32)

        # Logarithms, as most gamma variates with a small alpha are too small for float32.
        logits = jnp.where(legal, jax.vmap(log_gammas)(bits), -jnp.inf)
        noise = jnp.where(jnp.any(legal, axis=1, keepdims=True), jax.nn.softmax(logits, axis=1), 0)
        return (1 - self.fraction) * prior + self.fraction * noise


MOST_SECONDS, MOST_DEPTH = 3600, 1024
"""The most seconds of a time budget, and the most edges of a path in such a search."""
MOST_RATE, MOST_RATES = 300_000, 4_000_000
"""The simulations per second for which such a search has room: in one tree, and in all trees."""

LEAST_TEMPERATURE = 1e-6
"""The least temperature: with less, logarithms of weights overflow float32."""
USUAL = 800
"""The default number of simulations."""
FINALS = ("visits", "mean")
"""Which action a search plays: the one with the most visits, or the one with the greatest mean."""


class SearchSettings(NamedTuple):
    """What a search is compiled for."""

    num_simulations: int
    select: Rule
    max_depth: int
    noise: Noise | None
    temperature: float
    capacity: int
    final: str = "visits"
    seconds: float | None = None
    discount: float = 1.0


def search(
    game: Game,
    states: State,
    key: Key[Array, ""],
    num_simulations: int = USUAL,
    *,
    select: Rule | str | None = None,
    evaluate: Evaluator | str | None = None,
    max_depth: int | None = None,
    noise: Noise | None = None,
    temperature: float = 0.0,
    num_trees: int = 1,
    capacity: int | None = None,
    tree: Tree | None = None,
    memory: Any = None,
    final: str = "visits",
    numbers: Mapping[str, Array] | None = None,
    seconds: float | None = None,
    discount: float = 1.0,
) -> SearchResult:
    """Monte-Carlo tree search in a batch of B positions, in all trees at once.

    Works inside `jit`, and compiles itself outside. Raises `ValueError` for impossible settings, and for a
    search that does not fit into memory; `TypeError` or `ValueError` for arguments of another kind, shape or dtype.

    Args:
        game: the game.
        states: B states of the game.
        key: the source of all randomness.
        num_simulations: simulations in each tree.
        select: the rule by which simulations go down a tree, by default `uct()`; or its name, such as "puct".
        evaluate: says what leaves are worth, by default `rollout()`; or its name, such as "mast".
        max_depth: the most edges that a simulation goes down, by default `capacity`.
        noise: is mixed with the policy at the root, see `dirichlet`.
        temperature: T. At 0 the action is the rule's preference, else it is drawn with probabilities proportional to
            weights^(1/T); below 1e-6 it counts as 0.
        num_trees: trees for each position, merged at the root. N trees make N times as many simulations in little more
            time, where the batch is small.
        capacity: nodes that each tree has room for, by default one for each simulation, and the root. When a tree is
            full, simulations go on without new nodes.
        tree: the trees of an earlier search, `advance(result.tree, states)`. Raises `ValueError` for a tree of other
            positions. Inside `jit`, where nothing can be raised, such a position gets action -1, which is illegal, the
            value NaN, and no visits.
        memory: the `result.memory` of an earlier search in which the same players were to act, for an evaluator that
            learns, such as `last_good_reply`.
        final: which action is played at temperature 0: that of the most "visits", or the one visited that has the
            greatest "mean", which for `rave` and `amaf` is the mixed one.
        numbers: constants of the rule, such as `{"c": ...}`, in the place of its own: arrays, one number for each tree
            or one for all. Other numbers need no new compilation.
        seconds: a budget of time in the place of `num_simulations`, for the whole batch, without compilation: as many
            simulations as fit, and at least one. Paths then have at most 1,024 edges.
        discount: what a point is worth one action earlier: with less than 1 a quick win is worth more than a late one.
            Rolls of chance are no actions. For rules that keep no statistics of their own.
    """
    rule, evaluator = _rule(select), _evaluator(evaluate)
    batch = state_batch(a_game(game), states)
    if batch == 0:
        raise ValueError("states: a batch of 0: expected one state or more")
    checks.key(key)
    num_trees, seconds = checks.whole("num_trees", num_trees), _check_seconds(seconds)
    num_simulations = checks.whole("num_simulations", num_simulations, 1, 2**32 - 1)
    if seconds is not None and num_simulations != USUAL:
        raise ValueError(f"num_simulations={num_simulations}: seconds says how many there are; leave one of them out")
    if tree is not None and not isinstance(tree, Tree):
        raise TypeError(f"tree {checks.describe(tree)}: expected mcts.advance(result.tree, states)")
    if tree is not None:
        if capacity not in (None, tree.capacity):
            raise ValueError(f"capacity {capacity}: the tree has room for {tree.capacity} nodes; leave capacity out")
        capacity = tree.capacity
    elif capacity is None:
        capacity = num_simulations + 1 if seconds is None else _nodes_in(seconds, num_trees * batch)
    depth = capacity if max_depth is None else max_depth  # no path is longer than there are nodes
    settings = SearchSettings(num_simulations, rule, depth, noise, temperature, capacity, final, seconds, discount)
    settings = _check(game, settings, evaluator, num_trees)
    if tree is None:
        check_size(Layout(game, rule), num_trees * batch, capacity, settings.max_depth)
    else:
        _check_tree(game, rule, tree, num_trees * batch)
        _check_roots(tree, states._position, num_trees)
    check_numbers(numbers, num_trees * batch)
    check_memory(evaluator, game, num_trees * batch, memory)
    alive = ~(states.terminated | states.truncated)
    reward = jnp.take_along_axis(states.rewards, states.current_player[:, None], axis=1)[:, 0]
    bits = random_bits(key, (num_trees, batch))
    settings, count = _split(settings, num_simulations)
    return _search(game, settings, evaluator, states._position, alive, reward, bits, tree, memory, numbers, count)


def search_positions(
    game: Game,
    positions: Any,
    bits: UInt32[Array, " B"],
    num_simulations: int | UInt32[Array, ""],
    select: Rule | str,
    evaluate: Evaluator | str,
    num_trees: int = 1,
    *,
    memory: Any = None,
    final: str = "visits",
    numbers: Mapping[str, Array] | None = None,
    seconds: float | None = None,
    capacity: int | None = None,
    discount: float = 1.0,
) -> SearchResult:
    """As `search`, in positions that are not over, each with its own random bits.

    The result of a position depends only on its own bits, not on the batch. With a `capacity` the number of simulations
    may be an array, and other numbers need no new compilation. Raises `ValueError` as `search`, and for such an array
    if the rule schedules all simulations.
    """
    rule, evaluator = _rule(select), _evaluator(evaluate)
    position_batch(a_game(game), positions, checks.array("bits", bits, jnp.uint32, (None,)).shape[0])
    num_trees, seconds = checks.whole("num_trees", num_trees), _check_seconds(seconds)
    if capacity is None or not checks.is_array(num_simulations):
        num_simulations = checks.whole("num_simulations", num_simulations, 1, 2**32 - 1)
    elif rule.schedules_root:
        what = checks.describe(num_simulations)
        raise ValueError(f"num_simulations {what}: {type(rule).__name__} schedules so many: expected a whole number")
    else:
        checks.array("num_simulations", num_simulations, jnp.integer, ())
    if capacity is None:
        capacity = int(num_simulations) + 1 if seconds is None else _nodes_in(seconds, num_trees * len(bits))
    number = num_simulations if isinstance(num_simulations, int) else capacity
    settings = SearchSettings(number, rule, capacity, None, 0.0, capacity, final, seconds, discount)
    settings = _check(game, settings, evaluator, num_trees)
    check_size(Layout(game, rule), num_trees * len(bits), settings.capacity, settings.max_depth)
    check_numbers(numbers, num_trees * len(bits))
    check_memory(evaluator, game, num_trees * len(bits), memory)
    of_trees = fold_in(bits[None, :], jnp.arange(num_trees, dtype=jnp.uint32)[:, None])
    alive, reward = jnp.ones(len(bits), bool), jnp.zeros(len(bits), jnp.float32)
    settings, count = _split(settings, num_simulations)
    return _search(game, settings, evaluator, positions, alive, reward, of_trees, None, memory, numbers, count)


def _rule(value: Any) -> Rule:
    """A selection rule, itself or by its name in `RULES`; by default UCT."""
    return check_rule("select", _by_name("select", "uct" if value is None else value, RULES, A_RULE))


def _evaluator(value: Any) -> Evaluator:
    """An evaluator, itself or by its name in `EVALUATORS`; by default rollouts."""
    value = "rollout" if value is None else value
    return check_evaluator("evaluate", _by_name("evaluate", value, EVALUATORS, AN_EVALUATOR))


def _by_name(name: str, value: Any, known: Mapping[str, Callable[[], Any]], expected: str) -> Any:
    if isinstance(value, str) and value not in known:
        raise ValueError(f"{name} {checks.describe(value)}: expected {expected}, or one of {', '.join(known)}")
    return known[value]() if isinstance(value, str) else value


def _split(settings: SearchSettings, num_simulations: int | Array) -> tuple[SearchSettings, UInt32[Array, ""]]:
    """What a search is compiled for, and the number of simulations, which matters only for some rules' programs."""
    if not settings.select.schedules_root:
        settings = settings._replace(num_simulations=1)
    return settings, jnp.asarray(num_simulations, jnp.uint32)


def _check(game: Game, settings: SearchSettings, evaluate: Evaluator, num_trees: int) -> SearchSettings:
    """The settings, with at most as much depth as there are nodes; raises `ValueError` if they are impossible."""
    temperature = checks.number("temperature", settings.temperature, "0 or more", lambda number: number >= 0)
    settings = settings._replace(
        capacity=checks.whole("capacity", settings.capacity),
        max_depth=checks.whole("max_depth", settings.max_depth),
        temperature=temperature if temperature >= LEAST_TEMPERATURE else 0.0,
        discount=checks.discount(settings.discount),
        final=checks.choice("final", settings.final, FINALS),
    )
    if settings.noise is not None and not isinstance(settings.noise, Noise):
        raise TypeError(f"noise {checks.describe(settings.noise)}: expected mcts.dirichlet(alpha, fraction)")
    if settings.temperature > 0 and settings.final != "visits":
        raise ValueError(f"final={settings.final!r} chooses at temperature 0, not at {settings.temperature:g}")
    if settings.seconds is not None:
        settings = settings._replace(max_depth=min(settings.max_depth, MOST_DEPTH))
    rule, name = settings.select, type(settings.select).__name__
    if rule.needs_policy and not evaluate.has_policy:
        raise ValueError(f"{name} needs an evaluator with a policy, such as mcts.network(apply, params)")
    if rule.transpositions == "symmetries" and len(game.symmetries) < 2:
        raise ValueError(f"{name} with symmetries: {game.id} has no mirror images; leave symmetries out")
    if settings.discount < 1 and rule.statistics:
        raise ValueError(f"{name} keeps values of its own, without a discount: select by uct, puct or gumbel")
    if settings.noise is not None and not rule.needs_policy:
        raise ValueError(f"noise is added to a policy, and {name} uses none: select by mcts.puct()")
    if settings.seconds is not None and rule.schedules_root:
        raise ValueError(f"{name} schedules the visits of so many simulations: expected num_simulations, no seconds")
    if num_trees > 1 and rule.schedules_root:
        raise ValueError(f"{name} schedules the visits of one tree: expected num_trees 1, not {num_trees}")
    most = rule.most_simulations(game)
    if most is not None and settings.num_simulations > most:
        raise ValueError(
            f"num_simulations={settings.num_simulations}: {name} looks at each of the {game.num_actions} actions of "
            f"{game.id} once and at the better half once more: expected at most {most}"
        )
    if not rule.keeps_tree:
        _check_without_tree(game, settings, evaluate)
    return settings._replace(max_depth=min(settings.max_depth, settings.capacity))


def _check_without_tree(game: Game, settings: SearchSettings, evaluate: Evaluator) -> None:
    """Raises `ValueError` for settings that mean nothing to a rule that walks down no tree."""
    name = type(settings.select).__name__
    if settings.max_depth < settings.num_simulations or settings.capacity != settings.num_simulations + 1:
        raise ValueError(
            f"{name} goes as deep as its simulations reach, a node for each: leave out max_depth and capacity"
        )
    if settings.final != "visits":
        raise ValueError(f"final={settings.final!r} looks at the means of visits: {name} plays by its policy")
    if jax.tree.leaves(jax.eval_shape(lambda: evaluate.init(game, 1))):
        raise ValueError(f"{name} makes many nodes at once: expected an evaluator that learns nothing meanwhile")


def _check_seconds(seconds: Any) -> float | None:
    """A time budget, or None."""
    expected = f"a time above 0, at most {MOST_SECONDS}"
    if seconds is None:
        return None
    return checks.number("seconds", seconds, expected, lambda time: 0 < time <= MOST_SECONDS)


def _nodes_in(seconds: float, trees: int) -> int:
    """Nodes that each tree has room for with a time budget; in a full tree the search goes on without new ones."""
    return max(2, min(int(seconds * min(MOST_RATE, MOST_RATES / trees)) + 2, MAX_SLOTS))


def _check_tree(game: Game, select: Rule, tree: Tree, batch: int) -> None:
    """Raises `ValueError` for a tree from another kind of search."""
    if tree.layout != Layout(game, select):
        raise ValueError(f"the tree is of a search with {tree.layout.rule} in {tree.layout.game.id}: search alike")
    if tree.batch != batch:
        raise ValueError(f"the tree is of {tree.batch} positions: expected {batch}")
    if select.schedules_root:
        raise ValueError(f"{type(select).__name__} schedules all visits of a search and cannot use a tree again")


def _check_roots(tree: Tree, positions: Any, num_trees: int) -> None:
    """Raises `ValueError` for a tree of other positions, if they are known; a traced search marks them."""
    known = (tree.edges, *jax.tree.leaves((tree.position, positions)))
    if not any(isinstance(leaf, jax.core.Tracer) for leaf in known):
        number = int(jnp.sum(_other_roots(tree, positions, num_trees), dtype=jnp.int32))
        if number:
            raise ValueError(
                f"this tree is of other positions than {number} of the {tree.batch // num_trees} given: pass "
                "tree=mcts.advance(result.tree, states)"
            )


@functools.partial(jax.jit, static_argnums=2)
def _other_roots(tree: Tree, positions: Any, num_trees: int) -> Bool[Array, " B"]:
    """Which positions are not those at the roots of their trees."""
    roots = jax.tree.map(lambda x: x[: tree.batch], tree.position)
    here = equal(roots, jax.tree.map(lambda x: jnp.tile(x, (num_trees, *(1,) * (x.ndim - 1))), positions))
    return ~jnp.all(here.reshape(num_trees, -1), axis=0)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _search(
    game: Game,
    settings: SearchSettings,
    evaluate: Evaluator,
    positions: Any,
    alive: Bool[Array, " B"],
    reward: Float32[Array, " B"],
    bits: UInt32[Array, "trees B"],
    tree: Tree | None,
    memory: Any,
    numbers: Mapping[str, Array] | None,
    num_simulations: UInt32[Array, ""],
) -> SearchResult:
    # With a budget of time: look at the clock first.
    num_trees, _ = bits.shape
    rule = settings.select
    start = None
    if settings.seconds is not None:
        start = clock.microseconds(bits)
        bits = materialize(bits, start)  # nothing begins before the clock was read

    # Level by level, without a tree to go down.
    if isinstance(rule, Recursive):
        rule.with_numbers(numbers or {})  # it has none
        asked = (
            game,
            rule,
            evaluate,
            positions,
            alive,
            bits[0],
            settings.num_simulations,
            settings.noise,
            settings.discount,
        )
        at_roots = jax.lax.platform_dependent(
            cpu=lambda: levels.search_levels(levels.ON_CPU, *asked),
            default=lambda: levels.search_levels(levels.ELSEWHERE, *asked),
        )
        weights = jnp.where(alive[:, None], at_roots.weights, 0)
        best = jnp.argmax(weights, axis=1).astype(jnp.int32)
        actions = _sample(weights, settings.temperature, bits[0]) if settings.temperature > 0 else best
        values = jnp.where(at_roots.is_nan, jnp.nan, jnp.where(alive, at_roots.values, reward))
        result = SearchResult(actions, at_roots.visits, values, weights, None, memory)
        return _without(result, awaits_chance(game, positions), 0) if game.outcome_probabilities else result

    # The trees: new ones, several for each position, or those of an earlier search.
    elsewhere = None if tree is None else _other_roots(tree, positions, num_trees)
    if tree is None:
        positions, alive = jax.tree.map(lambda x: jnp.tile(x, (num_trees, *(1,) * (x.ndim - 1))), (positions, alive))
        tree = init_tree(game, rule, positions, alive, bits.reshape(-1), settings.capacity, start)
    else:
        tree = tree.replace(bits=bits.reshape(-1))

    # Search: one round for all, and no tree is kept; or simulations.
    if isinstance(rule, OneRound):
        rule.with_numbers(numbers or {})  # it has none
        tree, _ = evaluate_root(evaluate, tree, (), settings.noise)
        tree = halving.search_round(rule, evaluate, tree, settings.num_simulations, settings.discount)
        return _result(rule, tree, memory, num_trees, reward, settings)._replace(tree=None)
    rule = (rule.with_numbers(numbers) if numbers else rule).schedule(settings.num_simulations)
    memory = evaluate.init(game, tree.batch) if memory is None else memory
    tree, memory = evaluate_root(evaluate, tree, memory, settings.noise)
    if settings.seconds is None or start is None:
        of = settings.max_depth, 0, settings.discount
        tree, memory = simulate(rule, evaluate, tree, memory, num_simulations, *of)
    else:
        of_time = settings.seconds, start, settings.max_depth, settings.discount
        tree, memory = simulate_for(rule, evaluate, tree, memory, *of_time)

    # What to play. There is no answer for a position that is not its tree's root.
    result = _result(rule, tree, memory, num_trees, reward, settings)
    return result if elsewhere is None else _without(result, elsewhere, -1, jnp.nan)


def _result(
    rule: Rule, tree: Tree, memory: Any, num_trees: int, reward: Float32[Array, " B"], settings: SearchSettings
) -> SearchResult:
    # The policy: the rule's weights of the legal edges of the roots, several trees of a position merged.
    layout, batch = tree.layout, tree.batch // num_trees
    alive, num_actions = tree.alive[:batch], layout.game.num_actions
    roots = Nodes(tree, jnp.arange(batch, dtype=jnp.int32), _merge_roots(rule, tree, num_trees), tree.bits[:batch])
    score = rule.weights(roots)
    parts = [jnp.where(edges.legal, score(edges), 0.0).reshape(batch, -1) for edges in roots.blocks]
    weights = jnp.concatenate(parts, axis=1)[:, :num_actions]
    weights = weights / jnp.maximum(jnp.sum(weights, axis=1, keepdims=True), 1e-30)

    # The action: drawn, or the one that the rule prefers.
    if settings.temperature > 0:
        actions = _sample(weights, settings.temperature, roots.bits)
    else:
        actions = roots.best(rule.preference if settings.final == "visits" else rule.mean_preference)

    # The value: the mean of all simulations; exact if proven or the game is over, NaN if the evaluator gave NaN.
    visits = layout.read(roots.rows, "visits")  # of outcomes, where chance decides
    values = jnp.sum(layout.read(roots.rows, "value_sums"), axis=1) / jnp.maximum(jnp.sum(visits, axis=1), 1)
    proven = rule.proven_node(roots)
    if proven is not None:
        is_proven, value = (x.reshape(-1) for x in proven)
        values = jnp.where(is_proven, value, values)
    values = jnp.where(alive, values, reward)
    values = jnp.where(jnp.any(tree.had_nan.reshape(num_trees, batch), axis=0), jnp.nan, values)
    weights = jnp.where(alive[:, None], weights, 0)
    result = SearchResult(actions, visits[:, :num_actions], values, weights, tree, memory)
    if not layout.game.outcome_probabilities:
        return result
    return _without(result, layout.read(roots.rows, "is_chance") != 0, 0)


def _without(result: SearchResult, here: Bool[Array, " B"], action: int, value: float | None = None) -> SearchResult:
    """The result, but in some positions with this action, which means none, and with this value, if any."""
    none = here[:, None]
    return result._replace(
        actions=jnp.where(here, jnp.int32(action), result.actions),
        visits=jnp.where(none, jnp.float32(0), result.visits),
        values=result.values if value is None else jnp.where(here, jnp.float32(value), result.values),
        weights=jnp.where(none, jnp.float32(0), result.weights),
    )


def _merge_roots(rule: Rule, tree: Tree, num_trees: int) -> Float32[Array, "B columns"]:
    """The rows of the roots, those of several trees of one position merged into one."""
    rows = tree.edges[: tree.batch].reshape(num_trees, tree.batch // num_trees, -1)
    merged = rows[0]
    for name, merge in rule.root_merges if num_trees > 1 else ():
        part = tree.layout.part(name)
        merged = merged.at[:, part].set(merge(rows[:, :, part], axis=0))
    return merged


def _sample(weights: Float32[Array, "B A"], temperature: float, bits: UInt32[Array, " B"]) -> Int32[Array, " B"]:
    """Draws actions with probabilities proportional to weights^(1 / temperature)."""
    logits = jnp.log(jnp.maximum(weights, 1e-30)) / temperature
    powers = jnp.where(weights > 0, jnp.exp(logits - jnp.max(logits, axis=1, keepdims=True)), 0)
    ends = jnp.cumsum(powers, axis=1)
    drawn = (fold_in(bits, 2**30) >> 8).astype(jnp.float32) / 2**24 * ends[:, -1]
    return jnp.minimum(jnp.sum(ends <= drawn[:, None], axis=1), weights.shape[1] - 1).astype(jnp.int32)
