"""Boards of English draughts as text and as SVG, laid out as in books: White at the bottom, square 1 at the top left.

White's pieces are the light ones, whether White is player 0 or 1. `player` is the id of the player to move.
"""

from collections.abc import Iterator

from jaxgames.envs import svg
from jaxgames.envs.checkers.notation import unparse
from jaxgames.envs.checkers.plain_board import (
    SQUARES,
    Board,
    check_board,
    legal_actions,
    row_and_column,
    side_name,
    sign_of,
    square_at,
)
from jaxgames.envs.svg import Picture, Piece, Theme, element, text

# Lengths of the picture, in its own units.
FIELD = 48  # a square
RADIUS = 18.5
OUTER = 8  # page beside the frame
MARGIN = 14  # frame beside the board
PLATE = 32  # the lines about the players, above and below
LEFT, TOP = OUTER + MARGIN, PLATE + MARGIN
BOARD = 8 * FIELD
WIDTH, HEIGHT = 2 * LEFT + BOARD, 2 * TOP + BOARD

_SYMBOLS = {0: ".", 1: "b", 2: "B", -1: "w", -2: "W"}
_CROWN = ((-9.5, 6.5), (-10.5, -5), (-4.8, 0.2), (0, -8.5), (4.8, 0.2), (10.5, -5), (9.5, 6.5))


def board_text(board: Board, player: int = 0, draw_after: int | None = None) -> str:
    """The board as lines of text: b and w men, B and W kings. Raises `ValueError` for an impossible position.

    It is drawn if `draw_after` moves without capture have been made.
    """
    board = _checked(board, player)
    edge = " +" + "-" * 17 + "+"
    lines = [f" {unparse(board)}", edge]
    for row in range(8):
        squares = [square_at(row, column) for column in range(8)]
        cells = [_SYMBOLS[board.squares[square - 1]] if square else " " for square in squares]
        lines.append(f" | {' '.join(cells)} |" + "".join(f"{square:4}" for square in squares if square))
    lines.append(edge)
    for white, status in _statuses(board, draw_after).items():
        lines.append(f" {side_name(white)} ({_player(board, white, player)}) {status}")
    return "\n".join(lines)


def board_picture(board: Board, theme: str = "light", player: int = 0, draw_after: int | None = None) -> Picture:
    """The board as a `Picture` for documents and grids. Raises `ValueError` for an impossible position."""
    board, colours = _checked(board, player), svg.theme_named(theme)
    elements = [*_ground(board, colours), *_pieces(board, colours), *_plates(board, colours, player, draw_after)]
    statuses = [f"{side_name(white)} {status}" for white, status in _statuses(board, draw_after).items()]
    return Picture(WIDTH, HEIGHT, elements, f"Checkers {unparse(board)}: {', '.join(statuses)}")


def _checked(board: Board, player: int) -> Board:
    if player not in (0, 1):
        raise ValueError(f"player {player} must be 0 or 1, the id of the player to move")
    return check_board(board)


def _player(board: Board, white: bool, player: int) -> str:
    return f"player {player if white == board.white_to_move else 1 - player}"


def _statuses(board: Board, draw_after: int | None) -> dict[bool, str]:
    """What the sides (True: White) are to do or have reached."""
    if draw_after is not None and board.quiet >= draw_after:
        return {False: "draws", True: "draws"}
    if not legal_actions(board):
        return {not board.white_to_move: "wins"}
    return {board.white_to_move: f"jumps on from {board.jumper}" if board.jumper else "to move"}


def _ground(board: Board, colours: Theme) -> Iterator[str]:
    """The frame, the squares, and the numbers of those that are played on."""
    frame = {"fill": colours.frame, "stroke": colours.frame_edge}
    yield element("rect", x=OUTER, y=PLATE, width=WIDTH - 2 * OUTER, height=HEIGHT - 2 * PLATE, rx=10, **frame)
    dark, light = _squares(colours)
    yield element("rect", x=LEFT, y=TOP, width=BOARD, height=BOARD, fill=light)
    for square in range(1, SQUARES + 1):
        row, column = row_and_column(square)
        x, y = LEFT + column * FIELD, TOP + row * FIELD
        yield element("rect", x=x, y=y, width=FIELD, height=FIELD, fill=dark)
        yield text(x + 3.5, y + 7, str(square), 8, colours.frame_ink, "start", opacity=0.75)
    yield element("rect", x=LEFT, y=TOP, width=BOARD, height=BOARD, fill="none", stroke=colours.frame_edge)


def _squares(colours: Theme) -> tuple[str, str]:
    """The colours of the squares that are played on and of the others: the darker one and the lighter one."""
    dark, light = sorted((colours.field, colours.shades[0]), key=lambda colour: sum(bytes.fromhex(colour[1:])))
    return dark, light


def _pieces(board: Board, colours: Theme) -> Iterator[str]:
    for square, piece in enumerate(board.squares, 1):
        if piece:
            row, column = row_and_column(square)
            x, y = LEFT + (column + 0.5) * FIELD, TOP + (row + 0.5) * FIELD
            face = colours.pieces[0 if piece < 0 else 1]
            if square == board.jumper:
                corner = {"x": x - FIELD / 2 + 1.5, "y": y - FIELD / 2 + 1.5, "rx": 3, "stroke_width": 3}
                side = FIELD - 3
                yield element("rect", **corner, width=side, height=side, fill="none", stroke=colours.ink)
            yield from _piece(x, y, face, king=abs(piece) == 2)


def _piece(x: float, y: float, face: Piece, king: bool) -> Iterator[str]:
    groove = {"fill": "none", "stroke": face.mark, "stroke_opacity": 0.22}
    yield element("circle", cx=x, cy=y, r=RADIUS, fill=face.fill, stroke=face.edge, stroke_width=1.5)
    yield element("circle", cx=x, cy=y, r=RADIUS * 0.8, **groove)
    if king:
        points = " ".join(f"{x + across:g},{y + down:g}" for across, down in _CROWN)
        yield element("polygon", points=points, fill=face.mark, stroke=face.mark, stroke_linejoin="round")
    else:
        yield element("circle", cx=x, cy=y, r=RADIUS * 0.52, **groove)


def _plates(board: Board, colours: Theme, player: int, draw_after: int | None) -> Iterator[str]:
    """A line about each side: its colour, the player's id, its pieces, status."""
    for white, y in ((False, PLATE / 2), (True, HEIGHT - PLATE / 2)):
        piece, x = colours.pieces[0 if white else 1], LEFT + 7
        yield svg.marker(x, y, piece)
        yield text(x + 15, y, side_name(white), 14, colours.ink, "start", font_weight=600)
        counts = f"{_player(board, white, player)} · {_counted(board, white)}"
        yield text(x + 70, y, counts, 13, colours.faint, "start")
        if status := _statuses(board, draw_after).get(white):
            yield text(WIDTH - LEFT, y, status, 14, colours.ink, "end")


def _counted(board: Board, white: bool) -> str:
    own = [piece * sign_of(white) for piece in board.squares]
    men, kings = own.count(1), own.count(2)
    words = [f"{men} {'man' if men == 1 else 'men'}"] * (men > 0) + [f"{kings} king{'s' * (kings > 1)}"] * (kings > 0)
    return ", ".join(words) or "no pieces"
