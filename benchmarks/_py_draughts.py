"""py-draughts' alpha-beta search of English draughts, as a program that speaks the Hub protocol.

`jaxgames match RUN "hub:python benchmarks/_py_draughts.py" --game checkers` plays a match with it; `pip install
py-draughts` (M. Skibinski, version 1.10) first. On its American board a player who can capture may do something else.
In English draughts a player must capture, so we ask its search on a board that differs only in this. The depth is
`--depth`, or what the protocol's line `level` says.

The program makes no random moves, and neither does a network. So that games differ, its first `--drawn` turns of a game
are random legal ones. It knows how many it has made by how far its men have advanced, as long as all are there.
"""

import argparse
import random
import re
import sys

import numpy as np
from draughts import AmericanBoard, Color, Move, SimpleEngine
from draughts.boards._core import CORE_AMERICAN
from loguru import logger

PIECES = {"e": 0, "b": 1, "B": 2, "w": -1, "W": -2}
MEN, WIDTH = 12, 4
"""Men of a side at the beginning, and squares of a row."""


class EnglishBoard(AmericanBoard):
    """The board on which captures are mandatory, any of them."""

    @property
    def legal_moves(self) -> list[Move]:
        """All captures, or where there are none all other moves."""
        return self._legal_moves_from_core(CORE_AMERICAN, max_capture=False)


def main() -> None:
    """Answers line by line, until `quit` or the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--drawn", type=int, default=2, metavar="TURNS")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logger.remove()
    engine, draw, board = SimpleEngine(options.depth), random.Random(options.seed), EnglishBoard()
    for line in sys.stdin:
        command, *_ = line.split() or [""]
        if command == "hub":
            print('id name=py-draughts\nparam name=variant value=english type=enum values="english"\nwait')
        elif command == "init":
            print("ready")
        elif command == "level" and (depth := re.search(r"depth=(\d+)", line)):
            engine.depth_limit = int(depth[1])
        elif command == "pos":
            board = board_of(line.split("pos=")[1].strip())
        elif command == "go":
            opening = turns_so_far(board) < options.drawn
            move = draw.choice(board.legal_moves) if opening else engine.get_best_move(board)
            squares = move.square_list[0], move.square_list[-1], *sorted(move.captured_list)
            print("done move=" + ("x" if move.captured_list else "-").join(str(square + 1) for square in squares))
        elif command == "quit":
            break
        sys.stdout.flush()


def board_of(text: str) -> EnglishBoard:
    """The board of a position of the protocol: who is to move, and a letter for each square."""
    pieces = np.array([PIECES[letter] for letter in text[1:]], np.int8)
    return EnglishBoard(pieces, Color.WHITE if text[0] == "W" else Color.BLACK)


def turns_so_far(board: EnglishBoard) -> int:
    """How many turns the side to move has made: the rows by which its men have advanced, while all are there."""
    white = board.turn == Color.WHITE
    squares = np.flatnonzero(board._pos[::-1] == -1 if white else board._pos == 1)
    return int(sum(squares // WIDTH) - sum(np.arange(MEN) // WIDTH)) if len(squares) == MEN else MEN


if __name__ == "__main__":
    main()
