"""Wrong arguments of networks, learners and searches to a fixed depth."""

import dataclasses
from typing import Any

import jax.numpy as jnp

from jaxgames import nets
from jaxgames.algos import alphazero, imitation, minimax, td
from jaxgames.ops.settings import Setting, Settings, own
from tests.arguments.kinds import (
    GAME,
    KEY,
    NEEDED_KEY,
    NO_GAME,
    SEED,
    STATE_BATCH,
    STATES,
    Row,
    Wrong,
    blank,
    function,
    number,
    text,
)

KINDS: dict[Any, Wrong] = {
    int: {
        "text": ("8", TypeError, "'8': expected a whole number"),
        "None": (None, TypeError, "None: expected a whole number"),
        "float": (2.5, ValueError, "2.5: expected a whole number"),
        "NaN": (float("nan"), ValueError, "nan: expected a whole number"),
        "bool": (True, ValueError, "True: expected a whole number"),
        "list": ([8], TypeError, "a list: expected a whole number"),
    },
    float: {
        "text": ("0.5", TypeError, "'0.5': expected a number"),
        "None": (None, TypeError, "None: expected a number"),
        "NaN": (float("nan"), ValueError, "nan: expected a number"),
        "bool": (True, TypeError, "True: expected a number"),
        "list": ([0.5], TypeError, "a list: expected a number"),
    },
    str: {
        "int": (3, TypeError, "3: expected a text"),
        "None": (None, TypeError, "None: expected a text"),
        "list": (["a"], TypeError, "a list: expected a text"),
    },
    bool: {
        "text": ("yes", TypeError, "'yes': expected True or False"),
        "int": (1, TypeError, "1: expected True or False"),
        "None": (None, TypeError, "None: expected True or False"),
    },
    tuple[int, ...]: {
        "int": (3, TypeError, "3: expected whole numbers, such as (256, 256)"),
        "text": ("18,9", TypeError, "'18,9': expected whole numbers"),
        "floats": ((2.5,), ValueError, "2.5: expected a whole number"),
        "texts": (("8",), TypeError, "'8': expected a whole number"),
    },
}
"""What is wrong for a setting, by its annotation."""


def settings(config: Any, **right: Any) -> Row:
    """The row of a class of settings."""
    if issubclass(config, Settings):
        return declared(config, **right)
    kinds = {field.name: KINDS.get(field.type) for field in dataclasses.fields(config)}
    wrong: dict[str, Wrong] = {
        name: {of: (value, error, line) for of, (value, error, line) in kind.items()}
        for name, kind in kinds.items()
        if kind is not None
    }
    return Row(config, right, wrong, free=tuple(name for name, kind in kinds.items() if kind is None))


def declared(config: type[Settings], **right: Any) -> Row:
    """The row of settings that are declared: what is wrong for the kind of each, with what its declaration expects."""

    def line_of(one: Setting, of: str, line: str) -> str:
        numbers = one.base in (int, float) and not one.choices and not one.is_tuple
        return line if numbers else f"expected {one.expected}"

    def error_of(one: Setting, value: Any, error: type[Exception]) -> type[Exception]:
        return error if not one.choices else ValueError if isinstance(value, one.base) else TypeError

    wrong: dict[str, Wrong] = {
        name: {
            of: (value, error_of(one, value, error), line_of(one, of, line))
            for of, (value, error, line) in KINDS[one.kind].items()
        }
        for name, one in own(config).items()
        if one.kind in KINDS
    }
    return Row(config, right, wrong, free=tuple(field.name for field in dataclasses.fields(config)))


def config(kind: type) -> Wrong:
    """What is wrong for settings of this class."""
    article = "an" if kind.__name__[0] in "AI" else "a"
    return {
        "dict": ({"batch": 8}, TypeError, f"config a dict: expected {article} {kind.__name__}"),
        "class": (kind, TypeError, f"config {kind.__name__} itself, uncalled: expected {article} {kind.__name__}"),
        "text": ("small", TypeError, f"config 'small': expected {article} {kind.__name__}"),
    }


