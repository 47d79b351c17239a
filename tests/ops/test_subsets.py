"""Subsets of squares as numbers."""

import itertools

import jax
import numpy as np
import pytest

from jaxgames.ops import subsets

count = jax.jit(subsets.count)
subset_of, number_of = (jax.jit(one, static_argnames="most") for one in (subsets.subset_of, subsets.number_of))


@pytest.mark.parametrize("squares", [0xFFFFFFFF, 0x8421F00D])
@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_all_subsets_have_the_numbers_from_0_on(squares, chosen):
    places = [place for place in range(32) if squares >> place & 1]
    every = {sum(1 << place for place in some) for some in itertools.combinations(places, chosen)}
    numbers = np.arange(len(every), dtype=np.int32)
    assert int(count(np.int32(len(places)), np.int32(chosen))) == len(every)
    words, stones = np.full(len(every), squares, np.uint32), np.full(len(every), chosen, np.int32)
    found = subset_of(numbers, stones, words, most=4)
    assert set(np.asarray(found).tolist()) == every
    np.testing.assert_array_equal(number_of(found, words, most=4), numbers)
