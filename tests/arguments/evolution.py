"""Wrong arguments of evolution."""

import inspect
from typing import Any

import jax.numpy as jnp

from jaxgames.algos import evolution
from jaxgames.algos.evolution import operators
from jaxgames.nets import MLP
from tests.arguments.kinds import GAME, NEEDED_KEY, NO_GAME, SEED, Row, Wrong, function, setting, text, without

GENOMES = evolution.Genomes(MLP((7,), biases=False), 42)
POLICY = evolution.Outputs(GAME, GENOMES, "cells")
ES = evolution.OpenES(8, 3)
START = ES.init(SEED)
SCORES = jnp.arange(8, dtype=jnp.float32)
ROWS_4 = jnp.zeros((4, GENOMES.dimension))
NUMBERS = jnp.arange(4, dtype=jnp.int32)


def fitness(genomes, numbers, key):
    """The sum of the genes."""
    return jnp.sum(genomes, axis=1)


class Learning:
    """A turn that learns over a game."""

    def begin(self, params, games):
        """Nothing yet."""
        return games

    def __call__(self, params, positions, bits, memory):
        """The positions as they are."""
        return positions, memory


def first(key, numbers):
    """Genomes of three genes, all zero."""
    return jnp.zeros((len(numbers), 3))


def scores_of(count: int, form: str) -> dict[str, tuple[Any, type[Exception], str]]:
    """Scores that are none, by kind."""
    expected = f"expected one score for each candidate, float32[{form}]"
    return {
        "one for all": (jnp.float32(1), ValueError, f"scores float32[]: {expected}"),
        "three each": (jnp.zeros((count, 3)), ValueError, f"scores float32[{count}, 3]: {expected}"),
        "a column": (jnp.zeros((count, 1)), ValueError, f"scores float32[{count}, 1]: {expected}"),
        "too few": (jnp.zeros(count - 1), ValueError, f"scores float32[{count - 1}]: {expected}"),
        "whole numbers": (jnp.zeros(count, jnp.int32), ValueError, f"scores int32[{count}]: {expected}"),
        "flags": (jnp.zeros(count, bool), ValueError, f"scores bool[{count}]: {expected}"),
        "list": ([1.0] * count, TypeError, f"scores a list: {expected}"),
        "number": (1.0, TypeError, f"scores 1.0: {expected}"),
        "None": (None, TypeError, f"scores None: {expected}"),
    }


ELITES = evolution.MapElites(8, 3, first, (0.0,), (1.0,), 4)
NSGA2 = evolution.NSGA2(8, 3, first)
ROWS_OF_SCORES: Wrong = {
    "one each": (SCORES, ValueError, "scores float32[8]: expected 2 numbers for each candidate, float32[8, 2]"),
    "three each": (jnp.zeros((8, 3)), ValueError, "scores float32[8, 3]: expected 2 numbers for each candidate"),
    "None": (None, TypeError, "scores None: expected 2 numbers for each candidate, float32[8, 2]"),
}


def gives(value):
    """A fitness that gives this."""
    return lambda genomes, numbers, key: value


