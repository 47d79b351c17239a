"""The README keeps its word: its Python runs as pasted, its commands exist, its figures are in committed results."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jaxgames import cli
from jaxgames.recipes import RECIPES, Plan

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


PRINTED = {
    "games": "(1000, 6, 7, 2) (1000, 7)\n(64, 1000, 2) True\n4354\n",
    "search": "['4', '4']\n(2, 7) (2,)\n",
}


@pytest.mark.parametrize(("number", "name"), list(enumerate(PRINTED)))
def test_the_examples_run_as_pasted(number, name, capsys):
    codes = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(codes) == len(PRINTED) and len(codes[number].strip().splitlines()) <= 15
    exec(compile(codes[number], f"README.md, {name}", "exec"), {})
    assert capsys.readouterr().out == PRINTED[name]


def test_it_is_short_and_begins_with_a_picture():
    assert len(README.splitlines()) <= 120
    assert "![" in README[:400]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_commands_can_be_read(page):
    text = (ROOT / page).read_text("utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line.startswith("jaxgames ")]
    assert len(lines) >= 5
    for line in lines:
        arguments = line.split("#")[0].split()[1:]
        if "--help" in arguments:
            continue
        options = cli._parser().parse_args(arguments)
        if getattr(options, "recipe", None):
            RECIPES[options.recipe].check(Plan(game=options.game, setting=options.setting))


def test_the_table_names_every_room():
    table = README.partition("| in `jaxgames` | |")[2].partition("\n\n")[0]
    named = [room for row in table.splitlines() for room in re.findall(r"`(\w+)`", row.split(" | ")[0])]
    rooms = {path.parent.name for path in (ROOT / "jaxgames").glob("*/__init__.py")}
    assert len(named) == len(set(named)) and set(named) == rooms


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README) or ["no links"])
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


@pytest.mark.parametrize(
    ("page", "table", "options"), [("README.md", "short", ["--short"]), ("docs/benchmarks.md", "benchmarks", [])]
)
def test_figures_are_those_of_the_results(page, table, options):
    """But for the marks of rows whose code has changed: those depend on the commits around."""
    text = (ROOT / page).read_text("utf-8")
    inside = re.search(rf"<!-- table: {table} -->\n(.*?)<!-- /table -->", text, re.DOTALL)
    assert inside is not None
    command = [sys.executable, str(ROOT / "benchmarks" / "table.py"), *options]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.strip()
    written, now = (re.sub(r" \*\(stale: its code changed on [\d-]+\)\*", "", text) for text in (inside[1], printed))
    assert written.strip() == now.strip()
    rows = [line for line in inside.group(1).splitlines() if line.startswith("| ")]
    assert len(rows) <= 11 or page != "README.md"  # with the head


def test_sentences_say_what_was_measured():
    """The figures in the text around the table, which no program writes."""

    def read(path):
        return json.loads((ROOT / path).read_text("utf-8"))

    champion = read("jaxgames/champions/connect_four.json")
    training = read("docs/algorithms/alphazero.json")["trainings"][f"{champion['trained']['goal']['games']:,} games"]
    solved = {found["player"]: found for found in training["solved"]}
    quoted = re.search(r"makes (\d+) % good moves in Connect Four .*? and (\d+) % with 800 simulations", README)
    alone, searched = (round(100 * solved[name]["good"]) for name in ("RUN", "gumbel:RUN:800,scale=0"))
    assert quoted is not None and quoted.groups() == (str(alone), str(searched))
    (won,) = (match for match in champion["matches"] if match["opponent"] == "uct:800")
    assert f"which won {won['win_rate'] * won['games']:.0f} of {won['games']} games against `uct:800`" in README
    figures = read("benchmarks/results/strong_backgammon-amd-epyc-2-cores-jax-0.10.json")["figures"]
    (gnubg,) = (figure for figure in figures if figure["what"] == "against gnubg:0: champion@1")
    margin = (gnubg["high"] - gnubg["low"]) / 2
    assert f"({gnubg['value']:+.3f} ± {margin:.3f} points a game)" in README
