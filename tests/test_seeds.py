"""Whatever has a seed or a key draws by it: the same gives the same, another one something else.

`tests/keywords` tries the seeds of public functions, `tests/test_keys.py` holds the bits that each draw makes of a key.
Here every function of the package with a seed is found, and every public one with a key: each has a row there or here.
"""

import ast
import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.interpreters.partial_eval import dce_jaxpr

import jaxgames
from jaxgames.algos import evolution
from jaxgames.algos.evolution import operators
from jaxgames.algos.self_play_backprop import PopulationMLP
from jaxgames.algos.td.config import TESTS, first_tests
from jaxgames.cli import terminal
from jaxgames.data_sets import endings
from jaxgames.interop import gymnasium, pettingzoo, spaces
from jaxgames.nets import MLP
from jaxgames.players import generic
from jaxgames.recipes import evolution_by_matches, imitation, strength
from jaxgames.recipes.evolution_by_matches import ByMatches
from jaxgames.recipes.report import Report
from jaxgames.web import handlers
from tests.keywords.rows import plain
from tests.keywords.test_keywords import ROWS, functions
from tests.players.dash import GAME as DASH
from tests.test_keys import FILE, GENOMES, KEY, NUMBERS, TTT, rows

ROOT = Path(__file__).parents[1]
matches, tournament = (import_module(f"jaxgames.matches.{name}") for name in ("match", "tournament"))
PLAYER = generic.random(TTT)


class Parts(tuple[Any, ...]):
    """Several results: each of them is another one by another seed."""


def asked(place: Any, name: str, call: Callable[[], Any]) -> Any:
    """What a function is asked for, which is not called."""
    with mock.patch.object(place, name, side_effect=StopAsyncIteration) as function:
        try:
            call()
        except StopAsyncIteration:
            pass
    return function.call_args.args[1:], {name: one for name, one in function.call_args.kwargs.items() if name == "seed"}


def bits_of_endings(seed: int) -> Any:
    """By which bits a player moves in positions."""
    host = SimpleNamespace(game=TTT, on_host=True)
    parts = {"lookup_of": lambda game: (None, lambda: None), "_known_positions": lambda *_: (None, None)}
    with mock.patch.multiple(endings, **parts):
        return asked(endings, "_judge", lambda: endings.score_endings(host, 2, seed))


def learned(seed: int) -> Any:
    """In which order examples are learned, and by which seed they are split."""
    few = rows()
    many = jax.tree.map(lambda x: np.concatenate([x] * 8), few)._replace(
        game=np.arange(16), validation=np.arange(16) < 4
    )
    config = imitation.ImitationConfig(positions=0)
    with mock.patch.object(imitation, "_split_rows", return_value=many) as split:
        found, _ = imitation.learned_rows(SimpleNamespace(path="x"), TTT, config, seed)
    return Parts((found.game, split.call_args.args[-1]))


def met_younger(number: int) -> Any:
    """The match with the younger self, by the number of the test."""
    weights = {"w": jnp.zeros(2)}
    tests = first_tests(weights)._replace(number=jnp.int32(TESTS + number))
    player = generic.greedy(DASH, "x", weights, lambda params: None)
    return asked(strength, "match", lambda: strength.after_test(tests, player))


def next_game(seed: int) -> Any:
    """The second game of a match for points."""
    points = terminal.PointsMatch(("a", "b"), (None, None), 5, seed)
    points.records.append(None)
    return asked(terminal, "Session", lambda: points.next_game(SimpleNamespace(game=DASH)))[1]


BY_MATCHES = ByMatches(("random",))
SEEDS: dict[str, Callable[[int], Any]] = {
    "data_sets.endings.score_endings": lambda seed: Parts(
        (asked(endings, "played_games", lambda: endings.score_endings(PLAYER, 2, seed)), bits_of_endings(seed)[0][-1])
    ),
    "interop.spaces.new_game": lambda seed: spaces.new_game(DASH, seed),
    "interop.gymnasium.env": lambda seed: asked(spaces, "new_game", lambda: gymnasium.env(TTT).reset(seed=seed)),
    "interop.pettingzoo.env": lambda seed: asked(spaces, "new_game", lambda: pettingzoo.env(TTT).reset(seed=seed)),
    "matches.match.PairedGames.__init__": lambda seed: matches.PairedGames(PLAYER, PLAYER, 1, seed, 2)._key,
    "matches.tournament.sample_positions": lambda seed: asked(
        tournament, "PairedGames", lambda: tournament.sample_positions(TTT, seed)
    ),
    "recipes.evolution_by_matches.ByMatches.quick": lambda seed: by_matches(BY_MATCHES.quick, seed),
    "recipes.evolution_by_matches.ByMatches.thorough": lambda seed: by_matches(BY_MATCHES.thorough, seed),
    "recipes.imitation.learned_rows": learned,
    "recipes.strength.measure": lambda seed: asked(
        strength, "match", lambda: strength.measure(PLAYER, PLAYER, 2, seed, False)
    ),
    "recipes.strength.final_matches": lambda seed: asked(
        strength, "match", lambda: strength.final_matches(PLAYER, TTT, ("random",), 2, seed, Report(quiet=True))
    ),
    "recipes.strength.after_test": met_younger,
    "cli.terminal.PointsMatch.__init__": next_game,
    "web.handlers.check_start": lambda seed: asked(handlers, "Session", lambda: handlers.check_start(TTT, "", seed)),
}  # fmt: skip
NOTHING_DRAWN = {
    "recipes.tic_tac_toe_evolution.quick": "all is counted",
    "recipes.tic_tac_toe_evolution.thorough": "all is counted",
    "recipes.self_play_population.Populations.network": "the number of a network",
}


