"""Settings that methods of temporal-difference self-play share; each method adds its own beside its learner.

Also the step sizes of the comparison of learning methods: smaller as soon as the player stops improving.
L. D. Ebert, *Sammenligning af tre typer neurale netværks indlæringsmetoder* (Aarhus, 2007), section 4.3.
"""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float32, Int32
from typing_extensions import override

from jaxgames.algos.td.value import ObservationEncoding, Outcomes, ValueNetwork
from jaxgames.envs.registry import make
from jaxgames.nets import MLP_ONLY, NetworkSpec
from jaxgames.ops import checks
from jaxgames.ops.settings import Above, Settings, group, setting

OUTCOMES = {2: (1, -1), 4: (1, -1, 2, -2), 6: (1, -1, 2, -2, 3, -3)}
OPTIMIZERS = {"sgd": optax.sgd, "adam": optax.adam, "adamw": optax.adamw}
FALLING = ("cosine", "exponential")
UNTESTED = ("constant", *FALLING)
"""The schedules that begin with a `step_size`."""
SEVERAL_PLIES = {"plies": Above(1)}
"""With a window of one ply the value at its end is the return, whatever lambda is."""
POINTS = {"outputs": (4, 6)}
"""Only results of several points can also count as smaller ones."""
LAYERS = NetworkSpec(hidden=(40,), activation="sigmoid", output="sigmoid", initializer="uniform")
"""Those of TD-Gammon 0.0."""


@dataclasses.dataclass(frozen=True)
class TDConfig(Settings):
    """Settings of all methods. Raises `TypeError` or `ValueError` for values that make no sense."""

    of: ClassVar[str] = "a TD learner"

    method: str = setting("", "the way to learn")
    game: str = setting("backgammon", "the game, by its id", derived=True)
    encoding: str = setting("", "what the network sees: observation, or one of the game's encodings")
    net: NetworkSpec = group(LAYERS, MLP_ONLY | {"output": ("sigmoid",)})
    outputs: int = setting(
        4, "2: a win, a loss; 4: also a win and a loss of two points; 6: also of three points", choices=OUTCOMES
    )
    step_size: float = setting(0.004, "the first step size", low=0, high=100, when={"schedule": UNTESTED})
    updates: int = setting(0, "updates of the whole training, 0 if not known", low=0, high=2**31 - 1, derived=True)

    @override
    def __post_init__(self) -> None:
        if self.encoding == "":
            usual = "tesauro" if "tesauro" in make(self.game).encodings else "observation"
            object.__setattr__(self, "encoding", usual)
        super().__post_init__()

    def network(self) -> ValueNetwork:
        """The value network that these settings describe."""
        return self._network()

    def _network(self, cumulative: bool = False, symmetric: bool = True, by_class: bool = False) -> ValueNetwork:
        game = make(self.game)
        encodings = {"observation": ObservationEncoding(game), **game.encodings}
        if self.encoding not in encodings:
            raise ValueError(f"unknown encoding {self.encoding!r} of {self.game}; available: {', '.join(encodings)}")
        if game.step_limit is not None:
            raise ValueError(
                f"game={self.game!r}: TD plays games to their ends, and this one is cut off after {game.step_limit} "
                "actions (step_limit); AlphaZero and evolution learn such games"
            )
        if not symmetric and not game.alternates:
            raise ValueError(f"symmetric=False: a player of {self.game} may act twice in a row; use symmetric=True")
        if by_class and not hasattr(encodings[self.encoding], "class_of"):
            raise ValueError(f"by_class=True: the encoding {self.encoding} of {self.game} tells no classes apart")
        outcomes = Outcomes(OUTCOMES[self.outputs], cumulative)
        return ValueNetwork(game, encodings[self.encoding], self.net.mlp(self.outputs), outcomes, symmetric, by_class)

    @property
    def games_at_once(self) -> int:
        """Games played at once."""
        return 1

    def shares(self) -> dict[str, int]:
        """The settings that several devices share equally."""
        return {"batch": self.games_at_once}

    def plies_per_update(self, plies_per_game: int) -> int:
        """Plies of one update, over all games, if the games last that long."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class SquaredErrorConfig(TDConfig):
    """Settings of methods that learn outputs from 0 to 1 by squared errors."""

    cumulative: bool = setting(False, "whether each output also counts results of more points", when=POINTS)
    symmetric: bool = setting(
        True, "whether the network sees positions from the player to act; else from the first player"
    )

    @override
    def network(self) -> ValueNetwork:
        return self._network(self.cumulative, self.symmetric)


@dataclasses.dataclass(frozen=True)
class BatchConfig(TDConfig):
    """Settings of methods that play many games at once, and make steps with an optimizer."""

    epsilon: float = setting(0.0, "probability that a turn of self-play is a random one", low=0, high=1)
    batch: int = setting(128, "games played at once", low=1, high=2**20)
    plies: int = setting(4, "plies of each game in one update", low=1, high=2**16)
    optimizer: str = setting("adam", "what turns a gradient, summed over the batch, into a step", choices=OPTIMIZERS)
    weight_decay: float = setting(
        0.0001, "each step shrinks the weights by this share, times the step size", low=0, high=100,
        when={"optimizer": "adamw"},
    )  # fmt: skip
    schedule: str = setting(
        "exponential",
        "how the step size changes; tested: from 0.25 down to 0.001, each time the player stops getting better",
        choices=(*UNTESTED, "tested"),
    )  # fmt: skip
    last_step_size: float = setting(0.0001, "the step size at the end", low=0, high=100, when={"schedule": FALLING})

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.step_size and self.updates and self.schedule in FALLING:
            raise ValueError(f"step_size=0: the schedule {self.schedule} needs a number above 0; for 0 use constant")
        if not self.last_step_size and self.updates and self.schedule == "exponential":  # 0 from the second step on
            raise ValueError("last_step_size=0: the schedule exponential needs a number above 0; for 0 use cosine")

    @property
    @override
    def games_at_once(self) -> int:
        return self.batch

    @property
    def steps_per_update(self) -> int:
        """Steps of the optimizer."""
        return 1

    @override
    def plies_per_update(self, plies_per_game: int) -> int:
        return self.batch * self.plies

    def optimizer_for(self) -> optax.GradientTransformation:
        """The optimizer, with its step-size schedule; `tested` is a factor in the learner's state instead."""
        step_size: float | optax.Schedule = self.step_size
        if self.schedule == "tested":
            step_size = 1.0
        elif self.updates and self.schedule != "constant":
            step_size = self._schedule()
        more = {"weight_decay": self.weight_decay} if self.optimizer == "adamw" else {}
        return OPTIMIZERS[self.optimizer](step_size, **more)

    def _schedule(self) -> optax.Schedule:
        steps = self.updates * self.steps_per_update
        ratio = self.last_step_size / self.step_size
        if self.schedule == "cosine":
            return optax.cosine_decay_schedule(self.step_size, steps, alpha=ratio)

        def exponential(count: jax.Array) -> jax.Array:
            done = jnp.minimum(count.astype(jnp.float32) / jnp.float32(steps), 1.0)
            return jnp.float32(self.step_size) * jnp.float32(ratio) ** done

        return exponential


