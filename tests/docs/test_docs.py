"""The docs build without a warning, their tables are those of the code, and their Python runs as pasted."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import jaxgames
from jaxgames.envs import registry
from jaxgames.web.limits import USUAL_LIMITS
from tests import interface
from tests.docs.calls import impossible
from tests.envs.othello import Othello

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
assert spec and spec.loader
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)


def public() -> list[tuple[str, tuple[str, ...]]]:
    """The public modules below `jaxgames`, and their names; those of the package itself are those of `envs`."""
    return [(name.removeprefix("jaxgames."), names) for name, names in interface.public().items() if "." in name]


def build(settings: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(settings), "-d", str(site)]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=300
    )


def test_the_site_has_every_page_and_every_public_name(tmp_path):
    built = build(ROOT / "mkdocs.yml", tmp_path)
    assert built.returncode == 0, built.stderr
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    pages = {page.removesuffix("index").strip("/") for page in pages}
    assert pages == {path.parent.relative_to(tmp_path).as_posix().strip(".") for path in tmp_path.rglob("index.html")}
    reference = "".join(path.read_text("utf-8") for path in (tmp_path / "api").rglob("index.html"))
    ids = set(re.findall(r'id="jaxgames\.([\w.]+)"', reference))
    missing = {
        f"{module}.{name}"
        for module, names in public()
        for name in names
        if not any(found.startswith(f"{module}.") and found.endswith(f".{name}") for found in ids)
    }
    assert not missing
    assert "class Othello(Game[Board])" in re.sub("<[^>]+>", "", (tmp_path / "games/your-own/index.html").read_text())


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ("[gone](games/gone.md) [gone](index.md#gone)", ("games/gone.md", "#gone")),
        ("::: jaxgames.gone", ("jaxgames.gone",)),
        ('--8<-- "gone.py"', ("gone.py",)),
    ],
)
def test_a_fault_ends_the_build(tmp_path, fault, named):
    """By the settings of the docs, on a site of one page."""
    (tmp_path / "docs").mkdir()
    for file in ("style.css", "mathjax.js"):
        shutil.copy(DOCS / file, tmp_path / "docs")
    settings = re.sub(r"(?ms)^nav:\n.*?^(?=# )", "nav: [index.md]\n\n", (ROOT / "mkdocs.yml").read_text("utf-8"))
    (tmp_path / "mkdocs.yml").write_text(settings, "utf-8")
    for text in ("# One page\n", f"# One page\n\n{fault}\n"):
        (tmp_path / "docs" / "index.md").write_text(text, "utf-8")
        built = build(tmp_path / "mkdocs.yml", tmp_path / "site")
        assert built.returncode == 0 or (text.endswith(f"{fault}\n") and all(name in built.stderr for name in named))
    assert built.returncode != 0


def test_tables_and_pictures_are_those_of_the_code(tmp_path, monkeypatch):
    """`make docs` writes them anew."""
    assert not generate.stale()
    for name in jaxgames.available_games():
        assert f"<!-- table: {name} -->" in (DOCS / "games" / f"{name.replace('_', '-')}.md").read_text("utf-8")
    shutil.copytree(DOCS, tmp_path / "docs")
    monkeypatch.setitem(registry.GAMES, "othello", Othello)
    with_all_games = ["algorithms/mcts.md", "games/index.md"]
    assert generate.stale(tmp_path / "docs") == with_all_games
    assert generate.stale(tmp_path / "docs", write=True) == with_all_games
    assert not generate.stale(tmp_path / "docs")
    assert "| [`othello`](othello.md) | v1 | 65 | bool[8, 8, 2] |" in (tmp_path / "docs/games/index.md").read_text()


def test_sentences_say_what_was_measured():
    """Figures in prose, and bounds of the page's server."""
    trainings = json.loads((DOCS / "algorithms" / "alphazero.json").read_text("utf-8"))["trainings"]
    alphazero = (DOCS / "algorithms" / "alphazero.md").read_text("utf-8")
    for games in (900_000, 1_900_000):
        updates = trainings[f"{games:,} games"]["config"]["learner"]["updates"]
        assert re.search(rf"--games {games}\b[^.]*: {updates:,} updates", alphazero)
    figures = {
        figure["what"]: figure["value"]
        for result in generate.measured.read()
        for figure in result["figures"]
        if figure["by"] == "jaxgames" and figure["unit"] in ("games/s", "ms")
    }
    one, two = (round(figures[f"fast, batch 128 x 4 (recipe), {count}"]) for count in ("1 device", "2 devices"))
    assert f"{two:,} games/s, beside {one:,} on one" in (DOCS / "algorithms" / "td.md").read_text("utf-8")
    first, second = (figures[f"td-gammon-0.0{plies}: one move, 256 positions at once"] for plies in ("", "@2"))
    assert f"some {round(second / first, -1):.0f} times" in (DOCS / "players.md").read_text("utf-8")
    bounds = USUAL_LIMITS
    plies = f"{bounds.plies} of alpha-beta, {bounds.plain_plies} of minimax, {bounds.look_ahead} over dice"
    assert plies in (DOCS / "play" / "web.md").read_text("utf-8")
    pages = [path.name for path in DOCS.rglob("*.md") if "pip install 'jaxgames[" in path.read_text("utf-8")]
    assert not pages, "it is not on PyPI"


