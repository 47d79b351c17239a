"""A picture of what an evolution finds besides its champion: the best of each cell, or fronts of several objectives."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from jaxgames.runs.figures import GREY, LIGHT, LINE_COLORS, new_figure, save, tidy

COLORS = "viridis"
"""From low scores to high ones; it has neither the grey of empty cells nor white."""
FIRST, LATER = LINE_COLORS[0], (GREY, LIGHT)
"""The first front, and those after it, from the second to the last."""


class Archive(NamedTuple):
    """The best candidate of each cell of a grid over one or two descriptors."""

    score: str
    """What the scores count."""
    descriptors: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    """Where the cells begin and end, a number for each descriptor."""
    scores: Float[np.ndarray, "*cells"]
    """A dimension for each descriptor; minus infinity in cells that are empty."""


class Fronts(NamedTuple):
    """Candidates with several scores, and the front of each, 0 for those that no other one dominates."""

    objectives: tuple[str, ...]
    """What the scores measure; a minus in front means that less is better, and then the scores are negative."""
    scores: Float[np.ndarray, "n objectives"]
    ranks: Int[np.ndarray, " n"]


def draw(archive: Archive | Fronts, path: str | Path, title: str) -> None:
    """Draws an archive over its descriptors, or fronts over their first two objectives, into the PNG `path`, replaced
    atomically.

    Cells without a candidate are grey. Candidates whose scores are not finite are left out.
    """
    figure = new_figure(7.5, 5.2, title)
    axis = figure.subplots()
    if isinstance(archive, Fronts):
        _draw_fronts(figure, axis, archive)
    elif len(archive.descriptors) == 1:
        _draw_bars(axis, archive)
    else:
        _draw_cells(figure, axis, archive)
    save(figure, Path(path))


def _draw_cells(figure: Any, axis: Any, archive: Archive) -> None:
    scores = _tidy_cells(axis, archive, _range(archive, 1))
    ends = archive.low[0], archive.high[0], archive.low[1], archive.high[1]
    cells = axis.imshow(scores.T, COLORS, origin="lower", extent=ends, aspect="auto", interpolation="nearest")
    scale = figure.colorbar(cells)
    scale.outline.set_visible(False)
    tidy(scale.ax, y=archive.score)


def _draw_bars(axis: Any, archive: Archive) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    scores = _tidy_cells(axis, archive, archive.score)
    edges = np.linspace(archive.low[0], archive.high[0], len(scores) + 1)
    known, places, width = np.isfinite(scores), (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    colors = colormaps[COLORS](Normalize()(scores[known]))
    # White behind bars, from edge to edge: so a score of 0 does not look like an empty cell.
    axis.bar(places[known], 1, width, color="white", transform=axis.get_xaxis_transform(), zorder=0)
    axis.bar(places[known], scores[known], width, color=colors, edgecolor="white", linewidth=0.5)
    axis.axhline(0, color=GREY, linewidth=0.8)
    axis.set_xlim(edges[0], edges[-1])
    low, high = np.min(scores[known], initial=0.0), np.max(scores[known], initial=0.0)
    axis.set_ylim(1.05 * low, 1.05 * high if high > low else 1.0)


def _tidy_cells(axis: Any, archive: Archive, y: str) -> Float[np.ndarray, "*cells"]:
    """The look that both kinds of archives share; the scores, NaN in cells that are empty."""
    scores = np.where(np.isfinite(archive.scores), archive.scores, np.nan)
    filled = int(np.sum(np.isfinite(scores)))
    tidy(axis, f"{filled:,} of {scores.size:,} cells filled; grey: empty", _range(archive, 0), y)
    axis.grid(visible=False)
    axis.set_facecolor(LIGHT)
    return scores


def _range(archive: Archive, axis: int) -> str:
    return f"{archive.descriptors[axis]}, {archive.low[axis]:g} to {archive.high[axis]:g}"


def _draw_fronts(figure: Any, axis: Any, fronts: Fronts) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    labels, signs = zip(*map(_direction, fronts.objectives[:2]), strict=True)
    known = np.all(np.isfinite(fronts.scores), axis=1)
    points, ranks = fronts.scores[known, :2] * np.array(signs, np.float32), fronts.ranks[known]
    first, later = points[ranks == 0], points[ranks > 0]
    tidy(axis, f"{len(first):,} of {len(points):,} networks in the first front", *labels)
    axis.grid(axis="x", color=LIGHT, linewidth=0.7)
    colors = LinearSegmentedColormap.from_list("later", LATER)
    axis.scatter(*later.T, s=16, c=ranks[ranks > 0], cmap=colors, label=f"later fronts  {len(later):,}")
    whole = len(fronts.objectives) == 2  # with more objectives a front is not a line
    axis.plot(
        *first[np.lexsort(first.T)].T, "o-" if whole else "o", color=FIRST, linewidth=1.1, markersize=5,
        label=f"first front  {len(first):,}",
    )  # fmt: skip
    axis.legend(fontsize=8, frameon=False, labelcolor=GREY, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    if not whole:
        more = ", ".join(fronts.objectives[2:])
        note = f"the first two of {len(fronts.objectives)} objectives; fronts count {more}, too"
        figure.supxlabel(note, fontsize=8, color=GREY, x=0.01, ha="left")


def _direction(objective: str) -> tuple[str, float]:
    """An objective as an axis is named, and the sign of its scores there."""
    less = objective.startswith("-")
    name = objective.removeprefix("-")
    return (f"{name} (less is better)", -1.0) if less else (f"{name} (more is better)", 1.0)
