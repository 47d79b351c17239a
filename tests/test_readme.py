"""The README keeps its word: its Python runs as pasted, its commands exist, its figures are in committed results."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jaxgames import cli
from jaxgames.recipes import RECIPES, Plan

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_example_runs_as_pasted(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(code.strip().splitlines()) <= 20
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == "(1000, 6, 7, 2) (1000, 7)\n(64, 1000, 2) True\n43345\n"


def test_commands_can_be_read():
    lines = [line for line in README.splitlines() if line.startswith("jaxgames ")]
    assert len(lines) >= 5
    for line in lines:
        arguments = line.split("#")[0].split()[1:]
        if "--help" in arguments:
            continue
        options = cli._parser().parse_args(arguments)
        if getattr(options, "recipe", None):
            RECIPES[options.recipe].check(Plan(game=options.game, setting=options.setting))


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README) or ["no links"])
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


def test_figures_are_those_of_the_results():
    inside = re.search(r"<!-- figures -->\n(.*?)<!-- /figures -->", README, re.DOTALL)
    assert inside is not None
    table = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "table.py")], check=True, capture_output=True, text=True
    ).stdout
    assert table.strip()
    assert inside.group(1).strip() == table.strip()
