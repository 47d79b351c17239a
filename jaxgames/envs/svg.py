"""What the pictures of all games share: themes, SVG elements, documents, grids of boards, animations.

A game draws a `Picture`: its size and a list of SVG elements, coordinates from the top left corner. `document` makes an
SVG document from it, `grid_svg` puts many into one. No element has an id, so one page may contain many documents.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import jax
import numpy as np

from jaxgames.envs.checks import a_state
from jaxgames.envs.state import State
from jaxgames.ops import checks

__all__ = [
    "FONT",
    "Picture",
    "Piece",
    "SIDES",
    "THEMES",
    "Theme",
    "animation_svg",
    "disc",
    "document",
    "element",
    "grid_svg",
    "marker",
    "status_line",
    "text",
    "theme_named",
]

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Piece:
    """Colours of one player's pieces: the face, its edge, and text or pips on it."""

    fill: str
    edge: str
    mark: str


@dataclass(frozen=True)
class Theme:
    """Colours of a board: the page, its text (`ink`, and `faint` for notes), the frame and its text, the field and its
    two shades, the pieces of both players, and a colour that stands out (`accent`).
    """

    background: str
    ink: str
    faint: str
    frame: str
    frame_edge: str
    frame_ink: str
    field: str
    shades: tuple[str, str]
    pieces: tuple[Piece, Piece]
    accent: str


THEMES = {
    "light": Theme(
        background="#fbf8f3",
        ink="#2e2823",
        faint="#8b8178",
        frame="#6b4a38",
        frame_edge="#4d3426",
        frame_ink="#ead9c3",
        field="#f0e4cf",
        shades=("#bf7a56", "#dcc59d"),
        pieces=(Piece("#fffbf2", "#a8977f", "#4a4037"), Piece("#38322f", "#171413", "#f3e9da")),
        accent="#eda128",
    ),
    "dark": Theme(
        background="#14171b",
        ink="#e9e6e1",
        faint="#8f969e",
        frame="#2b3138",
        frame_edge="#3d454e",
        frame_ink="#a9b1b9",
        field="#1d2329",
        shades=("#3f5a63", "#333d46"),
        pieces=(Piece("#efe8da", "#8e8576", "#3a342d"), Piece("#c4534a", "#6f2721", "#fff1e6")),
        accent="#f2b84b",
    ),
}


SIDES = ("light", "dark")
"""The names of the two players' pieces, by player id."""


class Picture(NamedTuple):
    """A drawing: width and height in its own units, SVG elements, and a title for those who cannot see it."""

    width: float
    height: float
    elements: Sequence[str]
    title: str = ""


def theme_named(name: str) -> Theme:
    """The theme `light` or `dark`. Raises `ValueError` for any other name, `TypeError` for what is none."""
    if checks.text("theme", name, "light") not in THEMES:
        raise ValueError(f"unknown theme {name!r}; available: {', '.join(THEMES)}")
    return THEMES[name]


def check_player(player: int) -> int:
    """The player id itself. Raises `ValueError` if it is none."""
    if player not in (0, 1):
        raise ValueError(f"player {player} must be 0 (light) or 1 (dark)")
    return int(player)


def element(tag: str, *content: str, **attributes: object) -> str:
    """One SVG element with SVG inside. Attribute names take `_` for `-`; numbers are rounded to hundredths."""
    written = "".join(f" {key.replace('_', '-')}={_value(value)}" for key, value in attributes.items())
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def text(x: float, y: float, content: str, size: float, fill: str, anchor: str = "middle", **attributes: object) -> str:
    """The line `content`, `size` units high: its middle at height `y`, its `anchor` (start, middle, end) at `x`.

    `fill` is its colour; `attributes` are those of SVG.
    """
    return element(
        "text", escape(content), x=x, y=y + 0.36 * size, font_size=size, fill=fill, text_anchor=anchor, **attributes
    )


def disc(x: float, y: float, radius: float, piece: Piece) -> Iterator[str]:
    """A round piece seen from above: a face and a ring on it."""
    centre = {"cx": x, "cy": y}
    yield element("circle", **centre, r=radius - 0.5, fill=piece.fill, stroke=piece.edge, stroke_width=1.5)
    ring = {"stroke": piece.edge, "stroke_width": 1.2, "stroke_opacity": 0.45}
    yield element("circle", **centre, r=radius * 0.68, fill="none", **ring)


def marker(x: float, y: float, piece: Piece) -> str:
    """A small piece before a line of text: the text is about its player."""
    return element("circle", cx=x, cy=y, r=7, fill=piece.fill, stroke=piece.edge, stroke_width=1.5)


def status_line(
    left: float, right: float, y: float, colours: Theme, status: str, side: int | None = None, note: str = ""
) -> Iterator[str]:
    """A line below a board at height `y`: at `left` the piece of player `side`, if any, and `status`; then a `note`.

    The note ends at `right`. Pieces and text have the `colours` of a theme.
    """
    if side is not None:
        yield marker(left + 7, y, colours.pieces[side])
    yield text(left + (0 if side is None else 22), y, status, 14, colours.ink, "start", font_weight=600)
    if note:
        yield text(right, y, note, 14, colours.faint, "end")


def document(picture: Picture, theme: str = "light", size: float | None = None) -> str:
    """The picture as an SVG document on the theme's background, `size` pixels wide (by default one per unit).

    Raises `ValueError` unless `size` is above 0."""
    width = picture.width if size is None else size
    if not width > 0:
        raise ValueError(f"size {size} must be a positive number of pixels")
    background = element("rect", width=picture.width, height=picture.height, fill=theme_named(theme).background)
    title = element("title", escape(picture.title)) if picture.title else ""
    return element(
        "svg",
        title,
        background,
        *picture.elements,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_number(picture.width)} {_number(picture.height)}",
        width=width,
        height=width * picture.height / picture.width,
        font_family=FONT,
        role="img",
    )


