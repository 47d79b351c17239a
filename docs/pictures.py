"""Pictures that the docs take from the code and from the saved results of the benchmarks, as SVG."""

import math
import re
from collections.abc import Sequence
from typing import Any

import jaxgames

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
INK, FAINT, GRID, PAPER = "#2b2118", "#75685a", "#e4dacb", "#fbf8f3"
BLUE, BROWN, GREEN = "#1f6fb4", "#a8623a", "#5b8c3a"
OPENING = "4HPwATDgc/ABMA:31"
LINES = {"wide": (BLUE, "80 hidden units"), "six": (GREEN, "40, six outputs"), "fast": (BROWN, "40 hidden units")}
"""Settings of td-gammon in the picture of learning."""
THESIS = 0.26


def overview(strength: dict[str, Any]) -> str:
    """A backgammon board beside the learning curves of the players that are trained for it."""
    board = jaxgames.make("backgammon").from_string(OPENING).to_svg()
    box = re.search(r'viewBox="([^"]*)"', board)
    assert box is not None
    inner = re.sub(r"^<svg[^>]*>", "", board)
    placed = f'<svg x="0" y="0" width="471" height="400" viewBox="{box[1]}" font-family="{FONT}">{inner}'
    return _svg(960, 400, "A backgammon board, and how players learn the game", placed + _learning(strength, 480, 400))


def _learning(strength: dict[str, Any], left: int, height: int) -> str:
    """Points per game against pubeval over minutes of training."""
    x0, x1, y0, y1 = left + 50, left + 350, height - 52, 62
    low, high = 0.0, 0.5
    most = max([17.0, *(minutes for curve in curves(strength).values() for minutes, _ in curve)])

    def x(minutes):
        return x0 + (x1 - x0) * minutes / most

    def y(points):
        return y0 + (y1 - y0) * (points - low) / (high - low)

    parts = [_text(x0, 30, "Backgammon learned from its own games", 17, INK, weight=600)]
    parts.append(_text(x0, 48, "points a game against pubeval, by minutes of training on one core", 12, FAINT))
    for points in (0, 0.1, 0.2, 0.3, 0.4, 0.5):
        parts.append(_line(x0, y(points), x1, y(points), GRID))
        parts.append(_text(x0 - 8, y(points) + 4, f"{points:+.1f}" if points else "0", 12, FAINT, "end"))
    for minutes in range(0, int(most) + 1, 5):
        parts.append(_text(x(minutes), y0 + 20, str(minutes), 12, FAINT, "middle"))
    parts.append(_text((x0 + x1) / 2, y0 + 40, "minutes", 12, FAINT, "middle"))
    parts.append(_line(x0, y(THESIS), x1, y(THESIS), FAINT, "5 4"))
    parts.append(_text(x1 + 8, y(THESIS) + 4, "a thesis, 2007", 12, FAINT))
    ends: dict[str, float] = {}
    for run, curve in curves(strength).items():
        setting = next(name for name in LINES if f"td-gammon {name}," in run)
        color = LINES[setting][0]
        points = " ".join(f"{x(minutes):.1f},{y(points):.1f}" for minutes, points in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(m):.1f}" cy="{y(p):.1f}" r="3" fill="{color}"/>' for m, p in curve]
        ends[setting] = max(ends.get(setting, -9.0), curve[-1][1])
    places = _apart([y(points) for points in ends.values()], 16)
    for (setting, _), place in zip(ends.items(), places, strict=True):
        parts.append(_text(x1 + 8, place + 4, LINES[setting][1], 12, LINES[setting][0]))
    return "".join(parts)


def curves(strength: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Minutes of training and points per game of each run, as they were measured during the training."""
    found: dict[str, list[tuple[float, float]]] = {}
    for figure in strength["figures"]:
        run, measured, _ = figure["what"].partition(": as measured in training")
        minutes = re.search(r"([\d.]+) minutes", figure["note"])
        if measured and minutes:
            found.setdefault(run, []).append((float(minutes[1]), figure["value"]))
    return {run: sorted(set(curve)) for run, curve in found.items()}


def speed(rows: Sequence[tuple[str, float, str]]) -> str:
    """How many times a peer's speed, as bars on a logarithmic scale: `(what, ratio, peer)`."""
    left, top, step, width = 430, 64, 34, 330
    most = max([100.0, *(ratio for _, ratio, _ in rows)])
    parts = [_text(20, 30, "Speed beside others, on the same machine", 17, INK, weight=600)]
    parts.append(_text(20, 48, "times the peer's speed, from 1x on; pale: a favourable form, see the table", 12, FAINT))
    for number, (what, ratio, peer) in enumerate(rows):
        y, long = top + number * step, width * math.log10(max(ratio, 1.03)) / math.log10(most)
        color, what = ("#d9b89f", what.replace("*favourable*", "favourable")) if "*" in what else (BROWN, what)
        parts.append(_text(left - 10, y + 17, what, 12, INK, "end"))
        parts.append(f'<rect x="{left}" y="{y + 3}" width="{long:.1f}" height="20" rx="3" fill="{color}"/>')
        times = f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.2g}x"
        parts.append(_text(left + long + 8, y + 17, f"{times} {peer}", 12, FAINT))
    return _svg(960, top + len(rows) * step + 16, "Speed beside others", "".join(parts))


def _apart(places: list[float], least: float) -> list[float]:
    """The places, moved down until there is room between them."""
    found: dict[int, float] = {}
    for number in sorted(range(len(places)), key=places.__getitem__):
        last = max(found.values(), default=-1e9)
        found[number] = max(places[number], last + least)
    return [found[number] for number in range(len(places))]


def _svg(width: int, height: int, title: str, inner: str) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    paper = f'<rect width="{width}" height="{height}" fill="{PAPER}"/>'
    return f'{head} font-family="{FONT}" role="img"><title>{title}</title>{paper}{inner}</svg>\n'


def _line(x1: float, y1: float, x2: float, y2: float, color: str, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{dashed}/>'


def _text(x: float, y: float, text: str, size: int, color: str, anchor: str = "start", weight: int = 400) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text {where} fill="{color}">{text}</text>'
