"""Any strategy of evosax, with the same fitness as the algorithms of this package."""

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Float32, Int32, Key
from typing_extensions import override

from jaxgames.algos.evolution.noise import noise
from jaxgames.algos.evolution.ranking import check_scores, raw
from jaxgames.algos.evolution.strategies.population import PopulationConfig
from jaxgames.ops import checks, settings
from jaxgames.ops.pytrees import copied
from jaxgames.ops.settings import setting

SIGMA = 0.05
"""The usual standard deviation of the first noise of evosax's strategies; their own, 1, suits far larger weights."""


UNREAD = {
    "ASEBO": ("grad_decay",),
    "CR_FM_NES": ("h_inv",),
    "LGA": ("crossover_rate",),
    "LM_MA_ES": ("c_1", "c_mu"),
    "MA_ES": ("c_c",),
    "Rm_ES": ("c_mu", "chi_n"),
    "SAMR_GA": ("std_best_limit",),
}
"""Parameters that evosax's strategies have but do not read."""


class EvosaxState(NamedTuple):
    """The strategy's own state, and the genomes of the generation that is being scored."""

    strategy: Any
    genomes: Float32[Array, "population dimension"]
    key: Key[Array, ""]
    generation: Int32[Array, ""]


@dataclasses.dataclass(frozen=True, eq=False)
class Evosax:
    """A strategy of evosax (0.3) over flat genomes; evosax minimises, so it gets minus the scores.

    The whole population is kept, as evosax makes it. A strategy that moves a mean begins at zero; one that
    evolves a population begins with normal random genomes of standard deviation 1; `start` begins elsewhere.

    Raises ValueError if evosax is not installed, has no such strategy, or refuses its settings.
    """

    name: str
    """As in evosax: `CMA_ES`, `Open_ES`, `SimpleGA`, ..."""
    population: int
    dimension: int
    numbers: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Settings that are numbers, those of `number_types(name)`; for others evosax's defaults."""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Other keyword arguments of evosax's class."""

    def __post_init__(self) -> None:
        checks.native_fields(self)
        checks.whole("population", self.population)
        checks.whole("dimension", self.dimension)
        if self.name == "ESMC" and self.population % 2:  # evosax would notice only in `tell`
            raise ValueError(f"evosax refuses ESMC with population={self.population}: Population size must be even.")
        known = number_types(self.name) if self.numbers else {}
        if unread := [name for name in self.numbers if name not in known]:
            raise ValueError(f"evosax's {self.name} reads no number {unread[0]!r}; available: {', '.join(known)}")
        object.__setattr__(self, "numbers", {name: checks.native(one) for name, one in self.numbers.items()})
        _ = self.params

    def __getstate__(self) -> dict[str, Any]:
        """Without evosax's own objects, which are made again."""
        return {name: value for name, value in self.__dict__.items() if name not in ("strategy", "params")}

    @functools.cached_property
    def strategy(self) -> Any:
        """Evosax's own object. Raises `ValueError` for settings that it refuses."""
        kind, settings = kind_named(self.name), dict(self.settings)
        if "sigma" in self.numbers and "std_schedule" in inspect.signature(kind).parameters:
            settings["std_schedule"] = optax.constant_schedule(self.numbers["sigma"])
        if "step_size" in self.numbers:
            settings["optimizer"] = optax.adam(self.numbers["step_size"])
        try:
            with _as_evosax_expects(), jax.ensure_compile_time_eval():
                return kind(
                    population_size=self.population, solution=jnp.zeros(self.dimension, jnp.float32), **settings
                )
        except (AssertionError, TypeError) as error:
            raise ValueError(f"evosax refuses {self.name} with population={self.population}: {error}") from error

    @functools.cached_property
    def params(self) -> Any:
        """The parameters of evosax's functions."""
        with _as_evosax_expects(), jax.ensure_compile_time_eval():
            params = self.strategy.default_params
        own = {name: value for name, value in self.numbers.items() if hasattr(params, name)}
        if "sigma" in self.numbers and hasattr(params, "std_init"):
            own["std_init"] = self.numbers["sigma"]
        return params.replace(**own)

    @property
    def moves_a_mean(self) -> bool:
        """Whether the strategy moves a mean; otherwise it evolves a population."""
        return hasattr(self.strategy, "get_mean")

    @property
    def working_bytes(self) -> int:
        """What `tell` needs besides the old and the new state: the noise of the whole population, and room to decompose
        a covariance, if the strategy has one.
        """
        state = jax.eval_shape(self.init, jax.random.key(0))
        square = any(leaf.shape == (self.dimension, self.dimension) for leaf in jax.tree.leaves(state.strategy))
        return 4 * (2 * self.population * self.dimension + (6 * self.dimension**2 if square else 0))

    def init(self, key: Key[Array, ""]) -> EvosaxState:
        """The state before the first generation."""
        if self.moves_a_mean:
            return self.start(key, jnp.zeros(self.dimension, jnp.float32))
        # The words of key 0 are 0, and so is their hash. `start` splits the first key that is folded here.
        drawn = jax.random.fold_in(jax.random.fold_in(key, 0), 2)
        return self.start(key, noise(drawn, jnp.arange(self.population, dtype=jnp.int32), self.dimension))

    def start(
        self, key: Key[Array, ""], first: Float32[Array, " dimension"] | Float32[Array, "population dimension"]
    ) -> EvosaxState:
        """The state before the first generation: at a mean, or with a population, whichever the strategy has."""
        own, ask = jax.random.split(jax.random.fold_in(key, 0))
        with _as_evosax_expects():
            if self.moves_a_mean:
                strategy = self.strategy.init(own, first, self.params)
                genomes, strategy = self.strategy.ask(ask, strategy, self.params)
            else:
                genomes = first
                strategy = self.strategy.init(own, genomes, jnp.zeros(self.population, jnp.float32), self.params)
        return EvosaxState(*copied((_settled(strategy), genomes, key)), jnp.int32(0))

    def begin(self, key: Key[Array, ""], first: Callable[[Array], Array]) -> EvosaxState:
        """The state before the first generation, at the first weights of a network, or with a whole population."""
        if self.moves_a_mean:
            return self.start(key, first(jnp.zeros(1, jnp.int32))[0])
        return self.start(key, first(jnp.arange(self.population, dtype=jnp.int32)))

    def ask(self, state: EvosaxState, numbers: Int32[Array, " b"]) -> Float32[Array, "b dimension"]:
        """The genomes of these candidates."""
        return state.genomes[numbers]

    def tell(self, state: EvosaxState, scores: Float32[Array, " population"]) -> EvosaxState:
        """The next generation's state, given the scores of this one's candidates; higher is better."""
        costs = -raw(check_scores(scores, self.population))
        own, ask = jax.random.split(jax.random.fold_in(state.key, state.generation + 1))

        def told() -> Any:
            return _settled(self.strategy.tell(own, state.genomes, costs, state.strategy, self.params)[0])

        def begun() -> Any:
            return _settled(self.strategy.init(own, state.genomes, costs, self.params))

        with _as_evosax_expects():
            strategy = told() if self.moves_a_mean else jax.lax.cond(state.generation == 0, begun, told)
            genomes, strategy = self.strategy.ask(ask, strategy, self.params)
        return EvosaxState(_settled(strategy), genomes, state.key, state.generation + 1)

    def champion(self, state: EvosaxState) -> Float32[Array, " dimension"]:
        """The mean, if the strategy has one; else the best genome it has seen."""
        return state.strategy.mean if self.moves_a_mean else state.strategy.best_solution


