"""Networks in flax.linen: multilayer perceptrons of any sizes, activations and initialisations."""

from jaxgames.nets.activations import ACTIVATIONS, OUTPUT_ACTIVATIONS, Activation, activation, output_activation
from jaxgames.nets.blocks import InBlocks
from jaxgames.nets.initializers import INITIALIZERS, Initializer, initializer
from jaxgames.nets.mlp import MLP, first_layer

__all__ = [
    "ACTIVATIONS",
    "INITIALIZERS",
    "MLP",
    "OUTPUT_ACTIVATIONS",
    "Activation",
    "InBlocks",
    "Initializer",
    "activation",
    "first_layer",
    "initializer",
    "output_activation",
]
