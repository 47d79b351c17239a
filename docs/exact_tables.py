"""The tables of the page on what is known exactly, made of the results beside it."""

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from markdown_table import markdown

RESULTS = Path(__file__).parent / "algorithms" / "tables.json"


def results() -> dict[str, Any]:
    """What was measured."""
    return json.loads(RESULTS.read_text("utf-8"))


def solver_table() -> str:
    """Published positions of Connect Four, solved."""
    rows: list[Sequence[object]] = [
        ("positions", "number", "what", "wrong", "nodes each", "seconds in all", "ms each", "nodes/s")
    ]
    for row in results()["solver"]["rows"]:
        each = (row["nodes"] / row["count"], row["seconds"], 1000 * row["seconds"] / row["count"])
        what = "every column" if row["what"] == "moves" else "score"
        name = f"`{row['positions']}`" if "_" in row["positions"] else row["positions"]
        speed = f"{row['nodes'] / row['seconds'] / 1e6:.1f} M"
        rows.append((name, f"{row['count']:,}", what, row["wrong"], *(f"{number:,.3g}" for number in each), speed))
    return markdown(rows)


def boards_table() -> str:
    """All positions of small boards."""
    rows: list[Sequence[object]] = [
        ("rows x columns", "positions", "won", "drawn", "lost", "with best play", "seconds", "memory, GiB")
    ]
    for row in results()["boards"]["rows"]:
        start = ("lost", "drawn", "won")[row["start"] + 1]
        counts = (f"{row[name]:,}" for name in ("positions", "wins", "draws", "losses"))
        size, memory = f"{row['rows']} x {row['cols']}", f"{row['memory_gib']:.1f}"
        rows.append((size, *counts, start, f"{row['seconds']:.1f}", memory))
    return markdown(rows)


def starts_table() -> str:
    """Empty boards by the solver."""
    rows: list[Sequence[object]] = [("rows x columns", "score", "nodes", "seconds")]
    for row in results()["starts"]["rows"]:
        rows.append((f"{row['rows']} x {row['cols']}", row["score"], f"{row['nodes']:,}", f"{row['seconds']:.1f}"))
    return markdown(rows)


def checkers_table() -> str:
    """Endings of checkers, and the published numbers of positions."""
    rows: list[Sequence[object]] = [
        ("pieces", "positions", "published", "won", "drawn", "lost", "longest, turns", "seconds", "memory, GiB", "MB")
    ]
    for row in results()["checkers"]["rows"]:
        counts = (f"{row[name]:,}" for name in ("positions", "published_of_both_sides", "wins", "draws", "losses"))
        costs = f"{row['seconds']:.1f}", f"{row['memory_gib']:.1f}", f"{row['bytes'] / 1e6:,.1f}"
        rows.append((row["pieces"], *counts, row["longest"], *costs))
    return markdown(rows)


def bearoff_table() -> str:
    """Bear-offs."""
    rows: list[Sequence[object]] = [("sides", "checkers", "points", "positions", "seconds", "memory, GiB")]
    for row in results()["bearoff"]["rows"]:
        sizes = (row["sides"], row["checkers"], row["points"], f"{row['positions']:,}")
        rows.append((*sizes, f"{row['seconds']:.1f}", f"{row['memory_gib']:.1f}"))
    return markdown(rows)


def against_table() -> str:
    """What a table adds to alpha-beta in checkers."""
    found = results()["against"]
    rows = [("player", "against", "table, pieces", "games", "won", "drawn", "lost", "points a game")]
    for match in found["matches"]:
        shares = (f"{100 * match[name]:.1f} %" for name in ("win_rate", "draw_rate", "loss_rate"))
        margin = (match["ppg_high"] - match["ppg_low"]) / 2
        names, points = (f"`{match['a']}`", f"`{match['b']}`"), f"{match['ppg']:+.3f} ± {margin:.3f}"
        rows.append((*names, found["pieces"], f"{match['games']:,}", *shares, points))
    return markdown(rows)


def _if_measured(name: str, table: Callable[[], str]) -> str:
    return table() if name in results() else "Not measured yet.\n"


TABLES = {
    f"exact_{name}": functools.partial(_if_measured, name, function)
    for name, function in (
        ("solver", solver_table),
        ("boards", boards_table),
        ("starts", starts_table),
        ("checkers", checkers_table),
        ("bearoff", bearoff_table),
        ("against", against_table),
    )
}
