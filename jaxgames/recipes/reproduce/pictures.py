"""Figures of the reproductions: diagrams of lines, beside and below each other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxgames.runs.figures import GREY, LIGHT, LINE_COLORS, new_figure, save, tidy


class PlottedLine(NamedTuple):
    """Points joined by a line, with the band from `low` to `high`; `color` is that of its place if none is given."""

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


def draw(
    diagrams: Sequence[Diagram],
    path: Path,
    title: str = "",
    note: str = "",
    columns: int = 1,
    size: tuple[float, float] = (8.0, 4.4),
) -> None:
    """Draws diagrams beside and below each other, each of so many inches, with a common y axis."""
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
    """A figure and its only diagram, to be drawn on by hand; with axes unless it is `bare`."""
    figure = new_figure(*size)
    axis = figure.subplots()
    tidy(axis)
    if bare:
        axis.set_axis_off()
    return figure, axis
