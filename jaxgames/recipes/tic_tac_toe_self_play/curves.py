"""The curves of `tic-tac-toe-self-play` side by side, as a PNG."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxgames.recipes.tic_tac_toe_self_play.population import PUBLISHED
from jaxgames.runs.curves import GREY, LIGHT, LINE_COLORS, PNG_DPI
from jaxgames.runs.files import replace

COLUMNS = 3
TRAINING, MEASURED = LINE_COLORS[0], LINE_COLORS[4]
TITLE = "Good results per 100 games"
EXPLAINED = (
    "good: a draw against itself, a win against random moves",
    "lines: medians over seeds, with their 10th to 90th percentile; grey band: 90 to 100, where the published chart "
    "ends",
)


KINDS = ("training", "random", "measured")
CURVES = tuple(f"{kind}{end}" for kind in KINDS for end in ("", "/low", "/high"))
"""What the metrics tell of each variant, as `<variant>/<curve>`."""


def curves(metrics: Sequence[Mapping[str, Any]], name: str) -> dict[str, list[float]]:
    """All curves of one variant, to a tenth, and the latest 100 games of one network at each of their points."""
    found = {curve: [_rounded(entry[f"{name}/{curve}"]) for entry in metrics] for curve in CURVES}
    return {"one": [entry[f"{name}/one"][-1:] for entry in metrics], **found}


def _rounded(value: float | None) -> float | None:
    """To a tenth; None, which JSON has for NaN, stays."""
    return None if value is None else round(value, 1)


def metrics_of(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of metrics that are needed to draw the curves in the result of a training."""
    lines: list[dict[str, Any]] = [{"games": games} for games in result["at_games"]]
    for name, variant in result["variants"].items():
        for curve, values in variant["curve"].items():
            for line, value in zip(lines, values, strict=True):
                line[f"{name}/{curve}"] = value
    return lines


def draw(metrics: Sequence[Mapping[str, Any]], labels: Mapping[str, str], path: Path) -> None:
    """Draws a diagram for each variant, named by `labels`, into the PNG `path`, replaced atomically."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(COLUMNS, len(labels))
    rows = -(-len(labels) // columns)
    layout = ConstrainedLayoutEngine(hspace=0.08, wspace=0.04, rect=(0, 0, 1, 1 - 0.9 / (1.3 + 2.5 * rows)))
    figure = Figure(figsize=(max(7.5, 3.4 * columns), 1.3 + 2.5 * rows), layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axis, (name, label) in zip(axes, labels.items(), strict=False):
        _draw_variant(axis, name, label, metrics)
    for axis in axes[len(labels) :]:
        axis.set_visible(False)
    for axis in axes[max(0, len(labels) - columns) : len(labels)]:
        axis.set_xlabel("games of each network", color=GREY, fontsize=9)
        axis.tick_params(labelbottom=True)
    _head(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=PNG_DPI)
    replace(path, buffer.getvalue())


def _draw_variant(axis: Any, name: str, label: str, metrics: Sequence[Mapping[str, Any]]) -> None:
    for spine in axis.spines.values():
        spine.set_visible(False)
    axis.grid(axis="y", color=LIGHT, linewidth=0.7)
    axis.set_axisbelow(True)
    axis.tick_params(colors=GREY, labelsize=8.5, length=0)
    axis.set_title(label, loc="left", fontsize=10, color="#22303c")
    axis.axhspan(*PUBLISHED, color=LIGHT, alpha=0.55, linewidth=0, zorder=0)
    games = [entry["games"] for entry in metrics]
    one = [float(entry[f"{name}/one"][-1]) for entry in metrics]
    axis.plot(games, one, ".", color=TRAINING, alpha=0.35, markersize=2.5)
    for kind, color in (("measured", MEASURED), ("training", TRAINING)):
        low, high = (_column(metrics, f"{name}/{kind}/{end}") for end in ("low", "high"))
        axis.fill_between(games, low, high, color=color, alpha=0.2, linewidth=0)
        axis.plot(games, _column(metrics, f"{name}/{kind}"), color=color, linewidth=1.5)
    axis.set_ylim(0, 101.5)
    axis.set_xlim(left=0)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:.4g}k" if value else "0")
    axis.xaxis.set_major_locator(_few_places())


def _head(figure: Any) -> None:
    """The title, and what the colors mean."""
    height = figure.get_figheight()
    place = {"x": 0.015, "ha": "left", "va": "top"}
    figure.text(**place, y=1 - 0.12 / height, s=TITLE, fontsize=13, fontweight="bold", color="#22303c")
    figure.text(**place, y=1 - 0.42 / height, s="\n".join(EXPLAINED), fontsize=8, color=GREY, linespacing=1.4)
    for x, color, text in (
        (0.36, TRAINING, "\u2501 in training (dots: one network's latest 100 games)"),
        (0.75, MEASURED, "\u2501 in all three kinds of games"),
    ):
        figure.text(x, 1 - 0.16 / height, text, ha="left", va="top", fontsize=8.5, color=color)


def _few_places() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)


def _column(metrics: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    return [float("nan") if entry[key] is None else float(entry[key]) for entry in metrics]
