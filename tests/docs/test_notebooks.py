"""The notebooks are valid, their pages hold their code, and they run."""

import importlib.util
import json
import re
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs" / "notebooks.py")
assert spec and spec.loader
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)

NAMES = notebooks.names()
TINY = {
    "first-curve": {"parts": 1, "updates": 2},
    "own-game": {"updates": 2, "simulations": 50},
    "evolution": {"generations": 2, "population": 8, "many_generations": 2, "many": 8},
    "search": {"steps": 2, "simulations": 4},
}
"""Sizes with which a notebook says nothing, and shows that it runs."""
MOST_CELLS = 12


def file_of(name):
    return json.loads((notebooks.FOLDER / f"{name}.ipynb").read_text("utf-8"))


def test_all_are_here():
    assert NAMES == sorted(TINY)
    listed = re.findall(r"\]\(([\w-]+)\.md\)", (notebooks.FOLDER / "index.md").read_text("utf-8"))
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_a_notebook(name):
    """Of format 4.5, without outputs, and with nothing of the machine on which it was written."""
    file = file_of(name)
    assert (file["nbformat"], file["nbformat_minor"]) == (4, 5)
    assert file["metadata"]["kernelspec"] == {"display_name": "Python 3", "language": "python", "name": "python3"}
    assert len(file["cells"]) <= MOST_CELLS
    ids = [cell["id"] for cell in file["cells"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one) for one in ids)
    for cell in file["cells"]:
        of_code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert cell["cell_type"] in ("code", "markdown")
        assert cell.keys() == {"cell_type", "id", "metadata", "source"} | of_code
        assert not of_code or (cell["outputs"] == [] and cell["execution_count"] is None)
    assert not re.search(r"/(home|work|root|Users|tmp|content)/", json.dumps(file))


@pytest.mark.parametrize("name", NAMES)
def test_the_code_compiles(name):
    """It is Python but for the first cell, which installs, and one cell has the sizes."""
    cells = [cell for cell in notebooks.read(name) if cell["cell_type"] == "code"]
    for cell in cells:
        compile(notebooks.code(cell), f"{name}, {cell['id']}", "exec")
    assert "%pip install" in cells[0]["source"] and not any("%pip" in cell["source"] for cell in cells[1:])
    (sizes,) = [cell for cell in cells if notebooks.PARAMETERS in cell["metadata"].get("tags", ())]
    space = {}
    exec(notebooks.code(sizes), space)
    assert space.keys() - {"__builtins__"} == TINY[name].keys()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_that_of_the_notebook(name):
    """`make docs` makes it by running the notebook: whoever changes one runs that."""
    page = (notebooks.FOLDER / f"{name}.md").read_text("utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)\n```$", page, re.M | re.S)
    shown = [text for kind, text in blocks if kind != "text"]
    assert shown == [cell["source"] for cell in notebooks.read(name) if cell["cell_type"] == "code"]
    pictures = {picture for picture in re.findall(r"\]\(([\w.-]+\.(?:png|svg))\)", page)}
    assert pictures == {path.name for kind in ("png", "svg") for path in notebooks.FOLDER.glob(f"{name}-*.{kind}")}


def test_a_cell_that_fails_is_named(tmp_path, monkeypatch):
    cell = {"cell_type": "code", "id": "bad-1", "metadata": {}, "source": ["x = 1\n", "x / 0"], "outputs": []}
    (tmp_path / "bad.ipynb").write_text(json.dumps({"cells": [cell]}))
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    with pytest.raises(ZeroDivisionError) as error:
        notebooks.run("bad", tmp_path)
    assert any(entry.path == "bad, bad-1" for entry in error.traceback)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", NAMES)
def test_it_runs(name, tmp_path, monkeypatch):
    from jaxgames.envs import registry

    monkeypatch.setattr(registry, "GAMES", dict(registry.GAMES))
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):  # as users have it
        page = notebooks.run(name, tmp_path, TINY[name])
    wanted = {path.name for kind in ("png", "svg") for path in notebooks.FOLDER.glob(f"{name}-*.{kind}")}
    assert {path.name for path in tmp_path.iterdir()} == wanted
    assert page.count("```python") == (notebooks.FOLDER / f"{name}.md").read_text("utf-8").count("```python")
