"""Figures as PNG, in one style, written atomically: learning curves from a run's metrics, and grids of line
diagrams.

matplotlib is imported only where something is drawn.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxgames.runs.files import replace

LINE_COLORS = ("#1f6fb4", "#d1495b", "#2e8b57", "#8e5ea2", "#e08e1b", "#4f5d75")
GREY, LIGHT, DARK = "#5f6b76", "#d9dee3", "#22303c"
PNG_DPI = 150


def new_figure(width: float, height: float, title: str = "") -> Any:
    """An empty figure of so many inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold", color=DARK)
    return figure


def tidy(axis: Any, title: str = "", x: str = "", y: str = "") -> None:
    """The house's look: a light grid, no frame."""
    for spine in axis.spines.values():
        spine.set_visible(False)
    axis.grid(axis="y", color=LIGHT, linewidth=0.7)
    axis.set_axisbelow(True)
    axis.tick_params(which="both", colors=GREY, labelsize=8.5, length=0)
    axis.set_title(title, loc="left", fontsize=10, color=DARK)
    axis.set_xlabel(x, color=GREY, fontsize=9)
    axis.set_ylabel(y, color=GREY, fontsize=9)


def save(figure: Any, path: Path) -> None:
    """Writes the PNG, replaced atomically. Labels are plain text: a name with $ is not a formula."""
    from matplotlib.axis import Tick
    from matplotlib.text import Text

    ticks = {text for tick in figure.findobj(Tick) for text in tick.findobj(Text)}  # powers of 10 are formulas
    for text in {*figure.findobj(Text)} - ticks:
        text.set_parse_math(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=PNG_DPI)
    replace(path, buffer.getvalue())


@dataclass(frozen=True)
class Panel:
    """One diagram: `lines` maps metric keys to labels, `references` are horizontal lines (label, value).

    If the metrics also hold `<key>_low` and `<key>_high`, the band between them is shaded.
    """

    label: str
    lines: Mapping[str, str]
    references: Sequence[tuple[str, float]] = ()
    height: float = 1.0
    from_zero: bool = False
    signed: bool = False


def default_panels(metrics: Sequence[Mapping[str, Any]], references: Sequence[tuple[str, float]] = ()) -> list[Panel]:
    """Points per game against every opponent (`ppg_<opponent>`), loss and games per second, as far as measured."""
    keys = dict.fromkeys(key for line in metrics for key in line)
    opponents = {key: "against " + key.removeprefix("ppg_") for key in keys if _is_opponent(key)}
    panels = (
        [Panel("points per game", opponents, references, height=2.6, signed=True)] if opponents or references else []
    )
    if "loss" in keys:
        panels.append(Panel("loss", {"loss": "loss"}))
    if "games_per_second" in keys:
        panels.append(Panel("games / s", {"games_per_second": "games per second"}, from_zero=True))
    return panels


def draw(
    metrics: Sequence[Mapping[str, Any]],
    path: str | Path,
    x: str = "games",
    panels: Sequence[Panel] | None = None,
    references: Sequence[tuple[str, float]] = (),
    title: str = "",
) -> None:
    """Draws `metrics` (a list of JSON objects) over their entry `x` into the PNG `path`, replaced atomically.

    Each line is drawn through the entries that have its key; null breaks it. `panels` defaults to `default_panels`
    with `references` in the first. Raises ValueError if there is nothing to draw.
    """
    panels = default_panels(metrics, references) if panels is None else list(panels)
    if not panels or not any(x in line for line in metrics):
        raise ValueError(f"nothing to draw: no metrics over {x!r} yet")
    heights = [panel.height for panel in panels]
    figure = new_figure(9.0, 1.1 + 1.45 * sum(heights))
    figure.set_layout_engine("constrained", hspace=0.06)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axis, panel in zip(axes, panels, strict=True):
        _draw_panel(axis, panel, metrics, x)
    axes[-1].set_xlabel(x.replace("_", " "), color=GREY)
    axes[-1].xaxis.set_major_formatter(_short_number)
    if title:
        figure.suptitle(title, x=0.015, ha="left", fontsize=13, fontweight="bold", color=DARK)
    figure.align_ylabels()
    save(figure, Path(path))


def _is_opponent(key: str) -> bool:
    return key.startswith("ppg_") and not key.endswith(("_low", "_high"))


def _draw_panel(axis: Any, panel: Panel, metrics: Sequence[Mapping[str, Any]], x: str) -> None:
    for spine in ("top", "right"):
        axis.spines[spine].set_visible(False)
    for spine in ("left", "bottom"):
        axis.spines[spine].set_color(LIGHT)
    axis.grid(axis="y", color=LIGHT, linewidth=0.7)
    axis.set_axisbelow(True)
    axis.tick_params(colors=GREY, labelsize=9, length=0)
    axis.set_ylabel(panel.label, color=GREY)
    axis.yaxis.set_major_formatter(_short_number)
    ends = []
    for i, (key, label) in enumerate(panel.lines.items()):
        color = LINE_COLORS[i % len(LINE_COLORS)]
        lines = [line for line in metrics if key in line and line.get(x) is not None]
        places, values, few = column(lines, x), column(lines, key), len(lines) <= 40
        axis.plot(places, values, color=color, linewidth=1.8 if few else 1.1, marker="o" if few else "", markersize=3)
        axis.fill_between(
            places, column(lines, key + "_low"), column(lines, key + "_high"), color=color, alpha=0.15, linewidth=0
        )
        known = [value for value in values if value == value]
        if known:
            name = f"{label}  " if len(panel.lines) > 1 or panel.signed else ""
            ends.append((known[-1], name + _value(known[-1], panel), color))
    for label, value in panel.references:
        axis.axhline(value, color=GREY, linewidth=1.0, linestyle=(0, (5, 3)))
        ends.append((value, f"{label}  {_value(value, panel)}", GREY))
    if panel.from_zero:
        axis.set_ylim(0, axis.get_ylim()[1] * 1.05)
    if panel.signed:
        axis.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    axis.margins(x=0.01)
    _label_ends(axis, ends, panel)


