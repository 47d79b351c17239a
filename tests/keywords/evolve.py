"""Keywords of evolution; hardly any of its programs is compiled."""

import jax
import jax.numpy as jnp
import optax

from jaxgames import nets
from jaxgames.algos import evolution
from jaxgames.algos.evolution import operators
from jaxgames.algos.evolution.evaluate import MemoryPlan
from tests.keywords.learn import BITS, TTT, program
from tests.keywords.rows import held, said, tried

NUMBERS = jnp.arange(4, dtype=jnp.int32)
PAIRS = jnp.zeros((2, 2), jnp.int32)
SCORES = jnp.arange(4, dtype=jnp.float32)
MLP_9 = nets.MLP((9,), biases=False)
GENOMES = evolution.Genomes(MLP_9, 9)
POLICY = evolution.Outputs(TTT, GENOMES, "cells")
RANDOM = evolution.RandomMoves(2)
DEEP = evolution.Genomes(nets.MLP((3, 9), output="tanh"), 9)
LOW_RANK = evolution.LowRankES(4, DEEP)


def told(strategy, **fixed):
    """The program of a generation of a strategy: its beginning, its candidates, its next state."""

    def call(**keywords):
        made = strategy(**{**fixed, **keywords})

        def run(key):
            first = made.init(key)
            return first, made.ask(first, NUMBERS), made.tell(first, SCORES), made.champion(first)

        return program(run)

    return call


def climbed(**keywords):
    """A step up a hill, and how many games it takes."""
    climb = evolution.HillClimb(3, **keywords)

    def run(key):
        first = climb.init(key)
        return first, climb.update(first, lambda one, other, key: jax.random.uniform(key, (4,), jnp.float32))

    return program(run), climb.games


def grouped(**keywords):
    """A round of groups."""
    usual = {"groups": 3, "members": 4, "keep": 2, "best": 1, "iterations": 2}
    group = evolution.GroupGA(81, GENOMES.init, **{**usual, **keywords})

    def met(genomes, others, numbers, key):
        return jax.random.uniform(key, (len(genomes), len(others)), jnp.float32)

    return program(lambda key: group.update(group.init(key), met))


def scored(function):
    """A generation, on so many devices, in such blocks."""
    strategy = evolution.OpenES(4, 81)

    def fitness(genomes, numbers, key):
        return jnp.sum(genomes, axis=1)

    given = (fitness, strategy) if function is evolution.evaluate else (strategy, fitness)
    return lambda **k: program(lambda key: function(*given, strategy.init(key), key, **k))


def bred(kind, **fixed):
    """Candidates of a strategy's second generation, told several numbers each."""

    def call(**keywords):
        strategy = kind(4, 81, GENOMES.init, **fixed, **keywords)
        told = jnp.zeros((4, strategy.columns))
        return program(
            lambda key: strategy.ask(strategy.tell(strategy.init(key), told), jnp.arange(4, dtype=jnp.int32))
        )

    return call


def games_of(**keywords):
    """Games of candidates."""
    return program(lambda key: evolution.play(POLICY, GENOMES.init(key, NUMBERS), RANDOM, key, NUMBERS, **keywords))


def selected(selection):
    """Who is chosen, by scores."""
    return lambda **k: program(lambda bits: selection(**k)(SCORES, bits), BITS)


def changed(mutation):
    """Genomes after a mutation."""
    return lambda **k: program(lambda genomes: mutation(**k)(genomes, BITS), jnp.ones((2, 3)))


def crossed(crossover):
    """Children of parents, as many as it takes."""

    def call(**keywords):
        made = crossover(**keywords)
        return program(lambda genomes: made([genomes] * made.parents, BITS), jnp.ones((2, 3)))

    return call


