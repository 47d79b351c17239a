"""The figures of M. Adamczyk, T. Brinkmann and C. Ward, Checkers-Simulation, 2018, by section."""

from typing import Any

PUBLISHED: dict[str, Any] = {
    "positions": {"total": 6.011e20, "squares": 32, "board bits": 96, "record bits": 182},
    "game": {"least moves": 50, "most moves": 70},
    "minimax": {"timed games": 100, "beta cuts": 8421, "alpha cuts": 3101},
    "depth 9": {"plain over alpha-beta": 75, "multithreaded over alpha-beta": 25},
    "network": {"inputs": 64, "hidden units": 640, "hidden layers": 10, "outputs": 64, "weights": 40960},
    "fitness": {"legal": 100, "illegal": -100, "legal capture": 125},
    "legal moves in a row": {"trained": [4, 5], "in the end": [3, 7]},
    "network against random": {"games": 10000, "won": 5291, "lost": 3248, "drawn": 1461},
    "evolution": {"population": 200, "epochs": 200},
    "against minimax": {"minutes": 20},
    "backpropagation": {"least positions": 1000000, "most positions": 5000000},
    "minimax against random": {"games": 10000, "won": 9736, "lost": 67, "drawn": 197, "depths": [5, 10]},
}
"""As they stand in the text. `positions` to `depth 9` are of its sections 2, 3 and 5, the others of 4 and 6."""

A055213 = 500_995_484_682_338_672_639
"""Positions with 1 to 24 pieces, men never on the row where they are crowned: the sum of OEIS A055213."""