def grid_svg(
    boards: Sequence[str | Picture],
    columns: int | None = None,
    theme: str = "light",
    size: float | None = None,
    gap: float = 12,
) -> str:
    """Many boards as an SVG document, row by row, in the colours of `theme`, `size` pixels wide (at most 1200).

    `boards` are pictures or documents made by `document`, with `gap` units between them; by default there are about as
    many `columns` as rows. Raises `ValueError` for no boards.
    """
    if not boards:
        raise ValueError("there are no boards to draw; give at least one")
    columns = math.ceil(math.sqrt(len(boards))) if columns is None else columns
    if columns < 1:
        raise ValueError(f"columns must be at least 1, not {columns}")
    columns = min(columns, len(boards))
    pages = [board if isinstance(board, str) else document(board, theme) for board in boards]
    sizes = [_size(page) for page in pages]
    cell_width, cell_height = (max(lengths) + gap for lengths in zip(*sizes, strict=True))
    placed = []
    for index, (page, (width, height)) in enumerate(zip(pages, sizes, strict=True)):
        row, column = divmod(index, columns)
        x = gap + column * cell_width + (cell_width - gap - width) / 2
        y = gap + row * cell_height + (cell_height - gap - height) / 2
        placed.append(_placed(page, x, y, width, height))
    rows = math.ceil(len(boards) / columns)
    whole = Picture(columns * cell_width + gap, rows * cell_height + gap, placed, f"{len(boards)} boards")
    return document(whole, theme, min(1200, whole.width) if size is None else size)


def animation_svg(boards: Sequence[str], seconds: float, theme: str = "light") -> str:
    """An SVG document that shows documents one after the other in a loop, each for `seconds`.

    The documents are made by `document`. Raises `ValueError` for no boards.
    """
    if not boards:
        raise ValueError("there are no boards to draw; give at least one")
    sizes, count = [_size(board) for board in boards], len(boards)
    lasts = np.format_float_positional(count * seconds, 6, fractional=False, trim="-")  # SVG knows no 1e-05
    frames = []
    for number, (board, size) in enumerate(zip(boards, sizes, strict=True)):
        shown = [(0.0, "visible")] if number == 0 else [(0.0, "hidden"), (number / count, "visible")]
        shown += [] if number == count - 1 else [((number + 1) / count, "hidden")]
        times, values = (";".join(map(str, each)) for each in zip(*shown, strict=True))
        change = {"attributeName": "visibility", "values": values, "keyTimes": times, "calcMode": "discrete"}
        turn = element("animate", **change, dur=f"{lasts}s", repeatCount="indefinite")
        frames.append(element("g", turn, _placed(board, 0, 0, *size), visibility=shown[0][1]))
    width, height = (max(lengths) for lengths in zip(*sizes, strict=True))
    return document(Picture(width, height, frames, f"{count} boards, one after the other"), theme)


def save_svg_animation(
    states: Sequence[State] | State, filename: str | Path, theme: str = "light", frame_duration_seconds: float = 0.2
) -> None:
    """Writes an SVG file that shows states one after the other in a loop.

    Browsers and most image viewers play it; others show the first board.

    Args:
        states: a list of states, batches of which are drawn as grids; or states with an axis of steps in front, such as
            `transitions.states` of a `rollout`.
        filename: the file, which is replaced if it is there.
        theme: `light` or `dark`.
        frame_duration_seconds: how long each is seen, above 0.

    Raises `TypeError` for anything but states, and `ValueError` for no states, an unknown theme or wrong seconds.
    """
    seconds = checks.number(
        "frame_duration_seconds", frame_duration_seconds, "a number above 0", lambda number: 0 < number < float("inf")
    )
    if isinstance(states, State):
        if a_state(states, "states").terminated.ndim == 0:
            raise ValueError("one state is no animation: give a list of states, or states of shape [steps, ...]")
        states = [jax.tree.map(lambda x, step=step: x[step], states) for step in range(len(states.terminated))]
    if not isinstance(states, list | tuple):
        raise TypeError(f"states {checks.describe(states)}: expected a list of states")
    if not isinstance(filename, Path):
        checks.text("filename", filename)
    boards = [a_state(state, f"states[{number}]").to_svg(theme) for number, state in enumerate(states)]
    Path(filename).write_text(animation_svg(boards, seconds, theme), "utf-8")


_SVG_TAG = re.compile(r'<svg\b[^>]*viewBox="0 0 ([0-9.]+) ([0-9.]+)"[^>]*>')


def _size(page: str) -> tuple[float, float]:
    match = _SVG_TAG.match(page)
    if not match:
        raise ValueError(f"{page[:40]!r} is no SVG document made by jaxgames.envs.svg.document")
    return float(match[1]), float(match[2])


def _placed(page: str, x: float, y: float, width: float, height: float) -> str:
    """The document as an element of another one."""
    box = f"0 0 {_number(width)} {_number(height)}"
    tag = element("svg", viewBox=box, x=x, y=y, width=width, height=height).replace("/>", ">")
    return _SVG_TAG.sub(tag, page, count=1)


def _number(value: float) -> str:
    return f"{round(value, 2):g}" if abs(value) < 1e5 else f"{value:.0f}"


def _value(value: object) -> str:
    return quoteattr(_number(value) if isinstance(value, int | float) else str(value))
