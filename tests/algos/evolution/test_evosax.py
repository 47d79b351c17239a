"""Strategies of evosax, one of each kind, with our fitness and our loop."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxgames.algos.evolution.evaluate import evaluate, generation
from jaxgames.algos.evolution.strategies.evosax import Evosax, evosax_strategy
from tests.oracles import oracle

TARGET = np.linspace(-1.0, 1.0, 6).astype(np.float32)


def fitness(genomes, numbers, key):
    return -jnp.sum((genomes - jnp.asarray(TARGET)[None]) ** 2, axis=1)


SETTINGS = {"Open_ES": {"optimizer": optax.adam(0.1)}, "SimpleGA": {}}


@pytest.mark.parametrize("name", SETTINGS)
def test_strategies_climb(name):
    oracle("evosax")
    algorithm = evosax_strategy(name, 40, 6, std_schedule=optax.constant_schedule(0.2), **SETTINGS[name])
    assert (algorithm.population, algorithm.dimension) == (40, 6)

    @jax.jit
    def run(key):
        def step(state, _):
            state, scores = generation(algorithm, fitness, state, key, block=16)
            return state, scores

        state, scores = jax.lax.scan(step, algorithm.init(key), length=60)
        return state, scores, algorithm.champion(state)

    state, scores, champion = run(jax.random.key(0))
    assert int(state.generation) == 60
    assert scores[-1].mean() > scores[0].mean() / 2
    best = fitness(champion[None], None, None)[0]
    assert best > scores[0].max()
    if name == "SimpleGA":  # the champion is the best seen, the first generation included
        np.testing.assert_allclose(best, scores.max(), rtol=1e-5)


def test_first_generation_is_told_and_nan_is_the_worst():
    oracle("evosax")
    algorithm = evosax_strategy("SimpleGA", 10, 6)
    state = jax.jit(algorithm.init)(jax.random.key(1))
    scores = evaluate(fitness, algorithm, state, jax.random.key(0))
    told = jax.jit(algorithm.tell)(state, scores.at[jnp.argmax(scores)].set(jnp.nan))
    second = np.argsort(scores)[-2]
    np.testing.assert_array_equal(algorithm.champion(told), state.genomes[second])


def test_errors_are_one_line(monkeypatch):
    evosax = oracle("evosax")
    with pytest.raises(ValueError, match="no strategy 'OpenES'; available: ARS"):
        evosax_strategy("OpenES", 10, 6)
    tree = evosax.algorithms.SimpleGA(population_size=4, solution={"w": jnp.zeros(2)})
    with pytest.raises(ValueError, match="not a vector"):
        Evosax(tree)
    monkeypatch.setitem(__import__("sys").modules, "evosax.algorithms", None)
    with pytest.raises(ValueError, match="needs evosax: pip install"):
        evosax_strategy("Open_ES", 10, 6)
