"""95 % intervals of means and of shares."""

import math
from collections.abc import Sequence

import numpy as np

Z95 = 1.959964
"""The 97.5 % quantile of the normal distribution."""


def mean_margin(values: Sequence[float] | np.ndarray) -> float:
    """Half the normal 95 % interval of the mean of at least two independent values."""
    return float(Z95 * np.std(values, ddof=1) / math.sqrt(len(values)))


def share_margin(share: float, count: int) -> float:
    """Half the normal 95 % interval of a share of so many independent games, as Wald has it."""
    return Z95 * math.sqrt(share * (1 - share) / count)


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share of so many independent games (Wilson 1927)."""
    centre = share + Z95**2 / (2 * count)
    spread = Z95 * math.sqrt(share * (1 - share) / count + (Z95 / (2 * count)) ** 2)
    scale = 1 + Z95**2 / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
