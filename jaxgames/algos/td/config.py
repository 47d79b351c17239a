"""The settings of temporal-difference self-play, in one place."""

import dataclasses
import warnings
from collections.abc import Mapping
from typing import TypeVar

import jax
import jax.numpy as jnp
import optax

from jaxgames.algos.td.value import ObservationEncoding, Outcomes, ValueNetwork
from jaxgames.envs.registry import make
from jaxgames.nets import MLP
from jaxgames.ops import checks

T = TypeVar("T")

METHODS = ("n_step", "exact", "monte_carlo", "expected", "sequential_td", "sequential_backprop")
FAST = ("n_step", "expected")
"""The methods for softmax outputs, and for a network for each class of positions."""
OUTCOMES = {2: (1, -1), 4: (1, -1, 2, -2), 6: (1, -1, 2, -2, 3, -3)}
OPTIMIZERS = {"sgd": optax.sgd, "adam": optax.adam, "adamw": optax.adamw}
SCHEDULES = ("constant", "cosine", "exponential", "tested")
WEIGHT_DECAY = 0.0001
"""The usual one."""

OLD_NAMES = {"decay": "lambda_", "explore": "epsilon"}
OLD_METHODS = {"window": "n_step", "result": "monte_carlo"}
"""What settings and methods used to be called; the old names work for one version more."""