FITNESS: Wrong = {
    **function("fitness"),
    **{f"gives {kind}": (gives(value), *line) for kind, (value, *line) in scores_of(8, "8").items()},
}
ALGORITHM: Wrong = {
    "uncalled": (evolution.OpenES, TypeError, "algorithm OpenES is not called: expected a strategy"),
    "None": (None, TypeError, "algorithm None: expected a strategy, such as evolution.OpenES(...)"),
    "text": ("open_es", TypeError, "algorithm 'open_es': expected a strategy"),
}
BLOCK = {**without(setting("block", None), "None"), "too low": (0, ValueError, "block=0 is smaller than 1")}
MESH: Wrong = {
    "int": (2, TypeError, "mesh 2: expected evolution.population_mesh()"),
    "text": ("all", TypeError, "mesh 'all': expected evolution.population_mesh()"),
}
NO_POLICY: Wrong = {
    "class": (evolution.Outputs, TypeError, "policy Outputs is not called: expected a policy, such as evolution.Out"),
    "genomes": (GENOMES, TypeError, "policy a Genomes: expected a policy"),
    "None": (None, TypeError, "policy None: expected a policy"),
    "text": ("outputs", TypeError, "policy 'outputs': expected a policy"),
}
NO_OPPONENTS: Wrong = {
    "class": (evolution.RandomMoves, TypeError, "opponents RandomMoves is not called: expected opponents, such as"),
    "int": (8, TypeError, "opponents 8: expected opponents, such as evolution.RandomMoves(8)"),
    "text": ("random", TypeError, "opponents 'random': expected opponents"),
    "rows": (ROWS_4, TypeError, "expected opponents, such as evolution.RandomMoves(8)"),
}
NO_ROWS: Wrong = {
    "one": (ROWS_4[0], ValueError, "genomes float32[294]: expected float32[n, 294]"),
    "too few": (ROWS_4[:, 1:], ValueError, "genomes float32[4, 293]: expected float32[n, 294]"),
    "ints": (ROWS_4.astype(int), ValueError, "genomes int32[4, 294]: expected float32[n, 294]"),
    "list": ([ROWS_4], TypeError, "expected float32[n, 294]"),
    "None": (None, TypeError, "genomes None: expected float32[n, 294]"),
}
NO_NUMBERS: Wrong = {
    "floats": (jnp.zeros(4), ValueError, "numbers float32[4]: expected whole numbers, int32[4]"),
    "too few": (NUMBERS[:3], ValueError, "numbers int32[3]: expected whole numbers, int32[4]"),
    "list": ([0, 1, 2, 3], TypeError, "numbers a list: expected whole numbers, int32[4]"),
}
SIDES = {**text("sides"), "unknown": ("left", ValueError, "unknown sides 'left'; expected one of both, alternate")}
SCORE = {
    **text("score"),
    "unknown": ("win", ValueError, "unknown score 'win'; available: wins, points, material, pieces, legality"),
}
EVALUATE = {
    "fitness": FITNESS,
    "algorithm": ALGORITHM,
    "key": NEEDED_KEY,
    "block": BLOCK,
    "mesh": MESH,
}
BAD_NUMBER = {"text": "0.5", "None": None, "list": [0.5], "bool": True}


def settings(kind, right: dict[str, Any], whole: tuple[str, ...], real: tuple[str, ...] = (), **more: Wrong) -> Row:
    """The row of a class of settings: whole numbers, other numbers, and what else."""
    wrong: dict[str, Wrong] = {name: setting(name, None) for name in whole}
    for name in real:
        wrong[name] = {
            **{
                of: (value, TypeError, f"{name} {value!r}: expected")
                for of, value in BAD_NUMBER.items()
                if of != "list"
            },
            "list": ([0.5], TypeError, f"{name} a list: expected"),
            "NaN": (float("nan"), ValueError, f"{name} nan: expected"),
        }
    named = set(inspect.signature(kind).parameters)
    return Row(kind, right, {**wrong, **more}, free=tuple(named - wrong.keys() - more.keys()))


