"""Settings of evolution: networks, every strategy, and how candidates are judged."""

import zlib
from types import SimpleNamespace
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp

from jaxgames.algos.evolution import evolution as engine
from jaxgames.algos.evolution import fitness
from jaxgames.algos.evolution.candidates import as_rows
from jaxgames.algos.evolution.evolution import Evolution, EvolutionConfig
from jaxgames.algos.evolution.play import Details, Results
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies import strategy_named
from jaxgames.algos.evolution.strategies.group_ga import GroupsConfig
from jaxgames.algos.evolution.strategies.hill_climb import HillClimbConfig
from jaxgames.algos.evolution.strategies.low_rank import LowRankConfig
from jaxgames.algos.evolution.strategies.map_elites import MapElitesConfig
from jaxgames.algos.evolution.strategies.neuroevolution import GeneticConfig
from jaxgames.algos.evolution.strategies.nsga2 import NSGA2Config
from jaxgames.algos.evolution.strategies.open_es import OpenESConfig
from jaxgames.envs.registry import make
from jaxgames.recipes.evolution import EvolutionJob
from tests.settings.tables import Table, refused, row
from tests.settings.traces import Program

KEY = jax.random.key(0)
SMALL = NetworkConfig("tic_tac_toe").replace(hidden=(3,))
VALUES = SMALL.replace(plays="afterstate")
NUMBERS = jnp.arange(2, dtype=jnp.int32)

# Networks.


def policy(config: NetworkConfig) -> Program:
    """First weights, a turn, the outputs as they are saved and exported, and the value of positions."""
    game, genomes, plays = make(config.game), config.genomes(), config.policy()

    def run(key):
        first = genomes.init(key, NUMBERS)
        positions = jax.tree.map(lambda x: jnp.broadcast_to(x, (2, 1, *x.shape)), game.init_position(key))
        found = {
            "weights": first,
            "turn": plays.turn(first, positions, jnp.zeros((2, 1), jnp.uint32)),
            "outputs": genomes.network.apply(genomes.params(first[0]), jnp.zeros(genomes.inputs, jnp.float32)),
        }
        if config.plays == "outputs":
            return found
        return found | {"value": config.value(first[0])(jax.tree.map(lambda x: x[0], positions))}

    return Program(run, KEY)


HEADS = {"game": "checkers", "encoding": "pieces", "head": "squares"}
"""Draughts, where there are several ways to name a move."""
NETWORK_ROWS = {
    "game": row("connect_four", "network"),
    "plays": row("afterstate", "network"),
    "encoding": row("cells_0.01", "network"),
    "head": row("target", "network", **HEADS),
    "strict": row(True, "network"),
    "cumulative": row(True, "network", plays="outcomes"),
    "hidden": row((2,), "network"),
    "activation": row("tanh", "network"),
    "output": row("tanh", "network"),
    "initializer": row("uniform:2", "network"),
    "biases": row(False, "network"),
}
OF_TURNS = {"plays": "network.turn", "encoding": "network.turn", "head": "network.turn", "strict": "network.turn"}
NETWORK = Table(
    SMALL,
    {"network": policy},
    {name: one._replace(results=(OF_TURNS.get(name, "network"),)) for name, one in NETWORK_ROWS.items()}
    | {
        "cumulative": row(True, "network.turn", "network.value", plays="outcomes"),
        "output": (row("tanh", "network.outputs"), row("tanh", "network.value", plays="afterstate")),
    },
)


def network(config: EvolutionConfig) -> dict[str, Any]:
    """How the networks of a strategy play, which its own table proves, and what begins."""
    return {"policy": Evolution(config).policy, "genomes": config.network.genomes()}


# Strategies.


def played(policy: Any, genomes: Any, opponents: Any, key: Any, numbers: Any, *asked: Any) -> Results:
    """In the place of `play`: what it is asked for becomes a number in the program of what it gives.

    That games are played as asked is for the tests of games; tracing them takes ten times all else.
    """
    sides, most_plies, details = asked
    games = opponents.count * (2 if sides == "both" else 1)
    number = zlib.crc32(repr((asked, type(opponents).__name__)).encode()) / 2**32
    met = sum(jnp.sum(leaf) for leaf in jax.tree.leaves(opponents))
    luck = jax.random.uniform(key, dtype=jnp.float32) * numbers.astype(jnp.float32)
    points = (number * jnp.sum(as_rows(genomes), axis=1) + luck + met)[:, None] + jnp.zeros((1, games), jnp.float32)
    return Results(points, points > 1, Details(*(points for _ in Details._fields)) if details else None)


def dueled(game: Any, value_of: Any, one: Any, other: Any, key: Any, pairs: int, most_plies: int) -> Any:
    """In the place of `duel`, as `played`."""
    number = zlib.crc32(repr((pairs, most_plies)).encode()) / 2**32
    luck = jax.random.uniform(key, (2 * pairs,), jnp.float32)
    return SimpleNamespace(points=number * (jnp.sum(one) - jnp.sum(other)) + luck)


def generation(config: EvolutionConfig) -> Program:
    """The first state, the one after a generation, and its scores."""
    evolution = Evolution(config)

    def run(key):
        first = evolution.strategy.init(key)
        state, scores = evolution.strategy.generation(first, evolution)
        return {
            "first": first,
            "state": state,
            "scores": scores[:2],
            "champions": evolution.strategy.best_networks(state),
        }

    with (
        mock.patch.object(fitness, "play", played),
        mock.patch.object(engine, "play", played),
        mock.patch.object(engine, "duel", dueled),
    ):
        return Program(run, KEY)


