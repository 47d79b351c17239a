"""CMA-ES: an evolution strategy that learns the covariance of its steps, for small networks."""

import dataclasses
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.ranking import ascending
from jaxgames.algos.evolution.strategies.noise import noise

ROWS = 256
"""How many candidates' steps are computed again at a time."""


class CMAESState(NamedTuple):
    """The distribution of the candidates, mean + sigma N(0, C), and what it is adapted by.

    `covariance` is C, `axes` the columns B and `scales` the diagonal D of C = B D^2 B^T; of a separable strategy C is
    its diagonal, and B None. B and D may be some generations older than C.
    """

    mean: Float32[Array, " n"]
    sigma: Float32[Array, ""]
    covariance: Float32[Array, "n n"] | Float32[Array, " n"]
    axes: Float32[Array, "n n"] | None
    scales: Float32[Array, " n"]
    sigma_path: Float32[Array, " n"]
    covariance_path: Float32[Array, " n"]
    key: Key[Array, ""]
    generation: Int32[Array, ""]


class Rates(NamedTuple):
    """The strategy's constants, by the names of the tutorial's table 1; `weights` from the best candidate on."""

    weights: np.ndarray
    mu_eff: float
    c_sigma: float
    d_sigma: float
    c_c: float
    c_1: float
    c_mu: float
    norm: float
    """The expected length of a standard normal vector."""
    interval: int
    """Generations between two decompositions of C."""


def default_population(dimension: int) -> int:
    """4 + floor(3 ln n) candidates (table 1)."""
    return 4 + int(3 * math.log(dimension))


