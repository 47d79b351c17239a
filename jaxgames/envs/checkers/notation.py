"""English draughts in text: positions as PDN FEN, actions as `11-15` (a step) and `22x15` (a single jump).

Plain Python, one position at a time, boards and whole moves as in `plain_board`. Whole games are in `pdn`.
"""

import re

from jaxgames.envs.checkers.plain_board import (
    MOST_QUIET,
    PIECES,
    SQUARES,
    Board,
    check_board,
    jumper_error,
    king_row,
    legal_actions,
    legal_moves,
    read_squares,
    side_name,
    sign_of,
    square_and_direction,
    squares_ahead,
    why_illegal,
)

__all__ = ["action_name", "parse", "parse_action", "unparse"]


def unparse(board: Board) -> str:
    """The position as PDN FEN: `B:W21,22,K30:B1,2,K7`, first who is to move, then White's and Black's squares.

    Squares rise, K marks a king. `:H3` follows if 3 single moves have passed since the last capture, `:J18` if the
    piece on 18 must go on jumping (which PDN has no way to say). Raises `ValueError` for an impossible position.
    """
    board = check_board(board)
    text = "W" if board.white_to_move else "B"
    for white in (True, False):
        pieces = enumerate((piece * sign_of(white) for piece in board.squares), 1)
        names = [f"{'K' * (piece == 2)}{square}" for square, piece in pieces if piece > 0]
        text += (":W" if white else ":B") + ",".join(names)
    return text + f":H{board.quiet}" * (board.quiet > 0) + f":J{board.jumper}" * (board.jumper > 0)


def parse(text: str) -> Board:
    """The position of a PDN FEN, as `unparse` writes it, or with Black first, in any order, with ranges (`W21-32`).

    Without `:H` no move is counted. A move number (`:F12`) and a dot at the end, as some programs write, are skipped.
    Raises `ValueError` that points at the character where the text stops being a position.
    """
    return _Reader(text).board()


def action_name(board: Board, action: int) -> str:
    """One legal action: `11-15` for a step, `22x15` for a single jump. Raises `ValueError` if it is not legal."""
    start, direction = square_and_direction(action, board.white_to_move)
    near, _ = squares_ahead(start, direction, board.white_to_move)
    if action not in legal_actions(board):
        raise ValueError(f"action {action} is not legal: {why_illegal(board, start, near)}")
    return _name(board, action)


def parse_action(board: Board, text: str) -> int:
    """The legal action written by `action_name`; `-` is read for `x` too, and marks such as `!` are skipped.

    A move of several jumps is several actions: `move_to_actions` reads those. Raises `ValueError` that says what
    is wrong.
    """
    what = f"action {text!r}"
    squares, capture = read_squares(text, what)
    names = {_name(board, action): action for action in legal_actions(board)}
    if len(squares) == 2:
        start, target = squares
        legal_action = names.get(f"{start}x{target}", None if capture else names.get(f"{start}-{target}"))
        if legal_action is not None:
            return legal_action
        if f"{start}-{target}" in names:
            raise ValueError(f"{what}: nothing is captured; write {start}-{target}")
    longer = [move for move in legal_moves(board) if len(move.actions) > 1]
    if len(squares) > 2 or any((move.squares[0], move.squares[-1]) == squares for move in longer):
        raise ValueError(f"{what} is a move of several actions; move_to_actions reads it, an action is a single jump")
    raise ValueError(f"{what}: {why_illegal(board, *squares)}")


def _name(board: Board, action: int) -> str:
    """The same as `action_name`, unchecked."""
    start, direction = square_and_direction(action, board.white_to_move)
    near, far = squares_ahead(start, direction, board.white_to_move)
    return f"{start}x{far}" if board.squares[near - 1] else f"{start}-{near}"


