"""Convolutions for learning in loops, beside JAX's own."""

import re

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.nets import ResidualTower, convolution

ORDER = ("NHWC", "HWIO", "NHWC")


@pytest.mark.parametrize(
    ("size", "padding"),
    [
        ((3, 3), "SAME"),
        ((2, 3), "SAME"),
        ((3, 2), "VALID"),
        ((6, 8), "VALID"),
        ((1, 1), "SAME"),
        ((3, 3), ((0, 2), (1, 0))),
    ],
)
def test_results_and_gradients_are_those_of_jax(size, padding):
    keys = jax.random.split(jax.random.key(0), 3)
    boards, kernel = jax.random.normal(keys[0], (5, 4, 6, 2)), jax.random.normal(keys[1], (*size, 2, 3))

    def by_jax(boards, kernel):
        return jax.lax.conv_general_dilated(boards, kernel, (1, 1), padding, dimension_numbers=ORDER)

    @jax.jit
    def both(boards, kernel):
        found = []
        for function in (by_jax, lambda *of: convolution(*of, padding=padding)):
            result, pull = jax.vjp(function, boards, kernel)
            found.append((result, *pull(jax.random.normal(keys[2], result.shape))))
        return found

    for theirs, ours in zip(*both(boards, kernel), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_what_flax_hands_on_is_taken_as_by_default_only():
    of = jnp.ones((1, 3, 3, 1)), jnp.ones((2, 2, 1, 1))
    result = convolution(*of, strides=[1, 1], padding="SAME", rhs_dilation=(1, 1), feature_group_count=1)
    np.testing.assert_array_equal(result, convolution(*of))
    ones = np.array([1, 1])
    np.testing.assert_array_equal(convolution(*of, ones, lhs_dilation=[1, 1], rhs_dilation=ones), convolution(*of))
    with pytest.raises(ValueError, match=r"rhs_dilation=\(2, 2\): expected \(1, 1\), as flax.linen.Conv has it"):
        convolution(*of, rhs_dilation=(2, 2))
    with pytest.raises(TypeError, match="dilation=1: a convolution has no such setting; expected one of lhs_dilation"):
        convolution(*of, dilation=1)


def orders(program: str) -> set[str]:
    """The orders of axes of the convolutions of a compiled program."""
    return set(re.findall(r" convolution\(.*?dim_labels=(\w+->\w+)", program))


def test_in_a_loop_all_convolutions_have_the_order_of_axes_that_is_fast():
    """XLA:CPU changes the order of those outside of loops only: then gradients took 30 times as long."""
    tower, boards = ResidualTower(3, 1, 4), jnp.ones((2, 4, 5, 2))
    params = jax.eval_shape(tower.init, jax.random.key(0), boards)

    def learned(network):
        def step(params, _):
            gradient = jax.grad(lambda params: jnp.sum(network.apply(params, boards)[1]))(params)
            return jax.tree.map(lambda x, y: x - y, params, gradient), None

        return jax.jit(lambda params: jax.lax.scan(step, params, None, 3)[0]).lower(params).compile().as_text()

    assert orders(learned(tower)) == {"b01f_01io->b01f"}

    class Usual(nn.Module):
        """JAX's own convolutions: were they fast, too, there would be nothing left to do here."""

        @nn.compact
        def __call__(self, boards):
            return None, nn.Conv(2, (3, 3))(nn.Conv(2, (3, 3))(boards))

    params = jax.eval_shape(Usual().init, jax.random.key(0), boards)
    assert len(orders(learned(Usual()))) > 1