def _label_ends(axis: Any, ends: list[tuple[float, str, str]], panel: Panel) -> None:
    """Names beside the right ends of the lines, pushed apart so that none covers another."""
    low, high = axis.get_ylim()
    gap = (high - low) * 0.115 / panel.height
    ends = sorted(ends)
    places = [value for value, _, _ in ends]
    for _ in range(100):
        for i in range(len(places) - 1):
            overlap = gap - (places[i + 1] - places[i])
            if overlap > 0:
                places[i] -= overlap / 2
                places[i + 1] += overlap / 2
    for place, (_, label, color) in zip(places, ends, strict=True):
        axis.annotate(
            label, (1.0, place), xycoords=("axes fraction", "data"), xytext=(8, 0), textcoords="offset points",
            va="center", color=color, fontsize=9, annotation_clip=False,
        )  # fmt: skip


def column(lines: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    """An entry of lines of metrics, NaN where they have none."""
    return [float("nan") if line.get(key) is None else float(line[key]) for line in lines]


def _short_number(value: float, _: Any = None) -> str:
    """1500000 -> 1.5M, 20000 -> 20k; small numbers as they are."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"


def _value(value: float, panel: Panel) -> str:
    """A measured value in print: +0.302 points, a loss of 0.0214, 2,055 games."""
    if panel.signed:
        return f"{value:+.3f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


# Diagrams of lines.


class PlottedLine(NamedTuple):
    """Points joined by a line, with the band from `low` to `high`; by default its place decides the `color`."""

    x: Sequence[float] | np.ndarray
    y: Sequence[Any]
    label: str = ""
    low: Sequence[Any] | None = None
    high: Sequence[Any] | None = None
    color: str = ""
    style: str = "o-"
    width: float = 1.6
    alpha: float = 1.0


class Diagram(NamedTuple):
    """A diagram. `ticks` are the places on its x axis and their names, `span` a grey band, `limits` those of y."""

    lines: Sequence[PlottedLine]
    title: str = ""
    x: str = ""
    y: str = ""
    log_x: bool = False
    log_y: bool = False
    ticks: Mapping[Any, str] | None = None
    span: tuple[float, float] | None = None
    limits: tuple[float | None, float | None] = (None, None)
    short_x: bool = False


def draw_diagrams(
    diagrams: Sequence[Diagram],
    path: Path,
    title: str = "",
    note: str = "",
    columns: int = 1,
    size: tuple[float, float] = (8.0, 4.4),
) -> None:
    """Draws a grid of diagrams, each of so many inches, with a common y axis."""
    columns = min(columns, len(diagrams))
    rows = -(-len(diagrams) // columns)
    figure = new_figure(max(7.0, columns * size[0]), rows * size[1], title)
    axes = figure.subplots(rows, columns, squeeze=False, sharey=columns > 1).ravel()
    for axis, diagram in zip(axes, diagrams, strict=False):
        _draw_diagram(axis, diagram)
    for axis in axes[len(diagrams) :]:
        axis.set_visible(False)
    if note:
        figure.supxlabel(note, fontsize=8, color=GREY, x=0.01, ha="left")
    save(figure, path)


def _draw_diagram(axis: Any, diagram: Diagram) -> None:
    tidy(axis, diagram.title, diagram.x, diagram.y)
    if diagram.span:
        axis.axhspan(*diagram.span, color=LIGHT, alpha=0.5, linewidth=0)
    for line, next_color in zip(diagram.lines, LINE_COLORS, strict=False):
        color = line.color or next_color
        if line.low is not None:
            axis.fill_between(line.x, line.low, line.high, color=color, alpha=0.18, linewidth=0)
        axis.plot(
            line.x, line.y, line.style, color=color, markersize=3, linewidth=line.width, alpha=line.alpha,
            label=line.label or None,
        )  # fmt: skip
    if diagram.log_x:
        axis.set_xscale("log")
    if diagram.log_y:
        axis.set_yscale("log")
    if diagram.ticks:
        axis.set_xticks(list(diagram.ticks), list(diagram.ticks.values()))
        axis.minorticks_off()
    if diagram.short_x:
        axis.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:.4g}k" if value else "0")
    if diagram.limits != (None, None):
        axis.set_ylim(*diagram.limits)
    if any(line.label for line in diagram.lines):
        axis.legend(fontsize=8, frameon=False, labelcolor=GREY, loc="center left", bbox_to_anchor=(1.0, 0.5))


def canvas(size: tuple[float, float] = (8.0, 4.4), bare: bool = False) -> tuple[Any, Any]:
    """A figure and its only diagram, to draw on; with axes unless it is `bare`."""
    figure = new_figure(*size)
    axis = figure.subplots()
    tidy(axis)
    if bare:
        axis.set_axis_off()
    return figure, axis
