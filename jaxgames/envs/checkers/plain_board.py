"""The plain form of a position of English draughts, its geometry and its action numbers. Plain Python, no arrays.

Squares are numbered 1..32 as in PDN: row by row from the top left of a diagram with White at the bottom, square 1 in
the second column. Black's men start on 1..12 and move towards higher numbers, White's start on 21..32; Black begins.
"""

from typing import NamedTuple

BLACK_MAN, BLACK_KING, WHITE_MAN, WHITE_KING = 1, 2, -1, -2
SQUARES = 32
PIECES = 12  # of one side at the start; there are never more
MOST_QUIET = 2**24 - 1  # moves without capture that a position can count

DIRECTIONS = ((1, -1), (1, 1), (-1, -1), (-1, 1))
"""(rows, columns) of directions 0..3, the mover's own rows counting from the mover's side: forward, then backward."""


class Board(NamedTuple):
    """A position: what stands on squares 1..32, who is to move, and what of the past matters.

    `squares[i]` is about square i + 1: 0 empty, 1 and 2 a black man and king, -1 and -2 a white man and king. `jumper`
    is the square of the piece that must go on jumping, 0 if a new move begins. `quiet` counts the single moves since
    the last capture, or since the game began.
    """

    squares: tuple[int, ...]
    white_to_move: bool = False
    jumper: int = 0
    quiet: int = 0


START = Board((BLACK_MAN,) * 12 + (0,) * 8 + (WHITE_MAN,) * 12)
"""The position in which a game begins."""


def row_and_column(square: int) -> tuple[int, int]:
    """Where a square 1..32 lies on the 8 x 8 board of a diagram: row 0 at the top, column 0 on the left."""
    row, place = divmod(square - 1, 4)
    return row, 2 * place + (1 if row % 2 == 0 else 0)


def square_at(row: int, column: int) -> int:
    """The number of the square there; 0 beside the board and on squares that are not played on."""
    playable = 0 <= row < 8 and 0 <= column < 8 and (row + column) % 2 == 1
    return 4 * row + column // 2 + 1 if playable else 0


def _square_towards(square: int, direction: int, white: bool, distance: int) -> int:
    row, column = row_and_column(square)
    down, across = DIRECTIONS[direction]
    sign = -distance if white else distance  # White sees the board turned by 180 degrees
    return square_at(row + sign * down, column + sign * across)


# [white][square][direction]: the next square and the one behind it, 0 beside the board.
_AHEAD = tuple(
    ((), *(tuple((_square_towards(s, d, w, 1), _square_towards(s, d, w, 2)) for d in range(4)) for s in range(1, 33)))
    for w in (False, True)
)


def squares_ahead(square: int, direction: int, white: bool) -> tuple[int, int]:
    """The next square in a direction as that side sees it, and the one behind; 0 where the board ends."""
    return _AHEAD[white][square][direction]


def action_of(square: int, direction: int, white: bool) -> int:
    """The number 0..127 of the action that moves the piece on `square`: square in the mover's frame * 4 + direction."""
    return 4 * (SQUARES - square if white else square - 1) + direction


def square_and_direction(action: int, white: bool) -> tuple[int, int]:
    """The PDN square and the direction of an action. Raises `ValueError` unless it is 0..127."""
    if not 0 <= action < 4 * SQUARES:
        raise ValueError(f"action {action} moves no piece; actions are 0 to {4 * SQUARES - 1}")
    own, direction = divmod(action, 4)
    return SQUARES - own if white else own + 1, direction


def sign_of(white: bool) -> int:
    """The sign of a side's pieces on a board: -1 for White, 1 for Black."""
    return -1 if white else 1


def side_name(white: bool) -> str:
    """`White` or `Black`."""
    return "White" if white else "Black"


def king_row(white: bool) -> range:
    """The squares on which men of that side are crowned."""
    return range(1, 5) if white else range(29, 33)


def step_directions(board: Board, square: int) -> list[int]:
    """The directions in which the mover's piece on `square` can step, captures elsewhere disregarded."""
    white, squares = board.white_to_move, board.squares
    found = []
    for direction in range(4 if abs(squares[square - 1]) == 2 else 2):
        near, _ = _AHEAD[white][square][direction]
        if near and not squares[near - 1]:
            found.append(direction)
    return found


def jump_directions(board: Board, square: int) -> list[int]:
    """The directions in which the mover's piece on `square` can jump."""
    white, squares, sign = board.white_to_move, board.squares, sign_of(board.white_to_move)
    found = []
    for direction in range(4 if abs(squares[square - 1]) == 2 else 2):
        near, far = _AHEAD[white][square][direction]
        if far and squares[near - 1] * sign < 0 and not squares[far - 1]:
            found.append(direction)
    return found


def check_board(board: Board) -> Board:
    """The board with plain Python numbers. Raises `ValueError` for a position that no game can reach.

    A side may be without pieces or without a move: the game is over then.
    """
    squares = tuple(int(piece) for piece in board.squares)
    if len(squares) != SQUARES:
        raise ValueError(f"the board has {len(squares)} squares; there must be {SQUARES}")
    for square, (piece, given) in enumerate(zip(squares, board.squares, strict=True), 1):
        if piece != given or abs(piece) > 2:
            raise ValueError(f"square {square} holds {given}; expected 1, 2 (black man, king), -1, -2 (white) or 0")
    for white in (False, True):
        count = sum(piece * sign_of(white) > 0 for piece in squares)
        if count > PIECES:
            raise ValueError(f"{side_name(white)} has {count} pieces; there are at most {PIECES}")
        for square in king_row(white):
            if squares[square - 1] == sign_of(white):
                raise ValueError(f"a man of {side_name(white)} is on {square}, its king row, where it must be a king")
    if not any(squares):
        raise ValueError("there is no piece on the board; one side at least has pieces")
    checked = Board(squares, bool(board.white_to_move), int(board.jumper), int(board.quiet))
    if reason := jumper_error(checked):
        raise ValueError(reason)
    if not 0 <= checked.quiet <= MOST_QUIET:
        raise ValueError(f"quiet is {checked.quiet}; it counts single moves without capture, from 0 to {MOST_QUIET}")
    if checked.quiet and checked.jumper:
        raise ValueError(f"quiet is {checked.quiet}; it must be 0 where a piece that has captured goes on jumping")
    return checked


def jumper_error(board: Board) -> str:
    """What is wrong with the square of the piece that must go on jumping; empty if nothing is."""
    square, mover = board.jumper, side_name(board.white_to_move)
    if square == 0:
        return ""
    if not 1 <= square <= SQUARES:
        return f"the piece that must go on jumping is on {square}; squares are 1 to {SQUARES}"
    if board.squares[square - 1] * sign_of(board.white_to_move) <= 0:
        return f"on {square} there is no piece of {mover}, who is to move, that could go on jumping"
    if not jump_directions(board, square):
        return f"the piece on {square} cannot go on jumping"
    return ""
