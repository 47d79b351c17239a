"""Connect Four boards as text and as SVG.

Boards are as in `notation`. `player` is the id of the player to act, or of the one who would be if the game were not
over. Player 0 has the light stones, player 1 the dark ones. In text X belongs to the player who began.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxgames.envs import svg
from jaxgames.envs.connect_four.notation import COLUMNS, STONES, check_board, winning_cells
from jaxgames.envs.svg import Picture, Theme, element, text

# Lengths of the picture, in its own units.
PITCH = 52  # from hole to hole
RADIUS = 21
OUTER = 10  # page around the frame
MARGIN = 10  # frame around the holes
STRIP = 22  # frame below the holes, with the column numbers
PLATE = 34  # the line below the frame


class _Scene(NamedTuple):
    """What to draw: the board, the stones in lines, the player ids of X and O, the status, and whose status it is."""

    board: np.ndarray
    line: list[tuple[int, int]]
    owners: tuple[int, int]
    status: str
    side: int | None

    @classmethod
    def of(cls, board: np.ndarray, connect: int, player: int) -> "_Scene":
        line, player = winning_cells(check_board(board), connect), svg.check_player(player)
        began = player ^ int(np.count_nonzero(board)) % 2
        owners = began, 1 - began
        if line:
            return cls(board, line, owners, "wins", owners[int(board[line[0]]) - 1])
        if board.all():
            return cls(board, line, owners, "draw", None)
        return cls(board, line, owners, "to play", player)

    @property
    def caption(self) -> str:
        """The state of the game in words."""
        return self.status if self.side is None else f"{svg.SIDES[self.side]} {self.status}"


def board_text(board: np.ndarray) -> str:
    """The board as lines of text, the names of the columns below. Raises `ValueError` for an impossible board."""
    rows = [" ".join(STONES[stone] for stone in row) for row in check_board(board).tolist()]
    return "\n".join([*rows, " ".join(COLUMNS[: board.shape[1]])])


def board_picture(board: np.ndarray, connect: int, theme: str = "light", player: int = 0) -> Picture:
    """The board as a `Picture` for documents and grids. Raises `ValueError` for an impossible board."""
    scene, colours = _Scene.of(board, connect, player), svg.theme_named(theme)
    rows, cols = board.shape
    width, height = 2 * OUTER + 2 * MARGIN + cols * PITCH, OUTER + MARGIN + rows * PITCH + STRIP + PLATE
    elements = [*_ground(rows, cols, colours), *_stones(scene, colours)]
    count = np.count_nonzero(board)
    note = f"move {count + 1}" if scene.status == "to play" else f"{count} moves"
    elements += svg.status_line(
        OUTER + 2, width - OUTER - 2, height - PLATE / 2, colours, scene.status, scene.side, note if cols > 3 else ""
    )
    name = "Connect Four" if (rows, cols, connect) == (6, 7, 4) else f"Connect {connect} on {rows} by {cols}"
    return Picture(width, height, elements, f"{name} after {count} moves: {scene.caption}")


def _centre(row: int, column: int) -> tuple[float, float]:
    return OUTER + MARGIN + (column + 0.5) * PITCH, OUTER + MARGIN + (row + 0.5) * PITCH


def _ground(rows: int, cols: int, colours: Theme) -> Iterator[str]:
    """The frame with its holes and the column numbers."""
    frame = {"fill": colours.frame, "stroke": colours.frame_edge, "stroke_width": 1.5}
    width, height = 2 * MARGIN + cols * PITCH, MARGIN + rows * PITCH + STRIP
    yield element("rect", x=OUTER, y=OUTER, width=width, height=height, rx=16, **frame)
    for column in range(cols):
        for row in range(rows):
            x, y = _centre(row, column)
            hole = {"fill": colours.field, "fill_opacity": 0.55, "stroke": colours.frame_edge, "stroke_width": 2}
            yield element("circle", cx=x, cy=y, r=RADIUS + 1, **hole)
        x, y = _centre(rows, column)
        yield text(x, y - PITCH / 2 + STRIP / 2 - 2, COLUMNS[column], 13, colours.frame_ink)


def _stones(scene: _Scene, colours: Theme) -> Iterator[str]:
    for row, column in np.argwhere(scene.board).tolist():
        x, y = _centre(row, column)
        yield from svg.disc(x, y, RADIUS, colours.pieces[scene.owners[scene.board[row, column] - 1]])
    for row, column in scene.line:
        x, y = _centre(row, column)
        yield element("circle", cx=x, cy=y, r=RADIUS, fill="none", stroke=colours.accent, stroke_width=4)
