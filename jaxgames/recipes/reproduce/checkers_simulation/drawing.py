"""The pictures of the report."""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs.curves import GREY, LIGHT, LINE_COLORS, PNG_DPI
from jaxgames.runs.files import replace

Paint = Callable[[Any], None]


def figure(path: Path, paint: Paint, size: tuple[float, float] = (8.0, 4.4), bare: bool = False) -> None:
    """Saves a picture of one diagram, with axes unless it is `bare`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(picture)
    axis = picture.subplots()
    for spine in axis.spines.values():
        spine.set_color(LIGHT)
        spine.set_visible(not bare and spine.spine_type in ("left", "bottom"))
    axis.tick_params(which="both", colors=GREY, labelsize=9, length=0)
    if bare:
        axis.set_xticks([])
        axis.set_yticks([])
    else:
        axis.grid(axis="y", color=LIGHT, linewidth=0.7)
        axis.set_axisbelow(True)
    paint(axis)
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=PNG_DPI)
    replace(path, buffer.getvalue())


def by_depth(rows: Sequence[Row], name: str) -> tuple[list[int], list[Row]]:
    """The rows `NAME, depth D`, and the depths."""
    found = [row for row in rows if row.what.startswith(f"{name}, depth ")]
    return [int(row.what.rpartition(" ")[2]) for row in found], found


def lines(rows: Sequence[Row], names: Mapping[str, str], label: str, path: Path) -> None:
    """Lines over the depth, with their intervals, on a logarithmic axis."""

    def paint(axis: Any) -> None:
        for (name, text), color in zip(names.items(), LINE_COLORS, strict=False):
            depths, found = by_depth(rows, name)
            values = [row.ours for row in found]
            axis.plot(depths, values, color=color, marker="o", markersize=4, linewidth=1.6)
            axis.fill_between(
                depths, [max(row.low or 0, (row.ours or 0) / 10) for row in found], [row.high for row in found],
                color=color, alpha=0.15, linewidth=0,
            )  # fmt: skip
            axis.annotate(
                text, (depths[-1], values[-1]), xytext=(8, 0), textcoords="offset points", va="center", color=color,
                fontsize=9, annotation_clip=False,
            )  # fmt: skip
        axis.set_yscale("log")
        axis.set_xticks(by_depth(rows, next(iter(names)))[0])
        axis.margins(x=0.02)
        axis.set_xlabel("depth in turns", color=GREY)
        axis.set_ylabel(label, color=GREY)

    figure(path, paint)


def times(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Figure 3.2."""
    lines(rows, {"plain": "plain"}, "milliseconds a move", path)


