"""Networks as rows of a matrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution import Genomes
from jaxgames.nets import MLP

GENOMES = Genomes(MLP((7, 30, 3), "softsign_unit", "tanh", "uniform:1"), 25)


@pytest.fixture(scope="module")
def rows():
    return jax.jit(lambda: GENOMES.init(jax.random.key(1), jnp.arange(5, dtype=jnp.int32)))()


def test_sizes():
    assert GENOMES.dimension == 25 * 7 + 7 + 7 * 30 + 30 + 30 * 3 + 3
    assert [(each.start, each.stop) for each in GENOMES.layer_slices] == [(0, 182), (182, 422), (422, 515)]


def test_the_networks_are_those_of_flax(rows):
    """Layers of few inputs, which are summed up one by one, and of many."""
    inputs = np.random.default_rng(0).normal(size=(5, 25, 6)).astype(np.float32)
    apply = jax.jit(GENOMES.apply, static_argnames="monotone")
    outputs = np.asarray(apply(rows, inputs))
    expected = jax.jit(jax.vmap(lambda row, x: GENOMES.network.apply(GENOMES.params(row), x.T).T))(rows, inputs)
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    order = np.argsort(apply(rows, inputs, monotone=True), axis=1)
    np.testing.assert_array_equal(order, np.argsort(outputs, axis=1))


def test_rows_and_parameters_are_the_same(rows):
    np.testing.assert_array_equal(GENOMES.genome(GENOMES.params(rows[2])), rows[2])
    np.testing.assert_array_equal(GENOMES.of_layers(GENOMES.layers(rows)), rows)


def test_first_weights_depend_on_the_number_alone(rows):
    some = jax.jit(lambda: GENOMES.init(jax.random.key(1), jnp.asarray([3, 1], jnp.int32)))()
    np.testing.assert_array_equal(some, rows[np.array([3, 1])])
    assert 0.9 < np.abs(rows).max() <= 1


@pytest.mark.parametrize(
    ("network", "inputs", "message"),
    [
        (MLP((3,), output="softmax"), 9, "the networks' output is softmax"),
        (MLP((3,)), 0, "inputs=0 of the networks: expected a number above 0"),
    ],
)
def test_bad_networks(network, inputs, message):
    with pytest.raises(ValueError, match=message):
        Genomes(network, inputs)


def test_rows_of_another_size_are_refused(rows):
    wide, x = jnp.pad(rows, ((0, 0), (0, 9))), jnp.zeros((5, 25, 2))
    for function in (GENOMES.layers, lambda rows: GENOMES.apply(rows, x), lambda rows: GENOMES.params(rows[0])):
        with pytest.raises(ValueError, match=r"genomes? float32\[.*524\]: expected float32\[.*515\]"):
            function(wide)
