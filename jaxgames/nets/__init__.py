"""Networks in flax.linen, described as settings: multilayer perceptrons, and networks with a policy and a value."""

from jaxgames.nets.convolutions import convolution
from jaxgames.nets.in_blocks import InBlocks
from jaxgames.nets.layers import (
    ACTIVATIONS,
    INITIALIZERS,
    OUTPUT_ACTIVATIONS,
    Activation,
    Initializer,
    activation,
    initializer,
    output_activation,
)
from jaxgames.nets.mlp import MLP, first_layer
from jaxgames.nets.policy_value import PolicyValueNet, ResidualTower, Windows
from jaxgames.nets.spec import MLP_ONLY, POLICY_VALUE, NetworkSpec

__all__ = [
    "ACTIVATIONS",
    "INITIALIZERS",
    "MLP",
    "MLP_ONLY",
    "OUTPUT_ACTIVATIONS",
    "POLICY_VALUE",
    "Activation",
    "InBlocks",
    "Initializer",
    "NetworkSpec",
    "PolicyValueNet",
    "ResidualTower",
    "Windows",
    "activation",
    "convolution",
    "first_layer",
    "initializer",
    "output_activation",
]