def strategies() -> dict[str, Any]:
    """Evosax's strategies by name, those that numbers alone describe. Raises ValueError if it is not installed."""
    try:
        from evosax.algorithms import distribution_based_algorithms, population_based_algorithms
    except ImportError as error:
        raise ValueError("strategies of evosax need evosax: pip install evosax") from error
    needs_more = ("RandomSearch", "SV_CMA_ES", "SV_Open_ES")
    every = {**distribution_based_algorithms, **population_based_algorithms}
    return {name: kind for name, kind in every.items() if name not in needs_more}


def kind_named(name: str) -> Any:
    """Evosax's class. Raises ValueError if evosax is not installed or has no such strategy."""
    known = strategies()
    if name not in known:
        raise ValueError(f"evosax has no strategy {name!r}; available: {', '.join(sorted(known))}")
    return known[name]


def number_types(name: str) -> dict[str, type]:
    """The numeric settings of a strategy: its parameters by evosax's names, and two of ours if they apply.

    `sigma` is the standard deviation of its first noise, `step_size` that of Adam in place of its own optimizer.
    """
    accepted, params = inspect.signature(kind_named(name)).parameters, vars(Evosax(name, 4, 2).params)
    own = {setting: _number_type(value) for setting, value in params.items() if setting != "std_init"}
    ours = {"sigma": float} if "std_init" in params or "std_schedule" in accepted else {}
    ours |= {"step_size": float} if "optimizer" in accepted else {}
    unread = UNREAD.get(name, ())
    return ours | {setting: kind for setting, kind in own.items() if kind is not None and setting not in unread}


def _number_type(value: Any) -> type | None:
    if isinstance(value, (bool, int, float)):
        return type(value)
    return float if getattr(value, "shape", None) == () else None


@contextlib.contextmanager
def _as_evosax_expects() -> Iterator[None]:
    """NumPy's rules of promotion, whatever rules are set."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _settled(tree: Any) -> Any:
    """The same arrays with definite types, as a loop carries them."""
    return jax.tree.map(lambda leaf: jax.lax.convert_element_type(leaf, jnp.result_type(leaf)), tree)


@dataclasses.dataclass(frozen=True)
class EvosaxConfig(PopulationConfig):
    """Settings of a strategy of evosax: those of all populations and its own numbers, see `config_named`."""

    @override
    def algorithm(self, mesh: Mesh | None) -> Evosax:
        own = settings.own(type(self)).keys() - settings.own(PopulationConfig).keys()
        numbers = {name: getattr(self, name) for name in sorted(own) if getattr(self, name) is not None}
        return Evosax(self.name, self.population, self.network.genomes().dimension, numbers)


@functools.cache
def config_named(name: str) -> type[EvosaxConfig]:
    """The settings of a strategy of evosax, with a field for each of its `number_types`.

    Raises `ValueError` if evosax is not installed or has no such strategy.
    """
    fields: list[Any] = []
    for own, kind in number_types(name).items():
        if own == "sigma":
            fields.append((own, float, setting(SIGMA, "standard deviation of the first noise", above=0, high=10)))
        else:
            fields.append((own, kind | None, setting(None, f"{own} of evosax's {name}, by default evosax's own")))
    return dataclasses.make_dataclass(
        f"{name}Config", fields, bases=(EvosaxConfig,), frozen=True, namespace={"name": name}
    )
