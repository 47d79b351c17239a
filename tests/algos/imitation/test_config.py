"""Settings of imitation that make no sense, and values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.imitation import ImitationConfig
from jaxgames.algos.imitation.config import ImitationNetwork
from jaxgames.nets import NetworkSpec


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"policy_loss": "hinge"}, "policy_loss 'hinge': expected one of cross_entropy, squared, absolute"),
        ({"learns": "value"}, "plays=policy, but it learns only the value"),
        ({"head": "target"}, "head=target learns moves only"),
        ({"head": "target", "learns": "policy"}, "head=target learns by policy_loss=squared or absolute"),
        ({"head": "target", "form": "conv"}, "head=target has no effect without form=mlp"),
        ({"form": "windows"}, "form 'windows': expected one of mlp, residual, conv"),
        (
            {"learns": "policy", "value_loss": "absolute"},
            "value_loss=absolute has no effect without learns=both or value",
        ),
        ({"optimizer": "sgd", "weight_decay": 0.1}, "weight_decay=0.1 has no effect without optimizer=adamw"),
        ({"validation": 0.0}, "validation 0.0: expected a number above 0"),
        ({"validation": 1.0}, "expected a share above 0 and below 1"),
        ({"minibatch": 0}, "minibatch 0: expected a whole number from 1 on"),
        ({"step_size": 0.0}, "expected a number above 0"),
    ],
)
def test_settings_that_make_no_sense_are_one_line(changes, line):
    with pytest.raises(ValueError, match=line):
        ImitationConfig().replace(**changes)


def test_values_are_those_of_the_value_head():
    game = jaxgames.make("tic_tac_toe")
    network = ImitationNetwork(game, ImitationConfig(NetworkSpec(hidden=(8,))))
    positions = jax.tree.map(lambda *x: jnp.stack(x), *map(game.parse, ("X../.O./...", "XO./.../...")))

    @jax.jit
    def both(key):
        params = jax.tree.map(lambda x: 20 * x, network.init(key))
        seen = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)
        images = jnp.stack([network.apply(params, one.observe(seen))[1] for one in game.symmetries])
        values = network.make_value(params)(positions), network.make_mean_value(params)(positions)
        return values, (images[0], images.mean(0))

    (value, mean), expected = both(jax.random.key(0))
    np.testing.assert_allclose(value, expected[0], rtol=1e-5)
    np.testing.assert_allclose(mean, expected[1], rtol=1e-4, atol=1e-5)
    assert np.abs(value).min() > 0.01