def by_matches(measure: Any, seed: int) -> Any:
    """The match of a champion."""
    network = SimpleNamespace(game="tic_tac_toe")
    with mock.patch("jaxgames.recipes.evolution_by_matches.evolved", return_value=PLAYER):
        return asked(evolution_by_matches, "match", lambda: measure(network, [np.zeros(2)], 4, seed))


def with_seed() -> set[str]:
    """All functions with a seed; those that measure what is published say theirs in their reports."""
    found = set()
    for path in (ROOT / "jaxgames").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT / "jaxgames").with_suffix("").parts)
        tree = ast.parse(path.read_text("utf-8"))
        bodies = [("", tree.body), *((f"{one.name}.", one.body) for one in tree.body if isinstance(one, ast.ClassDef))]
        for of, body in bodies:
            for node in body:
                if isinstance(node, ast.FunctionDef) and (node.name == "__init__" or not node.name.startswith("_")):
                    named = any(one.arg == "seed" for one in node.args.args + node.args.kwonlyargs)
                    found |= {f"{module}.{of}{node.name}"} if named and "reproduce" not in module else set()
    return found


def test_every_seed_has_a_row():
    keywords = {name for name, row in ROWS.items() if "seed" in {*row.values, *row.held}}
    public = {name.removesuffix(".__init__") for name in with_seed()} - keywords
    there = {*SEEDS, *NOTHING_DRAWN} - {name for name in SEEDS if name.endswith((".env", "after_test"))}
    assert public == {name.removesuffix(".__init__") for name in there}


@pytest.mark.parametrize("name", SEEDS)
def test_the_same_seed_the_same_bits_another_one_others(name):
    found = (SEEDS[name](seed) for seed in (3, 3, 4))
    for one, again, other in zip(*(one if isinstance(one, Parts) else (one,) for one in found), strict=True):
        assert plain(one) == plain(again) != plain(other)


# Keys.

