"""Connect Four in text: move strings such as `4453`, the columns played from the empty board on.

Plain Python and NumPy, one position at a time. A board is int8[rows, cols], row 0 at the top: 0 free, 1 a stone of the
player who began, 2 of the other one. Columns are named `1` to `9` from the left, the tenth is `a`. The empty text is
the empty board.
"""

from collections.abc import Iterator

import numpy as np

COLUMNS = "123456789a"
STONES = ".XO"

MOST_STEPS = 20_000
"""Most steps of the search for moves that lead to a board; it nearly always needs only one for each stone."""

_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def parse(text: str, rows: int, cols: int, connect: int) -> np.ndarray:
    """The board after the moves of `text`, int8[rows, cols]; a finished game is read too.

    Raises `ValueError` that points at the first move that cannot be played.
    """
    board = np.zeros((rows, cols), np.int8)
    heights = [0] * cols
    won = False
    for index, character in enumerate(text):
        column = COLUMNS.find(character)
        if not 0 <= column < cols:
            raise _wrong(text, index, f"no such column; columns are 1 to {COLUMNS[cols - 1]}")
        if won:
            raise _wrong(text, index, f"{'OX'[index % 2]} has already won; a line of {connect} ends the game")
        if heights[column] == rows:
            raise _wrong(text, index, f"column {character} is full; it holds {rows} stones")
        heights[column] += 1
        cell = rows - heights[column], column
        board[cell] = 1 + index % 2
        won = bool(_lines_through(board, *cell, connect))
    return board


def unparse(board: np.ndarray, connect: int) -> str:
    """Moves that lead to the board and to no win before the last of them; always the same ones for the same board.

    How the game really went cannot be seen on a board. Raises `ValueError` if no game leads to it, or if none was found
    in `MOST_STEPS` steps.
    """
    steps = iter(range(MOST_STEPS))
    columns = ["".join(STONES[stone] for stone in column[::-1] if stone) for column in check_board(board).T.tolist()]
    if not winning_cells(board, connect):
        order = _alternating_order(columns, steps)
    else:
        order = next(_orders_to_win(board, columns, connect, steps), None)
    if order is None:
        raise ValueError("no order of moves leads to the board: players alternate, stones pile up, and a line ends it")
    return "".join(COLUMNS[column] for column in order)


def action_name(action: int, cols: int) -> str:
    """The name of a column of a board of this width. Raises `ValueError` if there is none."""
    if not 0 <= action < cols:
        raise ValueError(f"action {action} is no column; columns are 0 to {cols - 1}")
    return COLUMNS[action]


def parse_action(board: np.ndarray, text: str) -> int:
    """The column named `text`. Raises `ValueError` if there is none or it is full."""
    name, (rows, cols) = text.strip(), board.shape
    if len(name) != 1 or not 0 <= COLUMNS.find(name) < cols:
        raise ValueError(f"{text!r} is no column; columns are 1 to {COLUMNS[cols - 1]}")
    column = COLUMNS.index(name)
    if board[0, column]:
        raise ValueError(f"column {name} is full; it holds {rows} stones")
    return column


def winning_cells(board: np.ndarray, connect: int) -> list[tuple[int, int]]:
    """The `(row, column)` of all stones in lines of `connect` or more (several may meet); empty if nobody has won."""
    stones = np.argwhere(board).tolist()
    return sorted(set().union(*(_lines_through(board, row, column, connect) for row, column in stones)))


def check_board(board: np.ndarray) -> np.ndarray:
    """The board itself. Raises `ValueError` if stones float, or if their numbers do not fit alternating turns.

    Whether an order of moves leads to the board is not checked; `unparse` does that.
    """
    if board.ndim != 2 or not board.size or board.shape[1] > len(COLUMNS):
        raise ValueError(f"the board has shape {board.shape}; expected rows and 1 to {len(COLUMNS)} columns")
    for row, column in np.argwhere((board < 0) | (board > 2)).tolist():
        stone = board[row, column]
        raise ValueError(f"row {row + 1} of column {COLUMNS[column]} is {stone}; expected 0 (free), 1 (X) or 2 (O)")
    for _, column in np.argwhere((board[:-1] != 0) & (board[1:] == 0)).tolist():
        raise ValueError(f"a stone in column {COLUMNS[column]} lies above a free cell; stones fall to the bottom")
    first, second = (int((board == stone).sum()) for stone in (1, 2))
    if first - second not in (0, 1):
        raise ValueError(f"{first} X and {second} O; X begins, so there must be as many X as O or one more")
    return board


