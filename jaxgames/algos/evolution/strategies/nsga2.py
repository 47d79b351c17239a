"""NSGA-II: a genetic algorithm for several objectives, which keeps the networks that no other one beats in all.

It begins with how candidates compare by several scores: fronts of those that no other one dominates, and crowding.
"""

import dataclasses
import re
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.evolution import CROSSOVERS
from jaxgames.algos.evolution.operators import (
    Crossover,
    Gaussian,
    Mutation,
    Segments,
    Tournament,
    candidate_bits,
    offspring,
)
from jaxgames.algos.evolution.ranking import check_scores
from jaxgames.algos.evolution.strategies.neuroevolution import InitGenomes
from jaxgames.algos.evolution.strategies.population import PopulationConfig
from jaxgames.ops import checks
from jaxgames.ops.pytrees import copied
from jaxgames.ops.settings import setting
from jaxgames.runs import Fronts


def dominates(scores: Float32[Array, "n objectives"]) -> Bool[Array, "n n"]:
    """Whether candidate i is as good as candidate j in every score and better in one; higher is better, NaN the
    worst.
    """
    scores = _without_nan(scores)
    one, other = scores[:, None], scores[None]
    return jnp.all(one >= other, axis=2) & jnp.any(one > other, axis=2)


def fronts(scores: Float32[Array, "n objectives"], enough: int | None = None) -> Int32[Array, " n"]:
    """The front of each candidate: 0 if none dominates it, 1 if only candidates of front 0 do, and so on.

    This is one more than the greatest front of those that dominate it. They are processed before it, since each of them
    is dominated by fewer. Fronts are numbered until `enough` candidates have one (None: all); the others get the
    number n. Source: Deb, Pratap, Agarwal and Meyarivan (2002), "A fast and elitist multiobjective genetic
    algorithm: NSGA-II", section III A. Raises `ValueError` for scores of another shape.
    """
    count = len(checks.array("scores", scores, jnp.floating, (None, None)))
    wanted = count if enough is None else checks.whole("enough", enough, 0, count)
    above = dominates(scores).T

    def next_one(ranks: Int32[Array, " n"], one: Int32[Array, ""]) -> tuple[Int32[Array, " n"], None]:
        front = 1 + jnp.max(jnp.where(above[one], ranks, -1), initial=-1)
        return jnp.where(jax.lax.iota(jnp.int32, count) == one, front, ranks), None

    order = jnp.argsort(jnp.sum(above, axis=1, dtype=jnp.int32)).astype(jnp.int32)
    ranks: Array = jax.lax.scan(next_one, jnp.zeros(count, jnp.int32), order)[0]
    before = jnp.searchsorted(jnp.sort(ranks), ranks)
    return jnp.where(before < wanted, ranks, count)


def crowding(scores: Float32[Array, "n objectives"], ranks: Int32[Array, " n"]) -> Float32[Array, " n"]:
    """How far apart the neighbours of each candidate in its front are: the sum, over scores, of the difference between
    the next better and the next worse one, as a share of the range of all; infinite for the best and worst of a front.

    Equal scores stand in the order of candidates. Source: as `fronts`, section III B.
    """
    scores = _without_nan(checks.array("scores", scores, jnp.floating, (None, None)))
    places = jax.lax.iota(jnp.int32, len(scores))
    edge = jnp.ones(1, bool)

    def of_one(values: Float32[Array, " n"]) -> Float32[Array, " n"]:
        front, value, place = jax.lax.sort((ranks, values, places), num_keys=2, is_stable=True)
        differs = front[1:] != front[:-1]
        at_end = jnp.concatenate([edge, differs]) | jnp.concatenate([differs, edge])
        finite = jnp.isfinite(value)
        span = jnp.max(jnp.where(finite, value, -jnp.inf)) - jnp.min(jnp.where(finite, value, jnp.inf))
        gap = (jnp.roll(value, -1) - jnp.roll(value, 1)) / jnp.where(span > 0, span, 1.0)
        gap = jnp.where(at_end, jnp.inf, jnp.where(jnp.isnan(gap), 0.0, gap))
        return jax.lax.sort((place, gap), num_keys=1)[1]

    return jnp.sum(jax.vmap(of_one, in_axes=1)(scores), axis=0)


def _without_nan(scores: Float32[Array, "..."]) -> Float32[Array, "..."]:
    return jnp.where(jnp.isnan(scores), -jnp.inf, scores)


class NSGA2State(NamedTuple):
    """The survivors, sorted by front and within a front by the room around them, largest first; their scores
    (minus infinity before the first `tell`), and the number of the front of each.
    """

    pool: Float32[Array, "population dimension"]
    scores: Float32[Array, "population objectives"]
    ranks: Int32[Array, " population"]
    key: Key[Array, ""]
    generation: Int32[Array, ""]


