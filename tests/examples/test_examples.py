"""The examples: each runs by `--quick`, is short, stands alone, uses what is public, says in a line what is wrong."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import interface

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples").glob("*.py"))
NAMES = [file.stem for file in FILES]
LONGEST = 150
PUBLIC = interface.public()
WON = {"ppo": r"(\S+) points a game"}
"""Points a game that a whole run of an example prints; they are to be above 0."""


def run(folder, *arguments, files=FILES, timeout=600):
    """What `run.py` says of each file, by name. A process of their own: these tests have stricter rules for dtypes."""
    helper = Path(__file__).parent / "run.py"
    command = [sys.executable, "-W", "error", str(helper), str(folder), *arguments, "--", *map(str, files)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"MPLBACKEND": "agg"}, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return {said["name"]: said for said in map(json.loads, done.stdout.splitlines())}


QUICK = ("alphazero_minimal", "ppo")
"""What people copy first. Of the others the quick tier sees that their calls are possible (`docs/test_docs.py`)."""


def installed(name):
    """Whether the packages of the extra `examples` are there that it needs; `make test` installs all of them."""
    modules = (module for module, _ in imported(ast.parse((ROOT / "examples" / f"{name}.py").read_text("utf-8"))))
    return all(importlib.util.find_spec(module.split(".")[0]) for module in modules)


@pytest.mark.parametrize("which", ["quick", pytest.param("the others", marks=pytest.mark.slow)])
def test_quick_runs(which, tmp_path):
    """By `--quick`, many in one process, as their programs have much in common."""
    names = [name for name in NAMES if (name in QUICK) == (which == "quick") and installed(name)]
    folder, files = tmp_path, [ROOT / "examples" / f"{name}.py" for name in names]
    said = run(folder, "--quick", "--seed", "3", files=files)
    assert names and said.keys() == set(names)
    for name in names:
        assert said[name]["status"] == 0, (name, said[name]["errors"])
        assert said[name]["printed"] and (folder / f"{name}.png").stat().st_size > 5_000, name
        refused = said[name]["refused"]  # a wrong argument is one line before anything runs
        assert refused["status"] == 2 and refused["printed"] == "" and refused["seconds"] < 5, name
        assert re.fullmatch(
            r".*error: --out .*: expected a \.png or \.svg in a folder that exists\n", refused["errors"]
        ), name


def imported(tree):
    """Modules and names that a file imports: pairs of texts, the second one empty for a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def is_public(module, name):
    """Whether it is named in the public interface, as a module or in one."""
    return module in PUBLIC if not name else name in PUBLIC.get(module, ()) or f"{module}.{name}" in PUBLIC


def faults(source):
    """What is wrong with the text of an example."""
    tree, lines = ast.parse(source), len(source.splitlines())
    if lines > LONGEST:
        yield f"{lines} lines"
    for module, name in imported(tree):
        if module.split(".")[0] in (*NAMES, "examples", "benchmarks", "tests", ""):
            yield f"imports {module or name}"
        elif module.split(".")[0] == "jaxgames" and not is_public(module, name):
            yield f"{module}.{name} is not public"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.match(r"_(?!replace$|_)", node.attr):
            yield f"{node.attr} is internal"


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_an_example_is_short_stands_alone_and_uses_what_is_public(file):
    assert not list(faults(file.read_text("utf-8")))


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import ppo", "imports ppo"),
        ("from examples.ppo import policy", "imports examples.ppo"),
        ("from . import ppo", "imports ppo"),
        ("x = 1\n" * 151, "151 lines"),
        ("from jaxgames.envs.core import action_from_bits", "jaxgames.envs.core.action_from_bits is not public"),
        ("state._position", "_position is internal"),
        ("x = 1\n" * 150 + "board._replace(roll=1), x.__class__", "151 lines"),
    ],
)
def test_faults_are_seen(source, fault):
    assert list(faults(source)) == [fault]


def test_the_gallery_names_all():
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    for name in NAMES:
        assert f"examples/{name}.py" in page


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_whole_runs(file, tmp_path):
    if not installed(file.stem):
        pytest.skip(f"{file.stem} needs more packages: pip install -e '.[examples]'")
    said = run(tmp_path, files=[file], timeout=3600)[file.stem]
    assert said["status"] == 0, said["errors"]
    assert file.stem not in WON or float(re.search(WON[file.stem], said["printed"])[1]) > 0
