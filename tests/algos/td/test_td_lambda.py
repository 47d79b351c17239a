"""Returns, traces and outcomes against their definitions; the reference's gradients against differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import Outcomes, eligibility_traces, lambda_returns, make_config
from jaxgames.algos.td.self_play import Ply
from tests.algos.small_games import Track
from tests.algos.td import reference
from tests.algos.td.recording import layers_of, see_track
from tests.algos.td.reference import Layer


def test_the_reference_backpropagates():
    rng = np.random.default_rng(0)
    layers = [Layer(rng.normal(size=(3, 4)), rng.normal(size=4)), Layer(rng.normal(size=(4, 2)), rng.normal(size=2))]
    inputs, small = rng.normal(size=3), 1e-6
    assert np.allclose(reference.forward(layers, inputs)[-1], 1 / (1 + np.exp(-pre_output(layers, inputs))))
    for output in range(2):
        found = reference.gradient(layers, inputs, output)
        for number, layer in enumerate(layers):
            for part in range(2):
                for place in np.ndindex(layer[part].shape):
                    before = layer[part][place]
                    values = []
                    for change in (small, -small):
                        layer[part][place] = before + change
                        values.append(reference.forward(layers, inputs)[-1][output])
                    layer[part][place] = before
                    assert abs((values[0] - values[1]) / (2 * small) - found[number][part][place]) < 1e-8


def pre_output(layers, inputs):
    hidden = 1 / (1 + np.exp(-(inputs @ layers[0].kernel + layers[0].bias)))
    return hidden @ layers[1].kernel + layers[1].bias


@pytest.mark.parametrize("lambda_", [0.0, 0.4, 1.0])
def test_lambda_returns(lambda_):
    """Sums of n-step returns, for games that end anywhere in the window, and some that do not."""
    rng = np.random.default_rng(1)
    plies, batch = 9, 5
    values = rng.random((plies + 1, batch, 4)).astype(np.float32)
    results = rng.random((plies, batch, 4)).astype(np.float32)
    over = rng.random((plies, batch)) < 0.25
    over[:, 0] = False
    over[:, 1] = True
    found = lambda_returns(*map(jnp.asarray, (values, results, over)), lambda_)
    for game in range(batch):
        for start in range(plies):
            ends = [ply for ply in range(start, plies) if over[ply, game]]
            end = ends[0] if ends else plies
            result = results[end, game] if ends else None
            wanted = reference.lambda_return(list(values[start + 1 : end + 1, game]), result, lambda_)
            np.testing.assert_allclose(found[start, game], wanted, atol=1e-6)


@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_forward_view_equals_backward_view(lambda_):
    """With weights that stay, errors times traces sum to (lambda-return - V) grad V, over two games in a row."""
    network = make_config(game="dash", encoding="track", hidden=(4,)).network()
    params = network.init(jax.random.key(3))
    rng = np.random.default_rng(2)
    length, ends = 12, {4: 2.0, 11: -1.0}  # after these plies the first player has won or lost
    places = [rng.integers(1, 10, (length, 1)).astype(np.int32) for _ in range(2)]
    track = Track(*places, np.zeros((length, 1), np.int32))
    player = np.arange(length, dtype=np.int32)[:, None] % 2
    over = np.array([number in ends for number in range(length)])[:, None]
    results = jnp.asarray([[ends.get(number, 0.0)] for number in range(length)], jnp.float32)
    predict, gradients = jax.jit(network.predict), jax.jit(network.gradients)

    values = np.stack([predict(params, jax.tree.map(lambda x, t=t: x[t], track), player[t]) for t in range(length)])
    targets = np.asarray(network.outcomes.target(results))
    traces = eligibility_traces(lambda_)
    step = jax.jit(traces.update)
    memory, total = traces.init(params, 1, 4), jax.tree.map(np.zeros_like, params)
    for t in range(length - 1):
        following = targets[t + 1] if over[t + 1] else values[t + 1]
        errors = np.where(over[t], np.zeros((1, 4), np.float32), following - values[t])
        slopes = gradients(params, jax.tree.map(lambda x, t=t: x[t], track), player[t])
        change, memory = step(slopes, memory, errors, over[t])
        total = jax.tree.map(np.add, total, jax.device_get(change))

    returns = np.asarray(jax.jit(lambda_returns, static_argnums=3)(values, targets[1:], over[1:], lambda_))
    ply = Ply(jax.tree.map(lambda x: x[:, 0], track), player[:, 0], over, results)
    layers = layers_of(params)
    wanted = reference.zeros(layers)
    for t in range(length - 1):
        if not over[t]:
            for k, slope in enumerate(reference.gradients(layers, see_track(True)(ply, t))):
                wanted = reference.add(wanted, slope, float(returns[t, 0, k] - values[t, 0, k]))
    for found, layer in zip(layers_of(total), wanted, strict=True):
        np.testing.assert_allclose(found.kernel, layer.kernel, atol=1e-5)
        np.testing.assert_allclose(found.bias, layer.bias, atol=1e-5)
    assert max(abs(layer.kernel).max() for layer in wanted) > 0.1


def test_traces_are_empty_after_a_game():
    traces = eligibility_traces(0.9)
    params = {"kernel": jnp.zeros((3, 2), jnp.float32)}
    memory = jax.tree.map(jnp.ones_like, traces.init(params, 2, 4))
    slopes = jax.tree.map(jnp.ones_like, memory)
    change, memory = traces.update(slopes, memory, jnp.ones((2, 4), jnp.float32), jnp.asarray([True, False]))
    assert (memory["kernel"][0] == 0).all() and np.allclose(memory["kernel"][1], 1.9)
    assert np.allclose(change["kernel"], 4 * 1.9)


# Outcomes


@pytest.mark.parametrize("number", [2, 4, 6])
def test_outcomes(number):
    outcomes = Outcomes(reference.OUTCOMES[:number])
    assert len(outcomes) == number
    rewards = np.array([1, -1, 2, -2, 3, -3, 0], np.float32)
    targets = outcomes.target(jnp.asarray(rewards))
    np.testing.assert_array_equal(targets, [reference.target(reward, number) for reward in rewards])
    assert np.asarray(targets).sum(axis=1).tolist() == [1] * 6 + [0]  # one outcome each, none for a draw
    most = number // 2
    np.testing.assert_array_equal(outcomes.expected(targets), np.clip(rewards, -most, most))
    np.testing.assert_array_equal(outcomes.flip(targets), outcomes.target(-jnp.asarray(rewards)))
    outputs = np.random.default_rng(0).random((3, 5, number)).astype(np.float32)
    np.testing.assert_array_equal(outcomes.flip(outcomes.flip(outputs)), outputs)
    np.testing.assert_allclose(outcomes.expected(outcomes.flip(outputs)), -outcomes.expected(outputs), atol=1e-6)
    assert outcomes.target(jnp.zeros((3, 5), jnp.float32)).shape == (3, 5, number)


def test_a_backgammon_is_a_gammon_to_four_outputs():
    assert Outcomes().target(jnp.float32(3)).tolist() == [0, 0, 1, 0]
    assert Outcomes().target(jnp.float32(-3)).tolist() == [0, 0, 0, 1]
    assert Outcomes((1, -1, 2, -2, 3, -3)).target(jnp.float32(-3)).tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("points", [(), (1,), (1, -2), (0,), (1, -1, 0)])
def test_outcomes_that_make_no_sense(points):
    with pytest.raises(ValueError, match="both signs") as error:
        Outcomes(points)
    assert "\n" not in str(error.value)
