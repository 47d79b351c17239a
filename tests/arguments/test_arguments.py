"""Each public function and each argument: what is wrong gets one line that says what would be right."""

import dataclasses
import inspect
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import nets, tables
from jaxgames.algos import alphazero, evolution, imitation, mcts, minimax, self_play_backprop, td
from jaxgames.algos.evolution import operators
from jaxgames.envs import core
from jaxgames.ops import checks
from tests.arguments.evolution import EVOLUTION
from tests.arguments.games import GAMES
from tests.arguments.kinds import DICE, GAME, ROLLED, SEED, STATE, STATES
from tests.arguments.learners import LEARNERS
from tests.arguments.mcts import MCTS
from tests.settings.test_settings import TABLES

ROWS = {**GAMES, **MCTS, **EVOLUTION, **LEARNERS}


PACKAGES = (jaxgames, jaxgames.envs, nets, alphazero, evolution, operators, imitation, mcts, minimax, td)
"""Whose public functions have a row here. Players, matches, runs and records have tests of their own lines."""

OF_POSITIONS = {
    "init_position", "legal", "is_legal", "draw_action", "ended", "amaf_key", "play", "chance", "observe_position",
    "moves", "action_of_move", "material", "piece_count", "best_turn", "top_turns", "random_turn", "turn_actions",
    "parse", "unparse", "draw_board", "draw_outcome", "state",
}  # fmt: skip
"""Methods of `Game` on positions: the rules, which `check_game` tests, and what searches and learners ask of them."""

RETURNED = {
    "jaxgames": {"Game", "State"},
    "envs": {
        "ActionHead",
        "ArgmaxHead",
        "Cells",
        "ConformanceError",
        "ConformanceReport",
        "Game",
        "Marks",
        "Outcome",
        "State",
        "Stones",
        "Symmetry",
        "Transition",
    },
    "nets": {"Activation", "InBlocks", "Initializer", "PolicyValueNet", "ResidualTower", "Windows"},
    "alphazero": {"AlphaZeroLearner", "AlphaZeroState"},
    "evolution": {
        "Algorithm",
        "Details",
        "Fitness",
        "HallOfFame",
        "League",
        "LowRank",
        "Matrix",
        "Parameters",
        "Policy",
        "Results",
    },
    "operators": {"Crossover", "Mutation", "Selection"},
    "imitation": {"ImitationLearner", "ImitationState", "LabeledPositions"},
    "mcts": {"Evaluation", "Evaluator", "Layout", "Noise", "Rule", "SearchResult", "SelectedLeaf", "Tree"},
    "minimax": {"Result"},
    "td": {
        "ExactTD",
        "ExpectedTD",
        "Learner",
        "Metrics",
        "MonteCarlo",
        "NStepTD",
        "SequentialBackprop",
        "SequentialTD",
    },
}
"""What is no function that a user calls with arrays: protocols, and what functions return."""

UNCHECKED = {
    "alphazero": {"load_network"},
    "envs": {"as_game", "heads_of", "of_grid", "register", "square_grid"},
    "evolution": {"Evosax", "MemoryPlan"},
    "operators": {"FitnessWeighted", "best_first", "candidate_bits", "offspring", "whole_layers"},
    "imitation": {"load", "load_network", "open_of", "prepare"},
    "minimax": {"result"},
    "td": {"TestedStepSizes", "ValueNetwork", "lambda_returns", "load_player_value", "make_config"},
}
"""Parts that learners are made of, without checks of their own."""


def public() -> set[str]:
    """What needs a row: the public functions and classes, and the methods of games."""
    methods = {name for name, value in vars(jaxgames.Game).items() if callable(value) and name[0] != "_"}
    names = {f"Game.{name}" for name in methods - OF_POSITIONS}
    for package in PACKAGES:
        room = package.__name__.rpartition(".")[2]
        for name in set(package.__all__) - RETURNED[room] - UNCHECKED.get(room, set()):
            if callable(getattr(package, name)):
                names.add(name if room in ("jaxgames", "envs") else f"{room}.{name}")
    return names


def test_every_public_function_has_a_row():
    missing = sorted(public() - ROWS.keys())
    assert not missing


@pytest.mark.parametrize("name", sorted(public() & ROWS.keys()))
def test_every_argument_has_a_row(name):
    row = ROWS[name]
    parameters = inspect.signature(row.call).parameters.items()
    named = {name for name, parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD}
    assert not named - row.wrong.keys() - set(row.free)


def cases() -> list[Any]:
    """Every function, argument and kind of what is wrong."""
    return [
        pytest.param(name, argument, wrong, id=f"{name}-{argument}")
        for name, row in ROWS.items()
        for argument, wrong in row.wrong.items()
    ]


