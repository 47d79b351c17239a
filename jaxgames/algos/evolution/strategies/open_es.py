"""OpenAI's evolution strategy: the gradient of the mean score of noisy copies of one network."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.evaluate import Algorithm
from jaxgames.algos.evolution.noise import by_shares, check_mesh, noise, noise_sum
from jaxgames.algos.evolution.ranking import SHAPINGS, check_scores
from jaxgames.algos.evolution.strategies.population import PopulationConfig
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied
from jaxgames.ops.settings import setting


class OpenESState(NamedTuple):
    """The mean network, the optimizer's memory, and the key of this generation's noise."""

    mean: Float32[Array, " dimension"]
    optimizer: Any
    key: Key[Array, ""]
    generation: Int32[Array, ""]


class MirroredES:
    """The base of evolution strategies that follow an estimated gradient, by noise in mirrored pairs.

    Candidates 2i and 2i+1 are the mean plus and minus sigma e_i. With the shaped scores s, the mean follows

        g = 1 / (population * sigma) * sum_i (s_2i - s_2i+1) e_i  -  weight_decay * mean

    by `optimizer` (it is given -g, since optimizers descend). The noise e is computed from the state's key whenever it
    is needed. A subclass is a dataclass, and says what e is: `ask` and `weighted_noise`.
    """

    population: int
    dimension: int
    sigma: float
    optimizer: optax.GradientTransformation
    shaping: str
    weight_decay: float
    mesh: Mesh | None

    def _check(self) -> None:
        checks.whole("population", self.population, None)
        checks.whole("dimension", self.dimension)
        for name in ("sigma", "weight_decay"):
            checks.number(name, getattr(self, name), "a number")
        check_mesh(self.mesh)
        checks.made("optimizer", self.optimizer, ("init", "update"), "an optax optimizer, such as optax.adam(0.01)")
        checks.text("shaping", self.shaping, "centered_ranks")
        if self.population < 2 or self.population % 2:
            raise ValueError(f"population={self.population} is not of pairs; give an even number from 2")
        if self.sigma <= 0:
            raise ValueError(f"sigma={self.sigma} is not above 0")
        if not checks.LEAST_FLOAT32 <= self.sigma <= checks.MOST_FLOAT32:
            raise ValueError(f"sigma={self.sigma}: expected a number that float32 holds, such as 0.05")
        if not 0 <= self.weight_decay <= checks.MOST_FLOAT32:
            raise ValueError(f"weight_decay={self.weight_decay}: expected a finite number from 0")
        if self.shaping not in SHAPINGS:
            raise ValueError(f"unknown shaping {self.shaping!r}; available: {', '.join(SHAPINGS)}")

    def init(self, key: Key[Array, ""]) -> OpenESState:
        """The state before the first generation, at zero."""
        checks.key(key)
        return self.start(key, jnp.zeros(self.dimension, jnp.float32))

    def start(self, key: Key[Array, ""], mean: Float32[Array, " dimension"]) -> OpenESState:
        """The state before the first generation, at any mean: a network's first weights, or a trained one's.

        Raises `ValueError` or `TypeError` for a mean that is not float32[dimension].
        """
        mean = jnp.asarray(checks.array("mean", mean, jnp.floating, (self.dimension,)), jnp.float32)
        with jax.numpy_dtype_promotion("standard"):
            return OpenESState(copied(mean), self.optimizer.init(mean), copied(key), jnp.int32(0))

    def begin(self, key: Key[Array, ""], first: Callable[[Array], Array]) -> OpenESState:
        """The state before the first generation, at a network's first weights, `first(numbers)`."""
        return self.start(key, first(jnp.zeros(1, jnp.int32))[0])

    def weighted_noise(self, key: Key[Array, ""], weights: Float32[Array, " pairs"]) -> Float32[Array, " dimension"]:
        """sum_i weights[i] e_i."""
        raise NotImplementedError

    def gradient(self, state: OpenESState, scores: Float32[Array, " population"]) -> Float32[Array, " dimension"]:
        """The estimate of the gradient of the shaped score at the mean, without weight decay."""
        scores = check_scores(scores, self.population)
        shaped = SHAPINGS[self.shaping]

        def weigh(scores: Array, plus: Array, minus: Array) -> Float32[Array, " pairs"]:
            of_plus, of_minus = jnp.split(shaped(jnp.concatenate([plus, minus]), scores), 2)
            return (of_plus - of_minus) * np.float32(1 / (self.population * self.sigma))

        # Slices, not an array of pairs: TPUs pad an axis of 2 to 128.
        weights = by_shares(weigh, scores, (scores[::2], scores[1::2]), self.mesh)
        return self.weighted_noise(self._noise_key(state), weights)

    def tell(self, state: OpenESState, scores: Float32[Array, " population"]) -> OpenESState:
        """The next generation's state, given the scores of this one's candidates; higher is better."""
        descent = np.float32(self.weight_decay) * state.mean - self.gradient(state, scores)
        with jax.numpy_dtype_promotion("standard"):  # optax mixes int32 counts with float32
            updates, optimizer = self.optimizer.update(descent, state.optimizer, state.mean)
            mean = optax.apply_updates(state.mean, updates)
        return OpenESState(mean, optimizer, state.key, state.generation + 1)

    def champion(self, state: OpenESState) -> Float32[Array, " dimension"]:
        """The mean."""
        return state.mean

    def _noise_key(self, state: OpenESState) -> Key[Array, ""]:
        return jax.random.fold_in(state.key, state.generation)

    def _signs(self, numbers: Int32[Array, " b"]) -> Float32[Array, " b"]:
        """1 for the first candidate of a pair, -1 for the other."""
        return (1 - 2 * (numbers & 1)).astype(jnp.float32)