STEP_SIZES = (0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0025, 0.001)
"""From 0.25 down to 0.001, for all three methods: Ebert (2007), section 4.3."""
GAMES_PER_TEST = 200
GAMES_BETWEEN_TESTS = 1_000
TESTS = 25


@dataclasses.dataclass(frozen=True)
class TestedStepSizes:
    """Every 1,000 games the player meets its own state of 25,000 games before in 200 games; when 25 tests in a row sum
    to less than zero points, the next step size begins.
    """

    index: int = 0
    recent: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        checks.native_fields(self)

    @property
    def step_size(self) -> float:
        """The present step size."""
        return STEP_SIZES[self.index]

    def after_test(self, points: float) -> "TestedStepSizes":
        """The schedule after a test in which the player won `points` in all from its younger self."""
        recent = (*self.recent, points)[-TESTS:]
        if len(recent) < TESTS or sum(recent) >= 0:
            return dataclasses.replace(self, recent=recent)
        return TestedStepSizes(min(self.index + 1, len(STEP_SIZES) - 1))


class Tests(NamedTuple):
    """What a checkpoint holds of `TestedStepSizes`."""

    younger: Any  # the weights after each of the last 25 blocks of games, the oldest first
    points: Float32[Array, " tests"]  # of the last 25 tests, the latest last
    known: Int32[Array, ""]  # how many of them count
    number: Int32[Array, ""]  # blocks of games so far
    place: Int32[Array, ""]  # the index of the step size

    @property
    def schedule(self) -> TestedStepSizes:
        """The schedule as it stands."""
        return TestedStepSizes(int(self.place), tuple(map(float, self.points[TESTS - int(self.known) :])))

    @property
    def has_younger(self) -> bool:
        """Whether there are weights of 25,000 games before: the first 25 blocks have none."""
        return int(self.number) >= TESTS

    def after_block(self, params: Any, points: float | None) -> "Tests":
        """The tests after a block of games, with the weights after it and the points they won in the test, if any."""
        schedule = self.schedule if points is None else self.schedule.after_test(points)
        recent = [0.0] * (TESTS - len(schedule.recent)) + list(schedule.recent)
        return Tests(
            younger=jax.tree.map(lambda all_, new: jnp.concatenate([all_[1:], new[None]]), self.younger, params),
            points=jnp.asarray(recent, jnp.float32),
            known=jnp.int32(len(schedule.recent)),
            number=self.number + 1,
            place=jnp.int32(schedule.index),
        )


def first_tests(params: Any) -> Tests:
    """The tests before the first game."""
    younger = jax.tree.map(lambda x: jnp.broadcast_to(x, (TESTS, *x.shape)), params)
    return Tests(younger, jnp.zeros(TESTS, jnp.float32), *(jnp.int32(0) for _ in range(3)))
