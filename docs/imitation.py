"""The tables of the page on imitation, made of the results beside it, and its picture."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markdown_table import markdown

HERE = Path(__file__).parent / "algorithms"
RESULTS = HERE / "imitation.json"


def results() -> dict[str, Any]:
    """What was measured."""
    return json.loads(RESULTS.read_text("utf-8"))


def data_table() -> str:
    """The data that were learned from."""
    rows: list[Sequence[object]] = [("data", "games", "positions", "merged", "to learn from", "for validation")]
    for name in ("checkers", "connect_four"):
        if name not in results():
            continue
        found = results()[name]["data"]
        counts, (source,) = found["made"]["counts"], found["made"]["sources"]
        player = source["players"][0]
        numbers = (counts[key] for key in ("rows", "merged", "training", "validation"))
        rows.append((f"{name.replace('_', ' ')}, `{player}`", f"{source['games']:,}", *(f"{n:,}" for n in numbers)))
    return markdown(rows)


def checkers_table() -> str:
    """Networks that learn moves of alpha-beta, a row for each amount of data."""
    rows: list[Sequence[object]] = [
        ("setting", "weights", "positions", "error, learned", "error, others", "moves predicted", "random",
         "`alphabeta:1`", "`alphabeta:2`", "`alphabeta:3`")
    ]  # fmt: skip
    for row in _sorted_rows():
        best = row["best"]
        scores = [f"{50 * (1 + match['ppg']):.1f} ± {_margin(match):.1f}" for match in row["matches"]]
        errors = (f"{best[name]:.3f}" for name in ("policy_loss", "validation_policy_loss"))
        predicted = f"{100 * best['validation_predicted']:.1f} %"
        rows.append(
            (f"`{row['setting']}`", f"{row['weights']:,}", f"{row['positions']:,}", *errors, predicted, *scores)
        )
    return markdown(rows)


TABLES = {"imitation_data": data_table, "imitation_checkers": checkers_table}


def draw(path: Path) -> None:
    """Draws the picture of the page: what networks learn by the amount of data."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    predicted, games = figure.subplots(1, 2)
    by_setting: dict[str, list[dict[str, Any]]] = {}
    for row in _sorted_rows():
        by_setting.setdefault(row["setting"], []).append(row)
    for setting, rows in by_setting.items():
        amounts = [row["positions"] for row in rows]
        predicted.plot(amounts, [100 * row["best"]["validation_predicted"] for row in rows], marker="o", label=setting)
        games.plot(amounts, [50 * (1 + row["matches"][0]["ppg"]) for row in rows], marker="o", label=setting)
    for axis, title in ((predicted, "% of other moves predicted"), (games, "score against random moves, %")):
        axis.set_xscale("log")
        axis.set_xlabel("positions learned")
        axis.set_title(title, fontsize=10)
        axis.grid(color="#d9dee3", linewidth=0.7)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    predicted.legend(fontsize=8)
    figure.savefig(path, dpi=120)


def _sorted_rows() -> list[dict[str, Any]]:
    return sorted(results()["checkers"]["rows"], key=lambda row: (row["setting"], row["positions"]))


def _margin(match: dict[str, Any]) -> float:
    return 25 * (match["ppg_high"] - match["ppg_low"])


if __name__ == "__main__":
    draw(Path(__file__).parent / "images" / "imitation.png")
