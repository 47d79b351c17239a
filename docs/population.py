"""The tables and pictures of the study on populations, and of trainings in the same time, made of their results."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown_table import markdown

HERE = Path(__file__).parent
FILE, EQUAL_TIME = HERE / "studies" / "population.json", HERE / "studies" / "equal_time.json"
T_OF_FOUR = 2.776
"""Student's t for 95 % with four degrees of freedom: five seeds."""
NORMAL = 1.96
"""Of the normal distribution, for 95 %."""
OVER = "(95 %, over positions: the networks are those of these trainings)"
COLOURS = {2: "#1f6fb4", 8: "#2e8b57", 32: "#a8623a"}
TITLES = {"tic_tac_toe": "Tic-tac-toe", "connect_four": "Connect Four", "checkers": "Checkers"}
METHODS = {"alphazero": "AlphaZero", "low_rank": "`LowRankES`", "plain": "`OpenES`"}
SEARCHES = {"gumbel": "Gumbel", "recursive": "`recursive`", "one_round": "`one_round`"}
"""Of AlphaZero, at equal time."""
LATE = 1.05
"""Points are compared that are at most so much later than the others."""
MOVES = "perfect moves, %", "good moves, %"
JUDGED: dict[str, tuple[str, Callable[[dict], float]]] = {
    "tic_tac_toe": ("lines of play lost, %", lambda row: 100 * row["lost"] / row["lines"]),
    "connect_four": ("good moves in solved positions, %", lambda row: 100 * row["good"]),
    "checkers": ("good moves in endings, %", lambda row: 100 * row["good"]),
}
Row = dict[str, Any]


def rows_of(part: str, game: str) -> list[Row]:
    """The evolutions of a part of the study."""
    return [row for row in json.loads(FILE.read_text("utf-8")).get(part, []) if row["game"] == game]


def populations_table(game: str, part: str = "populations") -> str:
    """By population and games a candidate: generations, points against random moves, and the judge's figure."""
    rows: list[Sequence[object]] = [
        ("candidates", "games of each", "generations", "step size", "points against random moves", JUDGED[game][0])
    ]
    for cell in _cells(rows_of(part, game)):
        first = cell[0]
        won = _interval([row["won"] for row in cell], "+.3f")
        of_judge = _interval([JUDGED[game][1](row) for row in cell], ".1f")
        size = f"{first['population']:,}", first["games"], f"{first['generations']:,}", f"{first['step_size']:g}"
        rows.append((*size, won, of_judge))
    for row in rows_of("chance", game):
        rows.append(("random moves", "", "", "", "", f"{JUDGED[game][1](row):.1f}"))
    return markdown(rows)


def memory_table() -> str:
    """Who was met, and how the last network does against its 31 predecessors."""
    rows: list[Sequence[object]] = [
        ("game", "opponents", "last against former, points", "of 31 former ones it loses to", "judged: % lost or good")
    ]
    for game, (_, figure) in JUDGED.items():
        for kind in dict.fromkeys(row["opponents"] for row in rows_of("memory", game)):
            cell = [row for row in rows_of("memory", game) if row["opponents"] == kind]
            against = _interval([row["last_against_former"] for row in cell], "+.2f")
            lost = _interval([row["lost_to_former"] for row in cell], ".1f")
            judged = _interval([figure(row) for row in cell], ".1f")
            rows.append((TITLES[game], kind, against, lost, judged))
    return markdown(rows)


def equal_time_table() -> str:
    """What each way to learn made of the time that all of them had: the means of its trainings."""
    rows: list[Sequence[object]] = [
        ("by", "processor", "minutes of a core", "games", "points against random moves", *MOVES)
    ]
    least = min(one["points"][-1]["seconds"] for method in METHODS for one in trainings(method))
    for method, title in METHODS.items():
        found = trainings(method)
        ends = [[point for point in one["points"] if point["seconds"] <= LATE * least][-1] for one in found]
        mean = {name: statistics.mean(end[name] for end in ends) for name in ends[0]}
        won = f"{mean['won']:+.3f}" if "won" in mean else ""
        moves = (f"{100 * mean[name]:.1f}" for name in ("perfect", "good"))
        minutes, processor = f"{mean['seconds'] / 60:.0f}", found[0]["machine"]["cpu"]
        rows.append((title, processor, minutes, f"{mean['games']:,.0f}", won, *moves))
    return markdown(rows)


def searches_table() -> str:
    """What AlphaZero learned by each search in the same time: its trainings, and their mean."""
    rows: list[Sequence[object]] = [("search", "seed", "processor", "minutes of a core", "updates", "games", *MOVES)]
    for method, title in SEARCHES.items():
        found = trainings(method)
        ends = [one["points"][-1] for one in found]
        for one, end in zip(found, ends, strict=True):
            counts = f"{end['seconds'] / 60:.0f}", f"{end['updates']:,}", f"{end['games']:,}"
            moves = f"{100 * end['perfect']:.1f}", f"{100 * end['good']:.1f}"
            rows.append((title, one["seed"], one["machine"]["cpu"], *counts, *moves))
        means = (f"{100 * statistics.mean(end[name] for end in ends):.1f}" for name in ("perfect", "good"))
        rows.append((title, "mean", "", "", "", "", *means))
    return markdown(rows)


