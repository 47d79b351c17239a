"""Settings of searches: selection rules, evaluators and noise of Monte-Carlo trees, fixed depths, expectimax."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.expectimax import Expectimax
from jaxgames.algos.mcts.init import init_tree
from jaxgames.algos.mcts.nodes import Nodes
from jaxgames.algos.mcts.path import SelectedLeaf
from jaxgames.algos.minimax import Search
from tests.settings.tables import Table, row
from tests.settings.traces import Program

GAME = jaxgames.make("tic_tac_toe")
KEY = jax.random.key(0)
BITS = jnp.arange(2, dtype=jnp.uint32)
POSITIONS = jax.vmap(GAME.init_position)(jax.random.split(KEY, 2))


def scores(rule: mcts.Rule) -> Program:
    """The scores of edges below and at the root, what they are worth, and the policy that they make."""
    scheduled = rule.schedule(5)

    def run(positions, bits):
        tree, lanes = init_tree(GAME, rule, positions, jnp.ones(2, bool), bits, 6), jnp.arange(2, dtype=jnp.int32)
        nodes = Nodes(tree, lanes, tree.rows(lanes), bits)
        found = {
            "score": scheduled.score(nodes), "root": scheduled.root_score(nodes), "mean": scheduled.mean(nodes),
            "weights": scheduled.weights(nodes),
        }  # fmt: skip
        return {name: [score(edges) for edges in nodes.blocks] for name, score in found.items()}

    return Program(run, POSITIONS, BITS)


def kept(rule: mcts.Rule) -> dict[str, Any]:
    """What a rule keeps in the tree, and which positions are one node: its statistics have no settings but these."""
    return {"nodes": rule.transpositions, "statistics": rule.statistics, "columns": rule.node_fields}


RULE = {"scores": scores, "tree": kept}
UCT = Table(mcts.uct(), RULE, {"c": row(0.25, "scores.score")})
PUCT = Table(
    mcts.puct(),
    RULE,
    {
        "c_init": row(2.0, "scores.score"),
        "c_base": row(100.0, "scores.score"),
        "qtransform": row("parent_and_siblings", "scores.score"),
    },
)
RAVE = Table(mcts.rave(), RULE, {"c": row(0.5, "scores.score"), "k": row(9.0, "scores.score", "scores.mean")})
AMAF = Table(mcts.amaf(), RULE, {"c": row(0.5, "scores.score"), "alpha": row(0.1, "scores.score", "scores.mean")})
GUMBEL = Table(mcts.gumbel(4), RULE, {"considered": row(2, "scores.root"), "scale": row(0.0, "scores.root")})
UCD = Table(
    mcts.ucd(),
    RULE,
    {
        "c": row(0.25, "scores.score"),
        "update": row("all", "tree.statistics"),
        "symmetries": row(True, "tree.nodes"),
        "merges_means": row(True, "scores.score", "tree.statistics"),
    },
)


def searched(rule: mcts.Rule) -> Program:
    """The policy that a search finds."""
    evaluate = mcts.network(
        lambda params, seen: (jnp.zeros((len(seen), 9)), seen[:, 0, 0, 0].astype(jnp.float32) + 0.5), ()
    )
    search = functools.partial(mcts.search_positions, GAME, select=rule, evaluate=evaluate, num_simulations=5)
    return Program(lambda positions, bits: {"weights": search(positions, bits).weights}, POSITIONS, BITS)


RECURSIVE = Table(mcts.recursive(), {"levels": searched}, {"c": row(0.5, "levels.weights")})
ONE_ROUND = Table(mcts.one_round(), {"round": searched}, {"scale": row(0.0, "round.weights")})


def mixed(noise: mcts.Noise) -> Program:
    """The policy at the root."""
    prior = jnp.full((2, 9), 1 / 9, jnp.float32)
    return Program(lambda bits: {"prior": noise.mix(prior, prior > 0, bits)}, BITS)


NOISE = Table(mcts.dirichlet(), {"mixed": mixed}, {"alpha": row(0.5), "fraction": row(0.5)})


def evaluated(evaluate: mcts.Evaluator) -> Program:
    """The value of positions at the root, and what was learned by it."""

    def run(positions, bits):
        no, none, nowhere = jnp.zeros(2, bool), jnp.zeros(2, jnp.float32), jnp.zeros(2, jnp.int32)
        keys = jax.vmap(lambda position: GAME.amaf_key(position, jnp.int32(0)))(positions)
        leaves = SelectedLeaf(
            positions, no, keys, ~no, none, bits, [], None, nowhere, nowhere, none, no, no, no, jnp.int32(0)
        )  # fmt: skip
        found, memory = evaluate(GAME, leaves, evaluate.init(GAME, 2), True)
        return {"value": found.value, "memory": memory}

    return Program(run, POSITIONS, BITS)


EVALUATED = {"evaluated": evaluated}
ROLLOUT = Table(mcts.rollout(), EVALUATED, {"max_plies": row(3, "evaluated.value")})
LAST_GOOD_REPLY = Table(
    mcts.last_good_reply(),
    EVALUATED,
    {
        "forget": row(False, "evaluated.memory"),
        "limit": row(3, "evaluated.memory"),
        "max_plies": row(3, "evaluated.value"),
        "path": row(False, "evaluated.value", "evaluated.memory"),
    },
)


def deep(search: Search) -> Program:
    """What a search to a fixed depth finds."""
    return Program(lambda *given: search(*given)._asdict(), POSITIONS, BITS)


SEARCH = Table(
    Search(GAME, 2),
    {"found": deep},
    {
        "depth": row(3),
        "prune": row(False),
        "ties": row("random", "found.actions"),
        "forced": row(False),
        "table": row(4),
        "lanes": row(3),
        "seconds": row(0.5),
    },
)


def ahead(search: Expectimax) -> Program:
    """The best turn, by a value that tells positions apart."""

    def value(positions):
        return jnp.float32(1) + jax.vmap(lambda one: GAME.observe_position(one, jnp.bool_(True)))(positions)[
            :, 0, 0, 0
        ].astype(jnp.float32)

    return Program(lambda positions: {"turn": search.best_turn(positions, value)}, POSITIONS)


EXPECTIMAX = Table(
    Expectimax(GAME, 2),
    {"ahead": ahead},
    {"plies": row(1), "keep": row(3), "within": row(0.5, keep=3)},
)