@dataclasses.dataclass(frozen=True)
class CMAES:
    """Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772v2: appendix A, figure 6, with the weights and
    rates of table 1, negative weights included.

    C takes dimension^2 numbers and each decomposition dimension^3 operations: up to about a thousand genes. A
    `separable` strategy learns the diagonal of C only, faster by (n + 2) / 3 (Ros and Hansen 2008, "A Simple
    Modification in CMA-ES Achieving Linear Time and Space Complexity"), and takes networks of any size. Equal scores
    rank by the candidates' numbers.

    Raises ValueError if the population is smaller than 4, or sigma not above 0.
    """

    population: int
    dimension: int
    sigma: float = 0.5
    separable: bool = False

    def __post_init__(self) -> None:
        if self.population < 4:
            raise ValueError(f"population={self.population} is too small; give at least 4")
        if self.dimension < 1 or self.sigma <= 0:
            raise ValueError(f"dimension={self.dimension} and sigma={self.sigma} must be above 0")

    def init(self, key: Key[Array, ""]) -> CMAESState:
        """The state before the first generation, at zero."""
        return self.start(key, jnp.zeros(self.dimension, jnp.float32))

    def start(self, key: Key[Array, ""], mean: Float32[Array, " n"]) -> CMAESState:
        """The state before the first generation, at any mean."""
        n = self.dimension
        ones, zeros = jnp.ones(n, jnp.float32), jnp.zeros(n, jnp.float32)
        square = None if self.separable else jnp.eye(n, dtype=jnp.float32)
        return CMAESState(
            mean=mean,
            sigma=jnp.float32(self.sigma),
            covariance=ones if square is None else square,
            axes=None if square is None else jnp.copy(square),
            scales=jnp.copy(ones),
            sigma_path=zeros,
            covariance_path=jnp.copy(zeros),
            key=key,
            generation=jnp.int32(0),
        )

    def ask(self, state: CMAESState, numbers: Int32[Array, " b"]) -> Float32[Array, "b n"]:
        """The genomes of these candidates, mean + sigma B D z."""
        steps = noise(self._noise_key(state), numbers, self.dimension) * state.scales[None]
        return state.mean[None] + state.sigma * (steps if state.axes is None else steps @ state.axes.T)

    def tell(self, state: CMAESState, scores: Float32[Array, " population"]) -> CMAESState:
        """The next generation's state, given the scores of this one's candidates; higher is better."""
        n, rates = self.dimension, self.rates()
        best_first = ascending(scores)[::-1]
        weights = jnp.zeros(self.population, jnp.float32).at[best_first].set(jnp.asarray(rates.weights, jnp.float32))
        step, products = self._sums(self._noise_key(state), weights)

        # The steps are sums over z; those over y = B D z follow, and C^(-1/2) B D z = B z.
        rotated = step if state.axes is None else state.axes @ step
        weighted = state.scales * step if state.axes is None else state.axes @ (state.scales * step)
        mean = state.mean + state.sigma * weighted

        grow = math.sqrt(rates.c_sigma * (2 - rates.c_sigma) * rates.mu_eff)
        sigma_path = np.float32(1 - rates.c_sigma) * state.sigma_path + np.float32(grow) * rotated
        length = jnp.sqrt(jnp.sum(sigma_path**2))
        growth = np.float32(rates.c_sigma / rates.d_sigma) * (length * np.float32(1 / rates.norm) - 1.0)

        age = (state.generation + 1).astype(jnp.float32)
        unbiased = length / jnp.sqrt(1.0 - jnp.exp(age * np.float32(2 * math.log1p(-rates.c_sigma))))
        held = (unbiased < np.float32((1.4 + 2 / (n + 1)) * rates.norm)).astype(jnp.float32)
        grow = math.sqrt(rates.c_c * (2 - rates.c_c) * rates.mu_eff)
        path = np.float32(1 - rates.c_c) * state.covariance_path + held * np.float32(grow) * weighted

        lost = (1.0 - held) * np.float32(rates.c_1 * rates.c_c * (2 - rates.c_c))
        kept = np.float32(1 - rates.c_1 - rates.c_mu * rates.weights.sum()) + lost
        one = path**2 if state.axes is None else path[:, None] * path[None]
        covariance = kept * state.covariance + np.float32(rates.c_1) * one
        covariance += np.float32(rates.c_mu) * self._transformed(state, products)

        generation = state.generation + 1
        axes, scales = self._decomposed(state, covariance, generation % np.int32(rates.interval) == 0)
        sigma = state.sigma * jnp.exp(growth)
        return CMAESState(mean, sigma, covariance, axes, scales, sigma_path, path, state.key, generation)

    def champion(self, state: CMAESState) -> Float32[Array, " n"]:
        """The mean."""
        return state.mean

    @property
    def working_bytes(self) -> int:
        """What `tell` needs beside the old and the new state: sums over the candidates, and room to decompose C."""
        return 4 * (ROWS * self.dimension + (0 if self.separable else 3 * self.dimension**2))

    def rates(self) -> Rates:
        """The constants of table 1."""
        n, count = self.dimension, self.population
        raw = math.log((count + 1) / 2) - np.log(np.arange(1, count + 1))
        best, worst = raw[: count // 2], raw[count // 2 :]
        mu_eff = best.sum() ** 2 / (best**2).sum()
        mu_eff_worst = worst.sum() ** 2 / (worst**2).sum()
        faster = (n + 2) / 3 if self.separable else 1.0
        c_1 = min(1.0, faster * 2 / ((n + 1.3) ** 2 + mu_eff))
        c_mu = min(1 - c_1, faster * 2 * (0.25 + mu_eff + 1 / mu_eff - 2) / ((n + 2) ** 2 + mu_eff))
        least = min(1 + c_1 / c_mu, 1 + 2 * mu_eff_worst / (mu_eff + 2), (1 - c_1 - c_mu) / (n * c_mu))
        scale = np.where(raw >= 0, 1 / raw[raw > 0].sum(), least / -raw[raw < 0].sum())
        c_sigma = (mu_eff + 2) / (n + mu_eff + 5)
        return Rates(
            weights=raw * scale,
            mu_eff=mu_eff,
            c_sigma=c_sigma,
            d_sigma=1 + 2 * max(0.0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma,
            c_c=(4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n),
            c_1=c_1,
            c_mu=c_mu,
            norm=math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2)),
            interval=max(1, int(1 / (10 * n * (c_1 + c_mu)))),
        )

    def _noise_key(self, state: CMAESState) -> Key[Array, ""]:
        return jax.random.fold_in(state.key, state.generation)

    def _sums(
        self, key: Key[Array, ""], weights: Float32[Array, " population"]
    ) -> tuple[Float32[Array, " n"], Float32[Array, "n n"] | Float32[Array, " n"]]:
        """Sums over the candidates' z: w z of the positive weights, and w z z^T (its diagonal) of all.

        A negative weight counts by n / |z|^2, so that C stays positive (equation 46).
        """
        n = self.dimension
        rows = min(ROWS, self.population)
        blocks = -(-self.population // rows)
        weights = jnp.pad(weights, (0, blocks * rows - self.population)).reshape(blocks, rows)
        numbers = jax.lax.iota(jnp.int32, blocks * rows).reshape(blocks, rows)

        def add(sums, block):
            numbers, weights = block
            z = noise(key, numbers, n)
            squares = z**2
            scaled = weights * np.float32(n) / jnp.sum(squares, axis=1)
            counted = jnp.where(weights >= 0.0, weights, scaled)
            products = counted @ squares if self.separable else (counted[:, None] * z).T @ z
            return (sums[0] + jnp.maximum(weights, 0.0) @ z, sums[1] + products), None

        shape = (n,) if self.separable else (n, n)
        start = jnp.zeros(n, jnp.float32), jnp.zeros(shape, jnp.float32)
        return jax.lax.scan(add, start, (numbers, weights))[0]

    def _transformed(self, state: CMAESState, products: Array) -> Array:
        """The sum over w y y^T of that over w z z^T."""
        if state.axes is None:
            return products * state.scales**2
        turn = state.axes * state.scales[None]
        return turn @ products @ turn.T

    def _decomposed(
        self, state: CMAESState, covariance: Array, due: Array
    ) -> tuple[Float32[Array, "n n"] | None, Float32[Array, " n"]]:
        """B and D of C where that is due, else the old ones."""
        if state.axes is None:
            return None, jnp.sqrt(_positive(covariance))
        axes = state.axes

        def decompose() -> tuple[Array, Array]:
            values, vectors = jnp.linalg.eigh((covariance + covariance.T) * 0.5)
            return vectors, jnp.sqrt(_positive(values))

        return jax.lax.cond(due, decompose, lambda: (axes, state.scales))


def _positive(variances: Float32[Array, " n"]) -> Float32[Array, " n"]:
    """Variances that rounding may have made negative: at least 10^-7 of the largest."""
    return jnp.maximum(variances, jnp.max(variances) * np.float32(1e-7))
