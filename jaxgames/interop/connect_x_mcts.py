"""Monte Carlo tree search for Kaggle's Connect X, in one file that needs only Python.

`jaxgames export kaggle rave:800` writes this file with the constants filled in, and what it imports from
`connect_x_agent` in its place.
"""

import math
import random
import time
from typing import Any

from jaxgames.interop.connect_x_agent import SECONDS, ConnectXBoard, position_of

SIMULATIONS = 800
"""Simulations of a move, or as many as `SECONDS` allow."""
RULE = ("uct", 0.5, 0.0)
"""`uct`, c; `rave`, c, k; or `amaf`, c, alpha: as in `jaxgames.algos.mcts`."""
FINAL = "visits"
"""Whether the move with the most visits is played, or the one with the greatest `mean`."""

SHARES: dict[str, Any] = {
    "uct": lambda number, visits: 0.0,
    "rave": lambda number, visits: math.sqrt(number / (3 * visits + number)) if number else 0.0,
    "amaf": lambda number, visits: number,
}
"""The weight of the mean of all moves as first in the mean of a move, by rule."""


class ConnectXNode:
    """A position and its moves. Sums are of the wins of the player to move; a draw is half a one."""

    def __init__(self, board, own, taken):
        self.own, self.taken = own, taken
        landings = board.landings(taken)
        self.stones = [landings & column for column in board.columns if landings & column]
        self.children: list[Any] = [None] * len(self.stones)
        self.visits, self.sums = [0] * len(self.stones), [0.0] * len(self.stones)
        self.later_visits, self.later_sums = [0] * len(self.stones), [0.0] * len(self.stones)
        self.untried = random.sample(range(len(self.stones)), len(self.stones))

    def means(self):
        """The mean of each move, mixed with the mean of games in which it was played later."""
        kind, _, number = RULE
        means = []
        for visits, total, later, later_total in zip(
            self.visits, self.sums, self.later_visits, self.later_sums, strict=True
        ):
            own, share = total / max(visits, 1), SHARES[kind](number, visits)
            means.append(own + share * (later_total / max(later, 1) - own))
        return means

    def best(self):
        """The move with the greatest upper bound, those that were never tried first."""
        if self.untried:
            return self.untried.pop()
        log = math.log(sum(self.visits))
        bounds = [
            mean + RULE[1] * math.sqrt(log / visits) for mean, visits in zip(self.means(), self.visits, strict=True)
        ]
        return bounds.index(max(bounds))


class TreeSearch:
    """The search of one move."""

    def __init__(self, board, own, taken):
        self.board, self.root = board, ConnectXNode(board, own, taken)

    def run(self, simulations, deadline):
        """The column that is played, and what it is worth between 0 and 1."""
        for _ in range(simulations):
            self.simulate()
            if time.perf_counter() > deadline:
                break
        root, means = self.root, self.root.means()
        preferred = root.visits if FINAL == "visits" else means
        chosen = max((i for i, visits in enumerate(root.visits) if visits), key=preferred.__getitem__)
        stone = root.stones[chosen]
        return next(i for i, column in enumerate(self.board.columns) if column & stone), means[chosen]

    def simulate(self):
        """Goes down to a position that is not in the tree, plays on from there, and counts the result on the path."""
        board, node, path = self.board, self.root, []
        while True:
            move = node.best()
            path.append((node, move))
            other, own = node.taken ^ node.own, node.own | node.stones[move]  # `own` are of the one who moved
            taken = own | other
            if board.has_line(own) or taken == board.squares:
                worth = 1.0 if board.has_line(own) else 0.5
                break
            child = node.children[move]
            if child is None:
                child = node.children[move] = ConnectXNode(board, other, taken)
                other, own, theirs = self.play_on(other, own)
                self.count_later(child, other, theirs)
                worth = 1 - theirs
                break
            node = child
        for node, move in reversed(path):
            node.visits[move] += 1
            node.sums[move] += worth
            self.count_later(node, own, worth)
            own, other, worth = other, own, 1 - worth

    def count_later(self, node, last, worth):
        """Counts a game for all moves whose squares the player to move took, now or later: those in `last`."""
        if RULE[0] != "uct":
            played = last & ~node.own
            for i, stone in enumerate(node.stones):
                if stone & played:
                    node.later_visits[i] += 1
                    node.later_sums[i] += worth

    def play_on(self, own, other):
        """Random moves to the end: the last stones of the player to move and of the other one, and the first one's
        result.
        """
        board, draw, sides, turn = self.board, random.random, [own, other], 0
        while True:
            landings = board.landings(sides[0] | sides[1])
            moves = [landings & column for column in board.columns if landings & column]
            if not moves:
                return *sides, 0.5
            sides[turn] |= moves[int(draw() * len(moves))]
            if board.has_line(sides[turn]):
                return *sides, 1.0 - turn
            turn ^= 1


BOARDS: dict = {}
"""Boards by size, made at the first move."""


def think(cells, mark, rows, columns, connect, seconds=SECONDS):
    """The best column for `mark` (1 or 2) on a board of cells, row by row from the top, and what it is worth."""
    deadline = time.perf_counter() + seconds
    board = BOARDS.setdefault((rows, columns, connect), ConnectXBoard(rows, columns, connect))
    return TreeSearch(board, *position_of(cells, mark, rows, columns)).run(SIMULATIONS, deadline)


def agent(observation, configuration):
    """What the referee calls: the column to play."""
    size = configuration.rows, configuration.columns, configuration.inarow
    return think(observation.board, observation.mark, *size)[0]
