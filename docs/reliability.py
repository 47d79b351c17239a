"""The tables of the page on how reliable AlphaZero is, made of the results beside it, and its picture."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from markdown_table import markdown

HERE = Path(__file__).parent
FILE = HERE / "algorithms" / "alphazero-reliability.json"
KEPT = 0.4
"""The share of the points, the last ones, by which it is judged whether strength is kept."""
PLAYERS = {"policy": "policy alone", "puct": "PUCT, 64 simulations", "gumbel": "Gumbel, 64 simulations"}
COLOURS = {"policy": "#a8623a", "puct": "#2e8b57", "gumbel": "#1f6fb4"}

MATCHES = {
    "checkers": ("openspiel:mcts:100", "Checkers: points a game against OpenSpiel's search", (-1, 1)),
    "backgammon": ("gnubg:0", "Backgammon: points a game against gnubg", (-3, 1)),
}

Points = list[dict[str, Any]]


def trainings(game: str) -> dict[str, Points]:
    """The points of each training of a game, by its seed."""
    return json.loads(FILE.read_text("utf-8"))["games"].get(game, {})


def connect_four_table() -> str:
    """Mean and least of the last points."""
    rows: list[Sequence[object]] = [
        ("seed", "games", "core-minutes", "player", "perfect moves, %", "good moves, %", "wins converted, %")
    ]
    for seed, points in trainings("connect_four").items():
        for name, title in PLAYERS.items():
            figures = (_last(points, f"{name}_{what}") for what in ("perfect", "good", "converted"))
            cells = (f"{mean:.1f} ({least:.1f})" for mean, least, _ in figures)
            rows.append((seed, *_length(points), title, *cells))
    return markdown(rows)


def tic_tac_toe_table() -> str:
    """What is lost at the end, and when it was the last time that anything was lost."""
    rows: list[Sequence[object]] = [
        ("seed", "games", "core-minutes", "lines of play", "lost at the end", "lost in the last 20 points, at most")
    ]
    for seed, points in trainings("tic_tac_toe").items():
        _, _, most = _last(points, "policy_lost")
        rows.append((seed, *_length(points), points[-1]["policy_lines"], points[-1]["policy_lost"], most))
    return markdown(rows)


def matches_table() -> str:
    """Points a game against programs of others, at the end and by the mean of the last points."""
    rows: list[Sequence[object]] = [
        ("game", "seed", "games", "core-minutes", "player", "against", "at the end", "last 4 points: mean (least)")
    ]
    for game in MATCHES:
        for seed, points in trainings(game).items():
            for key in (key for key in points[-1] if f"{key} low" in points[-1]):
                name, against = key.split()
                low, high = points[-1][f"{key} low"], points[-1][f"{key} high"]
                end = f"{points[-1][key]:+.2f} ({low:+.2f} to {high:+.2f})"
                mean, least, _ = _last(points, key)
                cells = (PLAYERS[name], f"`{against}`", end, f"{mean:+.2f} ({least:+.2f})")
                rows.append((game.capitalize(), seed, *_length(points), *cells))
    return markdown(rows)


TABLES: dict[str, Callable[[], str]] = {
    "reliability_connect_four": connect_four_table,
    "reliability_tic_tac_toe": tic_tac_toe_table,
    "reliability_matches": matches_table,
}


def draw(path: Path) -> None:
    """Draws the picture of the page: strength by updates, a panel for each game and a line for each training."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    (four, three), below = figure.subplots(2, 2)
    for number, points in enumerate(trainings("connect_four").values()):
        for name in PLAYERS:
            _line(four, points, f"{name}_good", name, number)
    four.axhline(99, color="#75685a", linestyle="--", linewidth=0.8)
    four.set_title("Connect Four: good moves in solved positions, %", fontsize=10)
    for points in trainings("tic_tac_toe").values():
        _line(three, points, "policy_lost", "policy", 1)
    three.set_title("Tic-tac-toe: lines of play lost", fontsize=10)
    for axis, (game, (opponent, title, limits)) in zip(below, MATCHES.items(), strict=True):
        for number, points in enumerate(trainings(game).values()):
            for name in ("policy", "gumbel"):
                _line(axis, points, f"{name} {opponent}", name, number)
        axis.set_title(title, fontsize=10)
        axis.set_ylim(limits)
        axis.axhline(0, color="#75685a", linestyle="--", linewidth=0.8)
    for axis in (four, three, *below):
        if axis is not three:
            axis.legend(fontsize=8)
        axis.set_xlabel("updates")
        axis.set_xlim(left=0)
        axis.grid(color="#d9dee3", linewidth=0.7)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    figure.savefig(path, dpi=120)


def _line(axis: Any, points: Points, key: str, player: str, number: int) -> None:
    """The curve of one training where it was measured; the first one of a player names it."""
    found = [(point["step"], point[key]) for point in points if key in point]
    label = None if number else PLAYERS[player]
    axis.plot(*zip(*found, strict=True), color=COLOURS[player], linewidth=1.2, marker=".", markersize=3, label=label)


def _length(points: Points) -> tuple[str, str]:
    """How many games a training had, and how long one core was busy with it, without what measures it."""
    return f"{points[-1]['games']:,}", f"{sum(point['cpu_seconds'] for point in points) / 60:.0f}"


def _last(points: Points, key: str) -> tuple[float, float, float]:
    """Mean, least and most of the last points."""
    found = [point[key] for point in points[-round(KEPT * len(points)) :]]
    return sum(found) / len(found), min(found), max(found)


if __name__ == "__main__":
    draw(HERE / "images" / "alphazero-reliability.png")
