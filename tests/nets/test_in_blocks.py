"""Blocks of a large batch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.nets import InBlocks


def test_blocks_are_the_same_as_one_call():
    sizes = []

    def apply(params, x):
        sizes.append(len(x))
        return params * x, x.sum(axis=1)

    x = jnp.arange(22.0).reshape(11, 2)
    for size, called in ((4, [4, 3, 11]), (11, [11]), (20, [11])):  # whole where it runs on something else
        sizes.clear()
        product, total = jax.jit(InBlocks(apply, size))(jnp.float32(3), x)
        np.testing.assert_array_equal(product, 3 * x)
        np.testing.assert_array_equal(total, x.sum(axis=1))
        assert sizes == called


@pytest.mark.parametrize(("platform", "blocks"), [("cpu", True), ("tpu", False), ("cuda", False)])
def test_blocks_are_made_for_what_is_lowered_for(platform, blocks):
    network = jax.jit(InBlocks(lambda params, x: params * x, 4))
    program = jax.export.export(network, platforms=[platform])(jnp.float32(3), jnp.zeros((8, 2))).mlir_module()
    assert ("stablehlo.while" in program) == blocks
