"""A slow, obvious player of one game at a time between networks: plain rule books, NumPy, nothing of the library.

A *chooser* is a function `(position, word) -> action`, or None for an illegal one; `word` is the ply's random word. A
network is a list of layers `(kernel [outputs, inputs], bias [outputs])`, all of float32.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from tests.envs.checkers import reference as draughts
from tests.envs.connect_four import reference as connect_x

FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "identity": lambda x: x,
    "tanh": np.tanh,
    "softsign_unit": lambda x: x / (1 + abs(x)) / 2 + np.float32(0.5),
}


class Played(NamedTuple):
    """What became of a game, for the candidate: `moves` are its legal ones, `captures` those that took a piece."""

    points: float
    illegal: bool
    material: float
    plies: int
    pieces: float
    moves: int
    captures: int


class ConnectX:
    """Connect Four, and, where stones do not fall, tic-tac-toe. A position is a tuple of rows, the top one first."""

    def __init__(self, rows, cols, connect, falls):
        self.rows, self.cols, self.connect, self.falls = rows, cols, connect, falls
        self.start = tuple(map(tuple, connect_x.empty(rows, cols)))
        self.legal, self.result, self.after = cache(self._legal), cache(self._result), cache(self._after)

    def mover(self, board):
        """0: the player who began; 1: the other one."""
        return connect_x.to_move(board) - 1

    def _legal(self, board):
        if self.falls:
            return connect_x.legal_columns(board, self.connect)
        return [number for number, mark in enumerate(sum(board, ())) if not mark]

    def _after(self, board, action):
        if self.falls:
            return tuple(map(tuple, connect_x.drop(board, action)))
        rows = [list(row) for row in board]
        rows[action // self.cols][action % self.cols] = connect_x.to_move(board)
        return tuple(map(tuple, rows))

    def _result(self, board):
        """What the player who began has won, None while the game goes on."""
        return connect_x.result(board, self.connect)

    def material(self, board, player):
        """No pieces are taken."""
        return 0.0

    pieces = material

    def inputs(self, board):
        """1 for a mark of the mover, -1 for one of the other player, row by row."""
        own = connect_x.to_move(board)
        return np.array([0 if not mark else 1 if mark == own else -1 for row in board for mark in row], np.float32)


class Draughts:
    """English draughts by the plain rule book."""

    start = draughts.START

    def __init__(self, draw_after=100, one_square=None):
        self.draw_after, self.one_square = draw_after, one_square

    def mover(self, position):
        """0: Black, who begins; 1: White."""
        return "bw".index(position.mover)

    def legal(self, position):
        return sorted(draughts.legal(position))

    def after(self, position, action):
        return draughts.apply(position, action)

    def result(self, position):
        """What Black has won, None while the game goes on."""
        returns = draughts.returns(position, self.draw_after)
        return None if returns is None else returns[0]

    def material(self, position, player):
        """The pieces of a player less those of the other one, a king worth 1.5."""
        board = "".join(position.rows)
        black = board.count("b") + 1.5 * board.count("B") - board.count("w") - 1.5 * board.count("W")
        return -black if player else black

    def pieces(self, position, player):
        """The number of a player's pieces less that of the other one's."""
        board = "".join(position.rows).lower()
        black = board.count("b") - board.count("w")
        return float(-black if player else black)

    def inputs(self, position):
        """The 8 x 8 board from the mover's side, kings 2; or 32 times what stands on one square."""
        own = {"b": {"b": 1, "B": 2, "w": -1, "W": -2}, "w": {"w": 1, "W": 2, "b": -1, "B": -2}}[position.mover]
        seen = draughts.seen_by_mover(position)
        if self.one_square is None:
            return np.array([own.get(piece, 0) for row in seen for piece in row], np.float32)
        row, column = draughts.PLAYED_ON[self.one_square]
        return np.full(32, np.sign(own.get(seen[row][column], 0)), np.float32)


def outputs(network, inputs, hidden="relu", last="identity"):
    """A forward pass in float32."""
    values = np.asarray(inputs, np.float32)
    for number, (kernel, bias) in enumerate(network):
        function = FUNCTIONS[last if number == len(network) - 1 else hidden]
        values = function(kernel @ values + bias).astype(np.float32)
    return values