def speedups(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Figure 3.4."""
    names = {name: name for name in ("plain", "in parallel", "alpha-beta")}
    lines(rows, names, "milliseconds a move", path)


def cuts(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Section 3.2.1."""
    lines(rows, {"beta cuts a game": "beta", "alpha cuts a game": "alpha"}, "cuts a game", path)


def tree(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Figure 3.1: the search tree of depth 3, the start in the middle, each turn a ring."""
    from math import cos, pi, sin

    from jaxgames.envs.checkers.moves import apply_action, legal_moves
    from jaxgames.envs.checkers.notation import parse
    from jaxgames.envs.registry import make

    game = make("checkers")
    import jax

    start = parse(game.to_string(game.init(jax.random.key(0))))

    def paint(axis: Any) -> None:
        def grow(board: Any, depth: int, begin: float, end: float) -> tuple[float, float]:
            angle = (begin + end) / 2
            here = depth * cos(angle), depth * sin(angle)
            moves = legal_moves(board) if depth < 3 else []
            for number, move in enumerate(moves):
                after = board
                for action in move.actions:
                    after, _ = apply_action(after, action)
                part = (end - begin) / len(moves)
                there = grow(after, depth + 1, begin + number * part, begin + (number + 1) * part)
                axis.plot(*zip(here, there, strict=True), color=LINE_COLORS[depth], linewidth=0.7, zorder=1)
            axis.plot(*here, "o", color=LINE_COLORS[max(0, depth - 1)], markersize=(7, 5, 3, 1.5)[depth], zorder=2)
            return here

        grow(start, 0, 0.0, 2 * pi)
        axis.set_aspect("equal")
        text = "   ".join(f"{row.what}: {row.ours:,.0f}" for row in rows)
        axis.set_title(text, fontsize=9, color=GREY)

    figure(path, paint, (6.4, 6.6), bare=True)


def network(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Figure 4.2: the layers of the deep network, a unit in eight shown."""
    found = {row.what: int(row.ours or 0) for row in rows}
    hidden = found["hidden units"] // found["hidden layers"]
    sizes = [found["inputs"], *[hidden] * found["hidden layers"], found["outputs"]]
    colors = ["#e0b81b", *[LINE_COLORS[2]] * found["hidden layers"], LINE_COLORS[4]]

    def paint(axis: Any) -> None:
        shown = [size // 8 for size in sizes]
        for layer, (one, other) in enumerate(zip(shown[:-1], shown[1:], strict=True)):
            for first in range(one):
                for second in range(other):
                    axis.plot([layer, layer + 1], [first, second], color=LIGHT, linewidth=0.4, zorder=1)
        for layer, (count, color) in enumerate(zip(shown, colors, strict=True)):
            axis.plot([layer] * count, range(count), "o", color=color, markersize=9, zorder=2)
            axis.annotate(f"{sizes[layer]}", (layer, -1), ha="center", va="center", color=GREY, fontsize=9)
        axis.set_ylim(-1.6, max(shown) - 0.2)
        axis.set_title(
            "units of each layer: inputs, hidden layers, outputs (one in eight drawn)", fontsize=9, color=GREY
        )

    figure(path, paint, bare=True)


def learning(curves: Mapping[str, Sequence[Mapping[str, Any]]], published: float, path: Path) -> None:
    """Games won against random moves over epochs."""
    names = {"adamczyk-2018": "one hidden layer", "adamczyk-2018-deep": "ten hidden layers"}

    def paint(axis: Any) -> None:
        for (name, metrics), color in zip(curves.items(), LINE_COLORS, strict=False):
            found = [line for line in metrics if "win_random" in line]
            steps, won = [line["step"] for line in found], [line["win_random"] for line in found]
            axis.plot(steps, won, color=color, marker="o", markersize=3, linewidth=1.6, label=names[name])
        axis.axhline(published, color=GREY, linewidth=1.0, linestyle=(0, (5, 3)), label="published, epoch 200")
        axis.set_ylim(0, 100)
        axis.locator_params(axis="x", integer=True)
        axis.set_xlabel("epochs", color=GREY)
        axis.set_ylabel("won against random moves, %", color=GREY)
        axis.legend(frameon=False, fontsize=9, labelcolor=GREY, loc="lower right")

    figure(path, paint)


def errors(metrics: Sequence[Mapping[str, Any]], path: Path) -> None:
    """The squared error over positions learned, of moves learned and of others."""
    names = {"policy_loss": "moves learned", "validation_policy_loss": "moves not learned"}

    def paint(axis: Any) -> None:
        for (name, label), color in zip(names.items(), LINE_COLORS, strict=False):
            found = [(line["positions"] / 1e6, line[name]) for line in metrics if name in line]
            axis.plot(*zip(*found, strict=True), color=color, marker="o", markersize=3, linewidth=1.6, label=label)
        axis.set_xlabel("millions of moves learned, each time counted", color=GREY)
        axis.set_ylabel("squared error of a move", color=GREY)
        axis.legend(frameon=False, fontsize=9, labelcolor=GREY)

    figure(path, paint)


def results(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Section 6: won, drawn and lost games by depth, the published ones first."""
    shares: dict[str, dict[str, float]] = {"published": {}}
    for row in rows:
        name, _, rest = row.what.partition(" against random moves, ")
        shares["published"][name] = row.published or 0.0
        shares.setdefault(rest.split(",")[0], {})[name] = row.ours or 0.0

    def paint(axis: Any) -> None:
        for place, share in enumerate(shares.values()):
            begin = 0.0
            for name, color in (("won", LINE_COLORS[0]), ("drawn", LIGHT), ("lost", LINE_COLORS[1])):
                axis.barh(place, share[name], left=begin, color=color, height=0.7, label=name if not place else None)
                begin += share[name]
        axis.set_yticks(range(len(shares)), list(shares))
        axis.invert_yaxis()
        axis.set_xlim(90, 100)
        axis.grid(visible=False, axis="y")
        axis.set_xlabel("% of games against random moves (from 90 on)", color=GREY)
        axis.legend(frameon=False, fontsize=9, labelcolor=GREY, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))

    figure(path, paint)
