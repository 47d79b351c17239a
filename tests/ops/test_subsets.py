"""Subsets of squares as numbers."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.ops import subsets


@pytest.mark.parametrize("squares", [0xFFFFFFFF, 0x8421F00D])
@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_all_subsets_have_the_numbers_from_0_on(squares, chosen):
    places = [place for place in range(32) if squares >> place & 1]
    every = {sum(1 << place for place in some) for some in itertools.combinations(places, chosen)}
    numbers = jnp.arange(len(every), dtype=jnp.int32)
    assert int(subsets.count(jnp.int32(len(places)), jnp.int32(chosen))) == len(every)
    words = jnp.full(len(every), squares, jnp.uint32)
    found = subsets.subset_of(numbers, jnp.full(len(every), chosen), words, most=4)
    assert set(np.asarray(found).tolist()) == every
    np.testing.assert_array_equal(subsets.number_of(found, words, most=4), numbers)
