"""Evolution of one population that asks for candidates and is told their scores: genetic, or by evolution strategy."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.evaluate import Algorithm, generation
from jaxgames.algos.evolution.fitness import ByPlay, HallOfFame
from jaxgames.algos.evolution.neuroevolution import Neuroevolution
from jaxgames.algos.evolution.open_es import OpenES
from jaxgames.algos.evolution.operators import Multiplicative, Segments, Truncation, whole_layers
from jaxgames.algos.evolution.play import Networks, Others, RandomMoves
from jaxgames.players import make as make_player
from jaxgames.recipes.evolution_config import EvolutionConfig, Met
from jaxgames.recipes.evolution_methods import Keyed, Scores, mesh_of

SAMPLE = 64


class SearchState(NamedTuple):
    """The algorithm's state, and the former champions, if they are met."""

    algorithm: Any
    hall: HallOfFame
    key: Key[Array, ""]


@dataclasses.dataclass(frozen=True)
class Search(Keyed):
    """As `Method`: `genetic` and `open_es`."""

    devices: int = 1
    fitnesses: tuple[tuple[str, Any], ...] = ()
    champions: int = 1

    @functools.cached_property
    def algorithm(self) -> Algorithm:
        """As `Method.algorithm`."""
        config, genomes = self.config, self.config.network.genomes()
        if config.method == "open_es":
            decay = optax.exponential_decay(
                config.step_size, config.generations, config.last_step_size / max(config.step_size, 1e-30)
            )
            return OpenES(
                config.population, genomes.dimension, sigma=config.sigma, optimizer=optax.adam(decay),
                weight_decay=config.weight_decay, mesh=mesh_of(self.devices),
            )  # fmt: skip
        crossover = {"none": None, "segments": Segments(), "layers": whole_layers(genomes.layer_slices)}
        return Neuroevolution(
            config.population, genomes.dimension, self.first, Truncation(max(config.keep, config.elites)),
            Multiplicative(config.rate), crossover[config.crossover], config.elites,
        )  # fmt: skip

    def games(self, generations: int) -> int:
        """As `Method.games`."""
        sides = 2 if self.config.sides == "both" else 1
        met = sum(one.number for one in self.config.met if one.name not in dict(self.fitnesses))
        return generations * self.config.population * met * sides

    def init(self, key: Key[Array, ""]) -> SearchState:
        """As `Method.init`."""
        own, first, drawn = (jax.random.fold_in(key, number) for number in range(3))
        if isinstance(self.algorithm, OpenES):
            state = self.algorithm.start(own, self.first(first, jnp.zeros(1, jnp.int32))[0])
        else:
            state = self.algorithm.init(own)
        former = sum(one.number for one in self.config.met if one.name == "hall")
        return SearchState(state, HallOfFame.of(self.first(drawn, jnp.arange(former, dtype=jnp.int32))), drawn)

    def generation(self, state: SearchState) -> tuple[SearchState, Scores]:
        """As `Method.generation`."""
        config, number = self.config, state.algorithm.generation
        key = jax.random.fold_in(state.key, number)
        judges = [
            self._judge(one, state, jax.random.fold_in(key, len(config.met) + place))
            for place, one in enumerate(config.met)
        ]

        def fitness(genomes: Array, numbers: Int32[Array, " b"], key: Key[Array, ""]) -> Float32[Array, " b"]:
            scores = [
                judge(genomes, numbers, jax.random.fold_in(key, place)) * jnp.float32(one.number)
                for place, (one, judge) in enumerate(zip(config.met, judges, strict=True))
            ]
            return sum(scores[1:], scores[0]) * jnp.float32(1 / sum(one.number for one in config.met))

        algorithm, scores = generation(
            self.algorithm, fitness, state.algorithm, key, config.block, mesh_of(self.devices)
        )
        hall = state.hall
        if len(hall.genomes):
            joined = hall.with_champion(self.algorithm.champion(algorithm))
            joins = number % config.hall_every == 0
            hall = jax.tree.map(lambda new, old: jnp.where(joins, new, old), joined, hall)
        return SearchState(algorithm, hall, state.key), Scores(jnp.max(scores), jnp.mean(scores))

    def best(self, state: SearchState) -> Float32[Array, "1 dimension"]:
        """As `Method.best`."""
        return self.algorithm.champion(state.algorithm)[None]

    def sample(self, state: SearchState) -> Float32[Array, "sample dimension"]:
        """As `Method.sample`."""
        numbers = jnp.arange(min(SAMPLE, self.config.population), dtype=jnp.int32)
        return self.algorithm.ask(state.algorithm, numbers)

    def _judge(self, one: Met, state: SearchState, key: Key[Array, ""]) -> Any:
        """The fitness that opponents of one kind are."""
        config = self.config
        if one.name in dict(self.fitnesses):
            return functools.partial(dict(self.fitnesses)[one.name], self.policy, one.number)
        if one.name == "hall":
            met: Any = Networks(self.policy, state.hall.genomes)
        elif one.name == "others":
            numbers = jax.random.randint(key, (one.number,), 0, config.population, jnp.int32)
            met = Networks(self.policy, self.algorithm.ask(state.algorithm, numbers))
        elif one.name == "random":
            met = RandomMoves(one.number)
        else:
            player = make_player(one.name, self.policy.game)
            met = Others(player.turn, player.params, one.number)
        return ByPlay(self.policy, met, config.score, config.sides, config.common, config.most_plies)


def check_opponents(config: EvolutionConfig, fitnesses: Any) -> None:
    """Raises `ValueError` for opponents that are no players of the game."""
    for one in config.met:
        if one.name not in ("hall", "others", *fitnesses):
            make_player(one.name, config.network.policy().game)
