"""Members of a perceptron: what they compute alone, and what their mean does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td.members import apart, repeated, scale_outputs
from jaxgames.nets import MLP

INPUTS = jax.random.normal(jax.random.key(1), (5, 4))


def nets(members, biases):
    return MLP((2, 3), output="identity", biases=biases), MLP((2 * members, 3), output="identity", biases=biases)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("members", [1, 3])
def test_a_mean_of_members_is_one_network(members, biases):
    small, large = nets(members, biases)
    params = large.init(jax.random.key(0), INPUTS)
    each = jax.vmap(lambda member: small.apply(member, INPUTS))(apart(params, members))
    assert each.shape == (members, 5, 3) and (members == 1 or float(jnp.abs(each[0] - each[1]).min()) > 1e-3)
    np.testing.assert_allclose(large.apply(scale_outputs(params, 1 / members), INPUTS), each.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("biases", [True, False])
def test_equal_members_compute_what_one_does(biases):
    small, large = nets(3, biases)
    params = small.init(jax.random.key(0), INPUTS)
    np.testing.assert_allclose(large.apply(repeated(params, 3), INPUTS), small.apply(params, INPUTS), atol=1e-6)
    assert repeated(params, 1) is params


def test_classes_stand_before_the_members():
    small, large = nets(2, True)
    classes = jax.vmap(lambda key: large.init(key, INPUTS))(jax.random.split(jax.random.key(0), 3))
    for number in range(3):
        one = apart(jax.tree.map(lambda x, n=number: x[n], classes), 2)
        jax.tree.map(np.testing.assert_array_equal, jax.tree.map(lambda x, n=number: x[:, n], apart(classes, 2)), one)
        assert jax.vmap(lambda member: small.apply(member, INPUTS))(one).shape == (2, 5, 3)
