"""Networks with a policy and a value head."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.nets.policy_value import PolicyValueNet, ResidualTower, Windows


def test_windows_are_a_convolution():
    boards = jax.random.normal(jax.random.key(0), (3, 5, 6, 2))
    module = Windows(3, 4, boards.shape[1:])
    params = module.init(jax.random.key(1), boards.reshape(3, -1))
    params["params"]["bias"] = jnp.arange(4.0)
    kernel = params["params"]["kernel"].reshape(3, 3, 2, 4)
    dimensions = ("NHWC", "HWIO", "NHWC")
    expected = jax.lax.conv_general_dilated(boards, kernel, (1, 1), "VALID", dimension_numbers=dimensions)
    expected = np.asarray(expected) + np.arange(4)
    np.testing.assert_allclose(module.apply(params, boards.reshape(3, -1)), expected.reshape(3, -1), atol=1e-5)


def test_windows_are_seen_beside_the_board():
    boards = jnp.zeros((2, 4, 4, 2), bool)
    plain, windows = (PolicyValueNet(4, (8,), **windows) for windows in ({}, {"window": 2, "channels": 3}))
    sizes = [
        jax.eval_shape(network.init, jax.random.key(0), boards)["params"]["Dense_0"]["kernel"].shape
        for network in (plain, windows)
    ]
    assert sizes == [(32, 8), (32 + 9 * 3, 8)]


def test_convolutions_are_convolutions():
    """The network of patches and products is that of flax's convolutions with the same kernels."""
    network = PolicyValueNet(7, (6,), convolutions=(4, 5))
    x = jax.random.normal(jax.random.key(0), (3, 6, 7, 2))
    params = jax.jit(network.init)(jax.random.key(1), x)

    @jax.jit
    def by_flax(layers, y):
        for number, channels in enumerate((4, 5)):
            one = layers[f"Dense_{number}"]
            kernel = one["kernel"].reshape(3, 3, -1, channels)
            y = jax.nn.relu(nn.Conv(channels, (3, 3)).apply({"params": {"kernel": kernel, "bias": one["bias"]}}, y))
        y = jax.nn.relu(nn.Dense(6).apply({"params": layers["Dense_2"]}, y.reshape(3, -1)))
        return nn.Dense(8).apply({"params": layers["Dense_3"]}, y)

    heads = np.asarray(by_flax(params["params"], x))
    logits, value = jax.jit(network.apply)(params, x)
    np.testing.assert_allclose(logits, heads[:, :7], atol=1e-5)
    np.testing.assert_allclose(value, np.tanh(heads[:, 7]), atol=1e-5)
    assert np.abs(heads).max() < 0.2  # a policy that is nearly uniform, values near 0


BOARD_NETWORKS = {
    "dense": PolicyValueNet(7, (8,)),
    "windows": PolicyValueNet(7, (8,), window=2, channels=2),
    "conv": PolicyValueNet(7, (8,), convolutions=(2,)),
    "residual": ResidualTower(7, 1, 4),
}


@pytest.mark.parametrize("name", BOARD_NETWORKS)
def test_no_observations_give_no_outputs(name):
    network = BOARD_NETWORKS[name]
    params = jax.eval_shape(network.init, jax.random.key(0), jnp.zeros((1, 3, 4, 2)))
    logits, values = jax.eval_shape(network.apply, params, jnp.zeros((0, 3, 4, 2)))
    assert logits.shape == (0, 7) and values.shape == (0,)


@pytest.mark.parametrize(
    ("settings", "shape", "message"),
    [
        ({"window": 4, "channels": 2}, (1, 3, 4, 2), r"window 4: expected 1 to 3 for a board \[3, 4, 2\]"),
        ({"window": 1, "channels": 2}, (1, 9), r"observation .*\[1, 9\]: expected \[batch, rows, columns, planes\]"),
        ({"output": "softmax"}, (1, 9), "unknown activation 'softmax'; available: sigmoid, "),
        ({"convolutions": (2,)}, (1, 9), r"observation .*\[1, 9\]: expected \[batch, rows, columns, planes\]"),
    ],
)
def test_what_does_not_fit(settings, shape, message):
    with pytest.raises(ValueError, match=message):
        jax.eval_shape(PolicyValueNet(7, **settings).init, jax.random.key(0), jnp.zeros(shape))


def test_a_tower_is_the_residual_network_of_its_layers():
    tower, x = ResidualTower(3, 1, 4, max_value=2.0), jax.random.normal(jax.random.key(0), (2, 4, 5, 2))
    first_ones = jax.jit(tower.init)(jax.random.key(1), x)["params"]
    assert all(0 < np.abs(first_ones[f"Dense_{head}"]["kernel"]).max() < 0.05 for head in (0, 1))  # nearly uniform
    random = np.random.default_rng(0)
    layers = jax.tree.map(lambda one: random.normal(size=one.shape).astype(np.float32), first_ones)

    def conv(number, y, channels, size=3):
        kernel = {"params": layers[f"Conv_{number}"]}
        return nn.Conv(channels, (size, size), use_bias=False).apply(kernel, y)

    def norm(number, y):
        return jax.nn.relu(nn.LayerNorm().apply({"params": layers[f"LayerNorm_{number}"]}, y))

    def head(number, y, channels, outputs):
        flat = jax.nn.relu(conv(3 + number, y, channels, 1)).reshape(2, -1)
        return nn.Dense(outputs).apply({"params": layers[f"Dense_{number}"]}, flat)

    @jax.jit
    def both(x):
        first = conv(0, x, 4)
        y = norm(2, first + conv(2, norm(1, conv(1, norm(0, first), 4)), 4))
        return tower.apply({"params": layers}, x), (head(0, y, 4, 3), 2 * jnp.tanh(head(1, y, 2, 1)[:, 0]))

    for found, expected in zip(*both(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert np.abs(expected).min() > 0.3
