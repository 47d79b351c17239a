"""Wrong arguments of Monte-Carlo tree search."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos import mcts
from tests.arguments.kinds import (
    GAME,
    NEEDED_KEY,
    NO_GAME,
    SEED,
    STATE_BATCH,
    STATES,
    Row,
    Wrong,
    blank,
    choice,
    function,
    number,
    setting,
    without,
)

CONSTANT, SHARE = "a number from -1,000,000 to 1,000,000", "a number from 0 to 1"
RULE, EVALUATOR = "expected a rule, such as mcts.puct()", "expected an evaluator, such as mcts.rollout()"
C = number("c", CONSTANT, 1e7)
UPDATE = choice("update", "descend, all")
PLIES = setting("max_plies")
BITS = jnp.arange(4, dtype=jnp.uint32)
PARAMS = jnp.zeros(())


def logits_and_value(params, observation):
    """A network for Connect Four that knows nothing."""
    return jnp.zeros((len(observation), 7)), jnp.zeros(len(observation))


NETWORK = mcts.network(logits_and_value, PARAMS)


def searched(states):
    """A search of Connect Four."""
    return mcts.search(GAME, states, SEED, 4, evaluate=NETWORK)


FOUND = blank(searched, STATES)
OTHER_TREE = jax.tree.map(np.ones_like, FOUND.tree)
TREE_OF_TWO = blank(lambda states: mcts.search(GAME, states, SEED, 4).tree, jax.tree.map(lambda x: x[:2], STATES))


def gives(outputs, error, line):
    """A search with a network that gives this for 4 positions."""
    return mcts.network(lambda params, observation: outputs, PARAMS), error, line


LOGITS, VALUE = jnp.zeros((4, 7)), jnp.zeros(4)
EXPECTED = "expected apply(params, observation) -> (logits float32[4, 7], value float32[4])"
SELECT: Wrong = {
    "unknown": ("pucd", ValueError, f"select 'pucd': {RULE}, or one of uct, puct, gumbel"),
    "uncalled": (mcts.uct, TypeError, f"select UCT is not called: {RULE}"),
    "another uncalled": (mcts.gumbel, TypeError, f"select Gumbel is not called: {RULE}"),
    "class": (mcts.Rule, TypeError, "select Rule is not called"),
    "int": (3, TypeError, f"select 3: {RULE}"),
    "list": ([mcts.uct()], TypeError, f"select a list: {RULE}"),
    "function": (len, TypeError, f"select the function len: {RULE}"),
    "evaluator": (mcts.rollout(), TypeError, f"select a Rollout: {RULE}"),
    "needs a policy": (
        "puct",
        ValueError,
        "PUCT needs an evaluator with a policy, such as mcts.network(apply, params)",
    ),
}
EVALUATE: Wrong = {
    "unknown": (
        "network",
        ValueError,
        f"evaluate 'network': {EVALUATOR} or mcts.network(apply, params), or one of roll",
    ),
    "uncalled": (mcts.rollout, TypeError, f"evaluate Rollout is not called: {EVALUATOR}"),
    "int": (3, TypeError, f"evaluate 3: {EVALUATOR}"),
    "list": ([NETWORK], TypeError, f"evaluate a list: {EVALUATOR}"),
    "function": (logits_and_value, TypeError, f"evaluate the function logits_and_value: {EVALUATOR}"),
    "rule": (mcts.uct(), TypeError, f"evaluate a UCT: {EVALUATOR}"),
    "gives a list": gives(
        [LOGITS, VALUE],
        TypeError,
        f"the network gives a list (float32[4, 7], float32[4]) for 4 positions of connect_four: {EXPECTED}",
    ),
    "gives logits alone": gives(
        LOGITS, TypeError, f"the network gives float32[4, 7] for 4 positions of connect_four: {EXPECTED}"
    ),
    "gives None": gives(None, TypeError, f"the network gives None for 4 positions of connect_four: {EXPECTED}"),
    "gives a column": gives(
        (LOGITS, VALUE[:, None]),
        ValueError,
        f"(float32[4, 7], float32[4, 1]) for 4 positions of connect_four: {EXPECTED}",
    ),
    "gives too few": gives(
        (LOGITS[:, :6], VALUE), ValueError, f"(float32[4, 6], float32[4]) for 4 positions of connect_four: {EXPECTED}"
    ),
    "gives ints": gives(
        (LOGITS.astype(int), VALUE),
        ValueError,
        f"(int32[4, 7], float32[4]) for 4 positions of connect_four: {EXPECTED}",
    ),
    "gives three": gives((LOGITS, VALUE, VALUE), TypeError, EXPECTED),
}
TREE: Wrong = {
    "result": (FOUND, TypeError, "tree a SearchResult: expected mcts.advance(result.tree, states)"),
    "text": ("tree", TypeError, "tree 'tree': expected mcts.advance(result.tree, states)"),
    "of other positions": (
        OTHER_TREE,
        ValueError,
        "this tree is of other positions than 4 of the 4 given: pass tree=mcts.advance(result.tree, states)",
    ),
    "too few": (
        TREE_OF_TWO,
        ValueError,
        "the tree is of 2 positions: expected 4",
    ),
}
OLD_TREE: Wrong = {
    "result": (FOUND, TypeError, "tree a SearchResult: expected result.tree of a search"),
    "None": (None, TypeError, "tree None: expected result.tree of a search"),
    "list": ([FOUND.tree], TypeError, "tree a list: expected result.tree of a search"),
}
NUMBERS: Wrong = {
    "unknown": ({"k": 1.0}, ValueError, "UCT has no number 'k'; it has: c"),
    "list": ([1.0], TypeError, "numbers a list: expected constants of the rule by name, such as {'c': 0.5}"),
    "text": ({"c": "1"}, TypeError, "numbers c '1': expected one number, or one for each of 4 trees"),
    "too few": (
        {"c": jnp.zeros(3)},
        ValueError,
        "numbers c float32[3]: expected one number, or one for each of 4 trees",
    ),
    "NaN": ({"c": float("nan")}, ValueError, "numbers c nan: expected numbers from -1e15 to 1e15"),
    "bools": ({"c": np.bool_(True)}, ValueError, "numbers c bool[]: expected one number, or one for each of 4 trees"),
}
SECONDS = without(number("seconds", "a time above 0, at most 3600", 0), "None")
SEARCH = {
    "num_simulations": {**setting("num_simulations"), "too many": (2**32, ValueError, "num_simulations 4294967296")},
    "select": SELECT,
    "evaluate": EVALUATE,
    "num_trees": setting("num_trees"),
    "capacity": without(setting("capacity"), "None"),
    "final": choice("final", "visits, mean"),
    "numbers": NUMBERS,
    "seconds": SECONDS,
    "discount": number("discount", "a number above 0, at most 1", 1.5),
}
NOISE: Wrong = {
    "number": (0.3, TypeError, "noise 0.3: expected mcts.dirichlet(alpha, fraction)"),
    "uncalled": (mcts.dirichlet, TypeError, "noise Noise itself, uncalled: expected mcts.dirichlet(alpha, fraction)"),
    "without a policy": (mcts.dirichlet(), ValueError, "noise is added to a policy, and UCT uses none"),
}
POSITIONS: Wrong = {
    "states": (STATES, TypeError, "positions a State: expected positions of connect_four, states._position"),
    "None": (None, TypeError, "positions None: expected positions of connect_four"),
    "one": (jax.tree.map(lambda x: x[0], STATES._position), ValueError, "positions: a part is []: expected [4]"),
    "too few": (jax.tree.map(lambda x: x[:3], STATES._position), ValueError, "positions: a part is [3]: expected [4]"),
}
BITS_WRONG: Wrong = {
    "key": (SEED, ValueError, "bits key<fry>[]: expected uint32[n]"),
    "ints": (jnp.arange(4), ValueError, "bits int32[4]: expected uint32[n]"),
    "list": ([1, 2, 3, 4], TypeError, "bits a list: expected uint32[n]"),
    "one": (jnp.uint32(3), ValueError, "bits uint32[]: expected uint32[n]"),
}


def evaluator(name: str) -> Wrong:
    """What is wrong for an evaluator that takes no names."""
    kinds = {"text": "rollout", "None": None, "rule": mcts.uct(), "function": logits_and_value, "list": [NETWORK]}
    return {
        "uncalled": (mcts.rollout, TypeError, f"{name} Rollout is not called: {EVALUATOR}"),
        **{kind: (value, TypeError, EVALUATOR) for kind, value in kinds.items()},
    }


def graph(make, **more):
    """The row of a rule on a graph."""
    return Row(make, {"c": 0.5}, {"c": C, **more}, free=("symmetries",))


MCTS = {
    "mcts.search": Row(
        mcts.search,
        {"game": GAME, "states": STATES, "key": SEED, "num_simulations": 4},
        {
            "game": NO_GAME,
            "states": STATE_BATCH,
            "key": NEEDED_KEY,
            **SEARCH,
            "max_depth": without(setting("max_depth"), "None"),
            "noise": NOISE,
            "temperature": number("temperature", "0 or more", -1.0),
            "tree": TREE,
        },
        free=("memory",),
    ),
    "mcts.search_positions": Row(
        mcts.search_positions,
        {
            "game": GAME,
            "positions": STATES._position,
            "bits": BITS,
            "num_simulations": 4,
            "select": "uct",
            "evaluate": mcts.rollout(),
        },
        {"game": NO_GAME, "positions": POSITIONS, "bits": BITS_WRONG, **SEARCH},
        free=("memory",),
    ),
    "mcts.advance": Row(
        mcts.advance,
        {"tree": FOUND.tree, "states": STATES},
        {"tree": OLD_TREE, "states": STATE_BATCH},
    ),
    "mcts.uct": Row(mcts.uct, {"c": 1.0}, {"c": C}),
    "mcts.puct": Row(
        mcts.puct,
        {"c_init": 1.0, "c_base": 100.0, "qtransform": "min_max"},
        {
            "c_init": number("c_init", CONSTANT, 1e7),
            "c_base": number("c_base", "a number from 1e-06 to 1e+09", 1e39),
            "qtransform": choice("qtransform", "min_max, parent_and_siblings"),
        },
    ),
    "mcts.gumbel": Row(
        mcts.gumbel,
        {"considered": 16, "scale": 1.0},
        {"considered": setting("considered"), "scale": number("scale", "a number from 0 on", -1.0)},
    ),
    "mcts.recursive": Row(mcts.recursive, {"c": 1.25}, {"c": number("c", "a number above 0", 0)}),
    "mcts.one_round": Row(mcts.one_round, {"scale": 1.0}, {"scale": number("scale", "a number from 0 on", -1.0)}),
    "mcts.rave": Row(mcts.rave, {"k": 9.0, "c": 0.1}, {"k": number("k", "a number above 0", 0), "c": C}),
    "mcts.amaf": Row(mcts.amaf, {"alpha": 0.5}, {"alpha": number("alpha", SHARE, 2), "c": C}),
    "mcts.uct1": graph(mcts.uct1, update=UPDATE),
    "mcts.uct2": graph(mcts.uct2, update=UPDATE),
    "mcts.uct3": graph(mcts.uct3),
    "mcts.ucd": graph(
        mcts.ucd,
        update=UPDATE,
        distances={
            "int": (1, TypeError, "distances 1: expected three numbers, such as (1, 0, 0)"),
            "text": ("100", TypeError, "distances '100': expected three numbers"),
            "too few": ((1, 0), TypeError, "expected three numbers"),
            "NaN": ((float("nan"), 0, 0), ValueError, "distance nan: expected a whole number from 0 to 16"),
            "float": ((0.5, 0, 0), ValueError, "distance 0.5: expected a whole number from 0 to 16"),
        },
        merges_means={"of others": (True, ValueError, "distances (2, 0, 0): with merges_means expected (1, 0, 0)")},
    )._replace(right={"c": 0.5, "distances": (2, 0, 0)}),
    "mcts.bounded": Row(
        mcts.bounded,
        {"rule": mcts.uct()},
        {
            "rule": {
                "uncalled": (mcts.uct, TypeError, "rule UCT is not called: expected a rule, such as mcts.puct()"),
                "None": (None, TypeError, "rule None: expected a rule"),
                "text": ("uct", TypeError, "rule 'uct': expected a rule"),
                "gumbel": (mcts.gumbel(), ValueError, "gumbel shares out its visits by a schedule"),
            }
        },
    ),
    "mcts.dirichlet": Row(
        mcts.dirichlet,
        {"alpha": 0.3, "fraction": 0.25},
        {"alpha": number("alpha", "a number from 1e-06 to 1,000,000", 0), "fraction": number("fraction", SHARE, 1.5)},
    ),
    "mcts.rollout": Row(mcts.rollout, {"max_plies": 9}, {"max_plies": PLIES}),
    "mcts.last_good_reply": Row(
        mcts.last_good_reply,
        {"limit": 9},
        {"limit": setting("limit"), "max_plies": PLIES},
        free=("forget", "path"),
    ),
    "mcts.mast": Row(
        mcts.mast,
        {"temperature": 1.0},
        {"temperature": number("temperature", "a number from 0.01 to 1,000,000", 0), "max_plies": PLIES},
    ),
    "mcts.mixture": Row(
        mcts.mixture,
        {"weight": 0.5, "first": NETWORK, "second": mcts.rollout()},
        {"weight": number("weight", SHARE, 2), "first": evaluator("first"), "second": evaluator("second")},
    ),
    "mcts.network": Row(
        mcts.network, {"apply": logits_and_value, "params": PARAMS}, {"apply": function("apply")}, free=("params",)
    ),
    "mcts.exact_leaves": Row(
        mcts.exact_leaves,
        {"evaluate": NETWORK, "lookup": None, "scores": ()},
        {"evaluate": evaluator("evaluate")},
        free=("lookup", "scores"),
    ),
    "mcts.valued": Row(
        mcts.valued,
        {"make_value": lambda params: len, "params": PARAMS},
        {"make_value": function("make_value")},
        free=("params",),
    ),
}
