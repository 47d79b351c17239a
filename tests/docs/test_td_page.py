"""The page of the recipe `td` shows the results that are committed beside it."""

import json
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "recipes"
RESULTS = json.loads((FOLDER.parents[1] / "benchmarks/results/recipes/td.json").read_text("utf-8"))


def rows() -> list[str]:
    """The lines of the table."""
    found = []
    for result in RESULTS:
        (match,) = result["matches"]
        rates = (100 * match[name] for name in ("win_rate", "draw_rate", "loss_rate"))
        lines = result.get("every_line")
        lost = f"{lines['lost']} of {lines['first']['lines'] + lines['second']['lines']}" if lines else "-"
        name = f"{result['game'].replace('_', ' ')}, seed {match['seed'] - 1}"
        figures = " | ".join(f"{rate:.2f}" for rate in rates)
        found.append(f"| {name} | {result['games']:,} | {figures} | {lost} |")
    return found


def test_the_table_is_that_of_the_results():
    text = (FOLDER / "td.md").read_text("utf-8")
    shown = [line for line in text.splitlines() if line.startswith("| ") and ", seed " in line]
    assert shown == rows()


def test_no_line_of_tic_tac_toe_is_lost():
    seeds = [result for result in RESULTS if "every_line" in result]
    assert len(seeds) == 5
    assert all(result["every_line"]["lost"] == 0 and result["seconds"] <= 120 for result in seeds)
