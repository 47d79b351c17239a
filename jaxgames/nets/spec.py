"""One description of all networks: their form and sizes as settings, and the flax modules that they make."""

import dataclasses
from collections.abc import Iterable
from typing import Any

from typing_extensions import override

from jaxgames.nets.layers import ACTIVATIONS, OUTPUT_ACTIVATIONS, activation, initializer
from jaxgames.nets.mlp import MLP
from jaxgames.nets.policy_value import PolicyValueNet, ResidualTower
from jaxgames.ops.settings import Settings, setting

FORMS = ("mlp", "windows", "residual", "conv")
DENSE = ("mlp", "windows", "conv")
"""The forms with dense hidden layers."""

MLP_ONLY: dict[str, tuple[Any, ...]] = {"form": ("mlp",), "dtype": ("float32",)}
"""The choices, as `group` takes them, for settings that make their network by `NetworkSpec.mlp`."""
POLICY_VALUE: dict[str, tuple[Any, ...]] = {
    "activation": ("relu",), "output": ("tanh",), "initializer": ("lecun_normal",), "biases": (True,),
}  # fmt: skip
"""The choices for settings that make it by `NetworkSpec.policy_value`, with bounded values."""


@dataclasses.dataclass(frozen=True)
class NetworkSpec(Settings):
    """What a network is, except its inputs and outputs. Raises `ValueError` for impossible combinations.

        network: NetworkSpec = group(NetworkSpec(hidden=(40,), activation="sigmoid", output="sigmoid"), MLP_ONLY)

    Settings of a learner hold it like this, with their own defaults, and say which values are possible.
    """

    of = "a network"
    form: str = setting(
        "mlp",
        "mlp: fully connected; windows: the same, on features of every window of the board; residual: a tower of "
        "convolutions; conv: plain convolutions, then dense layers",
        choices=FORMS,
    )
    hidden: tuple[int, ...] = setting((256, 256), "units of each dense hidden layer", low=1, when={"form": DENSE})
    activation: str = setting("relu", "function of the hidden layers", choices=ACTIVATIONS, when={"form": DENSE})
    output: str = setting(
        "tanh",
        "function of the last layer, or of the value: identity has no bounds",
        choices=OUTPUT_ACTIVATIONS,
        when={"form": DENSE},
    )
    initializer: str = setting(
        "lecun_normal",
        "first weights: zeros, uniform, lecun_normal or glorot_uniform; the last three also with a number, as in "
        "uniform:0.1",
        when={"form": ("mlp", "conv")},
    )
    biases: bool = setting(True, "whether units have biases", when={"form": "mlp"})
    blocks: int = setting(3, "residual blocks of two convolutions each", low=1, when={"form": "residual"})
    channels: int = setting(
        32, "features of a window, or of each convolution of a tower", low=1, when={"form": ("windows", "residual")}
    )
    window: int = setting(4, "rows and columns of a window", low=1, when={"form": "windows"})
    convolutions: tuple[int, ...] = setting((32, 32), "channels of each convolution", low=1, when={"form": "conv"})
    dtype: str = setting(
        "float32", "type of the computed numbers; bfloat16 is for GPUs and TPUs", choices=("float32", "bfloat16")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        initializer(self.initializer)

    @override
    def check_said(self, names: Iterable[str]) -> None:
        hidden = self.hidden or (self.form == "conv" and self.convolutions) or self.form in ("windows", "residual")
        if "activation" in names and not hidden:
            raise ValueError(f"activation={self.activation} has no effect without hidden layers: leave it out")

    def mlp(self, outputs: int) -> MLP:
        """The layers with so many outputs. Raises `ValueError` for another form, and for a dtype they do not have."""
        if (self.form, self.dtype) != ("mlp", "float32"):
            raise ValueError(f"form={self.form}, dtype={self.dtype}: expected form=mlp, dtype=float32")
        return MLP((*self.hidden, outputs), self.activation, self.output, self.initializer, self.biases)

    def policy_value(
        self, num_actions: int, shape: tuple[int, ...], max_reward: float
    ) -> PolicyValueNet | ResidualTower:
        """The network with a logit for each action, and a value.

        Args:
            num_actions: logits.
            shape: of an observation.
            max_reward: the most points of a game, by which the value's output is multiplied.

        Raises `ValueError` for a form that does not fit the observations, for units without biases, and for softmax,
        which is of several outputs.
        """
        if self.sees_planes and len(shape) != 3:
            raise ValueError(f"form={self.form} needs [rows, columns, planes], not {list(shape)}: choose form=mlp")
        if self.form == "windows" and self.window > min(shape[:2]):
            raise ValueError(f"window {self.window}: expected 1 to {min(shape[:2])} for a board {list(shape)}")
        if not self.biases:
            raise ValueError("biases=False: networks with a policy and a value have biases")
        if self.form == "residual":
            return ResidualTower(num_actions, self.blocks, self.channels, max_reward, self.dtype)
        activation(self.output)  # not softmax
        window, channels = (self.window, self.channels) if self.form == "windows" else (0, 0)
        convolutions = self.convolutions if self.form == "conv" else ()
        functions = (self.activation, self.output, self.initializer)
        return PolicyValueNet(
            num_actions, self.hidden, max_reward, self.dtype, window, channels, convolutions, *functions
        )

    @property
    def sees_planes(self) -> bool:
        """Whether inputs must be [rows, columns, planes]."""
        return self.form in ("windows", "residual") or (self.form == "conv" and bool(self.convolutions))
