"""What networks learn from moves of checkers, as a published text did it, on data made here. Writes one JSON file.

    jaxgames data make --game checkers --players alphabeta:5 --games 8192 --games-per-shard 256 --out C
    jaxgames data merge C --out CM
    python benchmarks/imitation.py --checkers CM --study FOLDER --out docs/algorithms/imitation.json

Everything measured is kept in the study's folder, so a run that was stopped goes on.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from jaxgames.algos.imitation import load_network
from jaxgames.data_sets import data_info
from jaxgames.envs import make
from jaxgames.recipes import Report
from jaxgames.recipes.reproduce import Study
from jaxgames.runs import Run, environment

CHECKERS = make("checkers")

_RULE, _MODERN = {"blocks_per_epoch": "1", "patience": "4"}, {"blocks_per_epoch": "1", "patience": "3"}
LEARNERS: Sequence[tuple[str, int, Mapping[str, str]]] = (
    ("adamczyk-2018", 1_000, {"epochs": "100", "blocks_per_epoch": "1", "patience": "6"}),
    ("adamczyk-2018", 10_000, {"epochs": "20", **_RULE}),
    ("modern", 100_000, {"epochs": "10", **_MODERN}),
    ("modern", 10_000, {"epochs": "20", **_MODERN}),
    ("adamczyk-2018", 100_000, {"epochs": "4", **_RULE}),
    ("modern", 0, {"epochs": "5", **_MODERN}),
    ("modern", 1_000, {"epochs": "60", **_MODERN}),
    ("adamczyk-2018", 0, {"epochs": "1", "blocks_per_epoch": "4", "patience": "4"}),
    ("modern-small", 10_000, {"epochs": "20", **_MODERN}),
    ("modern-small", 100_000, {"epochs": "10", **_MODERN}),
    ("modern-small", 0, {"epochs": "5", **_MODERN}),
    ("adamczyk-2018-deep", 100_000, {"epochs": "2", **_RULE}),
)
"""Settings of `checkers-imitation`, positions to learn from (0 for all), and changes."""


def checkers(study: Study, data: str, games: int, keep: Callable[[str, Any], None]) -> None:
    """Networks that learn moves of alpha-beta, by the amount of data."""
    keep("data", {**data_info(data), "data": Path(data).name})
    rows: list[dict[str, Any]] = []
    for setting, amount, changes in LEARNERS:
        name = f"{setting} {amount or 'all'}"
        changed = {**changes, "positions": str(amount)}
        run = Run.open(study.train(name, "checkers-imitation", setting, changed, data=data, final_games=games))
        result = study.result_of(f"training {name}")
        weights = sum(leaf.size for leaf in jax.tree.leaves(load_network(run, CHECKERS)[0]))
        rows.append(
            {
                "setting": setting, "positions": run.config["data"]["training"], "weights": int(weights),
                "seconds": result["seconds"], "best": result["best"],
                "matches": [{**match, "a": setting} for match in result["matches"]],
                "curve": [
                    {key: line[key] for key in ("positions", "policy_loss", "validation_policy_loss",
                                                "predicted", "validation_predicted")}
                    for line in run.metrics()
                ],
            }
        )  # fmt: skip
        keep("rows", rows)


def main() -> None:
    """Measures what is asked for and writes it beside what the file holds already."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkers", required=True, metavar="FOLDER", help="a merged data set of checkers")
    parser.add_argument("--study", required=True, metavar="FOLDER", help="keeps what was measured")
    parser.add_argument("--games", type=int, default=400, help="of each match (400)")
    parser.add_argument("--out", required=True, metavar="FILE", help="the JSON")
    options = parser.parse_args()
    begin = Study.open if (Path(options.study) / "study.json").exists() else Study.create
    study = begin(options.study, "imitation", False, 1, Report())
    path = Path(options.out)
    result: dict[str, Any] = {"checkers": {}}

    def keep(name: str, value: Any) -> None:
        result["checkers"][name] = value
        result["environment"] = environment()
        path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")

    checkers(study, options.checkers, options.games, keep)


if __name__ == "__main__":
    main()
