"""The settings of AlphaZero."""

import dataclasses
import math
from typing import Any

from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game
from jaxgames.nets.policy_value import PolicyValueMLP, ResidualTower
from jaxgames.ops import checks

SEARCHES, PLAYED = ("gumbel", "puct"), ("policy", "choice")
NETWORKS, DTYPES = ("mlp", "windows", "residual"), ("float32", "bfloat16")


@dataclasses.dataclass(frozen=True)
class AlphaZeroConfig:
    """Settings of a learner. Raises `ValueError` for what makes no sense."""

    network: str = "mlp"
    """`mlp`: fully connected. For observations [rows, columns, planes] also `windows`: the same behind `channels`
    features of every window of the board; and `residual`: a tower of convolutions."""
    hidden: tuple[int, ...] = (256, 256)
    """Units of the hidden layers, fully connected."""
    blocks: int = 3
    channels: int = 32
    """Of a residual tower; `channels` of windows, too."""
    window: int = 4
    """Rows and columns of a window."""
    dtype: str = "float32"
    """Of the network's computation; `bfloat16` is for GPUs and TPUs."""
    batch: int = 256
    """Games side by side."""
    plies: int = 8
    """Plies of each game in an update."""
    simulations: int = 32
    """Of each search."""
    search: str = "gumbel"
    """`gumbel`: targets are improved policies (completed values); `puct`: targets are visits, with Dirichlet noise."""
    considered: int = 16
    """Actions considered at the root, of a Gumbel search."""
    noise_alpha: float = 0.3
    noise_fraction: float = 0.25
    """Dirichlet noise at the root, of a PUCT search."""
    reuse: bool = False
    """Whether a PUCT search goes on in the tree of the ply before, and keeps what is below the move that was played."""
    played: str = "policy"
    """What is played: an action drawn from the search's policy, or (`choice`) the action that the search prefers."""
    temperature: float = 1.0
    """Of the drawn actions."""
    opening_plies: int = 2
    """Games begin after 0 to so many random plies, each number equally likely."""
    fast_share: float = 0.0
    """Share of the plies that are searched with `fast_simulations` only, and are no policy targets (playout caps)."""
    fast_simulations: int = 8
    result_share: float = 1.0
    """How much of the value target is the game's result; the rest is the value at the search's root."""
    exact: bool = False
    """Whether positions that are known exactly, of endings for example, have what best play brings as value target; and
    so have the positions before them in their game, as if it had been played on without a mistake."""
    discount: float = 1.0
    """What a point is worth one ply earlier, in targets and searches: below 1 quick wins and late losses are better."""
    buffer_plies: int = 64
    """Plies of each game that the replay buffer holds: `buffer_plies * batch` positions."""
    steps: int = 8
    """Optimizer steps of an update."""
    minibatch: int = 512
    """Positions of a step."""
    symmetries: bool = True
    """Whether each position is learned in a drawn symmetry of the board."""
    step_size: float = 0.002
    last_step_size: float = 0.0001
    """It falls as a cosine over `updates`."""
    weight_decay: float = 0.0001
    value_weight: float = 1.0
    """Weight of the value loss beside the policy loss."""
    ema: float = 0.995
    """Decay, per optimizer step, of the mean weights that play in the end; 0 for the newest weights."""
    updates: int = 1000
    """Of the whole training, for the step sizes."""

    def __post_init__(self) -> None:
        checks.settings(self)
        counts = ("batch", "plies", "simulations", "considered", "fast_simulations", "buffer_plies", "steps")
        for name in (*counts, "minibatch", "updates"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)}: expected a whole number from 1 on")
        if self.opening_plies < 0:
            raise ValueError(f"opening_plies {self.opening_plies}: expected a whole number from 0 on")
        texts = {"search": SEARCHES, "played": PLAYED, "network": NETWORKS, "dtype": DTYPES}
        for name, known in texts.items():
            if getattr(self, name) not in known:
                raise ValueError(f"unknown {name} {getattr(self, name)!r}; available: {', '.join(known)}")
        for name in ("fast_share", "result_share", "ema", "noise_fraction"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} {getattr(self, name)}: expected a number from 0 to 1")
        if not 0 < self.discount <= 1:
            raise ValueError(f"discount {self.discount}: expected a number above 0, at most 1")
        for name in ("step_size", "temperature", "noise_alpha"):
            if not (0 < getattr(self, name) < math.inf):
                raise ValueError(f"{name} {getattr(self, name)}: expected a number above 0")
        if self.buffer_plies % self.plies:
            raise ValueError(f"buffer_plies {self.buffer_plies}: expected a multiple of plies ({self.plies})")
        if self.reuse and self.search != "puct":
            raise ValueError(f"reuse: search={self.search} schedules all visits of a tree anew; choose search=puct")
        if self.simulations < 2 or self.fast_simulations < 2:
            raise ValueError("simulations: expected at least 2, so that a search looks at an action")

    def make_network(self, game: Game) -> Any:
        """The flax network for a game. Raises `ValueError` for a tower where observations are no planes."""
        a_game(game)
        dense = game.num_actions, tuple(self.hidden), float(game.max_reward), self.dtype
        if self.network == "mlp":
            return PolicyValueMLP(*dense)
        if len(game.observation_shape) != 3:
            raise ValueError(f"{game.id} is observed as {game.observation_shape}, not as planes: choose network=mlp")
        if self.network == "windows":
            if not 0 < self.window <= min(game.observation_shape[:2]):
                raise ValueError(f"window {self.window}: expected 1 to {min(game.observation_shape[:2])} in {game.id}")
            return PolicyValueMLP(*dense, self.window, self.channels)
        return ResidualTower(game.num_actions, self.blocks, self.channels, float(game.max_reward), self.dtype)
