"""The tables of the page on strong backgammon, made of the results beside it and of its benchmark, and its picture."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markdown_table import markdown

HERE = Path(__file__).parent
STAGES = HERE / "algorithms" / "strong-backgammon.json"
RESULTS = HERE.parent / "benchmarks" / "results"


def stages() -> dict[str, Any]:
    """What was written down while the player was trained."""
    return json.loads(STAGES.read_text("utf-8"))


def stages_table() -> str:
    """What each stage began with, what it cost, and what it gave."""
    rows: list[Sequence[object]] = [
        ("stage", "updates", "games", "targets", "core-minutes", "points lost a decision", "PPG against pubeval")
    ]
    for row in stages()["stages"]:
        loss, ppg = row["decisions"], row["pubeval"]
        rows.append(
            (
                row["stage"],
                f"{row['updates']:,}" if row["updates"] else "",
                f"{row['games']:,}" if row["games"] else "",
                f"{row['targets']:,}" if row["targets"] else "",
                f"{row['core_minutes']:.0f}" if row["core_minutes"] else "",
                f"{loss[0]:.4f} ± {1.96 * loss[1]:.4f}" if loss else "",
                f"{ppg[0]:+.3f} ± {ppg[1]:.3f}" if ppg else "",
            )
        )
    return markdown(rows)


def standing_table() -> str:
    """All figures of the benchmark."""
    rows: list[Sequence[object]] = [("measured", "by", "figure", "95 % or all repeats", "bar", "reached")]
    for file in sorted(RESULTS.glob("strong_backgammon-*.json")):
        for figure in json.loads(file.read_text("utf-8"))["figures"]:
            form = figure["form"] or ",.0f"
            value, low, high = (format(figure[name], form) for name in ("value", "low", "high"))
            bound = figure["at_least"] if figure["at_least"] is not None else figure["at_most"]
            bar = (
                ""
                if bound is None
                else f"{format(bound, form)} or {'more' if figure['at_least'] is not None else 'less'}"
            )
            reached = {None: "", True: "yes", False: "no"}[figure["reached"]]
            unit = figure["unit"]
            rows.append((figure["what"], figure["by"], f"{value} {unit}", f"{low} to {high}", bar, reached))
    return markdown(rows)


def trials_table() -> str:
    """What was tried from the champion on, and how that changed what is lost a decision."""
    rows: list[Sequence[object]] = [("tried", "updates", "core-minutes", "points lost a decision", "change")]
    for name, row in stages()["trials"].items():
        rows.append((name, row["updates"], f"{row['core_minutes']:.0f}", *_lost(row)))
    return markdown(rows)


def fits_table() -> str:
    """What networks learned of the champion's look-ahead, from the start."""
    rows: list[Sequence[object]] = [("network", "core-minutes", "error, points", "points lost a decision", "change")]
    for name, row in stages()["fits"].items():
        rows.append((name, f"{row['core_minutes']:.0f}", f"{row['error']:.3f}", *_lost(row)))
    return markdown(rows)


TABLES = {
    "strong_stages": stages_table,
    "strong_trials": trials_table,
    "strong_fits": fits_table,
    "strong_standing": standing_table,
}


def draw(path: Path) -> None:
    """Draws the picture of the page: what is lost a decision, by minutes of one core."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = stages()
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    points: list[dict[str, Any]] = []
    for name, colour, goes_on in (
        ("TD(lambda)", "#a8623a", False),
        ("expected TD(lambda)", "#1f6fb4", True),
        ("256 units, larger steps", "#2e8b57", False),
        ("three networks, taught by it", "#7a3fa0", True),
    ):
        points = points[-1:] * goes_on + [point for point in found["curve"] if point["stage"] == name]
        axis.errorbar(
            [point["core_minutes"] for point in points],
            [1000 * point["decisions"][0] for point in points],
            [1960 * point["decisions"][1] for point in points],
            marker="o", markersize=4, linewidth=1.5, capsize=2, color=colour, label=name,
        )  # fmt: skip
    for name, loss in found["references"].items():
        axis.axhline(1000 * loss, color="#75685a", linestyle="--", linewidth=0.8)
        axis.text(0.2, 1000 * loss, f" {name}", fontsize=8, color="#75685a", va="bottom")
    axis.set_yscale("log")
    axis.minorticks_off()
    axis.set_yticks([3, 5, 10, 20, 40], ["3", "5", "10", "20", "40"])
    axis.set_xlabel("minutes of one core")
    axis.set_title("points lost a decision, in thousandths", fontsize=10)
    axis.set_xlim(left=0)
    axis.legend(fontsize=8)
    axis.grid(color="#d9dee3", linewidth=0.7)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    figure.savefig(path, dpi=120)


def _lost(row: dict[str, Any]) -> tuple[str, str]:
    """What is lost a decision, and how much more than the champion loses."""
    change, error = row["change"]
    return f"{row['after']:.4f}", f"{change:+.4f} ± {1.96 * error:.4f}"


if __name__ == "__main__":
    draw(HERE / "images" / "backgammon-strong.png")
