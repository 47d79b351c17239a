"""The plain form of a position of English draughts, its geometry, its action numbers and its moves. Plain Python.

Squares are numbered 1..32 as in PDN: row by row from the top left of a diagram with White at the bottom, square 1 in
the second column. Black's men start on 1..12 and move towards higher numbers, White's start on 21..32; Black begins.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

BLACK_MAN, BLACK_KING, WHITE_MAN, WHITE_KING = 1, 2, -1, -2
SQUARES = 32
PIECES = 12  # of one side at the start; there are never more
MOST_QUIET = 2**24 - 1  # moves without capture that a position can count

DIRECTIONS = ((1, -1), (1, 1), (-1, -1), (-1, 1))
"""(rows, columns) of directions 0..3, the mover's own rows counting from the mover's side: forward, then backward."""


class Board(NamedTuple):
    """A position: the pieces on squares 1..32, who is to move, and the part of the past that matters.

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
    """The directions in which the mover's piece on `square` can step, ignoring captures elsewhere."""
    white, squares = board.white_to_move, board.squares
    directions = []
    for direction in range(4 if abs(squares[square - 1]) == 2 else 2):
        near, _ = _AHEAD[white][square][direction]
        if near and not squares[near - 1]:
            directions.append(direction)
    return directions


def jump_directions(board: Board, square: int) -> list[int]:
    """The directions in which the mover's piece on `square` can jump."""
    white, squares, sign = board.white_to_move, board.squares, sign_of(board.white_to_move)
    directions = []
    for direction in range(4 if abs(squares[square - 1]) == 2 else 2):
        near, far = _AHEAD[white][square][direction]
        if far and squares[near - 1] * sign < 0 and not squares[far - 1]:
            directions.append(direction)
    return directions


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


# Whole moves and how players write them: `11-15`, `22x15`, `22x15x8`.
#
# A whole move is a step, or a jump with all further jumps of the same piece: one action each.

MOST_DIGITS = 9
MOVE = re.compile(r"([0-9]+(?:[-xX:][0-9]+)+)([!?]*|\([!?*]+\))")
"""A move as it may stand in a text, and the annotation after it."""


class Move(NamedTuple):
    """A whole move: its actions, the squares from start to end (one more), the squares of the captured pieces."""

    actions: tuple[int, ...]
    squares: tuple[int, ...]
    captured: tuple[int, ...]

    @property
    def text(self) -> str:
        """Every square: `11-15`, `22x15x8`."""
        return ("x" if self.captured else "-").join(map(str, self.squares))


def legal_actions(board: Board) -> list[int]:
    """The legal actions in rising order; none if the player to move has lost."""
    white, sign = board.white_to_move, sign_of(board.white_to_move)
    own = [square for square, piece in enumerate(board.squares, 1) if piece * sign > 0]
    if board.jumper:
        own = [board.jumper]
    jumps = [action_of(square, way, white) for square in own for way in jump_directions(board, square)]
    steps = [action_of(square, way, white) for square in own for way in step_directions(board, square)]
    return sorted(jumps or steps)


def legal_moves(board: Board) -> list[Move]:
    """The legal whole moves, by their actions. Ways that capture the same pieces in another order are several moves."""
    return list(_moves_from(board, legal_actions(board), Move((), (), ())))


def apply_action(board: Board, action: int) -> tuple[Board, bool]:
    """The board after a step or a single jump, and whether the turn passes. Raises `ValueError` if it is illegal."""
    start, direction = square_and_direction(action, board.white_to_move)
    if action not in legal_actions(board):
        near, far = squares_ahead(start, direction, board.white_to_move)
        raise ValueError(f"action {action} is not legal: {why_illegal(board, start, near)}")
    return _applied(board, action)


def move_to_string(board: Board, actions: Sequence[int]) -> str:
    """The whole move as text with every square, so that it is never ambiguous: `11-15`, `22x15`, `22x15x8`.

    Raises `ValueError` if the actions are not one whole legal move.
    """
    squares, now, passed = [0], board, False
    captures = False
    for action in actions:
        if passed:
            raise ValueError(f"actions {list(actions)} are more than one move; the turn passes before {action}")
        start, direction = square_and_direction(action, now.white_to_move)
        near, far = squares_ahead(start, direction, now.white_to_move)
        captures = action in legal_actions(now) and now.squares[near - 1] != 0
        now, passed = apply_action(now, action)
        squares[-1:] = [start, far if captures else near]
    if not actions:
        raise ValueError("there is no action; a move is one action at least")
    text = ("x" if captures else "-").join(map(str, squares))
    if not passed:
        raise ValueError(f"{text} is not a whole move: the piece on {now.jumper} must go on jumping")
    return text