ES = {"sigma": 0.5, "optimizer": optax.sgd(0.1), "shaping": "raw", "weight_decay": 0.1}
MESH = evolution.population_mesh(2)
ROWS = {
    "algos.evolution.fitness.ByPlay": tried(
        lambda **k: program(
            lambda key: evolution.ByPlay(POLICY, RANDOM, **k)(GENOMES.init(key, NUMBERS), NUMBERS, key)
        ),
        score="points",
        sides="first",
        common=False,
        most_plies=3,
        measures=("length",),
    ),
    "algos.evolution.play.play": tried(games_of, sides="first", most_plies=3, details=("plies",)),
    "algos.evolution.policies.Outputs": held(head="settings NetworkConfig", strict="settings NetworkConfig"),
    "algos.evolution.duel.duel": tried(
        lambda **k: program(
            lambda key: evolution.duel(
                TTT,
                lambda params: lambda positions: params * positions.cells.astype(jnp.float32),
                *[jnp.ones(())] * 2,
                key,
                2,
                **k,
            )
        ),
        most_plies=3,
    ),
    "algos.evolution.genomes.Genomes.apply": tried(
        lambda **k: program(lambda key: DEEP.apply(DEEP.init(key, NUMBERS), jnp.ones((4, 9, 1)), **k)), monotone=True
    ),
    "algos.evolution.genomes.Genomes.apply_last": tried(
        lambda **k: program(
            lambda key: DEEP.apply_last(LOW_RANK.ask(LOW_RANK.init(key), NUMBERS), jnp.ones((9, 1, 4)), **k)
        ),
        monotone=True,
    ),
    "algos.evolution.evaluate.MemoryPlan": tried(
        lambda **k: MemoryPlan(evolution.OpenES(2048, 9), **k).needs(),
        block=128,
        devices=2,
        memories=16,
        games=2,
        game_bytes=99,
        opponents=jnp.zeros(3),
    ),
    "algos.evolution.evaluate.MemoryPlan.check": tried(
        lambda **k: said(lambda: MemoryPlan(evolution.OpenES(2048, 9)).check(**{"limit": 66_000} | k)),
        limit=100,
        less=[("league_size=1", MemoryPlan(evolution.OpenES(2, 9)))],
    ),
    "algos.evolution.strategies.evosax.Evosax": tried(
        told(evolution.Evosax, name="Open_ES", population=4, dimension=3),
        numbers={"step_size": 0.5},
        settings={"use_antithetic_sampling": False},
    ),
    "algos.evolution.strategies.group_ga.GroupGA": tried(
        grouped,
        groups=4,
        members=5,
        keep=3,
        best=2,
        iterations=3,
        mutation=operators.Gaussian(),
        crossover=operators.Segments(),
        schedule="parallel",
    ),
    "algos.evolution.strategies.hill_climb.HillClimb": tried(
        climbed, mutation=operators.Cubic(), factor=0.5, limit=2.0, margin=1.0, bound="scale", games=2, tested=True
    ),
    "algos.evolution.strategies.low_rank.LowRankES": tried(
        told(evolution.LowRankES, population=4, networks=DEEP), rank=2, **ES, mesh=MESH
    ),
    "algos.evolution.strategies.open_es.OpenES": tried(
        told(evolution.OpenES, population=4, dimension=3), **ES, mesh=MESH
    ),
    "algos.evolution.strategies.map_elites.MapElites": tried(
        bred(evolution.MapElites, low=(0.0,), high=(1.0,)), cells=3, variation=operators.IsoLine(0.1)
    ),
    "algos.evolution.strategies.nsga2.NSGA2": tried(
        bred(evolution.NSGA2), objectives=3, mutation=operators.Gaussian(0.1), crossover=None, tournament=3
    ),
    "algos.evolution.operators.IsoLine": tried(crossed(operators.IsoLine), iso=0.5, line=0.5),
    "algos.evolution.strategies.neuroevolution.Neuroevolution": tried(
        told(
            evolution.Neuroevolution, population=4, dimension=81, first=GENOMES.init, selection=operators.Truncation(2)
        ),
        selection=operators.Tournament(),
        mutation=operators.Gaussian(),
        crossover=operators.Segments(),
        elites=2,
    ),
    "algos.evolution.evaluate.evaluate": tried(scored(evolution.evaluate), block=2, mesh=MESH),
    "algos.evolution.evaluate.generation": tried(scored(evolution.generation), block=2, mesh=MESH),
    "algos.evolution.evaluate.population_mesh": tried(evolution.population_mesh, devices=1),
    "algos.evolution.operators.Cubic": tried(changed(operators.Cubic), rate=0.5),
    "algos.evolution.operators.Gaussian": tried(changed(operators.Gaussian), sigma=0.5),
    "algos.evolution.operators.Multiplicative": tried(changed(operators.Multiplicative), rate=0.5),
    "algos.evolution.operators.FitnessWeighted": tried(selected(operators.FitnessWeighted), zero=-1.0),
    "algos.evolution.operators.Tournament": tried(selected(operators.Tournament), size=3),
    "algos.evolution.operators.Segments": tried(crossed(operators.Segments), parents=3, cuts=1),
    "algos.evolution.operators.WholeLayers": tried(crossed(lambda **k: operators.WholeLayers((1, 2), **k)), parents=3),
    "algos.evolution.operators.whole_layers": tried(
        crossed(lambda **k: operators.whole_layers([slice(0, 1), slice(1, 3)], **k)), parents=3
    ),
    "algos.evolution.operators.offspring": tried(
        lambda **k: program(
            lambda key: operators.offspring(
                jnp.ones((4, 3)), PAIRS, jnp.asarray([True, False]), BITS, operators.Gaussian(), **k
            )
        ),
        crossover=operators.Segments(),
    ),
}
