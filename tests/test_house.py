"""The order of the house, read from the source: who may import whom, what is imported when, how long files get."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxgames.envs.registry import available_games

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "jaxgames").rglob("*.py"))
LEVELS = (
    ("ops",),
    ("envs", "nets", "runs"),
    ("tables",),
    ("algos",),
    ("players",),
    ("baselines",),
    ("sessions",),
    ("records",),
    ("matches",),
    ("data_sets",),
    ("interop", "web"),
    ("recipes",),
    ("cli",),
    ("__main__",),
)
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
CORE = {"jax", "flax", "optax", "chex", "jaxtyping", "typing_extensions", "numpy", "jaxgames"}
LONGEST, MOST = 500, 300
"""Lines of a file, and files of the package: whoever adds a concept looks which others belong together."""

NO_ROOMS = ("arguments", "docs", "examples", "keywords", "mutants", "settings")
"""Folders of tests that are of no room."""

NUMBERS = {f"checks.{name}" for name in ("whole", "whole_or_traced", "number", "share", "discount")}
"""Checks that return plain numbers, whatever kind of number they are given."""

GAMES_NAMED = {"algos/td/config.py": 1}
"""Files of `algos` that may name a game, and how often: the default of a setting, which a user can change."""


def module_of(path: Path) -> str:
    """The dotted name of a file's module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Everything that is imported anywhere in a file of `package`, functions included, as dotted names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def import_graph(sources: dict[str, str], packages: set[str]) -> dict[str, set[str]]:
    """For each module the modules of the same set that it imports, anywhere in its file.

    `from package import name` imports the module `package.name` if there is one, else `package`. A package that a
    dotted name only passes through is not counted: Python imports it too, but nothing is read from it.
    """
    graph = {}
    for module, source in sources.items():
        package = module if module in packages else module.rpartition(".")[0]
        found = {name if name in sources else name.rpartition(".")[0] for name in imports(ast.parse(source), package)}
        graph[module] = (found & sources.keys()) - {module}
    return graph


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected components of more than one module, by Tarjan's algorithm (1972)."""
    number: dict[str, int] = {}  # in the order of the first visit
    lowest: dict[str, int] = {}  # the first visited module that can be reached and is on the stack
    stack: list[str] = []
    found = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for used in graph[module]:
            if used not in number:
                visit(used)
                lowest[module] = min(lowest[module], lowest[used])
            elif used in stack:
                lowest[module] = min(lowest[module], number[used])
        if lowest[module] == number[module]:
            place = stack.index(module)
            component = set(stack[place:])
            del stack[place:]
            if len(component) > 1:
                found.append(component)

    for module in graph:
        if module not in number:
            visit(module)
    return found


def rooms_imported(source: str, package: str) -> set[str]:
    """The rooms of the house that a file uses."""
    names = (name.split(".") for name in imports(ast.parse(source), package))
    return {parts[1] for parts in names if parts[0] == "jaxgames" and len(parts) > 1 and parts[1] in LEVEL}


def wrong_imports(source: str, room: str, package: str) -> set[str]:
    """The rooms that a file of `room` must not use, but does."""
    return {used for used in rooms_imported(source, package) if used != room and LEVEL[used] >= LEVEL[room]}


def first_statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported, but for what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.stmt):
            yield node
        yield from first_statements(node)


def imported_at_once(source: str) -> set[str]:
    """The packages that importing the module imports."""
    found = set()
    for node in first_statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


def names_in(source: str) -> list[str]:
    """All names and texts of a file except docstrings: what the program itself speaks of."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            found.append(node.value)
        for field in ("id", "attr", "name", "arg", "module"):
            if isinstance(getattr(node, field, None), str):
                found.append(getattr(node, field))
    return found


def rooms() -> Iterator[tuple[Path, str]]:
    for path in FILES:
        room = module_of(path).split(".")[1:2]
        if room:
            yield path, room[0]


def test_every_room_has_its_place():
    assert {room for _, room in rooms()} <= set(LEVEL)
    assert {"envs", "nets", "runs", "algos"} <= {room for _, room in rooms()}


def test_imports_run_one_way():
    wrong = {}
    for path, room in rooms():
        package = module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]
        if found := wrong_imports(path.read_text(), room, package):
            wrong[str(path.relative_to(ROOT))] = found
    assert not wrong


def test_no_modules_import_each_other():
    packages = {module_of(path) for path in FILES if path.name == "__init__.py"}
    graph = import_graph({module_of(path): path.read_text() for path in FILES}, packages)
    assert len(graph) == len(FILES) and sum(map(len, graph.values())) > len(FILES)
    assert circles(graph) == []


def reads_tests(source: str) -> bool:
    """Whether a path into `tests` stands among the texts of a file, docstrings left out."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in prose)
    return any(isinstance(text, str) and (text == "tests" or text.startswith("tests/")) for text in texts)