@dataclasses.dataclass(frozen=True)
class NSGA2:
    """Deb, Pratap, Agarwal and Meyarivan (2002), "A fast and elitist multiobjective genetic algorithm: NSGA-II".

    Of the survivors and their children, `population` each, those in the first fronts survive, and of the
    last front that has room those with the largest crowding distance. A parent is the best, by front and then
    by crowding, of `tournament` survivors drawn with equal probability. A fitness gives as many scores for each
    candidate as there are `objectives`, float32[b, objectives]; higher is better.

    A survivor keeps its scores. Raises `ValueError` for impossible settings.
    """

    population: int
    dimension: int
    first: InitGenomes
    objectives: int = 2
    mutation: Mutation = Gaussian(0.05)
    crossover: Crossover | None = Segments()
    tournament: int = 2

    def __post_init__(self) -> None:
        checks.native_fields(self)
        for name in ("population", "dimension", "objectives", "tournament"):
            checks.whole(name, getattr(self, name))
        checks.function("first", self.first, "(key, numbers) -> genomes")
        checks.function("mutation", self.mutation, "(genomes, bits) -> genomes")

    @property
    def columns(self) -> int:
        """How many scores a fitness gives for each candidate."""
        return self.objectives

    @property
    def working_bytes(self) -> int:
        """What `tell` needs besides the old and the new state: all pairs of survivors and children, and all genomes."""
        return 2 * (2 * self.population) ** 2 + 3 * 4 * self.population * self.dimension

    def init(self, key: Key[Array, ""]) -> NSGA2State:
        """The state before the first generation, whose candidates are those of `first`."""
        checks.key(key)
        return NSGA2State(
            jnp.zeros((self.population, self.dimension), jnp.float32),
            jnp.full((self.population, self.objectives), -jnp.inf, jnp.float32),
            jnp.zeros(self.population, jnp.int32),
            copied(key),
            jnp.int32(0),
        )

    def ask(self, state: NSGA2State, numbers: Int32[Array, " b"]) -> Float32[Array, "b dimension"]:
        """The genomes of these candidates, 0 to population - 1."""

        def bred() -> Float32[Array, "b dimension"]:
            key, count = jax.random.fold_in(state.key, state.generation), 1
            if self.crossover is not None:
                count = self.crossover.parents
            # Numbers beyond the candidates', so that parents get separate bits.
            drawn = numbers[:, None] + self.population * jnp.arange(1, count + 1, dtype=jnp.int32)[None]
            parents = Tournament(self.tournament)(state.scores[:, 0], candidate_bits(key, drawn))
            bits = candidate_bits(key, numbers)
            return offspring(state.pool, parents, jnp.zeros(len(numbers), bool), bits, self.mutation, self.crossover)

        return lax.cond(state.generation == 0, lambda: self.first(state.key, numbers), bred)

    def tell(self, state: NSGA2State, scores: Float32[Array, "population objectives"]) -> NSGA2State:
        """The next generation's state, given the scores of this one's candidates; higher is better, NaN the worst.

        Raises `ValueError` for scores of another shape.
        """
        told = check_scores(scores, self.population, self.objectives)
        children = self.ask(state, jnp.arange(self.population, dtype=jnp.int32))
        pool = jnp.concatenate([state.pool, children])
        all_scores = jnp.concatenate([state.scores, jnp.where(jnp.isnan(told), -jnp.inf, told)])
        numbers, ranks = lax.iota(jnp.int32, 2 * self.population), fronts(all_scores, self.population)
        # The rows before the first generation are empty: they come after all candidates, even those without scores.
        nobody = (state.generation == 0) & (numbers < self.population)
        ranks = jnp.where(nobody, np.int32(2 * self.population), ranks)
        room = crowding(all_scores, ranks)
        best = lax.sort((ranks, -room, numbers), num_keys=2, is_stable=True)[2][: self.population]
        return NSGA2State(pool[best], all_scores[best], ranks[best], state.key, state.generation + 1)

    def champion(self, state: NSGA2State) -> Float32[Array, " dimension"]:
        """The best by the first objective: one of the first front, which stands first in the pool."""
        return state.pool[jnp.argmax(state.scores[:, 0])]

    def metrics(self, state: NSGA2State) -> dict[str, Float32[Array, ""]]:
        """How many are in the first front."""
        return {"first_front": jnp.sum((state.ranks == 0).astype(jnp.float32))}


@dataclasses.dataclass(frozen=True)
class NSGA2Config(PopulationConfig):
    """Settings of `nsga2`: the score of games and other objectives at the same time."""

    name: ClassVar[str] = "nsga2"

    objectives: str = setting(
        "-length",
        "what counts besides score: length, spread (of the lengths), draws, captures, and other scores. More is "
        "better, or less after a minus: material-length",
    )
    sigma: float = setting(0.05, "the standard deviation of the noise on each weight of a child", low=0, high=10)
    crossover: str = setting("segments", "how two parents make a child; none: one parent", choices=CROSSOVERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        text = self.objectives
        if not re.fullmatch(r"[+-]?\w+([+-]\w+)*", text):
            raise ValueError(f"objectives={text!r}: expected names with a plus or a minus, as in material-length")
        plain = [name.removeprefix("-") for name in self.measures]
        if len({self.score, *plain}) <= len(plain):
            raise ValueError(f"objectives={text}: expected each once, and others than score={self.score}")

    @property
    @override
    def measures(self) -> tuple[str, ...]:
        return tuple(name.removeprefix("+") for name in re.findall(r"[+-]?\w+", self.objectives))

    @override
    def algorithm(self, mesh: Mesh | None) -> NSGA2:
        genomes = self.network.genomes()
        return NSGA2(
            self.population, genomes.dimension, genomes.init, 1 + len(self.measures), Gaussian(self.sigma),
            self.crossover_named(self.crossover),
        )  # fmt: skip

    @override
    def archive(self, state: NSGA2State) -> Fronts:
        return Fronts((self.score, *self.measures), np.asarray(state.scores), np.asarray(state.ranks))
