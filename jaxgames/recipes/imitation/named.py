"""The trainings by imitation by name: for any game, and as two published texts did it."""

from jaxgames.algos.imitation import ImitationConfig
from jaxgames.nets import NetworkSpec
from jaxgames.recipes.imitation.recipe import ImitationRecipe

_MLP = ImitationConfig()
_VALUE = _MLP.replace(learns="value", plays="value")

IMITATION = ImitationRecipe(
    name="imitation",
    summary="supervised learning of the moves and results of a data set, for every game",
    settings={
        "mlp": _MLP,
        "residual": _MLP.replace(form="residual"),
        "conv": _MLP.replace(form="conv", hidden=(64,)),
        "value": _VALUE,
    },
)

_ADAMCZYK = ImitationConfig(
    network=NetworkSpec(
        hidden=(64,), activation="bipolar_sigmoid", output="bipolar_sigmoid", initializer="glorot_uniform"
    ),
    encoding="pieces", head="target", learns="policy", policy_loss="squared", optimizer="sgd", minibatch=1,
    step_size=0.01, last_step_size=0.01, epochs=3, blocks_per_epoch=4, patience=4, symmetries=False,
)  # fmt: skip
"""The delta rule: a step after each move, as many weights as there are connections. The text leaves the step size and
the first weights open.
"""
_MODERN = ImitationConfig(
    network=NetworkSpec(hidden=(128, 128)), encoding="pieces", learns="policy", step_size=0.002, epochs=10,
    minibatch=256, blocks_per_epoch=2,
)  # fmt: skip

CHECKERS = ImitationRecipe(
    name="checkers-imitation",
    summary="networks that learn moves of alpha-beta, 64-64-64 as published, and better",
    settings={
        "modern": _MODERN,
        "modern-small": _MODERN.replace(hidden=(42,)),
        "adamczyk-2018": _ADAMCZYK,
        "adamczyk-2018-deep": _ADAMCZYK.replace(hidden=(64,) * 10),
    },
    game="checkers",
    opponents=("random", "alphabeta:1", "alphabeta:2", "alphabeta:3"),
)

_GOEPPERT = _VALUE.replace(
    hidden=(128, 128, 64), encoding="marks", output="identity", split="position", optimizer="adam", step_size=0.001,
    epochs=30,
)  # fmt: skip
_CONV = _GOEPPERT.replace(form="conv", convolutions=(32, 32), hidden=(64,), encoding="marks_planes")
CONNECT_FOUR = ImitationRecipe(
    name="connect-four-networks",
    summary="networks that learn results of searches, dense and convolutional, as published",
    settings={
        "dense-unit": _GOEPPERT.replace(value_range="unit"),
        "conv-unit": _CONV.replace(value_range="unit"),
        "dense": _GOEPPERT,
        "conv": _CONV,
        "naive": _GOEPPERT.replace(encoding="marks_12"),
    },
    game="connect_four",
    opponents=("random", "uct:100"),
)
