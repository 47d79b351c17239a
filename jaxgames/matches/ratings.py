"""Ratings of players from what they won against each other: Bradley-Terry (1952), on the scale of Elo.

Player i beats player j with probability 1 / (1 + 10^((r_j - r_i) / 400)); a draw counts as half a win for both. One
virtual draw of each player against a player of average strength keeps the ratings of those finite who won or lost
everything.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

SCALE = 400 / math.log(10)
"""Elo points of one unit of the natural logarithm of the odds."""
PRIOR = 1.0
"""Virtual draws of each player."""
_Z95 = 1.959964
_STEPS = 100


class Rating(NamedTuple):
    """A player's Elo, relative to the mean of all players, with its 95 % interval."""

    player: str
    elo: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self._asdict()


def bradley_terry(players: Sequence[str], wins: np.ndarray, prior: float = PRIOR) -> list[Rating]:
    """The most likely ratings, in the order of the players.

    `wins[i, j]` are the games that i won against j, and half of the drawn ones. The intervals are normal, from the
    Fisher information; all games count as independent. Raises `ValueError` for numbers that make no sense.
    """
    wins = np.asarray(wins, float)
    number = len(players)
    if wins.shape != (number, number) or not np.isfinite(wins).all() or (wins < 0).any() or np.diagonal(wins).any():
        raise ValueError(f"wins of {number} players: expected {number} x {number} numbers from 0 up, 0 against oneself")
    games, strength = wins + wins.T, np.zeros(number)
    for _ in range(_STEPS):
        odds = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        average = 1 / (1 + np.exp(-strength))
        gradient = (wins - games * odds).sum(axis=1) + prior * (0.5 - average)
        spread = games * odds * (1 - odds)
        information = np.diag(spread.sum(axis=1) + prior * average * (1 - average)) - spread
        step = np.linalg.solve(information, gradient)
        strength += step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-12))  # far steps of Newton's may overshoot
        if np.abs(step).max() < 1e-10:
            break
    centre = np.eye(number) - 1 / number
    error = np.sqrt(np.diagonal(centre @ np.linalg.inv(information) @ centre))
    elo, margin = SCALE * (strength - strength.mean()), SCALE * _Z95 * error
    return [
        Rating(*row)
        for row in zip(players, elo.tolist(), (elo - margin).tolist(), (elo + margin).tolist(), strict=True)
    ]