EVOLUTION = {
    "evolution.evaluate": Row(
        evolution.evaluate,
        {"fitness": fitness, "algorithm": ES, "state": START, "key": SEED, "block": 8},
        EVALUATE,
        free=("state",),
    ),
    "evolution.generation": Row(
        evolution.generation,
        {"algorithm": ES, "fitness": fitness, "state": START, "key": SEED, "block": 8},
        EVALUATE,
        free=("state",),
    ),
    "evolution.OpenES.tell": Row(
        ES.tell, {"state": START, "scores": SCORES}, {"scores": scores_of(8, "8")}, free=("state",)
    ),
    "evolution.Neuroevolution.tell": Row(
        evolution.Neuroevolution(8, 3, first).tell,
        {"state": evolution.Neuroevolution(8, 3, first).init(SEED), "scores": SCORES},
        {"scores": scores_of(8, "8")},
        free=("state",),
    ),
    "evolution.population_mesh": Row(
        evolution.population_mesh, {"devices": 1}, {"devices": without(setting("devices", None), "None")}
    ),
    "evolution.OpenES": settings(
        evolution.OpenES,
        {"population": 8, "dimension": 3},
        ("population", "dimension"),
        ("sigma", "weight_decay"),
        optimizer={"float": (0.01, TypeError, "optimizer 0.01: expected an optax optimizer, such as optax.adam(0.01)")},
        shaping={
            **text("shaping"),
            "unknown": ("rank", ValueError, "unknown shaping 'rank'; available: centered_ranks"),
        },
    ),
    "evolution.LowRankES": settings(
        evolution.LowRankES,
        {"population": 8, "networks": GENOMES},
        ("population", "rank"),
        ("sigma", "weight_decay"),
        networks={
            "dimension": (693, TypeError, "networks 693: expected evolution.Genomes(network, inputs)"),
            "class": (evolution.Genomes, TypeError, "networks Genomes is not called: expected evolution.Genomes"),
        },
        optimizer={"float": (0.01, TypeError, "optimizer 0.01: expected an optax optimizer, such as optax.adam(0.01)")},
        shaping={
            **text("shaping"),
            "unknown": ("rank", ValueError, "unknown shaping 'rank'; available: centered_ranks"),
        },
    ),
    "evolution.linen_apply": Row(
        evolution.linen_apply,
        {"module": MLP((7,))},
        {
            "module": {
                "function": (first, TypeError, "module the function first: expected a module of flax.linen"),
                "class": (MLP, TypeError, "module MLP is not called: expected a module of flax.linen"),
            }
        },
    ),
    "evolution.HillClimb": settings(
        evolution.HillClimb,
        {"dimension": 3},
        ("dimension",),
        ("factor", "limit", "margin"),
        mutation=function("mutation"),
        bound={**text("bound"), "unknown": ("cut", ValueError, "bound='cut': expected one of clip, scale")},
    ),
    "evolution.Neuroevolution": settings(
        evolution.Neuroevolution,
        {"population": 8, "dimension": 3, "first": first},
        ("population", "dimension", "elites"),
        first=function("first"),
        selection={"int": (5, TypeError, "selection 5: expected a selection, such as Truncation(5)")},
        mutation=function("mutation"),
    ),
    "evolution.MapElites": settings(
        evolution.MapElites,
        {"population": 8, "dimension": 3, "first": first, "low": (0.0,), "high": (1.0,)},
        ("population", "dimension", "cells"),
        first=function("first"),
        low={"two": ((0.0, 0.0), ValueError, "expected a range for each descriptor")},
        high={"as low": ((0.0,), ValueError, "low=(0.0,), high=(0.0,): expected a range for each descriptor")},
        variation={"float": (0.05, TypeError, "variation 0.05: expected a crossover, such as IsoLine()")},
    ),
    "evolution.MapElites.tell": Row(
        ELITES.tell,
        {"state": ELITES.init(SEED), "scores": jnp.zeros((8, 2))},
        {"scores": ROWS_OF_SCORES},
        free=("state",),
    ),
    "evolution.NSGA2": settings(
        evolution.NSGA2,
        {"population": 8, "dimension": 3, "first": first},
        ("population", "dimension", "objectives", "tournament"),
        first=function("first"),
        mutation=function("mutation"),
    ),
    "evolution.NSGA2.tell": Row(
        NSGA2.tell,
        {"state": NSGA2.init(SEED), "scores": jnp.zeros((8, 2))},
        {"scores": ROWS_OF_SCORES},
        free=("state",),
    ),
    "evolution.GroupGA": settings(
        evolution.GroupGA,
        {"dimension": 3, "first": first},
        ("dimension", "groups", "members", "keep", "best", "iterations"),
        first=function("first"),
        mutation=function("mutation"),
        schedule={"unknown": ("all", ValueError, "unknown schedule 'all'; expected one of sequential, parallel")},
    ),
    "evolution.Genomes": settings(
        evolution.Genomes,
        {"network": MLP((7,)), "inputs": 42},
        ("inputs",),
        network={
            "sizes": ((18, 9), TypeError, "network a tuple: expected jaxgames.nets.MLP(sizes)"),
            "class": (MLP, TypeError, "network MLP itself, uncalled: expected jaxgames.nets.MLP(sizes)"),
        },
    ),
    "evolution.Outputs": settings(
        evolution.Outputs,
        {"game": GAME, "genomes": GENOMES, "encoding": "cells"},
        (),
        game=NO_GAME,
        genomes={"network": (MLP((7,)), TypeError, "genomes a MLP: expected evolution.Genomes(network, inputs)")},
        encoding={
            **text("encoding"),
            "unknown": ("cell", ValueError, "unknown encoding 'cell' of connect_four; known: "),
        },
        head={**text("head"), "unknown": ("best", ValueError, "unknown head 'best' of connect_four; known: highest")},
    ),
    "evolution.Afterstate": settings(
        evolution.Afterstate,
        {"game": GAME, "genomes": evolution.Genomes(MLP((1,)), 42), "encoding": "cells"},
        (),
        game=NO_GAME,
        encoding=text("encoding"),
        genomes={"too few": (GENOMES, ValueError, "the networks have 7 outputs; the worth of a position is one")},
    ),
    "evolution.RandomMoves": settings(evolution.RandomMoves, {"count": 8}, ("count",)),
    "evolution.FixedPlayer": settings(
        evolution.FixedPlayer,
        {"turn_of": fitness, "params": (), "count": 8},
        ("count",),
        turn_of={
            **function("turn_of"),
            "learning": (Learning(), ValueError, "learns over a game, which opponents do not"),
        },
    ),
    "evolution.Networks": settings(evolution.Networks, {"policy": POLICY, "genomes": ROWS_4}, (), policy=NO_POLICY),
    "evolution.ByPlay": settings(
        evolution.ByPlay,
        {"policy": POLICY, "opponents": evolution.RandomMoves(2)},
        ("most_plies",),
        policy=NO_POLICY,
        score=SCORE,
        sides=SIDES,
        measures={
            "number": ((1,), TypeError, "measure 1: expected a text, such as 'length'"),
            "unknown": (("plies",), ValueError, "unknown measure 'plies'; available: length, spread, draws, captures"),
        },
    ),
    "evolution.play": Row(
        evolution.play,
        {"policy": POLICY, "genomes": ROWS_4, "opponents": evolution.RandomMoves(2), "key": SEED, "numbers": NUMBERS},
        {
            "policy": NO_POLICY,
            "genomes": NO_ROWS,
            "opponents": NO_OPPONENTS,
            "key": NEEDED_KEY,
            "numbers": NO_NUMBERS,
            "sides": SIDES,
            "most_plies": setting("most_plies"),
            "details": {"unknown": (("moved",), ValueError, "unknown detail 'moved' of games; available: material")},
        },
        tried=False,
    ),
    "evolution.duel": Row(
        evolution.duel,
        {"game": GAME, "value_of": lambda params: len, "params_a": (), "params_b": (), "key": SEED, "pairs": 2},
        {
            "game": NO_GAME,
            "value_of": function("value_of"),
            "key": NEEDED_KEY,
            "pairs": {**setting("pairs", None), "too low": (0, ValueError, "pairs=0 of games: expected at least 1")},
            "most_plies": setting("most_plies"),
        },
        free=("params_a", "params_b"),
        tried=False,
    ),
    "operators.Truncation": settings(operators.Truncation, {"keep": 5}, ("keep",)),
    "operators.Tournament": settings(operators.Tournament, {"size": 2}, ("size",)),
    "operators.Gaussian": settings(operators.Gaussian, {}, (), ("sigma",)),
    "operators.IsoLine": settings(operators.IsoLine, {}, (), ("iso", "line")),
    "operators.Multiplicative": settings(operators.Multiplicative, {}, (), ("rate",)),
    "operators.Cubic": settings(operators.Cubic, {}, (), ("rate",)),
    "operators.Segments": settings(operators.Segments, {}, ("parents", "cuts")),
    "operators.WholeLayers": settings(operators.WholeLayers, {"sizes": (3, 4)}, ("parents",)),
}
