"""Figures of the reproductions: one look for all of them, written at once or not at all."""

import io
from pathlib import Path
from typing import Any

from jaxgames.runs.curves import GREY, LIGHT, PNG_DPI
from jaxgames.runs.files import replace

DARK = "#22303c"


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
    axis.tick_params(colors=GREY, labelsize=8.5, length=0)
    axis.set_title(title, loc="left", fontsize=10, color=DARK)
    axis.set_xlabel(x, color=GREY, fontsize=9)
    axis.set_ylabel(y, color=GREY, fontsize=9)


def save(figure: Any, path: Path) -> None:
    """Writes the PNG, replaced atomically."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=PNG_DPI)
    replace(path, buffer.getvalue())