@dataclasses.dataclass(frozen=True)
class TDConfig:
    """Settings of a learner. Raises `ValueError` for values that make no sense."""

    game: str = "backgammon"
    """The game, by its id."""
    encoding: str = ""
    """What the network sees: a name from `game.encodings`, or `observation`, which it is by default in games without
    `tesauro`."""
    hidden: tuple[int, ...] = (40,)
    """Units of each hidden layer."""
    members: int = 1
    """Networks of so many units that `expected` learns side by side; the player is their mean."""
    activation: str = "sigmoid"
    """Of the hidden layers (`jaxgames.nets.ACTIVATIONS`)."""
    initializer: str = "uniform"
    """Of the weights (`jaxgames.nets.INITIALIZERS`)."""
    outputs: int = 4
    """2: win, lose. 4: win, lose, win and lose a gammon. 6: win and lose a backgammon too."""
    cumulative: bool = False
    """Whether the output for a win counts gammons too, and so on: expected points are then win + win a gammon - ..."""
    output: str = "sigmoid"
    """Of the last layer: `sigmoid`, learned by squared errors, or `softmax`, by cross-entropy: shares of 1."""
    biases: bool = True
    """Whether units have biases."""
    by_class: bool = False
    """Whether each class of positions that the encoding tells apart has a network of its own."""
    symmetric: bool = True
    """The network sees each position from the player to act; false: always from the first player, as in TD-Gammon."""
    method: str = "n_step"
    """`n_step`: weights frozen for some plies, lambda-returns; `exact`: eligibility traces, a step after each ply;
    `monte_carlo`: whole games with frozen weights, then backprop to the final result; `expected`: expectations over all
    chance outcomes, kept and learned several times; `sequential_td` and `sequential_backprop`: one game after the
    other, with a step for each position, as in the comparison of 2007.
    """
    lambda_: float = 0.6
    """Lambda of TD(lambda). Not used by `monte_carlo`."""
    epsilon: float = 0.0
    """Probability that a turn of self-play is a random one: without chance all games would be the same."""
    restarts: float = 0.0
    """Share of the new games of `expected` that begin where prediction and look-ahead differ, not at the opening."""
    teacher: bool = False
    """Whether the weights with which `expected` begins, its first member's, play and make all targets to the end."""
    batch: int = 128
    """Games played at once."""
    plies: int = 4
    """Plies of each game in one update; for `monte_carlo` the most plies of one game."""
    games: int = 1_000
    """Games of one update of the sequential methods; the others do not use it."""
    replay: int = 262_144
    """Positions that `expected` keeps, at most."""
    minibatch: int = 512
    """Positions of each of its steps."""
    steps: int = 8
    """Its steps in one update."""
    average: float = 0.999
    """Its player's weights are the mean of those learned, each step's counting so much of the next one's."""
    optimizer: str = "adam"
    """`adam`, `adamw`, or `sgd` (the step size is then on the sum over the batch)."""
    weight_decay: float = WEIGHT_DECAY
    """Of `adamw`: each step takes this share of the weights, times the step size."""
    step_size: float = 0.004
    """The first step size."""
    last_step_size: float = 0.0001
    """The step size at the end, for the schedules `cosine` and `exponential`."""
    schedule: str = "exponential"
    """`constant`, `cosine`, `exponential`, or `tested`: 0.25 .. 0.001, lowered when the player stops getting better."""
    updates: int = 0
    """Number of updates of the whole training, for the schedules; 0 if it is not known: then they stay constant."""

    def __post_init__(self) -> None:
        if self.encoding == "":
            object.__setattr__(self, "encoding", "tesauro" if "tesauro" in make(self.game).encodings else "observation")
        checks.settings(self, nans=True)
        object.__setattr__(self, "hidden", tuple(self.hidden))
        if self.method in OLD_METHODS:
            _say_renamed("method", self.method, OLD_METHODS[self.method])
            object.__setattr__(self, "method", OLD_METHODS[self.method])
        for name, value, allowed in (
            ("method", self.method, METHODS),
            ("optimizer", self.optimizer, tuple(OPTIMIZERS)),
            ("schedule", self.schedule, SCHEDULES),
            ("outputs", self.outputs, tuple(OUTCOMES)),
            ("output", self.output, ("sigmoid", "softmax")),
        ):
            if value not in allowed:
                raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(str, allowed))}")
        for name, low, high in (
            ("lambda_", 0, 1),
            ("epsilon", 0, 1),
            ("restarts", 0, 1),
            ("members", 1, 64),
            ("batch", 1, 2**20),
            ("plies", 1, 2**16),
            ("games", 1, 2**20),
            ("replay", 1, 2**28),
            ("minibatch", 1, 2**20),
            ("steps", 1, 2**16),
            ("average", 0, 1),
            ("step_size", 0, 100),
            ("last_step_size", 0, 100),
            ("weight_decay", 0, 100),
            ("updates", 0, 2**31 - 1),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}={getattr(self, name)}: expected a number from {low} to {high}")
        if self.sequential and (self.batch != 1 or self.optimizer != "sgd" or self.epsilon):
            raise ValueError(f"method={self.method!r} plays one game at a time: use batch=1, optimizer=sgd, epsilon=0")
        if self.output == "softmax" and (self.cumulative or self.method not in FAST):
            raise ValueError(f"output='softmax' needs cumulative=False, and a method of {', '.join(FAST)}")
        if self.by_class and self.method not in FAST:
            raise ValueError(f"by_class=True needs a method of {', '.join(FAST)}, not {self.method}")
        if self.method == "expected" and (self.output != "softmax" or not self.symmetric):
            raise ValueError("method='expected' learns by cross-entropy: use output=softmax, symmetric=True")
        if self.restarts and self.method != "expected":
            raise ValueError(f"restarts={self.restarts}: only method='expected' keeps positions to begin at")
        if self.teacher and self.method != "expected":
            raise ValueError("teacher=True: only method='expected' learns from one")
        if self.members > 1 and (self.method != "expected" or len(self.hidden) != 1):
            raise ValueError(f"members={self.members}: needs method='expected' and one hidden layer")
        if self.weight_decay != WEIGHT_DECAY and self.optimizer != "adamw":
            raise ValueError(f"weight_decay={self.weight_decay}: only optimizer=adamw has one, not {self.optimizer}")
        if not self.step_size and self.updates and self.schedule in ("cosine", "exponential"):
            raise ValueError(f"step_size=0: the schedule {self.schedule} needs a number above 0; for 0 use constant")

    @property
    def sequential(self) -> bool:
        """Whether games are played one after the other."""
        return self.method.startswith("sequential")

    def network(self) -> ValueNetwork:
        """The value network that these settings describe."""
        game = make(self.game)
        encodings = {"observation": ObservationEncoding(game), **game.encodings}
        if self.encoding not in encodings:
            raise ValueError(f"unknown encoding {self.encoding!r} of {self.game}; available: {', '.join(encodings)}")
        if not self.symmetric and not game.alternates:
            raise ValueError(f"symmetric=False: a player of {self.game} may act twice in a row; use symmetric=True")
        if self.by_class and not hasattr(encodings[self.encoding], "class_of"):
            raise ValueError(f"by_class=True: the encoding {self.encoding} of {self.game} tells no classes apart")
        units = (self.members * self.hidden[0],) if self.members > 1 else self.hidden
        layers = MLP((*units, self.outputs), self.activation, self.output, self.initializer, self.biases)
        outcomes = Outcomes(OUTCOMES[self.outputs], self.cumulative)
        return ValueNetwork(game, encodings[self.encoding], layers, outcomes, self.symmetric, self.by_class)

    def member(self) -> ValueNetwork:
        """The network of each member; that of the player if there is only one."""
        return dataclasses.replace(self, members=1).network()

    def optimizer_for(self) -> optax.GradientTransformation:
        """The optimizer, with its step-size schedule; `tested` is a factor in the learner's state instead."""
        step_size: float | optax.Schedule = self.step_size
        if self.schedule == "tested":
            step_size = 1.0
        elif self.updates and self.schedule != "constant":
            step_size = _schedule(self)
        more = {"weight_decay": self.weight_decay} if self.optimizer == "adamw" else {}
        return OPTIMIZERS[self.optimizer](step_size, **more)


def current_names(settings: Mapping[str, T]) -> dict[str, T]:
    """Settings by the names that they have now; an old name is a `DeprecationWarning`."""
    for name in settings.keys() & OLD_NAMES.keys():
        _say_renamed("setting", name, OLD_NAMES[name])
    return {OLD_NAMES.get(name, name): value for name, value in settings.items()}


def _say_renamed(kind: str, old: str, new: str) -> None:
    warnings.warn(f"{kind} {old!r} is now called {new!r}", DeprecationWarning, stacklevel=3)


def _schedule(config: TDConfig) -> optax.Schedule:
    each = {"exact": config.plies, "expected": config.steps}.get(config.method, 1)
    steps = config.updates * each  # of the optimizer
    ratio = config.last_step_size / config.step_size
    if config.schedule == "cosine":
        return optax.cosine_decay_schedule(config.step_size, steps, alpha=ratio)

    def exponential(count: jax.Array) -> jax.Array:
        done = jnp.minimum(count.astype(jnp.float32) / jnp.float32(steps), 1.0)
        return jnp.float32(config.step_size) * jnp.float32(ratio) ** done

    return exponential
