"""One look for all figures, written at once or not at all. matplotlib is imported only where something is drawn."""

import io
from pathlib import Path
from typing import Any

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
    """Writes the PNG, replaced atomically."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=PNG_DPI)
    replace(path, buffer.getvalue())
