"""Evolution of one population that asks for candidates and is told their scores: genetic, or by evolution strategy."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.evaluate import Algorithm, evaluate
from jaxgames.algos.evolution.games.fitness import ByPlay, HallOfFame
from jaxgames.algos.evolution.games.play import Networks, Others, RandomMoves
from jaxgames.algos.evolution.operators import Multiplicative, Truncation
from jaxgames.algos.evolution.strategies.neuroevolution import Neuroevolution
from jaxgames.algos.evolution.strategies.open_es import OpenES
from jaxgames.players import make as make_player
from jaxgames.recipes.evolution.config import EvolutionConfig
from jaxgames.recipes.evolution.methods import Keyed, Scores, crossover_of, mesh_of

SAMPLE = 64


class SearchState(NamedTuple):
    """The algorithm's state, and the former champions, if they are met."""

    algorithm: Any
    hall: HallOfFame
    key: Key[Array, ""]


@dataclasses.dataclass(frozen=True)
class _Meeting:
    """An algorithm that hands the networks its candidates meet to whoever scores them, with the candidates: what is
    the same on all devices has to come with the state.
    """

    algorithm: Algorithm

    @property
    def population(self) -> int:
        """As `Algorithm.population`."""
        return self.algorithm.population

    def ask(self, state: Any, numbers: Int32[Array, " b"]) -> tuple[Array, Array]:
        """The candidates, and the networks."""
        return self.algorithm.ask(state[0], numbers), state[1]


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
        return Neuroevolution(
            config.population, genomes.dimension, self.first, Truncation(max(config.keep, config.elites)),
            Multiplicative(config.rate), crossover_of(config), config.elites,
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
        met = self._networks(state, key)

        def judged(asked: Any, numbers: Int32[Array, " b"], key: Key[Array, ""]) -> Float32[Array, " b"]:
            genomes, met = asked
            judges = self._judges(met)
            scores = [
                judge(genomes, numbers, jax.random.fold_in(key, place)) * jnp.float32(count)
                for place, (judge, count) in enumerate(judges)
            ]
            return sum(scores[1:], scores[0]) * jnp.float32(1 / sum(count for _, count in judges))

        fitness: Any = judged
        asking: Any = _Meeting(self.algorithm)
        scores = evaluate(fitness, asking, (state.algorithm, met), key, config.block, mesh_of(self.devices))
        algorithm = self.algorithm.tell(state.algorithm, scores)
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

    def _networks(self, state: SearchState, key: Key[Array, ""]) -> Float32[Array, "met dimension"]:
        """The networks that candidates meet in this generation: former champions, and others of the population."""
        found = [jnp.zeros((0, self.algorithm.dimension), jnp.float32)]
        for place, one in enumerate(self.config.met):
            if one.name == "hall":
                found.append(state.hall.genomes)
            if one.name == "others":
                own = jax.random.fold_in(key, len(self.config.met) + place)
                numbers = jax.random.randint(own, (one.number,), 0, self.config.population, jnp.int32)
                found.append(self.algorithm.ask(state.algorithm, numbers))
        return jnp.concatenate(found)

    def _judges(self, networks: Float32[Array, "met dimension"]) -> list[tuple[Any, int]]:
        """The fitness that opponents of each kind are, and how many they are; all networks are of one kind."""
        found: list[tuple[Any, int]] = []
        if len(networks):
            found.append((self._by_play(Networks(self.policy, networks)), len(networks)))
        for one in self.config.met:
            if one.name in ("hall", "others"):
                continue
            if one.name in dict(self.fitnesses):
                judge = functools.partial(dict(self.fitnesses)[one.name], self.policy, one.number)
                found.append((judge, one.number))
            elif one.name == "random":
                found.append((self._by_play(RandomMoves(one.number)), one.number))
            else:
                player = make_player(one.name, self.policy.game)
                found.append((self._by_play(Others(player.turn, player.params, one.number)), one.number))
        return found

    def _by_play(self, opponents: Any) -> ByPlay:
        config = self.config
        return ByPlay(self.policy, opponents, config.score, config.sides, config.common, config.most_plies)


def check_opponents(config: EvolutionConfig, fitnesses: Any) -> None:
    """Raises `ValueError` for opponents that are no players of the game."""
    for one in config.met:
        if one.name not in ("hall", "others", *fitnesses):
            make_player(one.name, config.network.policy().game)
