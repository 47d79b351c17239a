"""The multilayer perceptron against plain NumPy formulas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.nets import MLP, first_layer


def numpy_forward(params, x, hidden, output):
    """Layer by layer in float64."""
    layers = params["params"]
    for i in range(len(layers)):
        x = x @ np.asarray(layers[f"Dense_{i}"]["kernel"], np.float64) + np.asarray(
            layers[f"Dense_{i}"]["bias"], np.float64
        )
        x = output(x) if i == len(layers) - 1 else hidden(x)
    return x


@pytest.mark.parametrize(
    ("n_in", "sizes", "hidden", "output"),
    [
        (198, (40, 4), "sigmoid", "sigmoid"),
        (9, (18, 18, 9), "softsign_unit", "identity"),
        (9, (18, 9, 3, 1), "bipolar_sigmoid", "bipolar_sigmoid"),
        (64, (64,), "relu", "softmax"),
    ],
)
def test_outputs_equal_numpy(n_in, sizes, hidden, output):
    functions = {
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "softsign_unit": lambda x: 0.5 * x / (1 + np.abs(x)) + 0.5,
        "bipolar_sigmoid": lambda x: 2 / (1 + np.exp(-x)) - 1,
        "relu": lambda x: np.where(x > 0, x, 0),
        "identity": lambda x: x,
        "softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    }
    net = MLP(sizes, hidden, output, initializer="uniform:0.7")
    x = np.random.default_rng(0).normal(size=(5, n_in)).astype(np.float32)
    params = net.init(jax.random.key(1), x)
    result = net.apply(params, x)
    assert result.dtype == jnp.float32
    np.testing.assert_allclose(result, numpy_forward(params, x, functions[hidden], functions[output]), atol=2e-5)

    kernel, bias = first_layer(params)
    assert kernel.shape == (n_in, sizes[0]) and bias.shape == sizes[:1]
    skipped = net.apply(params, jnp.dot(x, kernel) + bias[None], method="from_first_layer")
    np.testing.assert_allclose(skipped, result, atol=1e-5)


def test_bool_observations_of_any_batch_rank():
    net = MLP((3, 2))
    x = np.random.default_rng(0).random((4, 5, 6)) < 0.5
    params = net.init(jax.random.key(0), x)
    result = net.apply(params, x)
    assert result.shape == (4, 5, 2) and result.dtype == jnp.float32
    np.testing.assert_allclose(result[2, 3], net.apply(params, x[2, 3].astype(np.float32)), atol=1e-6)


def test_a_population_of_networks():
    net = MLP((3, 2))
    x = np.ones((6,), np.float32)
    population = jax.vmap(net.init, in_axes=(0, None))(jax.random.split(jax.random.key(0), 7), x)
    kernel, bias = first_layer(population)
    assert kernel.shape == (7, 6, 3) and bias.shape == (7, 3)
    results = jax.vmap(net.apply, in_axes=(0, None))(population, x)
    one = jax.tree.map(lambda leaf: leaf[4], population)
    np.testing.assert_allclose(results[4], net.apply(one, x), atol=1e-6)


def test_settings_read_from_json_make_the_same_network():
    assert MLP([40, 4]) == MLP((40, 4))
    assert hash(MLP([40, 4])) == hash(MLP((40, 4)))
    assert MLP((np.int64(40), 4)) == MLP((40, 4))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sizes": ()}, "positive whole numbers"),
        ({"sizes": (40, 0)}, "positive whole numbers"),
        ({"sizes": (40, 1.5)}, "sizes 1.5: expected a whole number"),
        ({"activation": "sigmoidal"}, "unknown activation 'sigmoidal'; available: sigmoid, tanh, "),
        ({"activation": "softmax"}, "unknown activation 'softmax'"),
        ({"output": "max"}, "unknown output activation 'max'; available: .*softmax"),
        ({"initializer": "normal"}, "unknown initializer 'normal'; available: uniform, zeros, "),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message) as error:
        MLP(**settings)
    assert "\n" not in str(error.value)


def test_bad_pre_activations_and_params():
    net = MLP((3, 2))
    params = net.init(jax.random.key(0), np.ones((6,), np.float32))
    for wrong in (jnp.ones((5, 6)), jnp.ones((5, 3), jnp.bfloat16), jnp.ones(())):
        with pytest.raises(ValueError, match=r"expected float32\[..., 3\]"):
            net.apply(params, wrong, method="from_first_layer")
    for wrong in ({}, {"params": {}}, {"params": params}, None):
        with pytest.raises(ValueError, match="expected what MLP.init returns"):
            first_layer(wrong)
