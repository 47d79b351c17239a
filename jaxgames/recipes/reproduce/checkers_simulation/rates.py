"""Won, lost and drawn games as rows with their intervals."""

from collections.abc import Mapping
from math import sqrt
from typing import Any, Literal

from jaxgames.recipes.reproduce.report import Row

Z = 1.959964
BETTER: tuple[tuple[str, str, Literal["high", "low"] | None], ...] = (
    ("won", "win_rate", "high"),
    ("lost", "loss_rate", "low"),
    ("drawn", "draw_rate", None),
)
"""The results of games, their rates in a match, and which ones are better."""


def wilson(share: float, games: int) -> tuple[float, float]:
    """The 95 % interval of a share of independent games (Wilson 1927)."""
    centre, spread = share + Z * Z / (2 * games), Z * sqrt(share * (1 - share) / games + (Z / (2 * games)) ** 2)
    scale = 1 + Z * Z / games
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def rates(
    match: Mapping[str, Any], against: str, published: Mapping[str, float], learner: str, why: str, games: int = 10_000
) -> list[Row]:
    """Three rows in percent of a match, seen by its first player.

    Args:
        match: as `MatchResult.to_dict`.
        against: whom it played.
        published: the published shares in percent, by the name of the result, from so many `games`.
        learner, why: as in `Row`.
    """
    rows = []
    for name, rate, best in BETTER:
        low, high = wilson(match[rate], match["games"])
        theirs = published.get(name)
        margin = 0.0 if theirs is None else 100 * Z * sqrt(theirs / 100 * (1 - theirs / 100) / games)
        rows.append(
            Row(
                f"{name} against {against}", theirs, 100 * match[rate], 100 * low, 100 * high, "%", best, margin,
                why if theirs is not None else "", learner, digits=2,
            )
        )  # fmt: skip
    return rows