def _lines_through(board: np.ndarray, row: int, column: int, connect: int) -> set[tuple[int, int]]:
    """The stones of all lines of `connect` or more that the stone here is part of."""
    rows, cols = board.shape
    stone, stones = board[row, column], set[tuple[int, int]]()
    for down, right in _DIRECTIONS:
        line = [(row, column)]
        for sign in (1, -1):
            y, x = row + sign * down, column + sign * right
            while 0 <= y < rows and 0 <= x < cols and board[y, x] == stone:
                line.append((y, x))
                y, x = y + sign * down, x + sign * right
        if len(line) >= connect:
            stones.update(line)
    return stones


def _orders_to_win(board: np.ndarray, columns: list[str], connect: int, steps: Iterator[int]) -> Iterator[list[int]]:
    """Orders for a won board: its last stone completed every line, so without it nobody has won."""
    last = "XO"[(int(np.count_nonzero(board)) + 1) % 2]
    for column, stones in enumerate(columns):
        if stones.endswith(last):
            before = board.copy()
            before[len(board) - len(stones), column] = 0
            if not winning_cells(before, connect):
                order = _alternating_order([*columns[:column], stones[:-1], *columns[column + 1 :]], steps)
                if order is not None:
                    yield [*order, column]


def _alternating_order(columns: list[str], steps: Iterator[int]) -> list[int] | None:
    """An order of columns that takes their stones from the bottom up by turns X, O, X, ...; None if there is none.

    A depth-first search, which takes one of `steps` for each stone that it tries: whether words can be shuffled to
    XOXO... is NP-hard (Amarilli and Paperman, "Topological sorting with regular constraints", ICALP 2018), so some
    boards use up all steps. Then it raises `ValueError`. Only the remaining stacks matter, not their columns, so
    stacks that led nowhere are remembered. The search seldom backtracks, since it orders its choices: first a stone
    with one of the other colour on it, so that both players can go on; among these the one with most pairs of equal
    neighbours in its stack, then the highest stack, since these need most moves elsewhere in between.
    """
    left = list(columns)
    order: list[int] = []
    dead: set[tuple[str, ...]] = set()

    def choices() -> Iterator[int]:
        turn = "XO"[len(order) % 2]
        open_columns = {stones: column for column, stones in reversed([*enumerate(left)]) if stones.startswith(turn)}
        return iter(sorted(open_columns.values(), key=lambda column: (_urgency(left[column]), -column), reverse=True))

    untried = [choices()]
    while any(left):
        if next(steps, None) is None:
            raise ValueError(f"no moves to the board were found in {MOST_STEPS} steps: give the moves instead")
        column = next(untried[-1], None)
        if column is None:
            dead.add(tuple(sorted(left)))
            untried.pop()
            if not order:
                return None
            column = order.pop()
            left[column] = columns[column][-len(left[column]) - 1 :]
            continue
        left[column] = left[column][1:]
        if dead and tuple(sorted(left)) in dead:
            left[column] = columns[column][-len(left[column]) - 1 :]
            continue
        order.append(column)
        untried.append(choices())
    return order


def _urgency(stones: str) -> tuple[bool, int, int]:
    pairs = sum(one == other for one, other in zip(stones, stones[1:], strict=False))
    return len(stones) > 1 and stones[0] != stones[1], pairs, len(stones)


def _wrong(text: str, index: int, reason: str) -> ValueError:
    return ValueError(f"position {text!r}, character {index + 1} ({text[index]!r}): {reason}")