def state(name: str) -> Wrong:
    """What is wrong for a learner's state."""
    article = "an" if name[0] in "AI" else "a"
    return {
        "key": (SEED, TypeError, f"state key<fry>[]: expected {article} {name}"),
        "tuple": ((), TypeError, f"state a tuple: expected {article} {name}"),
        "None": (None, TypeError, f"state None: expected {article} {name}"),
    }


SMALL = alphazero.AlphaZeroConfig(
    nets.NetworkSpec(hidden=(4,)), batch=4, plies=1, buffer_plies=1, simulations=2, steps=1
)
ZERO = alphazero.make_learner(GAME, SMALL)
TD = td.make_learner(td.make_config(game="connect_four", encoding="cells", hidden=(4,), batch=4, outputs=2))
IMITATION = imitation.make_learner(GAME)
NO_NETWORK: Wrong = {
    "function": (len, TypeError, "network the function len: expected a flax module, or anything with init and apply"),
    "text": ("mlp", TypeError, "network 'mlp': expected a flax module"),
}
VALUES: Wrong = {
    **{kind: wrong for kind, wrong in function("evaluate").items() if kind != "None"},
    "gives one": (lambda positions: jnp.float32(0), ValueError, "gives float32[]: expected float32[4]"),
    "gives ints": (lambda positions: jnp.zeros(4, jnp.int32), ValueError, "gives int32[4]: expected float32[4]"),
}
DEPTH = {
    "game": NO_GAME,
    "states": STATE_BATCH,
    "depth": {**KINDS[int], "too low": (0, ValueError, "depth 0: expected a whole number from 1 to 500")},
    "key": KEY,
    "evaluate": VALUES,
}
PLAYING = {"game": GAME, "states": STATES, "depth": 1}

