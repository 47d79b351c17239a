"""Rows of keywords are worth something: each keyword is ignored on purpose, and its row must notice.

An assignment of the default is put in front of a function's body, so `seed=1` gives what `seed=0` does.
"""

import ast
import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

from tests.keywords.rows import differ
from tests.keywords.test_keywords import ROWS, functions, results, usual

FUNCTIONS = {
    name.removeprefix("jaxgames."): inspect.unwrap(one) for name, one in functions() if not inspect.isclass(one)
}
CASES = [(name, keyword) for name in FUNCTIONS if name in ROWS for keyword in ROWS[name].values]


def ignoring(function: Any, keyword: str) -> types.CodeType:
    """The code of a function that does as if a keyword had never been given."""
    path = Path(inspect.getsourcefile(function))
    tree = ast.parse(path.read_text("utf-8"))
    node: Any = tree
    for name in function.__qualname__.split("."):
        node = next(one for one in node.body if getattr(one, "name", None) == name)
    default = _default(node.args, keyword)
    given = ast.Assign([ast.Name(keyword, ast.Store())], default)
    node.body.insert(0, ast.fix_missing_locations(ast.copy_location(given, node.body[0])))
    wanted = function.__code__
    code = compile(tree, wanted.co_filename, "exec", wanted.co_flags & 0x1000000, dont_inherit=True)
    return next(one for one in _codes(code) if one.co_qualname == wanted.co_qualname)


def _default(arguments: ast.arguments, keyword: str) -> ast.expr:
    usual = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(usual[len(usual) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return next(default for one, default in pairs if one.arg == keyword)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _codes(one)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "keyword"), CASES)
def test_a_keyword_that_is_ignored_is_noticed(name, keyword, monkeypatch):
    monkeypatch.setattr(FUNCTIONS[name], "__code__", ignoring(FUNCTIONS[name], keyword))
    usual.cache_clear()
    jax.clear_caches()
    try:
        found = list(results(name, keyword))
    except Exception:  # a row may rely on what it asks for
        return
    finally:
        usual.cache_clear()
        jax.clear_caches()
    assert not all(differ(one, other) for one, other in found)
