"""A player of Connect X in one file, for Kaggle's referee. It needs NumPy and nothing else.

Alpha-beta search with iterative deepening on boards as Python integers, until its time is up or the result is
proven. At the horizon a small network values positions; without a network, threats do. `jaxgames export kaggle`
writes this file with the constants below filled in.

Bit `column * (rows + 1) + row` of an integer is a square, row 0 at the bottom. A position is `(own, taken)`: the stones
of the player to move, and all stones.
"""

import base64
import io
import time
from typing import Any

import numpy as np

MADE_OF = ""
SECONDS = 1.0
"""The referee allows 2 seconds a move; a busy machine, and the time to read this file, need the rest."""
BOARD = (6, 7, 4)
"""Rows, columns and length of line with which the network was trained."""
ACTIVATIONS = ("relu", "sigmoid")
"""Of the hidden layers, and of the outputs."""
WEIGHTS = ""
"""The network as .npz in base64; empty for none."""

FUNCTIONS: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softsign": lambda x: x / (1 + abs(x)),
    "softsign_unit": lambda x: 0.5 * x / (1 + abs(x)) + 0.5,
    "bipolar_sigmoid": lambda x: np.tanh(0.5 * x),
    "identity": lambda x: x,
    "softmax": lambda x: (e := np.exp(x - x.max(-1, keepdims=True))) / e.sum(-1, keepdims=True),
}