def trainings(method: str) -> list[Row]:
    """The trainings of a method, one for each seed."""
    return json.loads(EQUAL_TIME.read_text("utf-8"))[method]


def more_good_moves(method: str, other: str) -> str:
    """How many more good moves of 100 one method makes than the other, in the same positions."""
    ours, others = ([sum(map(int, of)) / len(of) for of in _by_position(name)] for name in (method, other))
    more = [100.0 * (mine - its) for mine, its in zip(ours, others, strict=True)]
    width = NORMAL * statistics.stdev(more) / len(more) ** 0.5
    title, beside = ((METHODS | SEARCHES)[name] for name in (method, other))
    return f"More good moves by {title} than by {beside}, of 100: {statistics.mean(more):+.1f} ± {width:.1f} {OVER}.\n"


def _by_position(method: str) -> list[tuple[str, ...]]:
    """For each position whether the move is good, by each training."""
    return list(zip(*(one["good"] for one in trainings(method)), strict=True))


TABLES: dict[str, Callable[[], str]] = {
    "population_tic_tac_toe": lambda: populations_table("tic_tac_toe"),
    "population_connect_four": lambda: populations_table("connect_four"),
    "population_checkers": lambda: populations_table("checkers"),
    "population_million": lambda: populations_table("tic_tac_toe", "million"),
    "population_memory": memory_table,
    "alphazero_searches": lambda: "\n".join(
        (searches_table(), more_good_moves("one_round", "gumbel"), more_good_moves("recursive", "gumbel"))
    ),
    "population_equal_time": lambda: f"{equal_time_table()}\n{more_good_moves('low_rank', 'plain')}",
}


def draw(path: Path) -> None:
    """Draws the first picture of the page: what exact judges say, by population."""
    figure, axes = _figure(len(JUDGED))
    for axis, (game, (title, of_row)) in zip(axes, JUDGED.items(), strict=True):
        for games, colour in COLOURS.items():
            cells = [cell for cell in _cells(rows_of("populations", game)) if cell[0]["games"] == games]
            figures = [_mean([of_row(row) for row in cell]) for cell in cells]
            sizes = [cell[0]["population"] for cell in cells]
            means, widths = [mean for mean, _ in figures], [width for _, width in figures]
            axis.errorbar(sizes, means, widths, color=colour, marker="o", markersize=4, linewidth=1.2, capsize=2)
            axis.plot([], [], color=colour, label=f"{games} games a candidate")
        for row in rows_of("chance", game):
            axis.axhline(of_row(row), color="#5f6b76", linestyle="--", linewidth=1)
        axis.set_xscale("log", base=2)
        axis.set_title(f"{TITLES[game]}: {title}", fontsize=9)
        axis.set_xlabel("candidates of a generation")
    axes[-1].legend(fontsize=8)
    figure.savefig(path, dpi=120)


def draw_minutes(methods: Mapping[str, str], path: Path) -> None:
    """Draws what trainings make of the same time: the second picture of the page, and that of AlphaZero's searches."""
    figure, (axis,) = _figure(1)
    for (method, title), colour in zip(methods.items(), COLOURS.values(), strict=True):
        for number, training in enumerate(trainings(method)):
            minutes = [point["seconds"] / 60 for point in training["points"]]
            good = [100 * point["good"] for point in training["points"]]
            axis.plot(minutes, good, color=colour, linewidth=1.4, label=None if number else title.strip("`"))
    axis.set_title("Connect Four: good moves in solved positions, %", fontsize=9)
    axis.set_xlabel("minutes of one core")
    axis.legend(fontsize=8)
    figure.savefig(path, dpi=120)


def _figure(count: int) -> tuple[Any, Sequence[Any]]:
    """A figure and its axes, side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(6, 4 * count), 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, count, squeeze=False)[0]
    for axis in axes:
        axis.grid(color="#d9dee3", linewidth=0.7)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return figure, axes


def _cells(rows: list[Row]) -> list[list[Row]]:
    """The seeds of each population and number of games."""
    found: dict[tuple[int, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row["games"], row["population"])):
        found.setdefault((row["population"], row["games"]), []).append(row)
    return list(found.values())


def _mean(figures: Sequence[float]) -> tuple[float, float]:
    """The mean over seeds, and half the width of its 95 % interval."""
    return statistics.mean(figures), T_OF_FOUR * statistics.stdev(figures) / len(figures) ** 0.5


def _interval(figures: Sequence[float], form: str) -> str:
    mean, width = _mean(figures)
    return f"{mean:{form}} ± {width:{form.removeprefix('+')}}"


if __name__ == "__main__":
    draw(HERE / "images" / "population.png")
    draw_minutes(METHODS, HERE / "images" / "equal-time.png")
    draw_minutes(SEARCHES, HERE / "images" / "alphazero-searches.png")
