"""Pictures of the tables: published figures and ours over the settings."""

import itertools
from collections.abc import Sequence
from pathlib import Path

from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study


def draw_lines(study: Study, rows: Sequence[Row], path: Path) -> None:
    """A panel for each row of a table: percent of the points by setting."""
    _draw([(label, {"": tuple(group)}) for label, group in itertools.groupby(rows, _label)], "% of the points", path)


def draw_curves(study: Study, rows: Sequence[Row], path: Path) -> None:
    """A panel for each player: percent of perfect and of good moves by iterations."""
    panels = []
    for label, group in itertools.groupby(rows, _label):
        found = tuple(group)
        panels.append((label, {kind: tuple(row for row in found if kind in row.what) for kind in ("perfect", "good")}))
    _draw(panels, "% of the moves", path)


def _label(row: Row) -> str:
    return (
        row.what.rpartition(", ")[0].removesuffix(",") if "iterations" not in row.what else row.what.partition(",")[0]
    )


def _setting(row: Row) -> str:
    parts = row.what.split(", ")[1:]
    part = next((part for part in parts if "iterations" in part), parts[-1] if "Cp" in parts[-1] else "")
    return part.removeprefix("Cp ").removeprefix("time of ").partition(" ")[0]


def _draw(panels: Sequence[tuple[str, dict[str, tuple[Row, ...]]]], unit: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = min(4, len(panels))
    down = -(-len(panels) // across)
    figure, axes = pyplot.subplots(down, across, figsize=(3.2 * across, 2.6 * down), sharey=True, squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, (label, lines) in zip(axes.flat, panels, strict=False):
        for number, (kind, rows) in enumerate(lines.items()):
            x = range(len(rows))
            theirs = [row.published for row in rows]
            done = [(place, row) for place, row in zip(x, rows, strict=True) if row.ours is not None]
            ours = [row.ours or 0.0 for _, row in done]
            low, high = ([getattr(row, end) for _, row in done] for end in ("low", "high"))
            spread = [[x - y for x, y in zip(ours, low, strict=True)], [y - x for x, y in zip(ours, high, strict=True)]]
            style = ("-", "--")[number]
            axis.plot(x, theirs, style, color="0.5", marker="o", markersize=3, label=f"published {kind}".strip())
            axis.errorbar(
                [place for place, _ in done],
                ours,
                spread,
                fmt=style,
                color="C0",
                capsize=2,
                label=f"ours {kind}".strip(),
            )
            axis.set_xticks(list(x), [_setting(row) for row in rows], fontsize=7)
        axis.set_title(label, fontsize=9)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel(unit)
    axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
