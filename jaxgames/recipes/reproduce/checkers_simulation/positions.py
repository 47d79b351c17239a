"""How many positions draughts has: the text's formula, what its figure is the value of, and an exact count."""

from math import comb, factorial, prod

import jax
import numpy as np

from jaxgames.envs.registry import make
from jaxgames.recipes.reproduce.rows import Row, published
from jaxgames.recipes.reproduce.study import Study

PUBLISHED = published("checkers_simulation")
GAME = make("checkers")
A055213 = 500_995_484_682_338_672_639
"""Positions with 1 to 24 pieces, men never on the row where they are crowned: the sum of OEIS A055213."""
SQUARES, MEN, ROW = 32, 12, 4
"""Squares of the board, pieces of a side, squares of a row."""


def formula(short: bool = False) -> int:
    """The number of ways to place 1 to 12 pieces of each side on 32 squares, any of them kings.

    With `short` all four sums end one term earlier, as in a program's loop with `<` where `<=` is meant.
    """
    most = MEN - short

    def ways(red: int, red_kings: int, white: int, white_kings: int) -> int:
        kinds = (red - red_kings, red_kings, white - white_kings, white_kings, SQUARES - red - white)
        return factorial(SQUARES) // prod(factorial(kind) for kind in kinds)

    return sum(
        ways(red, red_kings, white, white_kings)
        for red in range(1, most + 1)
        for red_kings in range(red + 1 - short)
        for white in range(1, most + 1)
        for white_kings in range(white + 1 - short)
    )


def by_pieces() -> list[int]:
    """The number of positions with 0, 1, ... 24 pieces, men never on the row where they are crowned.

    That of 1 to 24 pieces is OEIS A055213. Whose turn it is does not count.
    """
    counts = [0] * (2 * MEN + 1)
    for black in range(MEN + 1):
        for white in range(MEN + 1):
            men, free, placed = black + white, SQUARES - black - white, _placed_men(black, white)
            for black_kings in range(MEN - black + 1):
                for white_kings in range(min(MEN - white, free - black_kings) + 1):
                    kings = comb(free, black_kings) * comb(free - black_kings, white_kings)
                    counts[men + black_kings + white_kings] += placed * kings
    return counts


def _placed_men(black: int, white: int) -> int:
    """In how many ways so many men of both sides stand: some on their own first row, where the other side's men are
    never seen, the others on the six rows between.
    """
    between = SQUARES - 2 * ROW
    return sum(
        comb(ROW, home) * comb(between, black - home)
        * comb(ROW, away) * comb(between - (black - home), white - away)
        for home in range(min(ROW, black) + 1)
        for away in range(min(ROW, white) + 1)
    )  # fmt: skip


def measure(study: Study) -> list[Row]:
    """The rows of section 2.1, and the size of a board in section 5.1."""
    unit = 10**20
    total = PUBLISHED["2.1 positions"]["total"] / unit
    position = jax.eval_shape(GAME.init_position, jax.random.key(0))
    words = (position.own, position.opponent, position.kings)
    board = sum(8 * np.dtype(word.dtype).itemsize for word in words)
    move = (GAME.num_actions - 1).bit_length()
    return [
        Row(
            "the printed formula", total, formula() / unit, unit="x 10^20", digits=3,
            published_margin=0.0005,
            why="the printed sums, over 1 to 12 pieces and 0 to as many kings, give 3.84 times the printed figure",
        ),
        Row(
            "the formula with sums that end one term earlier", total, formula(short=True) / unit,
            unit="x 10^20", digits=3, published_margin=0.0005,
            why="so the printed figure comes from loops that leave out 12 pieces of a side, and sides with kings only",
        ),
        Row(
            "men never on the row where they are crowned (published: OEIS A055213)", A055213 / unit,
            sum(by_pieces()[1:]) / unit, unit="x 10^20", digits=3,
            why="people usually give this number for the game; neither the text nor the formula has it",
        ),
        Row(
            "bits of a board", PUBLISHED["5.1 bits"]["board"], board, digits=0,
            why="own pieces, the other's pieces, and kings: 32 bits each, here and there",
        ),
        Row(
            "bits of a record: a board and a best move of each side", PUBLISHED["5.1 bits"]["record"],
            board + 2 * move,
            digits=0, best="low", why="here a move is one of 128 actions, 7 bits; there it has 43, with a list of what "
            "it captures. We make no tables of best moves: our tables of endgames hold results",
        ),
    ]  # fmt: skip