PROGRAMS = {
    "envs.core.Game.init": "init",
    "envs.core.Game.init_position": "init of backgammon",
    "envs.core.Game.step": "step",
    "envs.backgammon.game.Backgammon.init_position": "init of backgammon",
    "envs.rollout.random_action": "random_action",
    "envs.rollout.rollout": "rollout, False",
    "algos.alphazero.learner.AlphaZeroLearner.init": "AlphaZero: puct: init",
    "algos.alphazero.learner.AlphaZeroLearner.shared": "AlphaZero: puct: init",
    "algos.alphazero.learner.AlphaZeroLearner.update": "AlphaZero: puct: update",
    "algos.evolution.evaluate.Algorithm.init": "evolution: open_es: init",
    "algos.evolution.evaluate.Fitness.__call__": "evolution: generation",
    "algos.evolution.evaluate.evaluate": "evolution: generation",
    "algos.evolution.evaluate.generation": "evolution: generation",
    "algos.evolution.duel.duel": "evolution: duel",
    "algos.evolution.fitness.ByPlay.__call__": "evolution: generation",
    "algos.evolution.fitness.ByPlay.matrix": "evolution: generation",
    "algos.evolution.play.play": "evolution: play",
    "algos.evolution.genomes.Genomes.init": "evolution: genomes",
    "algos.evolution.strategies.evosax.Evosax.init": "evolution: evosax: init",
    "algos.evolution.strategies.neuroevolution.Neuroevolution.init": "evolution: neuroevolution: init",
    "algos.evolution.fitness.ByPlay.results": "evolution: generation",
    "algos.evolution.strategies.population.League.draw": "evolution: league",
    "algos.imitation.learner.ImitationLearner.init": "imitation: init",
    "algos.imitation.learner.ImitationLearner.update": "imitation: update",
    "algos.mcts.search.search": "search: noise",
    "algos.minimax.alphabeta": "alphabeta",
    "algos.minimax.minimax": "alphabeta",
    "algos.self_play_backprop.SelfPlayBackprop.init": "self-play backprop: init",
    "algos.self_play_backprop.SelfPlayBackprop.play": "self-play backprop: update",
    "algos.self_play_backprop.SelfPlayBackprop.update": "self-play backprop: update",
    "algos.parallel.Parallel.init": "TD: n_step: init",
    "algos.parallel.Parallel.shared": "TD: n_step: init",
    "algos.parallel.Parallel.update": "TD: n_step: update",
    "algos.td.learner.Learner.init": "TD: n_step: init",
    "algos.td.learner.Learner.init_params": "TD: n_step: init",
    "algos.td.learner.Learner.begin": "TD: n_step: init",
    "algos.td.learner.Learner.update": "TD: n_step: update",
    "algos.td.learner.NStepTD.begin": "TD: n_step: init",
    "algos.td.learner.NStepTD.update": "TD: n_step: update",
    "algos.td.learner.ExactTD.begin": "TD: exact: init",
    "algos.td.learner.ExactTD.update": "TD: exact: update",
    "algos.td.learner.MonteCarlo.begin": "TD: monte_carlo: init",
    "algos.td.learner.MonteCarlo.update": "TD: monte_carlo: update",
    "algos.td.expected.ExpectedTD.begin": "TD: expected: init",
    "algos.td.expected.ExpectedTD.init_params": "TD: expected: init",
    "algos.td.expected.ExpectedTD.update": "TD: expected: update",
    "players.player.Player.act": "act",
}
"""Functions with a key, by the program of `keys.txt` in which they draw."""
ES = evolution.OpenES(4, 81)
MAP_ELITES = evolution.MapElites(4, 81, GENOMES.init, (0.0,), (1.0,), 3)
NSGA2 = evolution.NSGA2(4, 81, GENOMES.init)
LOW_RANK = evolution.LowRankES(4, GENOMES)
GROUPS = evolution.GroupGA(81, GENOMES.init, 3, 4, 2, 1, 2)
BREEDING = evolution.Neuroevolution(
    4, 81, GENOMES.init, operators.Tournament(2), operators.Gaussian(), operators.Segments()
)
KEYS: dict[str, Callable[[Any], Any]] = {
    "algos.evolution.operators.candidate_bits": lambda key: operators.candidate_bits(key, NUMBERS),
    "algos.evolution.strategies.group_ga.GroupGA.init": GROUPS.init,
    "algos.evolution.strategies.group_ga.GroupGA.init_from": lambda key: GROUPS.init_from(key, jnp.ones((3, 81))),
    "algos.evolution.strategies.hill_climb.HillClimb.init": evolution.HillClimb(81).init,
    "algos.evolution.strategies.low_rank.LowRankES.weighted_noise": lambda key: LOW_RANK.weighted_noise(
        key, jnp.ones(4)
    ),
    "algos.evolution.strategies.open_es.OpenES.weighted_noise": lambda key: ES.weighted_noise(key, jnp.ones(4)),
    "algos.evolution.strategies.evosax.Evosax.start": lambda key: evolution.Evosax("CMA_ES", 4, 81).start(
        key, jnp.ones(81)
    ),
    "algos.evolution.strategies.evosax.Evosax.begin": lambda key: evolution.Evosax("CMA_ES", 4, 81).begin(
        key, lambda numbers: jnp.ones((len(numbers), 81))
    ),
    "algos.evolution.strategies.map_elites.MapElites.init": MAP_ELITES.init,
    "algos.evolution.strategies.nsga2.NSGA2.init": NSGA2.init,
    "algos.self_play_backprop.PopulationMLP.init": lambda key: PopulationMLP(MLP((2, 1)), 9).init(key, 2),
    "algos.td.value.ValueNetwork.init": lambda key: jaxgames.algos.td.make_config(hidden=(2,)).network().init(key),
}
ALWAYS_ALIKE = {f"envs.{name}.game.{type(jaxgames.make(name)).__name__}.init_position": jaxgames.make(name)
                for name in ("tic_tac_toe", "connect_four", "checkers")}  # fmt: skip


def uses(function: Callable[[Any], Any]) -> bool:
    """Whether what a function gives depends on its key."""
    jaxpr = jax.make_jaxpr(function)(KEY).jaxpr
    return dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))[1][0]


def test_every_key_has_a_row():
    found = set()
    for name, function in functions():
        key = inspect.signature(function).parameters.get("key")
        found |= {name.removeprefix("jaxgames.")} if key is not None and "Key[" in str(key.annotation) else set()
    assert found == {*PROGRAMS, *KEYS, *ALWAYS_ALIKE}


@pytest.mark.parametrize("name", KEYS)
def test_what_a_key_is_for(name):
    assert uses(KEYS[name])


@pytest.mark.parametrize("name", ALWAYS_ALIKE)
def test_games_that_begin_alike(name):
    assert not uses(ALWAYS_ALIKE[name].init_position)


def test_programs_draw():
    """Each of them has a line that says how its bits are made of the key."""
    text = FILE.read_text("utf-8")
    assert all(f"\n{name}\n    key" in text for name in PROGRAMS.values())
