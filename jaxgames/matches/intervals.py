"""95 % intervals of means and of shares."""

import math
from collections.abc import Sequence

import numpy as np

Z95 = 1.959964
"""The 97.5 % quantile of the normal distribution."""


def mean_margin(values: Sequence[float] | np.ndarray) -> float:
    """Half the normal 95 % interval of the mean of at least two independent values."""
    return float(Z95 * np.std(values, ddof=1) / math.sqrt(len(values)))


def grouped_error(values: np.ndarray, groups: np.ndarray) -> float | None:
    """The standard error of the mean of values of which those of one group, by its number, depend on each other; None
    for a single group.
    """
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], values - values.mean())
    count = len(sums)
    return float(math.sqrt(count / (count - 1) * np.square(sums).sum()) / len(values)) if count > 1 else None


def share_margin(share: float, count: int) -> float:
    """Half the normal 95 % interval of a share of so many independent games, as Wald has it."""
    return Z95 * math.sqrt(share * (1 - share) / count)


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share of so many independent games (Wilson 1927)."""
    centre = share + Z95**2 / (2 * count)
    spread = Z95 * math.sqrt(share * (1 - share) / count + (Z95 / (2 * count)) ** 2)
    scale = 1 + Z95**2 / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
