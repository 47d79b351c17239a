"""The page of the recipe `tic-tac-toe-self-play` shows the results that are committed beside it."""

import json
from pathlib import Path
from statistics import median

from jaxgames.recipes.self_play_population import SETTINGS, VARIANTS
from jaxgames.recipes.tic_tac_toe_self_play import GAMES, SEEDS

FOLDER = Path(__file__).parents[2] / "docs" / "recipes"
RESULTS = json.loads((FOLDER.parents[1] / "benchmarks/results/recipes/tic-tac-toe-self-play.json").read_text("utf-8"))
TEXT = (FOLDER / "tic-tac-toe-self-play.md").read_text("utf-8")
ROWS = [line for line in TEXT.splitlines() if line.startswith("| `") and "percentile" not in line]


def row(name: str, variant: dict) -> str:
    """One line of a table."""
    good, first, second = (variant["final"][kind] for kind in ("good", "first", "second"))
    cells = [f"`{name}`", variant["curve"]["training"][-1], f"{good['median']:.1f}"]
    cells += [f"{good['low']:.1f} .. {good['high']:.1f}", f"{first['median']:.1f}", f"{second['median']:.1f}"]
    cells += [f"{variant['draw_themselves']} of {SEEDS}", f"{median(variant['lines_lost']):.0f}"]
    return f"| {' | '.join(map(str, cells))} |"


def test_the_tables_are_those_of_the_results():
    beside, whole = RESULTS
    assert list(beside["variants"]) == list(SETTINGS["all"]) and list(whole["variants"]) == ["faithful"]
    variants = [*beside["variants"].items(), *whole["variants"].items()]
    assert [line for line in ROWS if " .. " in line] == [row(*variant) for variant in variants]
    assert all(result["seeds"] == SEEDS for result in RESULTS)
    assert whole["games"] == GAMES and f"{beside['games']:,} games" in TEXT


def test_settings_are_all_explained():
    assert [line.split("`")[1] for line in ROWS if " .. " not in line] == list(SETTINGS)
    assert set(VARIANTS) < set(SETTINGS)


if __name__ == "__main__":  # the rows, to be pasted
    for result in RESULTS:
        print(*(row(*variant) for variant in result["variants"].items()), sep="\n")
