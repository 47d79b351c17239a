"""An evolution strategy whose noise on each matrix is of low rank, so that a population is one matrix product."""

import dataclasses
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.candidates import LowRank, PartNoise, noise_numbers, noise_of, noise_scale
from jaxgames.algos.evolution.noise import ROWS_IN_CACHE, noise, sum_by_blocks
from jaxgames.algos.evolution.strategies.open_es import MirroredES, OpenESConfig, OpenESState, usual_optimizer
from jaxgames.ops import checks
from jaxgames.ops.settings import setting

MOST_RANK = 8


@dataclasses.dataclass(frozen=True)
class LowRankES(MirroredES):
    """Sarkar et al. (2025), "Evolution Strategies at the Hyperscale" (EGGROLL, arXiv 2511.16652), for `networks`:
    `OpenES` with noise of low rank. On a matrix it is

        e = 1 / sqrt(rank) * sum_r left_r right_r^T,

    with standard normal `left` and `right`, so that each number of e has mean 0 and
    variance 1, and different ones are uncorrelated; on other parts it is normal. With rising rank e becomes normal.

    Candidates share the mean's matrices (`LowRank`): if each candidate plays few games, a population costs little more
    than one network that plays all games. A gradient is one matrix product of the factors, weighted by scores.

    Args:
        population: an even number; candidates come in mirrored pairs.
        networks: `Genomes`, or `Parameters` of any pytree.
        rank: 1 to 8, at most the smaller side of the smallest matrix.
        sigma: the standard deviation of the noise on each weight.
        optimizer: any optax transformation, by default `optax.adam(0.01)`.
        shaping: `centered_ranks` or `raw`.
        weight_decay: share of the weights that a step takes.
        mesh: the devices, along the axis `population`, that share the sum of the gradient.

    Raises ValueError if the population is odd, if the rank is above a matrix' size, or a setting is none.
    """

    population: int
    networks: Any
    rank: int = 1
    sigma: float = 0.05
    optimizer: optax.GradientTransformation = dataclasses.field(default_factory=usual_optimizer)
    shaping: str = "centered_ranks"
    weight_decay: float = 0.0
    mesh: Mesh | None = None

    def __post_init__(self) -> None:
        checks.native_fields(self)
        checks.made("networks", self.networks, ("parts", "dimension"), "evolution.Genomes(network, inputs)")
        self._check()
        matrices = [shape for shape in self.networks.parts if len(shape) == 2]
        if not matrices:
            raise ValueError("the networks have no matrix, so no noise of low rank: use OpenES")
        most = min(MOST_RANK, *(min(shape) for shape in matrices))
        if not 1 <= checks.whole("rank", self.rank, None) <= most:
            sizes = ", ".join(f"{a} x {b}" for a, b in matrices)
            raise ValueError(f"rank={self.rank}: expected 1 to {most} for matrices of {sizes}")

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The number of weights."""
        return self.networks.dimension

    @property
    def working_bytes(self) -> int:
        """Scratch of the gradient: a block's noise, and the sum."""
        return 4 * (3 * ROWS_IN_CACHE + 2 * self.dimension)

    @property
    def noise_numbers(self) -> int:
        """The numbers of noise of a candidate."""
        return noise_numbers(self.networks, self.rank)

    def ask(self, state: OpenESState, numbers: Int32[Array, " b"]) -> LowRank:
        """These candidates, 0 to population - 1."""
        drawn = noise(self._noise_key(state), numbers >> 1, self.noise_numbers).T
        scale = noise_scale(self.networks, self.rank, self.sigma)[:, None]
        own = jnp.where(scale == 0, 1.0, scale * self._signs(numbers)[None])
        return LowRank(state.mean, drawn * own, self.networks, self.rank)

    @override
    def weighted_noise(self, key: Key[Array, ""], weights: Float32[Array, " pairs"]) -> Float32[Array, " dimension"]:
        rows = min(weights.size, 2 ** max(0, (ROWS_IN_CACHE // self.noise_numbers).bit_length() - 1))
        Sums = tuple[Float32[Array, "..."], ...]

        def add(sums: Sums, numbers: Int32[Array, " rows"], weights: Float32[Array, " rows"]) -> Sums:
            drawn = noise_of(self.networks, self.rank, noise(key, numbers, self.noise_numbers).T)
            return tuple(total + _weighted(own, weights, total.shape) for total, own in zip(sums, drawn, strict=True))

        def as_row(sums: Sums) -> Float32[Array, " dimension"]:
            size = np.float32(self.rank**-0.5)
            return jnp.concatenate([(part * size if part.ndim == 2 else part).ravel() for part in sums])

        zeros = tuple(jnp.zeros(shape, jnp.float32) for shape in self.networks.parts)
        summed: Array = sum_by_blocks(weights, rows, zeros, add, self.mesh, as_row)
        return summed


def _weighted(own: PartNoise, weights: Float32[Array, " n"], shape: tuple[int, ...]) -> Float32[Array, "..."]:
    """The weighted sum of the noise of n networks on a part of this shape."""
    if own.left is None:
        return (own.plain @ weights).reshape(shape)
    return jnp.einsum("ran,rbn->ab", own.left * weights[None, None], own.right)


@dataclasses.dataclass(frozen=True)
class LowRankConfig(OpenESConfig):
    """Settings of `low_rank`: as `open_es`, with noise of low rank on each matrix."""

    name: ClassVar[str] = "low_rank"

    rank: int = setting(1, "rank of the noise on each matrix", low=1, high=MOST_RANK)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network.game:
            self.algorithm(None)  # raises for a rank that is too large for a layer

    @override
    def algorithm(self, mesh: Mesh | None) -> LowRankES:
        return LowRankES(
            self.population, self.network.genomes(), rank=self.rank, sigma=self.sigma, optimizer=self.adam,
            weight_decay=self.weight_decay, mesh=mesh,
        )  # fmt: skip
