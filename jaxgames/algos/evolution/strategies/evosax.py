"""Any strategy of evosax, with the same fitness as the algorithms of this package."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.ranking import raw
from jaxgames.algos.evolution.strategies.noise import noise


class EvosaxState(NamedTuple):
    """The strategy's own state, and the genomes of the generation that is being scored."""

    strategy: Any
    genomes: Float32[Array, "population dimension"]
    key: Key[Array, ""]
    generation: Int32[Array, ""]


@dataclasses.dataclass(frozen=True, eq=False)
class Evosax:
    """An evosax (0.3) strategy over flat genomes; evosax minimises, so it is told minus the scores.

    The whole population is kept, as evosax makes it. A strategy that evolves a population begins with random genomes of
    standard deviation 1 around the strategy's `solution`, one that moves a mean with that solution; `start` begins
    elsewhere. Raises ValueError if the strategy's solution is not one vector of numbers.
    """

    strategy: Any
    params: Any = None
    """The strategy's parameters; None: its own."""

    def __post_init__(self) -> None:
        if getattr(self.strategy.solution, "ndim", 0) != 1:
            raise ValueError("the strategy's solution is not a vector; make it of a genome, jnp.zeros(dimension)")

    @property
    def population(self) -> int:
        """The number of candidates of a generation."""
        return int(self.strategy.population_size)

    @property
    def dimension(self) -> int:
        """The number of genes."""
        return int(self.strategy.num_dims)

    @property
    def working_bytes(self) -> int:
        """What `tell` needs beside the old and the new state: the noise of the whole population."""
        return 4 * self.population * self.dimension

    def init(self, key: Key[Array, ""]) -> EvosaxState:
        """The state before the first generation."""
        first = jnp.asarray(self.strategy.solution, jnp.float32)
        if self._moves_a_mean():
            return self.start(key, first)
        numbers = jnp.arange(self.population, dtype=jnp.int32)
        return self.start(key, first[None] + noise(key, numbers, self.dimension))

    def start(
        self, key: Key[Array, ""], first: Float32[Array, " dimension"] | Float32[Array, "population dimension"]
    ) -> EvosaxState:
        """The state before the first generation: at a mean, or with a population, whichever the strategy has."""
        own, ask = jax.random.split(jax.random.fold_in(key, 0))
        with _as_evosax_expects():
            if self._moves_a_mean():
                strategy = self.strategy.init(own, first, self._params())
                genomes, strategy = self.strategy.ask(ask, strategy, self._params())
            else:
                genomes = first
                strategy = self.strategy.init(own, genomes, jnp.zeros(self.population), self._params())
        return EvosaxState(_settled(strategy), genomes, key, jnp.int32(0))

    def ask(self, state: EvosaxState, numbers: Int32[Array, " b"]) -> Float32[Array, "b dimension"]:
        """The genomes of these candidates."""
        return state.genomes[numbers]

    def tell(self, state: EvosaxState, scores: Float32[Array, " population"]) -> EvosaxState:
        """The next generation's state, given the scores of this one's candidates; higher is better."""
        costs = -raw(scores)
        own, ask = jax.random.split(jax.random.fold_in(state.key, state.generation + 1))

        def told() -> Any:
            return _settled(self.strategy.tell(own, state.genomes, costs, state.strategy, self._params())[0])

        def begun() -> Any:
            return _settled(self.strategy.init(own, state.genomes, costs, self._params()))

        with _as_evosax_expects():
            strategy = told() if self._moves_a_mean() else jax.lax.cond(state.generation == 0, begun, told)
            genomes, strategy = self.strategy.ask(ask, strategy, self._params())
        return EvosaxState(_settled(strategy), genomes, state.key, state.generation + 1)

    def champion(self, state: EvosaxState) -> Float32[Array, " dimension"]:
        """The mean, if the strategy has one; else the best genome it has seen."""
        return state.strategy.mean if self._moves_a_mean() else state.strategy.best_solution

    def _params(self) -> Any:
        return self.strategy.default_params if self.params is None else self.params

    def _moves_a_mean(self) -> bool:
        return hasattr(self.strategy, "get_mean")


def evosax_strategy(name: str, population: int, dimension: int, **settings: Any) -> Evosax:
    """A strategy by its name in evosax (`Open_ES`, `SimpleGA`, ...), with keyword arguments of its class.

    Raises ValueError if evosax is not installed or has no such strategy.
    """
    try:
        from evosax.algorithms import distribution_based_algorithms, population_based_algorithms
    except ImportError as error:
        raise ValueError(f"the strategy {name} needs evosax: pip install 'jaxgames[bench]'") from error
    known = {**distribution_based_algorithms, **population_based_algorithms}
    if name not in known:
        raise ValueError(f"evosax has no strategy {name!r}; available: {', '.join(sorted(known))}")
    with _as_evosax_expects():
        return Evosax(known[name](population_size=population, solution=jnp.zeros(dimension), **settings))


@contextlib.contextmanager
def _as_evosax_expects() -> Iterator[None]:
    """NumPy's rules of promotion, whatever rules are set."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _settled(tree: Any) -> Any:
    """The same arrays with definite types, as a loop carries them."""
    return jax.tree.map(lambda leaf: jax.lax.convert_element_type(leaf, jnp.result_type(leaf)), tree)
