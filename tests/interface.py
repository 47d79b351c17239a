"""The public interface, read from the source: `python tests/interface.py` prints it, `make interface` writes it.

A package is public if it has `__all__`, and so is a single module that has it if its package names the module
(`envs.svg`), or names nothing (`algos.expectimax`). What they name is what users may count on; all else is internal,
and all of `ops`. Everything is read from the syntax tree, so it is the same text with every Python.
"""

import ast
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests" / "interface.txt"
HEAD = "# The public interface: names and signatures, by module. `make interface` writes it anew from the source.\n"
DECLARED = ("setting", "field", "group")
"""Calls that declare a field: what is shown of them is the default."""


@dataclass(frozen=True)
class Found:
    """Where a name is defined: the module, and the node of its syntax tree (None for a module)."""

    module: str
    node: ast.stmt | None


def path_of(module: str) -> Path | None:
    """The file of a module of the package; None if there is none."""
    place = ROOT.joinpath(*module.split("."))
    files = (place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in files if path.is_file()), None)


@functools.cache
def tree_of(module: str) -> ast.Module:
    """The syntax tree of a module."""
    path = path_of(module)
    if path is None:
        raise LookupError(f"there is no module {module}")
    return ast.parse(path.read_text("utf-8"))


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those inside `if` and `try` too."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from statements(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            yield from statements(node.body)


def names_of(node: ast.stmt) -> list[str]:
    """The names that a statement defines, but for imports."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


@functools.cache
def modules() -> tuple[str, ...]:
    """All modules of the package."""
    paths = sorted((ROOT / "jaxgames").rglob("*.py"))
    parts = (path.relative_to(ROOT).with_suffix("").parts for path in paths)
    return tuple(".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts)


@functools.cache
def public() -> dict[str, tuple[str, ...]]:
    """The public modules, and what each names in `__all__`."""
    named = {module: tuple(all_of(tree_of(module))) for module in modules() if "ops" not in module.split(".")}
    return {
        module: names for module, names in named.items() if names and (is_package(module) or named_by(module, named))
    }


def named_by(module: str, named: dict[str, tuple[str, ...]]) -> bool:
    """Whether the package of a single module names it, or names nothing at all."""
    package, _, name = module.rpartition(".")
    return not named[package] or name in named[package]


def is_package(module: str) -> bool:
    """Whether it is a folder of modules."""
    path = path_of(module)
    return path is not None and path.name == "__init__.py"


def all_of(tree: ast.Module) -> list[str]:
    """What a module names in `__all__`; nothing without it."""
    values = [node.value for node in tree.body if isinstance(node, ast.Assign) and "__all__" in names_of(node)]
    return [name for value in values for name in ast.literal_eval(value)]


def resolve(module: str, name: str) -> Found:
    """Where a name that can be imported from a module is defined. Raises `LookupError` if it is not there."""
    definition = None
    for node in statements(tree_of(module).body):
        if name in names_of(node):
            definition = Found(module, node)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if (alias.asname or alias.name) != name:
                    continue
                if node.module == module:  # a module beside this one
                    definition = Found(f"{module}.{alias.name}", None)
                elif path_of(node.module):
                    definition = resolve(node.module, alias.name)
    if definition is None and path_of(f"{module}.{name}"):
        definition = Found(f"{module}.{name}", None)
    if definition is None:
        raise LookupError(f"{module}.{name} is not there")
    return definition


def everything() -> Iterator[tuple[str, str, Found]]:
    """Each public name: the module that names it, the name, and where it is defined."""
    for module, names in public().items():
        for name in sorted(names):
            yield module, name, resolve(module, name)


@functools.cache
def defined() -> frozenset[tuple[str, str]]:
    """Module and name of every public definition."""
    found = ((at.module, each) for _, _, at in everything() if at.node for each in names_of(at.node))
    return frozenset(found)


def members(module: str, node: ast.ClassDef) -> dict[str, tuple[str, ast.stmt]]:
    """The public members of a class, with the module of each: its own, and those of bases that are not public."""
    found: dict[str, tuple[str, ast.stmt]] = {}
    for base in node.bases:
        name = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(name, ast.Name):
            try:
                of = resolve(module, name.id)
            except LookupError:  # of another package
                continue
            if isinstance(of.node, ast.ClassDef) and (of.module, name.id) not in defined():
                found |= members(of.module, of.node)
    for one in node.body:
        for name in names_of(one):
            if not name.startswith("_") or name in ("__init__", "__call__"):
                found[name] = module, one
    return found


def decorators(node: ast.FunctionDef) -> set[str]:
    """The last names of a function's decorators."""
    calls = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    return {one.attr if isinstance(one, ast.Attribute) else ast.unparse(one) for one in calls}


def signature(node: ast.FunctionDef, method: bool = False) -> str:
    """Arguments and result, as in `def`."""
    arguments = ast.unparse(node.args)
    if method and "staticmethod" not in decorators(node):
        arguments = arguments.partition(", ")[2]  # without self
    return f"({arguments})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def default(value: ast.expr) -> str:
    """What a field is by default, ` = 3`; nothing for one that must be given."""
    if not isinstance(value, ast.Call):
        return f" = {ast.unparse(value)}"
    called = ast.unparse(value.func).rpartition(".")[2]
    if called not in DECLARED:
        return f" = {ast.unparse(value)}"
    named = {keyword.arg: keyword.value for keyword in value.keywords}
    first = value.args[0] if value.args else named.get("default", named.get("default_factory"))
    return f" = {ast.unparse(first)}" if first else ""


def lines_of(name: str, at: Found, method: bool = False) -> Iterator[str]:
    """The lines of one name."""
    node = at.node
    if node is None:
        yield f"{name}: module"
    elif isinstance(node, ast.FunctionDef):
        kinds = decorators(node)
        if kinds & {"property", "cached_property"}:
            yield f"{name}: {ast.unparse(node.returns) if node.returns else 'Any'}"
        else:
            yield f"{name}{signature(node, method)}"
    elif isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, [*node.bases, *(one.value for one in node.keywords)]))
        yield f"class {name}({bases})" if bases else f"class {name}"
        for member, (module, one) in members(at.module, node).items():
            yield from (f"    {line}" for line in lines_of(member, Found(module, one), method=True))
    elif isinstance(node, ast.AnnAssign):
        yield f"{name}: {ast.unparse(node.annotation)}" + (default(node.value) if method and node.value else "")
    else:
        assert isinstance(node, ast.Assign)
        value = ast.unparse(node.value)
        yield name if isinstance(node.value, ast.Dict | ast.DictComp) else f"{name} = {value}"


def text() -> str:
    """The whole interface."""
    blocks: dict[str, list[str]] = {}
    for module, name, at in everything():
        blocks.setdefault(module, []).extend(lines_of(name, at))
    lines = (line for module, said in blocks.items() for line in ("", module, *(f"    {one}" for one in said)))
    return HEAD + "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(text())