def test_the_package_never_reads_tests():
    """What the program needs is in the package or is given by path: a checkout and a wheel do the same."""
    assert [path for path in FILES if reads_tests(path.read_text())] == []
    assert reads_tests('DATA = ROOT / "tests" / "data"') and reads_tests('open("tests/data/x")')


def test_the_package_itself_needs_only_games():
    assert rooms_imported((ROOT / "jaxgames" / "__init__.py").read_text(), "jaxgames") <= {"envs"}


def test_algos_name_no_game():
    named, games = {}, available_games()  # asked once: it reads what is installed
    for path in (path for path, room in rooms() if room == "algos"):
        names = [name for name in names_in(path.read_text()) for game in games if game in name]
        if names:
            named[str(path.relative_to(ROOT / "jaxgames"))] = len(names)
    assert named == GAMES_NAMED


def test_only_core_dependencies_are_imported_at_once():
    allowed = CORE | set(sys.stdlib_module_names)
    found = {str(path.relative_to(ROOT)): imported_at_once(path.read_text()) - allowed for path in FILES}
    assert not {path: names for path, names in found.items() if names}


def numbers_dropped(source: str) -> list[str]:
    """The variables that `checks` turns into plain numbers for nothing: the function goes on with what it was given.

    Not those that may be traced.
    """
    found = []

    def look(body: list[ast.stmt], function: ast.FunctionDef) -> None:
        for node in body:
            if isinstance(node, ast.If) and "Tracer" not in ast.unparse(node.test):
                look([*node.body, *node.orelse], function)
            call = node.value if isinstance(node, ast.Expr) else None
            if not isinstance(call, ast.Call) or ast.unparse(call.func) not in NUMBERS:
                continue
            later = (
                other for other in ast.walk(function) if isinstance(other, ast.Name) and other.lineno > node.lineno
            )
            if isinstance(call.args[1], ast.Name) and any(other.id == call.args[1].id for other in later):
                found.append(f"{function.name}: {call.args[1].id}")

    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            look(function.body, function)
    return found


def test_what_checks_return_is_used():
    """They take numbers of NumPy, which JSON, `bit_length` and sizes of arrays do not."""
    texts = {path: text for path in FILES if re.search(r"^ +checks\.", text := path.read_text(), re.MULTILINE)}
    assert not {path: found for path, text in texts.items() if (found := numbers_dropped(text))}


def class_names() -> dict[str, list[str]]:
    """The files in which each public class of the package is defined; `Position` is each game's own."""
    found: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name != "Position":
                found.setdefault(node.name, []).append(module_of(path))
    return found


def test_no_two_classes_share_a_name():
    assert not {name: modules for name, modules in class_names().items() if len(modules) > 1}


