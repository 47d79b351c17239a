"""Tic-tac-toe boards as text and as SVG.

Boards are as in `notation`. `player` is the id of the player to act, or of the one who would be if the game were not
over. Player 0 has the light marks, player 1 the dark ones. X belongs to the player who began.
"""

from collections.abc import Iterator, Sequence

from jaxgames.envs import svg
from jaxgames.envs.svg import Picture, Piece, Theme, element, text
from jaxgames.envs.tic_tac_toe.notation import MARKS, check_cells, unparse, winning_cells

# Lengths of the picture, in its own units.
PITCH = 84  # from cell to cell
TILE = 76
ARM = 21  # from the middle of a mark to its ends
STROKE = 11
OUTER = 10  # page around the frame
MARGIN = 8  # frame around the cells
PLATE = 34  # the line below the frame
WIDTH = 2 * OUTER + 2 * MARGIN + 3 * PITCH
HEIGHT = WIDTH - OUTER + PLATE


def board_text(cells: Sequence[int]) -> str:
    """The board as lines of text, free cells by their numbers. Raises `ValueError` for an impossible board."""
    shown = [MARKS[cell] if cell else str(number) for number, cell in enumerate(check_cells(cells), 1)]
    return "\n---+---+---\n".join(f" {shown[row]} | {shown[row + 1]} | {shown[row + 2]} " for row in (0, 3, 6))


def board_picture(cells: Sequence[int], theme: str = "light", player: int = 0) -> Picture:
    """The board as a `Picture` for documents and grids. Raises `ValueError` for an impossible board."""
    board, colours, player = check_cells(cells), svg.theme_named(theme), svg.check_player(player)
    line, moves = winning_cells(board), 9 - board.count(0)
    began = player ^ (moves % 2)
    owners = {1: began, 2: 1 - began}
    if line:
        mark, status, side = board[line[0]], "wins", owners[board[line[0]]]
    elif moves == 9:
        mark, status, side = 0, "draw", None
    else:
        mark, status, side = 1 + moves % 2, "to play", player
    elements = [*_ground(board, line, colours)]
    for cell, value in enumerate(board):
        if value:
            elements += _mark(*_centre(cell), MARKS[value], colours.pieces[owners[value]])
    said = f"{MARKS[mark]} {status}" if mark else status
    note = f"{moves} moves" if status != "to play" else f"move {moves + 1}"
    elements += svg.status_line(OUTER + 2, WIDTH - OUTER - 2, HEIGHT - PLATE / 2, colours, said, side, note)
    who = "" if side is None else f" ({svg.SIDES[side]})"
    return Picture(WIDTH, HEIGHT, elements, f"Tic-tac-toe {unparse(board)}: {said}{who}")


def _centre(cell: int) -> tuple[float, float]:
    row, column = divmod(cell, 3)
    return OUTER + MARGIN + (column + 0.5) * PITCH, OUTER + MARGIN + (row + 0.5) * PITCH


def _ground(board: list[int], line: list[int], colours: Theme) -> Iterator[str]:
    """The frame, the cells, the numbers of the free ones; those of a line stand out."""
    frame = {"fill": colours.frame, "stroke": colours.frame_edge, "stroke_width": 1.5}
    side = WIDTH - 2 * OUTER
    yield element("rect", x=OUTER, y=OUTER, width=side, height=side, rx=14, **frame)
    for cell, value in enumerate(board):
        x, y = _centre(cell)
        box = {"x": x - TILE / 2, "y": y - TILE / 2, "width": TILE, "height": TILE, "rx": 9}
        yield element("rect", **box, fill=colours.field, fill_opacity=0.85)
        if cell in line:
            accent = {"fill": colours.accent, "fill_opacity": 0.25, "stroke": colours.accent, "stroke_width": 3}
            yield element("rect", **box, **accent)
        if not value:
            yield text(x, y, str(cell + 1), 15, colours.faint)


def _mark(x: float, y: float, mark: str, piece: Piece) -> Iterator[str]:
    """An X or O with the piece's face and edge: the same shape twice, the lower one wider."""
    for colour, width in ((piece.edge, STROKE + 3), (piece.fill, STROKE)):
        pen = {"fill": "none", "stroke": colour, "stroke_width": width, "stroke_linecap": "round"}
        if mark == "O":
            yield element("circle", cx=x, cy=y, r=ARM, **pen)
        else:
            rise = f"M{x - ARM:g} {y + ARM:g}L{x + ARM:g} {y - ARM:g}"
            yield element("path", d=f"M{x - ARM:g} {y - ARM:g}L{x + ARM:g} {y + ARM:g}{rise}", **pen)
