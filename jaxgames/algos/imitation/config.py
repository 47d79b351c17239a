"""The settings of learning from examples."""

import dataclasses
import math

from jaxgames.algos.imitation.merge import SPLITS
from jaxgames.nets.policy_value_conv import VALUE_OUTPUTS
from jaxgames.ops import checks

CHOICES = {
    "network": ("mlp", "residual", "conv", "outputs"),
    "learns": ("both", "policy", "value"),
    "plays": ("policy", "value"),
    "policy_loss": ("cross_entropy", "squared", "absolute"),
    "value_loss": ("squared", "absolute"),
    "value_range": ("points", "unit"),
    "value_output": VALUE_OUTPUTS,
    "optimizer": ("adamw", "adam", "sgd", "momentum"),
    "split": SPLITS,
}


@dataclasses.dataclass(frozen=True)
class ImitationConfig:
    """Settings of a learner. Raises `ValueError` for what makes no sense."""

    network: str = "mlp"
    """`mlp`, `residual`: as of AlphaZero; `conv`: plain convolutions, then dense layers; `outputs`: a multilayer
    perceptron whose outputs name moves as `head` says.
    """
    hidden: tuple[int, ...] = (256, 256)
    """Units of the dense hidden layers."""
    convolutions: tuple[int, ...] = (32, 32)
    """Channels of each convolution of `conv`; none for a dense network."""
    blocks: int = 3
    channels: int = 32
    """Of a residual tower."""
    activation: str = "bipolar_sigmoid"
    initializer: str = "glorot_uniform"
    head: str = "highest"
    """Of `outputs`: the function of all layers, the first weights, and a name from `heads_of(game)`."""
    encoding: str = "observation"
    """What the network sees: the observation, or a name from `game.encodings`."""
    learns: str = "both"
    """Moves, results, or both."""
    plays: str = "policy"
    """How a run plays: the best move by its policy, or (`value`) by its values of the positions after each turn."""
    policy_loss: str = "cross_entropy"
    """Of the policy: over legal actions; `squared` and `absolute` add up the errors of all outputs."""
    value_loss: str = "squared"
    value_weight: float = 1.0
    """Weight of the value loss beside the policy loss."""
    value_range: str = "points"
    """`points`: values from minus to plus the most points of a game, divided by these; `unit`: the same as 0 to 1."""
    value_output: str = "tanh"
    """Of `conv`: `tanh`, or `identity` for values without bounds."""
    counts: bool = False
    """Whether a position that was merged of several weighs as much as all of them; else every position weighs 1."""
    symmetries: bool = True
    """Whether each position is learned in a drawn symmetry of the board."""
    positions: int = 0
    """Learns from so many positions only, drawn by the seed; 0 for all."""
    validation: float = 0.05
    split: str = "game"
    """How data that nobody has split are split: the share, and by `game` or by `position`."""
    minibatch: int = 256
    optimizer: str = "adamw"
    step_size: float = 0.002
    last_step_size: float = 0.0001
    """It falls as a cosine over all epochs."""
    weight_decay: float = 0.0001
    epochs: int = 20
    """How often all positions are learned."""
    blocks_per_epoch: int = 1
    """How often in an epoch the validation is measured."""
    patience: int = 5
    """Stops after so many measurements without a lower validation loss; the best one is what plays."""
    steps: int = 1000
    """Optimizer steps of the whole training; follows from the data."""

    def __post_init__(self) -> None:
        checks.settings(self)
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"unknown {name} {getattr(self, name)!r}; available: {', '.join(known)}")
        for name in ("minibatch", "epochs", "patience", "blocks_per_epoch", "steps", "blocks", "channels"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)}: expected a whole number from 1 on")
        if self.positions < 0:
            raise ValueError(f"positions {self.positions}: expected a whole number, 0 for all")
        for name in ("hidden", "convolutions"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            if any(size < 1 for size in getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)}: expected positive whole numbers")
        if not 0 < self.step_size < math.inf:
            raise ValueError(f"step_size {self.step_size}: expected a number above 0")
        for name in ("last_step_size", "weight_decay", "value_weight"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} {getattr(self, name)}: expected a number from 0 on")
        if not 0 < self.validation < 1:
            raise ValueError(f"validation {self.validation}: expected a share above 0 and below 1")
        if self.plays != self.learns and self.learns != "both":
            raise ValueError(f"plays={self.plays}, but it learns only the {self.learns}")
        if self.network == "outputs" and self.learns != "policy":
            raise ValueError("network=outputs learns moves only: choose learns=policy")
        if self.network == "outputs" and self.policy_loss == "cross_entropy":
            raise ValueError("network=outputs learns by policy_loss=squared or absolute")