def product(x, kernel):
    """x @ kernel, in parts so small that OpenBLAS uses one thread: more would wait for cores that others use."""
    step = max(1, 200_000 // (len(x) * kernel.shape[1]))
    return sum(x[:, i : i + step] @ kernel[i : i + step] for i in range(0, len(kernel), step))


class OutOfTime(Exception):
    """Ends a search."""


class ThreatValue:
    """What positions are worth without a network: the difference of the squares that would complete a line."""

    def __init__(self, board):
        self.board = board

    def __call__(self, children):
        """Values for the players to move, between -1 and 1."""
        winning, count = self.board.winning, int.bit_count
        differences = [count(winning(own) & ~taken) - count(winning(taken ^ own) & ~taken) for own, taken in children]
        return np.tanh(0.2 * np.array(differences))


class NetworkValue:
    """The value of positions by a network. The sums of its first layer are looked up, column by column."""

    def __init__(self, rows, columns, arrays):
        # The kernel says what each own stone and each of the other player's adds to the sums: [2, columns * rows, n].
        kernel = arrays["stones"].reshape(2, columns, rows, -1)
        pattern = np.arange(1 << 2 * rows)
        held = (pattern[:, None] >> np.arange(2 * rows) & 1).astype(np.float32)
        own, taken = held[:, :rows], held[:, rows:]
        other = np.clip(taken - own, 0, 1)
        self.table = np.einsum("pr,crn->cpn", own, kernel[0]) + np.einsum("pr,crn->cpn", other, kernel[1])
        self.bias, self.rows = arrays["bias"], rows
        self.layers = [(arrays[f"kernel{i}"], arrays[f"bias{i}"]) for i in range(1, int(arrays["layers"]))]
        self.points = arrays["points"]
        self.shifts = np.arange(columns, dtype=np.int64) * (rows + 1)
        self.columns, self.full = np.arange(columns), (1 << rows) - 1
        self.hidden, self.last = (FUNCTIONS[name] for name in ACTIVATIONS)

    def __call__(self, children):
        """Expected points of the players to move."""
        boards = np.array(children, np.int64)
        own, taken = (boards[:, i, None] >> self.shifts & self.full for i in range(2))
        x = self.table[self.columns, own | taken << self.rows].sum(1) + self.bias
        for kernel, bias in self.layers:
            x = product(self.hidden(x), kernel) + bias
        return self.last(x) @ self.points


class ConnectXBoard:
    """A size of board, and questions about its positions."""

    def __init__(self, rows, columns, connect):
        self.size, self.connect = rows * columns, connect
        self.high = rows + 1
        self.columns = [((1 << rows) - 1) << self.high * column for column in range(columns)]
        self.bottom = sum(1 << self.high * column for column in range(columns))
        self.squares = self.bottom * ((1 << rows) - 1)
        self.order = sorted(range(columns), key=lambda column: abs(2 * column - columns + 1))
        self.steps = (1, self.high - 1, self.high, self.high + 1)

    def landings(self, taken):
        """The lowest empty square of each column."""
        return taken + self.bottom & self.squares

    def has_line(self, stones):
        """Whether they hold a line."""
        for step in self.steps:
            runs = stones
            for _ in range(self.connect - 1):
                runs &= runs >> step
            if runs:
                return True
        return False

    def winning(self, stones):
        """The squares that would each complete a line; they may be taken."""
        winning, most = 0, self.connect - 1
        for step in self.steps:
            below, above = [-1], [-1]  # entry k: the k squares before this one are all held
            for k in range(1, most + 1):
                below.append(below[-1] & stones << k * step)
                above.append(above[-1] & stones >> k * step)
            for k in range(most + 1):
                winning |= below[k] & above[most - k]
        return winning & self.squares


class DeepeningSearch:
    """The search of one move. Values are expected points; from 2 on, a win: more squares left are worth more."""

    def __init__(self, board, value, deadline):
        self.board, self.value, self.deadline = board, value, deadline
        self.best = {}  # the best square found in a position, to be tried first
        self.known = {}  # lower and upper bounds of values by position and depth
        self.visited = 0

    def root(self, own, taken):
        """The best column, its value, and how deep the last complete search was."""
        board, left = self.board, self.board.size - taken.bit_count()
        landings = board.landings(taken)
        stone = next(landings & board.columns[column] for column in board.order if landings & board.columns[column])
        worth, done = 0.0, 0
        try:
            for depth in range(1, left + 1):
                worth = self.search(own, taken, depth, -1e9, 1e9)
                stone, done = self.best.get((own, taken), stone), depth
                if abs(worth) >= 2:
                    break
        except OutOfTime:
            pass
        return next(i for i, column in enumerate(board.columns) if column & stone), worth, done

    def search(self, own, taken, depth, alpha, beta):
        """The value of a position to the player to move, or a bound of it outside of alpha and beta."""
        self.visited += 1
        if not self.visited & 63 and time.perf_counter() > self.deadline:
            raise OutOfTime
        board, other = self.board, taken ^ own
        left = board.size - taken.bit_count()
        landings = board.landings(taken)
        wins = board.winning(own) & landings
        if wins:
            self.best[own, taken] = wins & -wins
            return 2.0 + left
        if left == 1:
            return 0.0
        threats = board.winning(other) & ~taken
        forced = threats & landings
        if forced:
            landings = forced & -forced
            if forced != landings:  # two at once
                self.best[own, taken] = landings
                return -2.0 - (left - 1)
        elif landings & ~(threats >> 1):
            landings &= ~(threats >> 1)  # no stone beneath a square that wins for the other player
        key = own, taken, depth
        low, high = self.known.get(key, (-1e9, 1e9))
        if low >= beta or high <= alpha or low == high:
            return low if low >= beta else high
        stones = self.ordered(own, taken, landings)
        if depth <= 1 and not forced:
            return self.horizon(own, taken, stones)
        best, highest = -1e9, alpha
        for stone in stones:
            value = -self.search(other, taken | stone, depth - (not forced), -beta, -highest)
            if value > best:
                best, chosen = value, stone
                highest = max(highest, value)
                if best >= beta:
                    break
        self.best[own, taken] = chosen
        self.known[key] = (best if best > alpha else low, best if best < beta else high)
        return best

    def horizon(self, own, taken, stones):
        """The value of the best next position."""
        children = [(taken ^ own, taken | stone) for stone in stones]
        worth = -self.value(children)
        best = int(worth.argmax())
        self.best[own, taken] = stones[best]
        return float(worth[best])

    def ordered(self, own, taken, landings):
        """The squares to try, the best of an earlier search first, then those that make most threats."""
        board = self.board
        stones = [landings & board.columns[column] for column in board.order if landings & board.columns[column]]
        if len(stones) > 1:
            first, free = self.best.get((own, taken)), ~taken
            stones.sort(
                key=lambda stone: 99 if stone == first else (board.winning(own | stone) & free).bit_count(),
                reverse=True,
            )
        return stones


PLAYERS: dict = {}
"""Boards and values by size, made at the first move."""


def prepare(rows, columns, connect):
    """The board of a size, and the value of its positions."""
    if (rows, columns, connect) not in PLAYERS:
        board = ConnectXBoard(rows, columns, connect)
        value: Any = ThreatValue(board)
        if WEIGHTS and (rows, columns, connect) == tuple(BOARD):
            with np.load(io.BytesIO(base64.b64decode(WEIGHTS)), allow_pickle=False) as arrays:
                value = NetworkValue(rows, columns, dict(arrays))
        PLAYERS[rows, columns, connect] = board, value
    return PLAYERS[rows, columns, connect]


def position_of(cells, mark, rows, columns):
    """The stones of `mark` (1 or 2), and all stones, on a board of cells, row by row from the top."""
    own = taken = 0
    for place, cell in enumerate(cells):
        if cell:
            square = 1 << place % columns * (rows + 1) + rows - 1 - place // columns
            taken |= square
            own |= square if cell == mark else 0
    return own, taken


def think(cells, mark, rows, columns, connect, seconds=SECONDS):
    """The best column for `mark` (1 or 2) on a board of cells, row by row from the top; also its value and depth."""
    deadline = time.perf_counter() + seconds
    board, value = prepare(rows, columns, connect)
    return DeepeningSearch(board, value, deadline).root(*position_of(cells, mark, rows, columns))


def agent(observation, configuration):
    """What the referee calls: the column to play."""
    size = configuration.rows, configuration.columns, configuration.inarow
    return think(observation.board, observation.mark, *size)[0]
