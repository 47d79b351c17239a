"""Noise: its moments, and that it is the same however it is asked for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

from jaxgames.algos.evolution.noise import noise, noise_sum

ROWS, DIMENSION = 8192, 301


@pytest.fixture(scope="module")
def sample():
    return np.asarray(jax.jit(noise, static_argnums=2)(jax.random.key(7), jnp.arange(ROWS), DIMENSION), np.float64)


def test_moments_are_those_of_the_normal_distribution(sample):
    assert abs(sample.mean()) < 4 / sample.size**0.5
    assert abs(sample.var() - 1) < 4 * (2 / sample.size) ** 0.5
    assert abs((sample**3).mean()) < 4 * (15 / sample.size) ** 0.5
    assert abs((sample**4).mean() - 2.9387) < 4 * (96 / sample.size) ** 0.5
    for bound, share in ((1, 0.6827), (2, 0.9545), (3, 0.9973)):
        assert abs((abs(sample) < bound).mean() - share) < 0.006


def test_rows_and_genes_are_uncorrelated(sample):
    """The sum of squares of n independent correlations is their mean 1/length, within 5 deviations."""
    for rows in (sample[:256], sample.T):
        rows = rows[:, : 301 if len(rows) == 256 else ROWS]
        correlations = (rows @ rows.T / rows.shape[1])[np.triu_indices(len(rows), 1)]
        expected = 1 / rows.shape[1]
        assert abs((correlations**2).mean() - expected) < 5 * expected * (2 / correlations.size) ** 0.5
        assert abs(correlations).max() < 6 * expected**0.5


def test_a_row_depends_on_key_and_number_only(sample):
    rows = jnp.array([8191, 5, 5, 4000], jnp.int32)
    np.testing.assert_array_equal(noise(jax.random.key(7), rows, DIMENSION), sample[np.asarray(rows)])
    assert not np.any(np.asarray(noise(jax.random.key(8), rows, DIMENSION)) == sample[np.asarray(rows)])
    np.testing.assert_array_equal(noise(jax.random.key(7), rows, 20), sample[np.asarray(rows), :20])


@pytest.mark.parametrize("devices", [None, 2])
def test_sum_is_the_sum_over_rows(sample, devices):
    weights = np.random.default_rng(0).normal(size=ROWS - 3)
    mesh = None if devices is None else Mesh(jax.devices()[:devices], ("population",))
    summed = jax.jit(noise_sum, static_argnums=(2, 3))(
        jax.random.key(7), jnp.asarray(weights, jnp.float32), DIMENSION, mesh
    )
    np.testing.assert_allclose(summed, weights @ sample[: ROWS - 3], atol=1e-3)
