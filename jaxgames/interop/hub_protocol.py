"""The Hub protocol of draughts programs (F. Letouzey, 2017, version 2), for English draughts: lines, positions, moves.

A line is a command with arguments, `done move=11-15`; a value with a blank stands in double quotes. A position is who
is to move, `W` or `B`, and a letter for each square 1 to 32: `w` and `b` for men, `W` and `B` for kings, `e` for none.
A capture names its first and last square and then all squares of captured pieces: `22x8x18x11`.
"""

import re
from typing import NamedTuple

from jaxgames.envs.checkers.moves import Move, legal_moves
from jaxgames.envs.checkers.plain_board import SQUARES, Board, check_board

LETTERS = {0: "e", 1: "b", 2: "B", -1: "w", -2: "W"}
_PIECES = {letter: piece for piece, letter in LETTERS.items()}
_ARGUMENT = re.compile(r'\s+([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s"]+)))?')


class Line(NamedTuple):
    """A command and its arguments; those without a value have an empty one."""

    command: str
    arguments: dict[str, str]


def parse_line(text: str) -> Line:
    """Reads a line; an empty one has an empty command. Raises `ValueError` where a quote or a value is missing."""
    command, rest = re.fullmatch(r"(\S*)(.*)", text.strip(), re.DOTALL).groups()  # type: ignore[union-attr]
    arguments, at = dict[str, str](), 0
    while rest[at:].strip():
        found = _ARGUMENT.match(rest, at)
        if found is None:
            raise ValueError(f"{text.strip()[:80]!r} is no line of the protocol; expected COMMAND NAME=VALUE ...")
        arguments[found[1]], at = found[2] or found[3] or "", found.end()
    return Line(command, arguments)


def format_line(command: str, **arguments: str) -> str:
    """A line; `move_time` becomes `move-time`."""
    quoted = {name.replace("_", "-"): _quote(value) for name, value in arguments.items()}
    return " ".join([command, *(f"{name}={value}" for name, value in quoted.items())])


def format_position(board: Board) -> str:
    """A position between two moves."""
    return "BW"[board.white_to_move] + "".join(LETTERS[piece] for piece in board.squares)


def parse_position(text: str) -> Board:
    """Reads a position. Raises `ValueError` for a text that is none."""
    if not re.fullmatch(f"[WB][{''.join(_PIECES)}]{{{SQUARES}}}", text):
        raise ValueError(f"position {text[:80]!r}: expected W or B, and {SQUARES} letters of w, b, W, B and e")
    return check_board(Board(tuple(_PIECES[letter] for letter in text[1:]), text[0] == "W"))


def format_move(move: Move) -> str:
    """A whole move: `11-15`, `22x15x18`."""
    start, end = move.squares[0], move.squares[-1]
    return "x".join(map(str, (start, end, *sorted(move.captured)))) if move.captured else f"{start}-{end}"


def parse_move(board: Board, text: str) -> Move:
    """The legal whole move with this text, whatever the order of the captured squares.

    Raises `ValueError` if there is none.
    """
    moves = legal_moves(board)
    for move in moves:
        if _sorted(format_move(move)) == _sorted(text):
            return move
    legal = ", ".join(map(format_move, moves)) or "none, the game is over"
    raise ValueError(f"{text[:80]!r} is no legal move in {format_position(board)}; legal: {legal}")


def _sorted(text: str) -> tuple[str, list[str]]:
    """A move with its captured squares in one order."""
    squares = re.split("x", text)
    return "x".join(squares[:2]), sorted(squares[2:])


def _quote(value: str) -> str:
    return value if re.fullmatch(r"[^\s=\"]+", value) else f'"{value.replace(chr(34), chr(39))}"'