CERTIFIED = {f"games/{name}": "envs" for name in ("tic-tac-toe", "connect-four", "checkers")}
CERTIFIED |= {"algorithms/mcts": "algos/mcts"}


@pytest.mark.parametrize("name", CERTIFIED)
def test_certifications_are_tests(name):
    page = (DOCS / f"{name}.md").read_text("utf-8").partition("## What was checked against what")[2]
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert rows
    for row in rows:
        tests = re.findall(r"`([\w/]*test_\w+\.py)::(test_\w+)`", row)
        assert tests, row
        for file, test in tests:
            assert f"\ndef {test}(" in (ROOT / "tests" / CERTIFIED[name] / file).read_text("utf-8"), row


GAMES = ["tic-tac-toe", "connect-four", "checkers", "tools", "your-own"]


PAGES = ["index", "start", "how-to", "conventions", *(f"games/{name}" for name in GAMES), "algorithms/mcts"]
PAGES += ["tutorials/learner", "tutorials/evolution", "api/baselines"]
SLOW = ("games/your-own", "tutorials/learner", "tutorials/evolution", "how-to", "algorithms/mcts", "games/tools")
"""Pages that compile for long, or train. What they call is looked at in the quick tier, as on every page."""


def python_of(page: Path) -> str:
    """The Python of a page, or of an example."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL) if page.suffix == ".md" else [text]
    return "\n".join(block for block in blocks if "--8<--" not in block)


KINDS = (".md", ".py")


@pytest.mark.parametrize("folder", ["docs", "examples"])
def test_calls_on_pages_and_in_examples_are_possible(folder):
    """Names of the package that are there, and arguments that its functions take; nothing is run."""
    found = {path.name: [*impossible(python_of(path))] for path in (ROOT / folder).rglob("*") if path.suffix in KINDS}
    assert len(found) > 8 and found == dict.fromkeys(found, [])


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import jaxgames\njaxgames.gone(3)", "jaxgames.gone is not there"),
        ("from jaxgames.players import nobody", "nobody is not there"),
        ("import jaxgames\njaxgames.make('go', rings=3)", ""),
        ("import jaxgames\njaxgames.random_action(key)", "jaxgames.random_action: missing a required argument"),
        ("from jaxgames import players\nplayers.make('a', games=3)", "players.make: "),
    ],
)
def test_calls_that_cannot_be_are_seen(source, fault):
    found = [*impossible(source)]
    assert len(found) == bool(fault) and all(one.startswith(fault) for one in found)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow) if page in SLOW else page for page in PAGES]
)
def test_python_runs_as_pasted(page, monkeypatch, tmp_path, compiled_quickly):
    """And prints what the comment beside the `print` begins with."""
    monkeypatch.setitem(registry.GAMES, "othello", Othello)  # so that the page's own entry is taken back
    monkeypatch.chdir(tmp_path)
    printed: list[str] = []
    names = {"Othello": Othello, "print": lambda *values: printed.append(" ".join(map(str, values)))}
    code = python_of(DOCS / f"{page}.md")
    exec(compile(code, f"{page}.md", "exec"), names)
    comments = re.findall(r"^ *print\(.*?\)(?: +# (.*))?$", code, re.MULTILINE)
    assert len(printed) == len(comments) > 0
    for said, comment in zip(printed, comments, strict=True):
        assert not comment or comment.startswith(said)
