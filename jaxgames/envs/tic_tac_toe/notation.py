"""Tic-tac-toe in text: boards such as `XO./.../..X`, rows from the top, and cells by their numbers `1` to `9`.

Plain Python, one position at a time. A board is nine cells, row by row from the top left: 0 free, 1 marked X by the
player who began, 2 marked O by the other. X is to move when there are as many X as O.
"""

from collections.abc import Sequence

MARKS = ".XO"
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

_LENGTH = 11  # nine cells and two slashes


def parse(text: str) -> list[int]:
    """The nine cells of a board written as `XO./.../..X`; a finished game is read too.

    Raises `ValueError` that points at the character that is wrong, or says why no game leads to the board.
    """
    for index, character in enumerate(text):
        if index >= _LENGTH:
            raise _wrong(text, index, "nothing may follow the third row")
        if index % 4 == 3 and character != "/":
            raise _wrong(text, index, "a row has three cells; / must stand between the rows")
        if index % 4 != 3 and character not in MARKS:
            raise _wrong(text, index, "a cell is X, O or . (free)")
    if len(text) < _LENGTH:
        raise ValueError(f"position {text!r} ends after {len(text)} characters; three rows such as XO./.../..X have 11")
    try:
        return check_cells([MARKS.index(character) for character in text.replace("/", "")])
    except ValueError as error:
        raise ValueError(f"position {text!r}: {error}") from None


def unparse(cells: Sequence[int]) -> str:
    """A board as read by `parse`. Raises `ValueError` if no game leads to it."""
    marks = "".join(MARKS[cell] for cell in check_cells(cells))
    return "/".join(marks[start : start + 3] for start in (0, 3, 6))


def action_name(cells: Sequence[int], action: int) -> str:
    """The cell of an action, counted from 1. Raises `ValueError` if it is no free cell."""
    if not 0 <= action < 9:
        raise ValueError(f"action {action} is no cell; cells are 0 to 8")
    if cells[action]:
        raise ValueError(f"cell {action + 1} is taken by {MARKS[cells[action]]}")
    return str(action + 1)


def parse_action(cells: Sequence[int], text: str) -> int:
    """The action that marks the cell named `1` to `9`. Raises `ValueError` if it is no free cell."""
    name = text.strip()
    if len(name) != 1 or name not in "123456789":
        raise ValueError(f"{text!r} is no cell; cells are 1 to 9, row by row from the top left")
    if cells[int(name) - 1]:
        raise ValueError(f"cell {name} is taken by {MARKS[cells[int(name) - 1]]}")
    return int(name) - 1


def winning_cells(cells: Sequence[int]) -> list[int]:
    """The cells of all full lines of one mark (two may cross); empty if nobody has won."""
    won = (line for line in LINES if cells[line[0]] and cells[line[0]] == cells[line[1]] == cells[line[2]])
    return sorted({cell for line in won for cell in line})


def check_cells(cells: Sequence[int]) -> list[int]:
    """The board as a list of int. Raises `ValueError` for a board that no game leads to."""
    if len(cells) != 9:
        raise ValueError(f"the board has {len(cells)} cells; there must be 9")
    board = [int(cell) for cell in cells]
    for number, cell in enumerate(board, 1):
        if cell not in (0, 1, 2):
            raise ValueError(f"cell {number} is {cell}; expected 0 (free), 1 (X) or 2 (O)")
    crosses, noughts = board.count(1), board.count(2)
    if crosses - noughts not in (0, 1):
        raise ValueError(f"{crosses} X and {noughts} O; X begins, so there must be as many X as O or one more")
    winners = {board[cell] for cell in winning_cells(board)}
    if len(winners) == 2:
        raise ValueError("both X and O have a line; the first one ends the game")
    if winners == {1} and crosses == noughts:
        raise ValueError("X has a line and O has moved after it; the line ends the game")
    if winners == {2} and crosses > noughts:
        raise ValueError("O has a line and X has moved after it; the line ends the game")
    return board


def _wrong(text: str, index: int, reason: str) -> ValueError:
    return ValueError(f"position {text!r}, character {index + 1} ({text[index]!r}): {reason}")
