"""The public interface: it is the reviewed one, all of it is in the reference, and what people read imports only it."""

import ast
import difflib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import interface

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

UNDOCUMENTED = 2
"""Public functions with something to say that they do not say. It may only fall."""
INTERNAL = {
    "benchmarks": 41,
    "docs": 0,
}
"""Internal names that these import: benchmarks, to time parts by themselves. They may only fall."""


def test_the_interface_is_the_reviewed_one():
    """What has changed is read by people, and told in CHANGELOG.md; then `make interface` writes the file anew."""
    reviewed, now = (text.splitlines() for text in (interface.FILE.read_text("utf-8"), interface.text()))
    changed = list(difflib.unified_diff(reviewed, now, "reviewed", "source", lineterm="", n=0))
    assert not changed, "\n".join(["the public interface changed; if it should, run `make interface`", *changed])


def test_every_public_name_is_there():
    names = [(module, name) for module, name, _ in interface.everything()]
    assert len(names) == len(set(names)) > 200
    assert {"jaxgames", "jaxgames.envs", "jaxgames.algos.mcts", "jaxgames.players"} <= {module for module, _ in names}
    assert not any(name.startswith("_") for _, name in names)


def test_every_public_module_is_in_the_reference():
    """mkdocstrings shows what a module names in `__all__`; `test_docs.py` builds the pages."""
    pages = "".join(path.read_text("utf-8") for path in (DOCS / "api").glob("*.md"))
    shown = set(re.findall(r"^::: (\S+)$", pages, re.MULTILINE))
    assert not set(interface.public()) - shown - {"jaxgames"}  # whose names are those of jaxgames.envs


def internal_imports(source: str) -> set[str]:
    """The names that a program imports from the package and that are not public."""
    public, found = interface.public(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name not in public]
        elif isinstance(node, ast.ImportFrom):
            known = public.get(node.module or "", ())
            full = {f"{node.module}.{alias.name}": alias.name for alias in node.names}
            names = [name for name, last in full.items() if last not in known and name not in public]
        else:
            continue
        found |= {name for name in names if name.partition(".")[0] == "jaxgames"}
    return found


def programs(folder: str) -> Iterator[tuple[str, str]]:
    """The programs of a folder and of its pages, with where they stand."""
    for path in sorted((ROOT / folder).rglob("*.*")):
        if path.suffix == ".py":
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")
        elif path.suffix == ".md":
            blocks = re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
            yield str(path.relative_to(ROOT)), "\n".join(block for block in blocks if "--8<--" not in block)


@pytest.mark.parametrize("folder", INTERNAL)
def test_what_people_read_imports_what_is_public(folder):
    found = [f"{name}: {one}" for name, source in programs(folder) for one in sorted(internal_imports(source))]
    assert len(found) <= INTERNAL[folder], "\n".join(found)


@pytest.mark.parametrize(
    ("source", "internal"),
    [
        ("import jaxgames\nfrom jaxgames import make\nfrom jaxgames.algos import mcts", set()),
        ("from jaxgames.envs import Symmetry, svg\nimport jax", set()),
        ("from jaxgames.envs.symmetry import Symmetry", {"jaxgames.envs.symmetry.Symmetry"}),
        ("import jaxgames.envs.symmetry", {"jaxgames.envs.symmetry"}),
        ("def late():\n    from jaxgames.ops import bits", {"jaxgames.ops.bits"}),
    ],
)
def test_internal_imports_are_seen(source, internal):
    assert internal_imports(source) == internal


# What docstrings say.


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """All public functions, and the public methods of public classes, with their full names."""
    seen = set()
    for _, name, at in interface.everything():
        if isinstance(at.node, ast.FunctionDef):
            nodes = {f"{at.module}.{name}": at.node}
        elif isinstance(at.node, ast.ClassDef):
            nodes = {
                f"{module}.{name}.{member}": node
                for member, (module, node) in interface.members(at.module, at.node).items()
                if isinstance(node, ast.FunctionDef) and not member.startswith("_")
            }
        else:
            continue
        for full, node in nodes.items():
            if full not in seen and "override" not in interface.decorators(node):
                seen.add(full)
                yield full, node


def unsaid(node: ast.FunctionDef) -> list[str]:
    """What the docstring and the annotations of a function leave out.

    An argument is said if it is named in the docstring or has a type that says it all; `raise` of a `ValueError` or
    `TypeError` in the function itself, and `Array` without a shape, are there to be said.
    """
    text = ast.get_docstring(node) or ""
    missing = [] if text else ["docstring"]
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    named = [one.arg for one in arguments if one.arg not in ("self", "cls")]
    refers = re.search(r"\b[Aa]s `\w+`|arguments are those of", text)  # to a function that says them
    if len(named) > 4 and "Args:" not in text and not refers:
        missing += [name for name in named if f"`{name}" not in text][:1]
    raised = {
        ast.unparse(one.exc.func)
        for one in ast.walk(node)
        if isinstance(one, ast.Raise) and isinstance(one.exc, ast.Call)
    }
    missing += [f"raises {kind}" for kind in sorted(raised & {"ValueError", "TypeError"}) if kind not in text]
    annotations = [one.annotation for one in arguments] + [node.returns]
    missing += ["shape" for one in annotations if one is not None and ast.unparse(one) in ("Array", "jax.Array")][:1]
    return missing


def test_public_functions_say_what_there_is_to_say():
    found = {name: missing for name, node in functions() if (missing := unsaid(node))}
    lines = "\n".join(f"{name}: {', '.join(missing)}" for name, missing in sorted(found.items()))
    assert len(found) <= UNDOCUMENTED, lines


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ('def f(x: int) -> int:\n    """Twice `x`."""', []),
        ("def f(x: int) -> int: ...", ["docstring"]),
        ('def f(x: Array) -> None:\n    """Of x."""', ["shape"]),
        ('def f(x: int) -> None:\n    """Of x."""\n    raise ValueError("no")', ["raises ValueError"]),
        ('def f(x: int) -> None:\n    """Of x. Raises `ValueError`."""\n    raise ValueError("no")', []),
        ('def f(a, b, c, d, e) -> None:\n    """Of all."""', ["a"]),
        ('def f(a, b, c, d, e) -> None:\n    """All.\n\n    Args:\n        a: one.\n    """', []),
    ],
)
def test_what_is_not_said_is_seen(source, missing):
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef) and unsaid(node) == missing


def test_the_text_of_each_kind_of_definition():
    """Defaults of declared settings are shown, their help is not; methods go without `self`."""
    source = """
@dataclass(frozen=True)
class Config(Settings):
    batch: int = setting(128, "games at once", low=1)
    names: tuple[str, ...] = dataclasses.field(default_factory=tuple)
    _hidden: int = 3

    @property
    def size(self) -> int: ...

    def change(self, texts: Mapping[str, str], *, strict: bool=True) -> Self: ...

def play(game: Game, key: Key[Array, ''] | None=None) -> State: ...
LIMIT: int = 3
"""
    lines = []
    for node in ast.parse(source).body:
        (name,) = interface.names_of(node)
        lines += interface.lines_of(name, interface.Found("jaxgames", node))
    assert lines == [
        "class Config(Settings)",
        "    batch: int = 128",
        "    names: tuple[str, ...] = tuple",
        "    size: int",
        "    change(texts: Mapping[str, str], *, strict: bool=True) -> Self",
        "play(game: Game, key: Key[Array, ''] | None=None) -> State",
        "LIMIT: int",
    ]