class _Reader:
    """Reads one PDN FEN from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.squares = [0] * SQUARES

    def board(self) -> Board:
        """The whole text."""
        white_to_move = self._colour("first stands who is to move, B or W")
        sides: list[bool] = []
        for _ in range(2):
            self._colon("then stand the squares of both sides, for example B:W21-32:B1-12")
            start = self.at
            sides.append(self._colour("a list of squares begins with its colour, W or B"))
            if sides[0] == sides[-1] and len(sides) > 1:
                raise self._wrong(start, f"the squares of {side_name(sides[0])} are given twice")
            self._pieces(sides[-1])
        if not any(self.squares):
            raise ValueError(f"position {self.text!r}: there is no piece on the board; one side at least has pieces")
        counts = self._counts()
        quiet, jumper = counts.get("H", (0, 0))[0], counts.get("J", (0, 0))[0]
        board = Board(tuple(self.squares), white_to_move, jumper, quiet)
        if "J" in counts:
            reason = jumper_error(board) if jumper else "the piece that must go on jumping is on a square from 1"
            if reason:
                raise self._wrong(counts["J"][1], reason)
            if quiet:
                raise self._wrong(counts["H"][1], "a piece that must go on jumping has just captured; the count is 0")
        if quiet > MOST_QUIET:
            raise self._wrong(counts["H"][1], f"at most {MOST_QUIET} moves are counted")
        return check_board(board)

    def _pieces(self, white: bool) -> None:
        """The squares of one side, if any."""
        if self._next() in (":", ".", ""):
            return
        while True:
            king = self._skip("K")
            start = self.at
            first = last = self._square()
            if self._skip("-"):
                end = self.at
                last = self._square()
                if last < first:
                    raise self._wrong(end, f"a range goes up; {last} is below {first}")
            for square in range(first, last + 1):
                self._put(square, white, king, start)
            if not self._skip(","):
                return

    def _put(self, square: int, white: bool, king: bool, start: int) -> None:
        sign = sign_of(white)
        if self.squares[square - 1]:
            raise self._wrong(start, f"square {square} is given twice")
        if not king and square in king_row(white):
            reason = f"on {square}, its king row, a man of {side_name(white)} must be a king: K{square}"
            raise self._wrong(start, reason)
        self.squares[square - 1] = 2 * sign if king else sign
        if sum(piece * sign > 0 for piece in self.squares) > PIECES:
            raise self._wrong(start, f"{side_name(white)} has more than {PIECES} pieces")

    def _counts(self) -> dict[str, tuple[int, int]]:
        """What follows the pieces: the numbers after H, F and J, and where they stand."""
        counts: dict[str, tuple[int, int]] = {}
        while self._next() == ":":
            self.at += 1
            name = self._next()
            if name not in ("H", "F", "J"):
                reason = "expected H (moves since the last capture), J (the square of the piece that goes on jumping)"
                raise self._wrong(self.at, reason)
            if name in counts:
                raise self._wrong(self.at, f"{name} is given twice")
            self.at += 1
            start = self.at
            counts[name] = (self._number(f"a number stands after {name}"), start)
        if self._next() == "." and self.at == len(self.text) - 1:
            self.at += 1
        if self.at < len(self.text):
            raise self._wrong(self.at, "expected a comma before a square, or a colon")
        return counts

    def _square(self) -> int:
        start = self.at
        square = self._number("a square 1 to 32 is expected, K before it for a king")
        if not 1 <= square <= SQUARES:
            raise self._wrong(start, f"{square} is no square; squares are 1 to {SQUARES}")
        return square

    def _number(self, reason: str) -> int:
        match = re.compile("[0-9]{1,9}").match(self.text, self.at)
        if not match:
            raise self._wrong(self.at, reason)
        self.at = match.end()
        return int(match[0])

    def _colour(self, reason: str) -> bool:
        if self._next() not in ("B", "W"):
            raise self._wrong(self.at, reason)
        self.at += 1
        return self.text[self.at - 1] == "W"

    def _colon(self, reason: str) -> None:
        if not self._skip(":"):
            raise self._wrong(self.at, reason)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip(self, character: str) -> bool:
        found = self._next() == character
        self.at += found
        return found

    def _wrong(self, index: int, reason: str) -> ValueError:
        if index >= len(self.text):
            return ValueError(f"position {self.text!r} ends too early: {reason}")
        return ValueError(f"position {self.text!r}, character {index + 1} ({self.text[index]!r}): {reason}")