def length(config: EvolutionConfig) -> dict[str, Any]:
    """How much of a training a generation is."""
    return {"progress": EvolutionJob.progress(SimpleNamespace(config=config), None, 1)}


PARTS = {"generation": generation, "network": network, "training": length}
ROWS = {
    **NETWORK_ROWS,
    "generations": row(7, "training"),
    "most_plies": row(5, "generation.champions", "generation.scores"),
}
SCORED = {
    "score": (row("points", "generation.scores"), row("material", "generation.scores")),
    "sides": row("alternate", "generation.scores"),
}
POPULATION = {
    **ROWS, **SCORED,
    "population": row(6, "generation.scores"),
    "opponents": (row("random*3", "generation.scores"), row("hall*2+others*3", "generation.scores")),
    "hall_every": row(3, "generation.state", opponents="hall*2"),
    "league_size": row(3, "generation.first", opponents="league*2"),
    "common": row(False, "generation.scores"),
    "block": row(2, "generation.scores"),
}  # fmt: skip
UNMET = {
    "hall_every": refused(3, r"hall_every=3 has no effect without opponents such as hall\*16"),
    "league_size": refused(3, r"league_size=3 has no effect without opponents such as league\*16"),
}
MET: dict[str, Any] = {"population": 8, "opponents": "random*2", "block": 8}
GENETIC = Table(
    GeneticConfig(SMALL, **MET, elites=1, keep=3),
    PARTS,
    POPULATION
    | {
        "elites": row(2, "generation.state"),
        "keep": row(4, "generation.state"),
        "rate": row(0.5, "generation.champions"),
        "mutation": row("cubic", "generation.champions"),
        "selection": row("weighted", "generation.state"),
        "crossover": (row("segments", "generation.state"), row("layers", "generation.state")),
    },
    UNMET | {"keep": refused(2, "keep=2: expected as many as elites=3 or more", elites=3)},
)
OF_GRADIENTS = POPULATION | {
    "generations": row(7, "generation.champions", "training"),
    "sigma": row(0.1, "generation.champions"),
    "step_size": row(0.1, "generation.champions"),
    "last_step_size": row(0.005, "generation.champions"),
    "weight_decay": row(0.1, "generation.champions"),
}
OPEN_ES = Table(OpenESConfig(SMALL, **MET), PARTS, OF_GRADIENTS, UNMET)
LOW_RANK = Table(
    LowRankConfig(SMALL, **MET),
    PARTS,
    OF_GRADIENTS | {"rank": row(2, "generation.scores", "generation.champions")},
    UNMET,
)
LIMITED = {"most_plies": row(5, "generation.scores")}
"""Where a generation's champion may be the same whatever the games were."""
MAP_ELITES = Table(
    MapElitesConfig(SMALL, **MET, most_plies=9, cells=3),
    PARTS,
    POPULATION
    | LIMITED
    | {
        "descriptors": (row("draws+wins", "generation.state"), row("length", "generation.first")),
        "low": row((1.0, 0.5), "generation.state"),
        "high": row((1.0, 0.5), "generation.state"),
        "cells": row(4, "generation.first"),
        "sigma": row(0.1, "generation.scores"),
        "line": row(0.1, "generation.scores"),
    },
    UNMET,
)
NSGA2 = Table(
    NSGA2Config(SMALL, **MET),
    PARTS,
    POPULATION
    | LIMITED
    | {
        "objectives": (row("length", "generation.state"), row("-length+spread", "generation.first")),
        "sigma": row(0.1, "generation.scores"),
        "crossover": (row("none", "generation.scores"), row("layers", "generation.scores")),
    },
    UNMET,
)
GROUPS = Table(
    GroupsConfig(SMALL, groups=3, members=4, keep=2, turn=2),
    PARTS,
    ROWS
    | SCORED
    | {
        "groups": row(4, "generation.scores"),
        "members": row(5, "generation.first"),
        "keep": row(1, "generation.champions"),
        "rate": row(0.5, "generation.champions"),
        "turn": row(3, "generation.champions"),
        "schedule": row("parallel", "generation.champions"),
        "crossover": (row("segments", "generation.champions"), row("layers", "generation.champions")),
    },
)
HILL_CLIMB = Table(
    HillClimbConfig(VALUES, duel=4),
    PARTS,
    {name: found for name, found in ROWS.items() if name not in ("head", "strict")}
    | {
        "plays": row("outcomes", "network"),
        "sigma": row(0.1, "generation.champions"),
        "factor": row(0.5, "generation.champions"),
        "duel": row(2, "generation.champions"),
        "schedule": row("tested", "generation.champions"),
        "bound": row("scale", "generation.champions"),
    },
    {
        "head": refused("target", "head=target has no effect without plays=outputs"),
        "strict": refused(True, "strict=true has no effect without plays=outputs"),
    },
)


def of_evosax(name: str) -> Table:
    """A strategy of evosax: its numbers are those of evosax, whose program has to tell them apart."""
    kind = strategy_named(name)
    own = [field for field in kind.__annotations__]
    return Table(kind(SMALL, **MET), PARTS, POPULATION | {field: row(0.25, "generation.state") for field in own})
