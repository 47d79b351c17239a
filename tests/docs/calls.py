"""Calls that cannot be, read from the source without running it: for pages and examples that take long to run."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from typing import Any


def impossible(source: str, package: str = "jaxgames") -> Iterator[str]:
    """What a text asks of the package that is not there, and arguments that its functions do not take."""
    tree = ast.parse(source)
    known = dict(_imported(tree, package))
    for name, found in known.items():
        if found is None:
            yield f"{name} is not there"
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    known = {name: found for name, found in known.items() if found is not None and name not in bound}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            above, at = _value(node.value, known), node.attr
            if inspect.ismodule(above) and not hasattr(above, at):
                yield f"{above.__name__}.{at} is not there"
        if isinstance(node, ast.Call) and (fault := _refused(node, _value(node.func, known))):
            yield f"{ast.unparse(node.func)}: {fault}"


def _imported(tree: ast.AST, package: str) -> Iterator[tuple[str, Any]]:
    """What is imported of the package, by the name that it bears in the text; `None` is not there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.split(".")[0] == package:
                    yield one.asname or package, _module(one.name if one.asname else package)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package:
            for one in node.names:
                module = _module(node.module)
                yield one.asname or one.name, getattr(module, one.name, None) or _module(f"{node.module}.{one.name}")


def _module(name: str | None) -> Any:
    try:
        return importlib.import_module(name or "")
    except ImportError:
        return None


def _value(node: ast.expr, known: dict[str, Any]) -> Any:
    """What an expression of names and dots is, if that is known."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    return getattr(_value(node.value, known), node.attr, None) if isinstance(node, ast.Attribute) else None


def _refused(call: ast.Call, function: Any) -> str:
    """Why a function does not take the arguments of a call, or nothing."""
    given = [*call.args, *(one.value for one in call.keywords if one.arg is None)]
    if not callable(function) or any(isinstance(one, ast.Starred) for one in call.args) or len(given) > len(call.args):
        return ""
    try:
        inspect.signature(function).bind(*call.args, **{str(one.arg): one.value for one in call.keywords})
    except TypeError as error:
        return str(error)
    except ValueError:  # a function without a signature
        return ""
    return ""