def test_files_are_small():
    others = ("benchmarks", "docs", "examples", "tests")
    files = FILES + [path for folder in others for path in (ROOT / folder).rglob("*.py")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert not {path: length for path, length in lengths.items() if length > LONGEST}


def test_files_are_few():
    assert len(FILES) <= MOST


def mirrors(path: Path) -> bool:
    """Whether a test file lies where the module lies that it tests."""
    folder, name = path.parent.relative_to(ROOT / "tests"), path.stem.removeprefix("test_")
    place = ROOT / "jaxgames" / folder
    return (place / f"{name}.py").exists() or (place / name).is_dir() or (place.is_dir() and name == folder.name)


def test_every_test_lies_where_its_module_lies_or_is_listed():
    """The table of tests/README.md lists what tests a behaviour; folders without a room hold other things."""
    table = (ROOT / "tests" / "README.md").read_text("utf-8").partition("| behaviour | file |")[2]
    listed = re.findall(r"\| `([\w/.]+)` \|$", table, re.MULTILINE)
    files = (path for path in (ROOT / "tests").rglob("test_*.py") if path.parent.name not in ("tests", *NO_ROOMS))
    others = [str(path.relative_to(ROOT / "tests")) for path in files if not mirrors(path)]
    assert sorted(listed) == sorted(others)


# The tests themselves would see it.


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("from jaxgames.algos.td import TDConfig", set()),
        ("from jaxgames.envs import make\nimport jaxgames.nets.mlp", set()),
        ("def late():\n    from jaxgames.matches import match", {"matches"}),
        ("import jaxgames.recipes.td.td_gammon as recipe", {"recipes"}),
        ("from jaxgames import cli", {"cli"}),
        ("from .. import web", {"web"}),
        ("from ..matches.match import match", {"matches"}),
        ("from .simple import simple", set()),
    ],
)
def test_wrong_imports_are_seen(source, wrong):
    assert wrong_imports(source, "players", "jaxgames.players") == wrong


@pytest.mark.parametrize(
    ("sources", "circle"),
    [
        ({"a": "import p.b", "p.b": "from p.c import C", "p.c": "import jax"}, set()),
        ({"a": "import p.b", "p.b": "import a"}, {"a", "p.b"}),
        ({"a": "from p import b", "p.b": "from p.c import C", "p.c": "from a import A"}, {"a", "p.b", "p.c"}),
        ({"a": "def f():\n    from p.b import B", "p.b": "class B:\n    import a"}, {"a", "p.b"}),
        ({"a": "import p.b", "p.b": "if TYPE_CHECKING:\n    from a import A"}, {"a", "p.b"}),
        ({"p": "from p.b import B", "p.b": "from p import B"}, {"p", "p.b"}),
        ({"p": "from . import b", "p.b": "from .c import C", "p.c": "from . import b"}, {"p.b", "p.c"}),
        ({"p": "from p.b import B", "p.b": "from p import c", "p.c": ""}, set()),
    ],
)
def test_circles_are_seen(sources, circle):
    assert circles(import_graph(sources, {"p"})) == ([circle] if circle else [])


def test_imports_at_once_are_seen():
    source = "import os\ntry:\n    import rich.table\nfinally: pass\ndef f():\n    import tyro\nclass A: import pgx"
    assert imported_at_once(source) == {"os", "rich", "pgx"}
    assert imported_at_once("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rich") == {"typing"}


@pytest.mark.parametrize(
    ("line", "dropped"),
    [
        ("checks.whole('x', x)\n    return x", ["f: x"]),
        ("if x is not None:\n        checks.number('x', x)\n    return lambda: x", ["f: x"]),
        ("x = checks.whole('x', x)\n    return x", []),
        ("checks.share('x', x)\n    return 1", []),
        ("if not isinstance(x, jax.core.Tracer):\n        checks.share('x', x)\n    return x", []),
    ],
)
def test_dropped_numbers_are_seen(line, dropped):
    assert numbers_dropped(f"def f(x):\n    {line}\n") == dropped


def test_names_of_games_are_seen():
    source = '"""About backgammon."""\nfrom jaxgames.envs.backgammon import board\nx = f"a {backgammon.y} backgammon"'
    assert sum("backgammon" in name for name in names_in(source)) == 3


def test_what_is_slow_only_for_its_time_is_held_by_quick_tests(quick_tests):
    """Lines of `slow.txt` are pairs of tests that are there; the second is quick, or one of its cases is."""
    lines = (ROOT / "tests" / "slow.txt").read_text("utf-8").splitlines()
    slow, holders = zip(*(line.split(" | ") for line in lines if "::" in line), strict=True)
    assert len(set(slow)) == len(slow) > 50 and not set(slow) & set(holders)
    for name in {*slow, *holders}:
        file, *names = name.partition("[")[0].split("::")
        text = (ROOT / "tests" / file).read_text("utf-8")
        assert all(re.search(rf"^ *(def|class) {one}\b", text, re.MULTILINE) for one in names), name
    found = quick_tests | {test[: end.start()] for test in quick_tests for end in re.finditer(r"\[|:", test)}
    for name in holders:
        if name.split("::")[0] in found:  # where only some of the files were read, there is nothing to ask of others
            assert name in found, name
