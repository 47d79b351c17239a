"""Every keyword of a public function has an effect: each is tried with another value, or is named with its test."""

import ast
import functools
import importlib
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jaxgames.ops.settings import Settings
from tests import interface
from tests.keywords.rows import Beside, Several, differ, result
from tests.settings.test_settings import TABLES as SETTINGS
from tests.settings.traces import Program

ROOT = Path(__file__).parents[2]
TABLES = ("games", "play", "learn", "evolve")
ROWS = {name: row for table in TABLES for name, row in importlib.import_module(f"tests.keywords.{table}").ROWS.items()}
DATA = {
    "algos.evolution.play.Details",
    "algos.mcts.evaluators.evaluator.Evaluation",
    "algos.self_play_backprop.SelfPlaySettings",
    "envs.checkers.pdn.PDNGame",
    "envs.checkers.plain_board.Board",
    "envs.rollout.Transition",
    "envs.svg.Picture",
    "matches.match.MatchResult",
    "matches.solved.Solved",
    "players.player.Player",
    "players.player.PlayerMemory",
    "players.specs.PlayerEntry",
    "recipes.recipe.Plan",
    "recipes.reproduce.report.Part",
    "recipes.reproduce.report.Table",
    "recipes.reproduce.rows.Row",
    "records.RecordFormat",
    "runs.figures.Panel",
    "sessions.record.GameRecord",
    "sessions.record.RecordedTurn",
}
"""What only keeps what it is given: the functions that read it have rows, or tests, of their own."""
FLAX = ("parent", "name")


def keywords_of(function: Any) -> list[str]:
    """The keywords that have a default, but those of flax."""
    module = inspect.isclass(function) and "parent" in getattr(function, "__dataclass_fields__", {})
    found = inspect.signature(function).parameters.values()
    return [one.name for one in found if one.default is not one.empty and not (module and one.name in FLAX)]


def functions() -> Iterator[tuple[str, Any]]:
    """All public functions, classes and their methods, each once, by the name of the module that defines it."""
    for module, name, at in interface.everything():
        found = getattr(importlib.import_module(module), name)
        error = inspect.isclass(found) and issubclass(found, Exception)
        if not isinstance(at.node, ast.FunctionDef | ast.ClassDef) or error or not callable(found):
            continue
        if not inspect.isclass(found):
            yield f"{found.__module__}.{found.__qualname__}", found
        elif not issubclass(found, Settings):
            yield f"{found.__module__}.{found.__qualname__}", found
            for own, member in vars(found).items():
                function = getattr(member, "__func__", member)
                if inspect.isfunction(function) and (own == "__call__" or not own.startswith("_")):
                    yield f"{function.__module__}.{function.__qualname__}", function


@functools.cache
def declared() -> dict[str, list[str]]:
    """The keywords of every function that has some; those of settings are in `tests/settings`."""
    found = {name.removeprefix("jaxgames."): keywords_of(function) for name, function in functions()}
    return {name: keywords for name, keywords in found.items() if keywords and name not in DATA}


def test_every_keyword_has_a_row():
    """Whoever adds a keyword says here what it changes."""
    rows = {name: sorted([*row.values, *row.held]) for name, row in ROWS.items()}
    assert rows == {name: sorted(keywords) for name, keywords in declared().items()}


@functools.cache
def usual(name: str) -> Any:
    """The result of a call without any keyword."""
    return result(ROWS[name], {})


def results(name: str, keyword: str) -> Iterator[tuple[Any, Any]]:
    """The results without and with each other value of a keyword."""
    row = ROWS[name]
    values = row.values[keyword]
    for value in values if isinstance(values, Several) else (values,):
        if isinstance(value, Beside):
            yield result(row, value.others), result(row, {**value.others, keyword: value.value})
        else:
            yield usual(name), result(row, {keyword: value})


@pytest.mark.parametrize(("name", "keyword"), [(name, keyword) for name, row in ROWS.items() for keyword in row.values])
def test_another_value_makes_a_difference(name, keyword):
    found = list(results(name, keyword))
    assert all(differ(one, other) for one, other in found)
    assert all(differ(one, other) for (_, one), (_, other) in itertools.combinations(found, 2))


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.values])
def test_the_same_call_gives_the_same(name):
    """Else a difference would say nothing. Programs are compared, not run."""
    assert isinstance(usual(name)[0], Program) or usual(name) == result(ROWS[name], {})


@pytest.mark.parametrize(("name", "keyword"), [(name, keyword) for name, row in ROWS.items() for keyword in row.held])
def test_what_is_named_is_there_and_says_the_keyword(name, keyword):
    """The test of a keyword that has no row says the keyword; or another function has the row, or settings have."""
    path, _, test = ROWS[name].held[keyword].partition("::")
    if not test:
        kind, _, settings = path.partition(" ")
        assert keyword in (SETTINGS[settings].rows if kind == "settings" else ROWS[path].values)
        return
    source = (ROOT / path).read_text("utf-8")
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef) and node.name == test]
    assert len(found) == 1, f"{path} has {len(found)} {test}"
    first = min([found[0].lineno, *(one.lineno for one in found[0].decorator_list)])
    text = "\n".join(source.splitlines()[first - 1 : found[0].end_lineno])
    assert re.search(rf"\b{keyword}\b", text), f"{path}::{test} does not say {keyword}"
