"""Writes to rows: as a scatter that drops what is beyond the end, for one row and for several."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.ops.scatter import add_rows, set_rows


@pytest.mark.parametrize("index", [[2], [5], [9], [0, 5, 4], [3, 3, 1]])
@pytest.mark.parametrize("columns", [None, 4])
def test_rows_are_written_or_left_out(index, columns):
    shape, width = ((5,), None) if columns is None else ((5, columns), 2)
    old = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    values = np.arange(1, 1 + len(index) * (width or 1), dtype=np.float32).reshape(
        len(index), *([width] if width else [])
    )
    added, written = old.copy(), old.copy()
    for row, value in zip(index, values, strict=True):
        if row < 5:
            place = row if columns is None else (row, slice(1, 3))
            added[place] += value
            written[place] = value
    rows = jnp.array(index, jnp.int32)
    np.testing.assert_array_equal(add_rows(jnp.array(old), rows, values, 1), added)
    if len(set(index)) == len(index):
        np.testing.assert_array_equal(set_rows(jnp.array(old), rows, values, 1), written)


def test_one_number_is_written_to_all_rows():
    found = add_rows(jnp.zeros(4, jnp.float32), jnp.array([1], jnp.int32), 1.0)
    np.testing.assert_array_equal(found, [0, 1, 0, 0])
