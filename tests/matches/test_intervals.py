"""95 % intervals of means and shares."""

import numpy as np
import pytest

from jaxgames.matches.intervals import grouped_error, mean_margin, share_margin, wilson


def test_shares_have_the_intervals_of_wilson():
    assert wilson(0.5, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson(0.0, 10)[0] == 0.0 and wilson(1.0, 10)[1] == pytest.approx(1.0)


def test_margins_of_means_and_shares():
    assert mean_margin([1.0, 2.0, 3.0]) == pytest.approx(1.959964 / 3**0.5)
    ones = np.repeat([0.0, 1.0], 200)
    assert mean_margin(ones) == pytest.approx(share_margin(0.5, 400), rel=2e-3)


def test_values_of_a_group_count_together():
    """As many equal values as one likes say no more than one; groups of their own are independent values."""
    values = np.array([1.0, 2.0, 4.0])
    alone = np.std(values, ddof=1) / 3**0.5
    assert grouped_error(values, np.array([7, 3, 5])) == pytest.approx(alone)
    assert grouped_error(np.tile(values, 50), np.tile([7, 3, 5], 50)) == pytest.approx(alone)
    assert grouped_error(values, np.zeros(3, int)) is None
