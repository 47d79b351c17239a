"""Networks by their description."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.nets import MLP, MLP_ONLY, POLICY_VALUE, NetworkSpec
from jaxgames.nets.policy_value import PolicyValueNet, ResidualTower
from jaxgames.ops.settings import Settings, group

BOARD = (5, 6, 2)


@dataclasses.dataclass(frozen=True)
class Plain(Settings):
    """As learners of plain layers hold a network."""

    network: NetworkSpec = group(NetworkSpec(hidden=(40,), activation="sigmoid", output="sigmoid"), MLP_ONLY)


@dataclasses.dataclass(frozen=True)
class TwoHeads(Settings):
    """As learners of a policy and a value hold a network."""

    network: NetworkSpec = group(NetworkSpec, POLICY_VALUE)


def test_layers():
    spec = NetworkSpec(hidden=(18, 9), activation="tanh", output="sigmoid", initializer="uniform:0.1", biases=False)
    assert spec.mlp(3) == MLP((18, 9, 3), "tanh", "sigmoid", "uniform:0.1", False)
    assert NetworkSpec(hidden=()).mlp(2).sizes == (2,)
    for other in (NetworkSpec("conv"), NetworkSpec(dtype="bfloat16")):
        with pytest.raises(ValueError, match=r"expected form=mlp, dtype=float32$"):
            other.mlp(3)


@pytest.mark.parametrize(
    "spec, module",
    [
        (NetworkSpec(hidden=(8,), dtype="bfloat16"), PolicyValueNet(7, (8,), 3.0, "bfloat16", channels=0)),
        (NetworkSpec("windows", (8, 4), window=3, channels=5), PolicyValueNet(7, (8, 4), 3.0, window=3, channels=5)),
        (NetworkSpec("residual", blocks=1, channels=4), ResidualTower(7, 1, 4, 3.0)),
        (
            NetworkSpec("conv", (6,), "tanh", "identity", "uniform", convolutions=(4, 5)),
            PolicyValueNet(7, (6,), 3.0, "float32", 0, 0, (4, 5), "tanh", "identity", "uniform"),
        ),
    ],
)
def test_policies_and_values(spec, module):
    made = spec.policy_value(7, BOARD, 3.0)
    assert made == module
    boards = jnp.zeros((2, *BOARD), bool)
    logits, values = jax.jit(lambda key: made.apply(made.init(key, boards), boards))(jax.random.key(0))
    assert logits.shape == (2, 7) and values.shape == (2,)
    np.testing.assert_allclose(values, 0, atol=0.1)


@pytest.mark.parametrize(
    "make, line",
    [
        (lambda: NetworkSpec("dense"), "form 'dense': expected one of mlp, windows, residual, conv"),
        (lambda: NetworkSpec(hidden=(0,)), "hidden 0: expected whole numbers from 1 on"),
        (lambda: NetworkSpec(activation="softmax"), "activation 'softmax': expected one of sigmoid, "),
        (lambda: NetworkSpec(initializer="normal"), "unknown initializer 'normal'; available: uniform, "),
        (lambda: NetworkSpec(window=3), "window=3 has no effect without form=windows"),
        (lambda: NetworkSpec("residual", (3,)), "hidden=3 has no effect without form=mlp or windows or conv"),
        (
            lambda: NetworkSpec("windows").policy_value(7, (12,), 1.0),
            "form=windows needs .rows, columns, planes., not .12.: choose",
        ),
        (
            lambda: NetworkSpec(output="softmax").policy_value(7, BOARD, 1.0),
            "unknown activation 'softmax'; available: ",
        ),
        (lambda: NetworkSpec("windows", window=6).policy_value(7, BOARD, 1.0), "window 6: expected 1 to 5 for a board"),
    ],
)
def test_what_makes_no_sense_is_said(make, line):
    with pytest.raises((ValueError, TypeError), match=f"^{line}"):
        make()


def test_learners_say_what_they_know():
    assert list(Plain().declarations()) == ["hidden", "activation", "output", "initializer", "biases"]
    assert list(TwoHeads().declarations()) == [
        "form", "hidden", "blocks", "channels", "window", "convolutions", "dtype"
    ]  # fmt: skip
    tower = TwoHeads(NetworkSpec(hidden=(64,))).change({"form": "residual", "blocks": "2"})
    assert tower.to_json() == {"form": "residual", "blocks": 2, "channels": 32, "dtype": "float32"}
    assert TwoHeads.from_json(tower.to_json()) == tower
    with pytest.raises(ValueError, match="^activation 'tanh': expected one of relu$"):
        TwoHeads(NetworkSpec(activation="tanh"))