LEARNERS = {
    "nets.MLP": Row(
        nets.MLP,
        {"sizes": (18, 9)},
        {
            "sizes": {
                **KINDS[tuple[int, ...]],
                "none": ((), ValueError, "expected one or more positive"),
            },
            "activation": {
                **text("activation"),
                "unknown": ("selu", ValueError, "unknown activation 'selu'; available"),
            },
            "output": text("output activation"),
            "initializer": text("initializer"),
        },
        free=("biases", "parent", "name"),
    ),
    "nets.activation": Row(nets.activation, {"name": "relu"}, {"name": text("activation")}),
    "nets.output_activation": Row(nets.output_activation, {"name": "softmax"}, {"name": text("output activation")}),
    "nets.initializer": Row(nets.initializer, {"spec": "uniform:1"}, {"spec": text("initializer")}),
    "nets.first_layer": Row(
        nets.first_layer,
        {"params": blank(nets.MLP((3,)).init, SEED, jnp.zeros(2))},
        {
            "params": {
                "None": (None, ValueError, "expected what MLP.init returns"),
                "array": (jnp.zeros(3), ValueError, "expected what MLP.init returns"),
                "others": ({"params": {}}, ValueError, "expected what MLP.init returns"),
            }
        },
    ),
    "nets.convolution": Row(
        nets.convolution,
        {"boards": jnp.zeros((2, 4, 5, 3)), "kernel": jnp.zeros((3, 3, 3, 1))},
        {
            "boards": {
                "list": ([0.0], TypeError, "boards a list: expected float32[n, n, n, n]"),
                "flat": (jnp.zeros(3), ValueError, "boards float32[3]: expected float32[n, n, n, n]"),
                "flags": (jnp.zeros((2, 4, 5, 3), bool), ValueError, "boards bool[2, 4, 5, 3]: expected float32"),
            },
            "kernel": {
                "None": (None, TypeError, "kernel None: expected float32[n, n, 3, n]"),
                "other planes": (jnp.zeros((3, 3, 2, 1)), ValueError, "kernel float32[3, 3, 2, 1]: expected float32"),
                "other dtype": (jnp.zeros((3, 3, 3, 1), jnp.bfloat16), ValueError, "kernel bfloat16[3, 3, 3, 1]"),
            },
            "strides": {
                "wide": ((2, 1), ValueError, "strides=(2, 1): expected (1, 1)"),
                "number": (1, ValueError, "strides=1: expected (1, 1)"),
            },
            "padding": {
                "unknown": ("CAUSAL", ValueError, "padding 'CAUSAL': expected SAME, VALID or ((top, bottom)"),
                "number": (1, ValueError, "padding 1: expected SAME, VALID or ((top, bottom), (left, right))"),
                "flat": ((1, 1), ValueError, "padding (1, 1): expected SAME, VALID"),
            },
            "others": {},
        },
    ),
    "nets.NetworkSpec": settings(nets.NetworkSpec),
    "alphazero.AlphaZeroConfig": settings(alphazero.AlphaZeroConfig),
    "alphazero.make_learner": Row(
        alphazero.make_learner,
        {"game": GAME, "config": SMALL},
        {"game": NO_GAME, "config": config(alphazero.AlphaZeroConfig), "network": NO_NETWORK},
    ),
    "alphazero.AlphaZeroLearner.init": Row(ZERO.init, {"key": SEED}, {"key": NEEDED_KEY}, tried=False),
    "alphazero.AlphaZeroLearner.update": Row(
        ZERO.update, {"state": None, "key": SEED}, {"state": state("AlphaZeroState")}, free=("key",), tried=False
    ),
    "td.TDConfig": settings(td.TDConfig),
    "td.NStepConfig": settings(td.NStepConfig),
    "td.ExactConfig": settings(td.ExactConfig),
    "td.MonteCarloConfig": settings(td.MonteCarloConfig),
    "td.ExpectedConfig": settings(td.ExpectedConfig),
    "td.SequentialConfig": settings(td.SequentialConfig),
    "td.Outcomes": settings(td.Outcomes),
    "td.eligibility_traces": Row(
        td.eligibility_traces, {"lambda_": 0.7}, {"lambda_": number("lambda_", "a number from 0 to 1", 1.5)}
    ),
    "td.make_learner": Row(td.make_learner, {"config": td.make_config()}, {"config": config(td.TDConfig)}),
    "td.Learner.init": Row(TD.init, {"key": SEED}, {"key": NEEDED_KEY}, tried=False),
    "imitation.ImitationConfig": settings(imitation.ImitationConfig),
    "imitation.make_learner": Row(
        imitation.make_learner,
        {"game": GAME},
        {"game": NO_GAME, "config": config(imitation.ImitationConfig)},
    ),
    "imitation.ImitationLearner.init": Row(
        IMITATION.init,
        {"key": SEED, "training": None},
        {
            "key": NEEDED_KEY,
            "training": {"list": ([STATES], TypeError, "expected a LabeledPositions")},
        },
        tried=False,
    ),
    "imitation.ImitationLearner.update": Row(
        IMITATION.update, {"state": None, "key": SEED}, {"state": state("ImitationState")}, free=("key",), tried=False
    ),
    "minimax.Search": Row(
        minimax.Search,
        {"game": GAME, "depth": 1},
        {
            "game": NO_GAME,
            "depth": DEPTH["depth"],
            "ties": {
                "list": (["first"], TypeError, "ties a list: expected one of first, random"),
                "unknown": ("last", ValueError, "ties 'last': expected one of first, random"),
            },
            "table": {**KINDS[int], "no power": (3, ValueError, "table 3: expected a power of 2, or 0")},
            "lanes": {kind: wrong for kind, wrong in KINDS[int].items() if kind != "None"},
            "seconds": {
                "text": ("1", TypeError, "seconds '1': expected a number above 0"),
                "too low": (0, ValueError, "seconds 0: expected a number above 0"),
            },
        },
        free=("prune", "forced"),
    ),
    "minimax.alphabeta": Row(minimax.alphabeta, PLAYING, DEPTH, free=("settings",), tried=False),
    "minimax.minimax": Row(minimax.minimax, PLAYING, DEPTH, free=("settings",), tried=False),
    "minimax.network": Row(
        minimax.network,
        {"game": GAME, "apply": lambda params, seen: seen[:, 0, 0, 0], "params": ()},
        {"game": NO_GAME, "apply": function("apply")},
        free=("params",),
    ),
}
