"""The settings of AlphaZero."""

import dataclasses
from typing import Any

from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game
from jaxgames.nets import POLICY_VALUE, NetworkSpec
from jaxgames.ops.settings import Above, Settings, group, keep_at_most, setting

GUMBEL, PUCT, NOISY = {"search": "gumbel"}, {"search": "puct"}, {"search": ("puct", "recursive")}


@dataclasses.dataclass(frozen=True)
class AlphaZeroConfig(Settings):
    """Settings of a learner. Raises `ValueError` for values that make no sense."""

    of = "AlphaZero"
    network: NetworkSpec = group(
        NetworkSpec, POLICY_VALUE | {"form": ("mlp", "windows", "residual")}
    )  # fmt: skip
    batch: int = setting(256, "games played at once", low=1)
    plies: int = setting(8, "plies of each game in one update", low=1)
    simulations: int = setting(32, "simulations of each search, at least 2 so that it looks at an action", low=2)
    search: str = setting(
        "gumbel",
        "gumbel: learns improved policies (completed values). puct: learns visits, with Dirichlet noise. recursive: "
        "grows trees level by level and learns regularized policies, with Dirichlet noise. one_round: learns improved "
        "policies of one round of sequential halving, with at most 3 simulations for every 2 actions of the game",
        choices=("gumbel", "puct", "recursive", "one_round"),
    )
    considered: int = setting(16, "the most actions considered at the root", low=1, when=GUMBEL)
    noise_alpha: float = setting(
        0.3, "alpha of the Dirichlet noise at the root", low=1e-6, high=1_000_000,
        when=NOISY | {"noise_fraction": Above(0)},
    )  # fmt: skip
    noise_fraction: float = setting(0.25, "share of the Dirichlet noise at the root", low=0, high=1, when=NOISY)
    reuse: bool = setting(
        False, "whether a search goes on with the last ply's tree, below the move that was played", when=PUCT
    )
    played: str = setting(
        "policy",
        "policy: an action drawn from the search's policy; choice: the action that the search prefers",
        choices=("policy", "choice"),
    )
    temperature: float = setting(1.0, "temperature of the drawn actions", low=1e-6, when={"played": "policy"})
    opening_plies: int = setting(
        2, "each game begins with 0 to this many random plies; each number is equally likely", low=0
    )
    fast_share: float = setting(
        0.0,
        "share of plies played by fast searches (playout caps), below 1; the network learns no policies from them",
        low=0,
        high=1,
    )
    fast_simulations: int = setting(8, "simulations of a fast search", low=2, when={"fast_share": Above(0)})
    result_share: float = setting(
        1.0, "share of the game's result in the value target; the rest is the search's value at the root", low=0, high=1
    )
    exact: bool = setting(
        False,
        "whether best play decides the value target, without discount, as soon as a game reaches a position that a "
        "table knows, such as an ending; also for the positions before it",
    )
    discount: float = setting(
        1.0,
        "factor on a value for each ply before it, in targets and searches; below 1, quick wins and late losses are "
        "better",
        above=0,
        high=1,
    )
    buffer_plies: int = setting(
        64,
        "plies of each game in the replay buffer, a multiple of plies; the buffer holds batch times as many positions",
        low=1,
    )
    steps: int = setting(8, "optimizer steps of an update", low=1)
    minibatch: int = setting(512, "positions of a step", low=1)
    symmetries: bool = setting(True, "whether each position is learned in a random symmetry of the board")
    step_size: float = setting(0.002, "the first step size", above=0)
    last_step_size: float = setting(0.0001, "the step size at the end; it falls to this as a cosine", low=0)
    weight_decay: float = setting(0.0001, "each step shrinks the weights by this share, times the step size", low=0)
    value_weight: float = setting(1.0, "weight of the value loss beside the policy loss", low=0)
    ema: float = setting(
        0.995, "decay per step of the averaged weights, which play in the end; 0: the newest ones play", low=0, high=1
    )
    updates: int = setting(1000, "updates of the whole training, for the step sizes", low=1, derived=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_at_most(self, "last_step_size", "step_size")
        if not self.fast_share < 1:
            raise ValueError(
                f"fast_share {self.fast_share}: expected a share from 0 to below 1; 1 leaves no policy targets"
            )
        if self.buffer_plies % self.plies:
            raise ValueError(f"buffer_plies {self.buffer_plies}: expected a multiple of plies ({self.plies})")

    def shares(self) -> dict[str, int]:
        """The settings that several devices share equally."""
        return {"batch": self.batch, "minibatch": self.minibatch}

    def make_network(self, game: Game) -> Any:
        """The flax network for a game. Raises `ValueError` for one that does not fit its observations."""
        a_game(game)
        return self.network.policy_value(game.num_actions, tuple(game.observation_shape), float(game.max_reward))
