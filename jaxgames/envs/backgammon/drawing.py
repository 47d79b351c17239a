"""Backgammon boards as text and as SVG, laid out as players know them: home boards and trays on the right.

Boards are as in `notation`. `player` is the mover's id: player 0 has the light checkers (X in text) and sits at the
bottom, player 1 has the dark ones (O) and sits at the top. Points are numbered for the mover, as the mover's plays are.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jaxgames.envs import svg
from jaxgames.envs.backgammon.notation import CHECKERS, check_dice, check_position, to_text
from jaxgames.envs.backgammon.turn import Board
from jaxgames.envs.svg import Picture, Piece, Theme, element, text

SHOWN = 5  # checkers drawn on a point; more are written as a number

# Lengths of the picture, in its own units.
POINT = 40
RADIUS = 18
PITCH = 37  # from checker to checker
BAR_WIDTH = 46
TRAY = 46
OUTER = 8  # page beside the frame
MARGIN = 12  # frame beside the board
STRIP = 24  # the strips with the point numbers
PLATE = 32  # the lines about the players, above and below
MIDDLE = 48  # between the points: room for the dice
HALF = 6 * POINT
LEFT = OUTER + MARGIN
WIDTH = LEFT + HALF + BAR_WIDTH + HALF + MARGIN + TRAY + MARGIN + OUTER
TOP = PLATE + STRIP
BOTTOM = TOP + 2 * SHOWN * PITCH + MIDDLE
HEIGHT = BOTTOM + STRIP + PLATE
CENTRE = (TOP + BOTTOM) / 2
BAR_X = LEFT + HALF + BAR_WIDTH / 2
TRAY_X = WIDTH - LEFT - TRAY

_PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (-1, 1), (1, -1), (1, 1)],
    5: [(-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)],
    6: [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)],
}


class _Scene(NamedTuple):
    """What to draw: both sides, the bottom player's first, the dice left, and whose turn it is."""

    sides: tuple[list[int], list[int]]
    dice: tuple[int, ...] | None
    player: int
    text: str

    @classmethod
    def of(cls, mover: Board, opponent: Board, dice: Sequence[int] | None, player: int) -> "_Scene":
        if player not in (0, 1):
            raise ValueError(f"player {player} must be 0 (light, at the bottom) or 1 (dark, at the top)")
        own, other = check_position(mover, opponent)
        return cls((other, own) if player else (own, other), check_dice(dice), player, to_text(own, other, dice))

    def on(self, column: int, upper: bool) -> tuple[int, int, int]:
        """A point by where it lies: its number for the mover, who is on it (bottom 0, top 1), how many checkers."""
        point = 13 + column if upper else 12 - column  # as the bottom player counts
        bottom, top = self.sides[0][point - 1], self.sides[1][24 - point]
        return 25 - point if self.player else point, int(top > 0), bottom + top

    def off(self, side: int) -> int:
        return CHECKERS - sum(self.sides[side])

    def status(self, side: int) -> str:
        """What this player is to do, or has won."""
        if not sum(self.sides[side]):
            other = self.sides[1 - side]
            return "wins" if sum(other) < CHECKERS else "wins a backgammon" if sum(other[18:]) else "wins a gammon"
        if side != self.player or not sum(self.sides[1 - side]):
            return ""
        return f"to play {' '.join(map(str, self.dice))}" if self.dice else "to roll"


def pip_count(side: Board) -> int:
    """How many pips a player still has to go: the sum over the checkers of their points, 25 on the bar."""
    return sum(point * int(count) for point, count in enumerate(side, 1))


def board_text(mover: Board, opponent: Board, dice: Sequence[int] | None = None, player: int = 0) -> str:
    """The board as lines of text, as GNU Backgammon prints it. Raises `ValueError` for an impossible position."""
    scene = _Scene.of(mover, opponent, dice, player)
    rows = [_text_row(scene, level, upper=True) for level in range(SHOWN)]
    rows += [" |" + " " * 18 + "|BAR|" + " " * 18 + "|"]
    rows += [_text_row(scene, level, upper=False) for level in reversed(range(SHOWN))]
    for side, row in ((1, 0), (0, -1)):
        rows[row] += f"  {'XO'[side]}: {pip_count(scene.sides[side])} pips, {scene.off(side)} off"
        rows[row + 1 - 2 * (1 - side)] += f"  {scene.status(side)}" if scene.status(side) else ""
    lines = [f" {scene.text}", _text_edge(scene, upper=True), *rows, _text_edge(scene, upper=False)]
    return "\n".join(lines)


def board_picture(
    mover: Board, opponent: Board, dice: Sequence[int] | None = None, theme: str = "light", player: int = 0
) -> Picture:
    """The board as a `Picture` for documents and grids. Raises `ValueError` for an impossible position."""
    scene, colours = _Scene.of(mover, opponent, dice, player), svg.theme_named(theme)
    elements = [*_ground(scene, colours), *_points(scene, colours), *_bar(scene, colours), *_trays(scene, colours)]
    elements += [*_dice(scene, colours), *_plates(scene, colours)]
    statuses = (f"{name} {scene.status(side)}" for side, name in enumerate(("light", "dark")) if scene.status(side))
    return Picture(WIDTH, HEIGHT, elements, f"Backgammon {scene.text}: {', '.join(statuses)}")


def _text_edge(scene: _Scene, upper: bool) -> str:
    numbers = [f"{scene.on(column, upper)[0]:->2}-" for column in range(12)]
    return f" +{''.join(numbers[:6])}-----{''.join(numbers[6:])}+"