@pytest.mark.parametrize("name, argument, wrong", cases())
def test_what_is_wrong_gets_one_line(name, argument, wrong):
    row, failed = ROWS[name], []
    for kind, (value, error, line) in wrong.items():
        try:
            row.call(**{**row.right, argument: value})
            failed.append(f"{kind}: taken")
        except Exception as found:
            if type(found) is not error or line not in str(found) or "\n" in str(found):
                failed.append(f"{kind}: {type(found).__name__}: {found}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.tried])
def test_what_is_right_is_taken(name):
    ROWS[name].call(**ROWS[name].right)


@pytest.mark.parametrize("action", [3, np.int8(3), np.int64(3), np.array(3), jnp.uint8(3), jnp.int32(3)])
def test_whole_numbers_of_any_kind_are_actions(action):
    after = GAME.step(STATE, action)
    assert GAME.to_string(after) == "4" and not after.terminated


def test_whole_numbers_of_any_kind_are_options():
    game = jaxgames.make("connect_four", rows=np.int64(6), cols=np.uint8(7))
    assert game == GAME and repr(game) == repr(GAME)


TINY = jaxgames.make("connect_four", rows=4, cols=4, connect=3)
VALUE = nets.MLP((4, 1))
NETWORKS = "evolution.Networks"  # of arrays
MADE = {
    **{name: row.call(**row.right) for name, row in ROWS.items() if inspect.isclass(row.call) and name != NETWORKS},
    **{f"settings of {name}": table.usual for name, table in TABLES.items()},
    "operators.FitnessWeighted": operators.FitnessWeighted(0.5),
    "evolution.Parameters": evolution.Parameters.of({"a": np.zeros((2, 3), np.float32)}),
    "evolution.MemoryPlan": evolution.MemoryPlan(evolution.RandomMoves(2)),
    "nets.PolicyValueNet": nets.PolicyValueNet(9, (4,), 2.0),
    "nets.ResidualTower": nets.ResidualTower(9),
    "nets.Windows": nets.Windows(2, 3, (3, 3, 2)),
    "nets.InBlocks": nets.InBlocks(VALUE.apply, 8),
    "td.TestedStepSizes": td.TestedStepSizes(1, (0.5, -1.0)),
    "envs.Cells": GAME.encodings["cells_0.01"],
    "envs.Marks": GAME.encodings["marks_12"],
    "tables.BearOffs": tables.BearOffs(2, 2),
    "tables.CheckersEndings": tables.CheckersEndings(2),
    "tables.Solver": tables.Solver(TINY, 8, 64),
    "self_play_backprop.PopulationMLP": self_play_backprop.PopulationMLP(VALUE, 9),
    "self_play_backprop.SelfPlayBackprop": self_play_backprop.SelfPlayBackprop(
        GAME, self_play_backprop.PopulationMLP(VALUE, 9), self_play_backprop.SquareEncoding(GAME), 2, 9
    ),
}
"""Objects with numbers in them, of which compiled programs are made."""
APART = {"td.ValueNetwork", "evolution.Evosax"}
"""One has switches only, the other an own test."""


def test_all_classes_with_numbers_are_made():
    for package in (*PACKAGES, tables, self_play_backprop):
        for name in package.__all__:
            kind, full = getattr(package, name), f"{package.__name__.rpartition('.')[2]}.{name}"
            if inspect.isclass(kind) and dataclasses.is_dataclass(kind) and kind not in map(type, MADE.values()):
                types = " ".join(str(field.type) for field in dataclasses.fields(kind) if field.init)
                assert "Array" in types or full in APART or not re.search(r"\b(int|float)\b", types), full


@pytest.mark.parametrize("number", [lambda value: np.asarray(value)[()], np.asarray], ids=["numbers", "0-d arrays"])
@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_numpy_numbers_and_lists_is_the_same(name, number):
    """Equal, with the same hash, and of Python's numbers: NumPy's are wide with x64, and lists cannot be hashed."""

    def changed(value):
        if type(value) is tuple and value:
            return [*map(changed, value)]
        return number(value) if type(value) in (bool, int, float) else value

    one = MADE[name]
    static = [field for field in dataclasses.fields(one) if field.metadata.get("static")]
    fields = [field.name for field in static or dataclasses.fields(one) if field.init]
    other = dataclasses.replace(one, **{field: changed(getattr(one, field)) for field in fields if field != "parent"})
    assert (repr(other), other) == (repr(one), one)
    assert hash(other) == hash(one)


def test_strategies_of_equal_genomes_are_equal():
    def made():
        first, dimension = (genomes := evolution.Genomes(nets.MLP((4, 1)), 9)).init, genomes.dimension
        yield evolution.Neuroevolution(10, dimension, first)
        yield evolution.GroupGA(dimension, first)
        yield evolution.MapElites(4, dimension, first, (0.0,), (1.0,))
        yield evolution.NSGA2(4, dimension, first)
        yield evolution.OpenES(4, dimension)
        yield evolution.LowRankES(4, genomes)
        yield nets.InBlocks(nets.MLP((4, 1)).apply, 8)

    assert list(made()) == list(made()) and [*map(hash, made())] == [*map(hash, made())]


@pytest.mark.parametrize("action", [-1, 7, 2**32 + 3, np.int64(2**32 + 3), np.uint32(2**32 - 1)])
def test_actions_out_of_range_are_illegal(action):
    assert GAME.step(STATE, action).terminated


def test_batches_and_both_kinds_of_keys_are_right_under_vmap():
    assert jax.vmap(GAME.step)(STATES, np.arange(4)).terminated.shape == (4,)
    for key in (SEED, jax.random.PRNGKey(0), np.zeros(2, np.uint32)):
        assert DICE.step(ROLLED, 0, key).terminated.shape == ()


def test_checks_add_nothing_to_the_program(monkeypatch):
    checked = str(jax.make_jaxpr(GAME.step)(STATE, jnp.int32(3)))
    monkeypatch.setattr(core, "one_state", lambda game, state: state)
    monkeypatch.setattr(checks, "integers", lambda name, value, shape: value)
    assert checked == str(jax.make_jaxpr(GAME.step)(STATE, jnp.int32(3)))


@pytest.mark.parametrize("actions", [7, 128])
def test_a_mask_that_allows_nothing_gives_an_illegal_action(actions):
    masks = np.stack([np.zeros(actions, bool), np.arange(actions) == 5])
    drawn = jaxgames.random_action(SEED, masks)
    assert drawn.tolist() == [-1, 5] and drawn.dtype == np.int32


def test_zero_may_be_the_highest_whole_number():
    assert checks.whole("count", 0, 0, 0) == 0
    with pytest.raises(ValueError, match="count 5: expected a whole number from 0 to 0"):
        checks.whole("count", 5, 0, 0)