def move_to_actions(board: Board, text: str) -> list[int]:
    """The actions of the legal whole move that `text` describes.

    Reads all squares (`22x15x8`), or the first, the last and any in between (`22x8`) if this describes a single
    move, or several that capture the same pieces. Accepts `-` for `x`, and ignores marks such as `!` and `?` at the
    end. Raises `ValueError` that says what is wrong.
    """
    what = f"move {text!r}"
    squares, jump = read_squares(text, what)
    moves = legal_moves(board)
    exact = [move for move in moves if move.squares == squares]
    described = exact or [move for move in moves if _described(move.squares, squares)]
    if not described:
        raise ValueError(f"{what}: {_why_no_move(board, moves, squares)}")
    if jump and not described[0].captured:
        raise ValueError(f"{what}: nothing is captured; write {described[0].text}")
    if len({frozenset(move.captured) for move in described}) > 1:
        raise ValueError(f"{what} is ambiguous; it may be {_either(move.text for move in described)}")
    return list(described[0].actions)


def read_squares(text: str, what: str) -> tuple[tuple[int, ...], bool]:
    """The squares of a move's text and whether it is written as a capture. Raises `ValueError` that begins `what`."""
    match = MOVE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{what} is not understood; write the squares, for example 11-15, 22x15 or 22x15x8")
    numbers = re.split("[-xX:]", match[1])
    if (digits := max(map(len, numbers))) > MOST_DIGITS:
        raise ValueError(f"{what[:40]}...: a number of {digits} digits is no square; squares are 1 to {SQUARES}")
    squares = tuple(map(int, numbers))
    for square in squares:
        if not 1 <= square <= SQUARES:
            raise ValueError(f"{what}: {square} is no square; squares are 1 to {SQUARES}")
    return squares, "-" not in match[1]


def why_illegal(board: Board, start: int, target: int) -> str:
    """Why the mover's piece cannot go from `start` to `target` (0: off the board) in one move, given that it cannot."""
    mover, sign = side_name(board.white_to_move), sign_of(board.white_to_move)
    moves = legal_moves(board)
    if not moves:
        return f"the game is over: {mover} cannot move"
    if board.jumper and start != board.jumper:
        return f"the piece on {board.jumper} must go on jumping: {_either(move.text for move in moves)}"
    if not board.squares[start - 1]:
        return f"there is no piece on {start}"
    if board.squares[start - 1] * sign < 0:
        return f"the piece on {start} is not {mover}'s, who is to move"
    if moves[0].captured:
        return f"a capture is forced: {_either(move.text for move in moves)}"
    own = [move.text for move in moves if move.squares[0] == start]
    if not own:
        return f"the piece on {start} cannot move"
    if target and board.squares[target - 1]:
        return f"{target} is occupied; from {start} there is {_either(own)}"
    return f"from {start} there is {_either(own)}"


def _applied(board: Board, action: int) -> tuple[Board, bool]:
    """The same as `apply_action`, unchecked."""
    white = board.white_to_move
    start, direction = square_and_direction(action, white)
    near, far = squares_ahead(start, direction, white)
    captures = board.squares[near - 1] != 0
    end = far if captures else near
    squares = list(board.squares)
    piece, squares[start - 1] = squares[start - 1], 0
    crowned = abs(piece) == 1 and end in king_row(white)
    squares[end - 1] = 2 * piece if crowned else piece
    if not captures:
        return Board(tuple(squares), not white, 0, board.quiet + 1), True
    squares[near - 1] = 0
    after = Board(tuple(squares), white, end, 0)
    if not crowned and jump_directions(after, end):
        return after, False
    return Board(tuple(squares), not white, 0, 0), True


def _moves_from(board: Board, actions: Sequence[int], begun: Move) -> Iterator[Move]:
    """The whole moves that go on from `begun` with one of the actions."""
    for action in actions:
        start, direction = square_and_direction(action, board.white_to_move)
        near, far = squares_ahead(start, direction, board.white_to_move)
        captures = board.squares[near - 1] != 0
        squares = (*(begun.squares or (start,)), far if captures else near)
        move = Move((*begun.actions, action), squares, (*begun.captured, near) if captures else ())
        after, passed = _applied(board, action)
        if passed:
            yield move
        else:
            yield from _moves_from(after, legal_actions(after), move)


def _described(squares: tuple[int, ...], named: tuple[int, ...]) -> bool:
    """Whether the way begins and ends at these squares and passes those in between, in their order."""
    if squares[0] != named[0] or squares[-1] != named[-1]:
        return False
    between = iter(squares[1:-1])
    return all(square in between for square in named[1:-1])


def _why_no_move(board: Board, moves: Sequence[Move], squares: tuple[int, ...]) -> str:
    longer = [move.text for move in moves if move.squares[: len(squares)] == squares]
    if longer:
        return f"the piece on {squares[-1]} must go on jumping: {_either(longer)}"
    reason = why_illegal(board, squares[0], squares[1])
    same = [move.text for move in moves if move.squares[0] == squares[0] and move.captured]
    return f"from {squares[0]} there is {_either(same)}" if same else reason


def _either(texts: Iterator[str] | Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(texts))