def highest(game, position, values, strict):
    """One output for each action. The first of equal ones counts."""
    legal = game.legal(position)
    allowed = range(len(values)) if strict else legal
    action = max(allowed, key=lambda each: (values[each], -each))
    return action if action in legal else None


def squares(game, position, values, strict):
    """Outputs for 32 squares to leave and 32 to come to."""
    ways = draughts.legal(position)
    number = draughts.PLAYED_ON.index
    places = {action: (number(start), number(end)) for action, (start, _, end) in ways.items()}
    if strict:
        named = int(np.argmax(values[:32])), int(np.argmax(values[32:]))
        return next((action for action, between in places.items() if between == named), None)
    sums = {action: values[source] + values[32 + target] for action, (source, target) in places.items()}
    return max(sorted(sums), key=lambda action: (sums[action], -action))


def target(game, position, values, strict):
    """Outputs for 32 squares to come to, and 32 to leave: first the one is chosen, then the other."""
    number = draughts.PLAYED_ON.index
    places = {action: (number(start), number(end)) for action, (start, _, end) in draughts.legal(position).items()}
    ends = range(32) if strict else {end for _, end in places.values()}
    chosen = max(ends, key=lambda end: (values[end], -end))
    able = {start: action for action, (start, end) in places.items() if end == chosen}
    return able[max(able, key=lambda start: (values[32 + start], -start))] if able else None


def network_chooser(game, network, read=highest, strict=False, **functions):
    """A network whose outputs name an action. What it chose in a position is remembered."""
    known = {}

    def choose(position, word):
        if position not in known:
            known[position] = read(game, position, outputs(network, game.inputs(position), **functions), strict)
        return known[position]

    return choose


def afterstate_chooser(game, network, **functions):
    """A network of one output, what a position is worth to the mover: it looks one action ahead."""
    known = {}

    def worth(position, action):
        after, mover = game.after(position, action), game.mover(position)
        result = game.result(after)
        if result is not None:
            return -result if mover else result
        value = outputs(network, game.inputs(after), **functions)[0]
        return value if game.mover(after) == mover else -value

    def choose(position, word):
        if position not in known:
            known[position] = max(game.legal(position), key=lambda action: (worth(position, action), -action))
        return known[position]

    return choose


def random_chooser(game):
    """The legal action of the rank that the ply's random word stands for: the high half of word x number."""

    def choose(position, word):
        legal = game.legal(position)
        return legal[int(word) * len(legal) >> 32]

    return choose


def play(game, candidate, opponent, begins, word_of_ply=lambda ply: 0):
    """One game. The random word of a ply is `word_of_ply(ply)`; a ply is passed where a player moves twice running."""
    position, choosers = game.start, (candidate, opponent) if begins else (opponent, candidate)
    us = 0 if begins else 1
    ply = plies = moves = captures = 0

    def played(points, illegal):
        values = game.material(position, us), plies, game.pieces(position, us), moves, captures
        return Played(points, illegal, *values)

    while True:
        mover = game.mover(position)
        action = choosers[mover](position, word_of_ply(ply))
        plies += 1
        if action is None:
            ours = mover == us
            return played(-1.0 if ours else 1.0, ours)
        before, position = game.pieces(position, us), game.after(position, action)
        if mover == us:
            moves, captures = moves + 1, captures + (game.pieces(position, us) > before)
        result = game.result(position)
        if result is not None:
            return played(float(-result if us else result), False)
        ply += 2 if game.mover(position) == mover else 1


def hashed(word):
    """`lowbias32` (Wellons 2018)."""
    word = np.asarray(word, np.uint64)
    word = (word ^ (word >> 16)) * 0x21F0AAAD & 0xFFFFFFFF
    word = (word ^ (word >> 15)) * 0x735A2D97 & 0xFFFFFFFF
    return word ^ (word >> 15)


def fold_in(word, number):
    """Word `number` of the stream that a word begins."""
    return hashed(np.asarray(word, np.uint64) + np.asarray(number, np.uint64) * 0x9E3779B9 & 0xFFFFFFFF)


def random_bits(key_words, count):
    """The first words of a key, given as its two numbers."""
    words = np.arange(count, dtype=np.uint64)
    for part in key_words:
        words = fold_in(words, int(part))
    return words