@functools.cache
def usual_optimizer() -> optax.GradientTransformation:
    """Always the same object, since two of optax are never equal."""
    return optax.adam(0.01)


@dataclasses.dataclass(frozen=True)
class OpenES(MirroredES):
    """Salimans, Ho, Chen, Sidor and Sutskever (2017), "Evolution Strategies as a Scalable Alternative to Reinforcement
    Learning", algorithm 1 with mirrored sampling: candidates 2i and 2i+1 are mean + sigma e_i and mean - sigma e_i. The
    noise e is normal, a number for each weight.

    With the shaped scores s, the mean follows the estimate of its score's gradient

        g = 1 / (population * sigma) * sum_i (s_2i - s_2i+1) e_i  -  weight_decay * mean

    by `optimizer`, any optax transformation, by default `optax.adam(0.01)` (it is given -g, since optimizers descend).
    The noise e is computed from the state's key whenever it is needed: no array of population x dimension numbers is
    ever made. With `mesh` (axis `population`) each device sums its share of the gradient.

    Raises ValueError if the population is odd, or for an impossible setting.
    """

    population: int
    dimension: int
    sigma: float = 0.05
    optimizer: optax.GradientTransformation = dataclasses.field(default_factory=usual_optimizer)
    shaping: str = "centered_ranks"
    weight_decay: float = 0.0
    mesh: Mesh | None = None

    def __post_init__(self) -> None:
        checks.native_fields(self)
        self._check()

    def ask(self, state: OpenESState, numbers: Int32[Array, " b"]) -> Float32[Array, "b dimension"]:
        """The genomes of these candidates, 0 to population - 1."""
        steps = noise(self._noise_key(state), numbers >> 1, self.dimension) * np.float32(self.sigma)
        return state.mean[None] + self._signs(numbers)[:, None] * steps

    @override
    def weighted_noise(self, key: Key[Array, ""], weights: Float32[Array, " pairs"]) -> Float32[Array, " dimension"]:
        return noise_sum(key, weights, self.dimension, self.mesh)


@dataclasses.dataclass(frozen=True)
class OpenESConfig(PopulationConfig):
    """Settings of `open_es`: the gradient of the mean score of noisy copies of one network."""

    name: ClassVar[str] = "open_es"

    sigma: float = setting(0.05, "the standard deviation of the noise on each weight", above=0, high=10)
    step_size: float = setting(0.01, "the first step size (Adam)", low=0, high=10)
    last_step_size: float = setting(0.001, "the step size at the end; it falls to this exponentially", low=0, high=10)
    weight_decay: float = setting(0.0, "share of the weights that is subtracted from the gradient", low=0, high=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population % 2:
            raise ValueError(f"population={self.population}: expected an even number, since noise comes in pairs")

    @property
    def adam(self) -> optax.GradientTransformation:
        """Adam, with the step size falling exponentially."""
        share = self.last_step_size / max(self.step_size, 1e-30)
        decay = optax.exponential_decay(self.step_size, self.generations, share)
        return optax.adam(decay)

    @override
    def algorithm(self, mesh: Mesh | None) -> Algorithm:
        return OpenES(
            self.population, self.network.genomes().dimension, sigma=self.sigma, optimizer=self.adam,
            weight_decay=self.weight_decay, mesh=mesh,
        )  # fmt: skip
