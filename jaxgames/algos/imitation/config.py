"""The settings of learning from examples."""

import dataclasses
from typing import Any

from jaxgames.algos.imitation.data import SPLITS
from jaxgames.nets import ACTIVATIONS, NetworkSpec
from jaxgames.ops.settings import Settings, group, own, setting

FORMS: dict[str, tuple[Any, ...]] = {
    "form": ("mlp", "residual", "conv"), "output": tuple(ACTIVATIONS), "biases": (True,), "dtype": ("float32",),
}  # fmt: skip
MOVES, RESULTS = {"learns": ("both", "policy")}, {"learns": ("both", "value")}


@dataclasses.dataclass(frozen=True)
class ImitationConfig(Settings):
    """Settings of a learner. Raises `ValueError` for what makes no sense."""

    of = "imitation"
    network: NetworkSpec = group(NetworkSpec, FORMS)
    head: str = setting(
        "",
        "how the outputs of form=mlp name moves, a name from heads_of(game); by default each action has a logit, and "
        "there is a value",
        when={"form": "mlp"},
    )
    encoding: str = setting("observation", "what the network sees: observation, or a name from game.encodings")
    learns: str = setting("both", "moves, results, or both", choices=("both", "policy", "value"))
    plays: str = setting(
        "policy",
        "policy: the best move by its policy; value: by its values of the positions after each turn",
        choices=("policy", "value"),
    )
    policy_loss: str = setting(
        "cross_entropy",
        "cross_entropy: over legal actions; squared, absolute: errors of all outputs, added up",
        choices=("cross_entropy", "squared", "absolute"),
        when=MOVES,
    )
    value_loss: str = setting("squared", "error of the value", choices=("squared", "absolute"), when=RESULTS)
    value_weight: float = setting(1.0, "weight of the value loss beside the policy loss", low=0, when=RESULTS)
    value_range: str = setting(
        "points",
        "points: values from minus to plus the most points of a game, divided by these; unit: the same as 0 to 1",
        choices=("points", "unit"),
        when=RESULTS,
    )
    counts: bool = setting(False, "whether a position merged of several weighs as much as all of them, not 1")
    symmetries: bool = setting(True, "whether each position is learned in a drawn symmetry of the board")
    positions: int = setting(0, "learns from so many positions only, drawn by the seed; 0 for all", low=0)
    validation: float = setting(
        0.05, "share of data kept for validation, of data that nobody has split", above=0, high=1
    )
    split: str = setting("game", "whether such data are split by games or by positions", choices=SPLITS)
    minibatch: int = setting(256, "positions of a step", low=1)
    optimizer: str = setting("adamw", "what makes a step of a gradient", choices=("adamw", "adam", "sgd", "momentum"))
    step_size: float = setting(0.002, "the first step size", above=0)
    last_step_size: float = setting(0.0001, "the step size at the end, to which it falls as a cosine", low=0)
    weight_decay: float = setting(
        0.0001, "share of the weights that a step takes, times the step size", low=0, when={"optimizer": "adamw"}
    )
    epochs: int = setting(20, "how often all positions are learned", low=1)
    blocks_per_epoch: int = setting(1, "how often in an epoch the validation is measured", low=1)
    patience: int = setting(
        5, "stops after so many measurements without a lower validation loss; the best one is what plays", low=1
    )
    steps: int = setting(1000, "optimizer steps of the whole training", low=1, derived=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.validation < 1:
            raise ValueError(f"validation {self.validation}: expected a share above 0 and below 1")
        if self.last_step_size > self.step_size and self.last_step_size != own(type(self))["last_step_size"].default:
            raise ValueError(f"last_step_size={self.last_step_size:g}: expected at most step_size={self.step_size:g}")
        if self.plays != self.learns and self.learns != "both":
            raise ValueError(f"plays={self.plays}, but it learns only the {self.learns}")
        values_positions = self.learns != "policy" or self.head or self.network.form == "residual"
        if not values_positions and self.network.output != own(NetworkSpec)["output"].default:
            raise ValueError(f"output={self.network.output} has no effect without learns=both or value, or a head")
        if self.head and self.learns != "policy":
            raise ValueError(f"head={self.head} learns moves only: choose learns=policy")
        if self.head and self.policy_loss == "cross_entropy":
            raise ValueError(f"head={self.head} learns by policy_loss=squared or absolute")