def _text_row(scene: _Scene, level: int, upper: bool) -> str:
    def cell(side: int, count: int) -> str:
        if level == SHOWN - 1 and count > SHOWN:
            return f"{count:>2} "
        return f" {'XO'[side]} " if count > level else "   "

    cells = [cell(*scene.on(column, upper)[1:]) for column in range(12)]
    bar = cell(int(upper), scene.sides[int(upper)][24])
    return f" |{''.join(cells[:6])}|{bar}|{''.join(cells[6:])}|"


def _column_x(column: int) -> float:
    return LEFT + (column + 0.5) * POINT + (BAR_WIDTH if column >= 6 else 0)


def _ground(scene: _Scene, colours: Theme) -> Iterator[str]:
    """The frame, the two halves of the board, the point numbers."""
    frame = {"fill": colours.frame, "stroke": colours.frame_edge}
    yield element("rect", x=OUTER, y=PLATE, width=WIDTH - 2 * OUTER, height=HEIGHT - 2 * PLATE, rx=10, **frame)
    for x in (LEFT, LEFT + HALF + BAR_WIDTH):
        yield element(
            "rect", x=x, y=TOP, width=HALF, height=BOTTOM - TOP, fill=colours.field, stroke=colours.frame_edge
        )
    for column in range(12):
        for upper, y in ((True, TOP - STRIP / 2), (False, BOTTOM + STRIP / 2)):
            number = str(scene.on(column, upper)[0])
            yield text(_column_x(column), y, number, 12, colours.frame_ink)


def _points(scene: _Scene, colours: Theme) -> Iterator[str]:
    for column in range(12):
        for upper in (True, False):
            x, base, inward = _column_x(column), TOP if upper else BOTTOM, 1 if upper else -1
            tip = base + inward * (SHOWN * PITCH - 3)
            corners = f"{x - POINT / 2 + 1:g},{base:g} {x + POINT / 2 - 1:g},{base:g} {x:g},{tip:g}"
            yield element("polygon", points=corners, fill=colours.shades[(column + upper) % 2])
            _, side, count = scene.on(column, upper)
            yield from _stack(x, base + inward * (RADIUS + 1), inward * PITCH, count, colours.pieces[side])


def _stack(x: float, y: float, pitch: float, count: int, piece: Piece) -> Iterator[str]:
    """Checkers in a line, the number on the last one if they are too many."""
    for level in range(min(count, SHOWN)):
        yield from svg.disc(x, y + level * pitch, RADIUS, piece)
    if count > SHOWN:
        yield text(x, y + (SHOWN - 1) * pitch, str(count), 17, piece.mark, font_weight=700)


def _bar(scene: _Scene, colours: Theme) -> Iterator[str]:
    for side, inward in ((0, 1), (1, -1)):
        y = CENTRE + inward * (MIDDLE / 2 + RADIUS - 6)
        yield from _stack(BAR_X, y, inward * PITCH, scene.sides[side][24], colours.pieces[side])


def _trays(scene: _Scene, colours: Theme) -> Iterator[str]:
    """Checkers borne off, lying on their edges."""
    height = SHOWN * PITCH
    for side, edge, inward in ((0, BOTTOM, -1), (1, TOP, 1)):
        box = {"x": TRAY_X, "y": min(edge, edge + inward * height), "width": TRAY, "height": height}
        yield element("rect", **box, rx=3, fill=colours.field)
        slab = (height - 6) / CHECKERS
        for level in range(scene.off(side)):
            y = edge + inward * (3 + (level + 0.5) * slab) - slab / 2 + 0.75
            piece = {"fill": colours.pieces[side].fill, "stroke": colours.pieces[side].edge}
            yield element("rect", x=TRAY_X + 4, y=y, width=TRAY - 8, height=slab - 1.5, rx=2.5, **piece)


def _dice(scene: _Scene, colours: Theme) -> Iterator[str]:
    """The dice left: the bottom player's in the right half, the top player's in the left one."""
    if not scene.dice or not all(map(sum, scene.sides)):
        return
    piece, size = colours.pieces[scene.player], 30
    middle = LEFT + HALF / 2 + (0 if scene.player else HALF + BAR_WIDTH)
    for index, die in enumerate(scene.dice):
        x = middle + (index - (len(scene.dice) - 1) / 2) * (size + 9)
        face = {"fill": piece.fill, "stroke": piece.edge, "stroke_width": 1.5}
        yield element("rect", x=x - size / 2, y=CENTRE - size / 2, width=size, height=size, rx=6, **face)
        for across, down in _PIPS[die]:
            yield element("circle", cx=x + 8 * across, cy=CENTRE + 8 * down, r=2.8, fill=piece.mark)


def _plates(scene: _Scene, colours: Theme) -> Iterator[str]:
    """A line about each player: a checker, pips to go, checkers off, status."""
    for side, y in ((0, HEIGHT - PLATE / 2), (1, PLATE / 2)):
        piece, x = colours.pieces[side], LEFT + 7
        yield svg.marker(x, y, piece)
        yield text(x + 15, y, f"{pip_count(scene.sides[side])} pips", 14, colours.ink, "start", font_weight=600)
        if scene.off(side):
            yield text(x + 90, y, f"{scene.off(side)} off", 14, colours.faint, "start")
        if scene.status(side):
            yield text(WIDTH - LEFT, y, scene.status(side), 14, colours.ink, "end")
