"""The genetic algorithm against the plain reference, generation by generation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution.operators import (
    FitnessWeighted,
    Gaussian,
    Multiplicative,
    Segments,
    Tournament,
    Truncation,
)
from jaxgames.algos.evolution.strategies.neuroevolution import Neuroevolution
from tests.algos.evolution import reference_evolution as reference

POPULATION, DIMENSION = 12, 9
FIRST = reference.uniform(DIMENSION, -2.0, 3.0)
KEY = jax.random.key(11)
EVERYONE = jnp.arange(POPULATION, dtype=jnp.int32)


def key_words(key) -> list[int]:
    return [int(word) for word in jax.random.key_data(key)]


def scores_of(generation: int) -> np.ndarray:
    """Scores with ties and NaN."""
    random = np.random.default_rng(generation)
    scores = random.integers(-3, 4, POPULATION).astype(np.float32)
    scores[random.integers(POPULATION, size=2)] = np.nan
    return scores


def make(**settings) -> Neuroevolution:
    settings = {"selection": Truncation(5), "mutation": Multiplicative(0.2), "elites": 2} | settings
    return Neuroevolution(POPULATION, DIMENSION, FIRST, **settings)


@pytest.mark.parametrize("cuts", [None, 2])
def test_generations_equal_the_reference(cuts):
    algorithm = make(crossover=None if cuts is None else Segments(cuts=cuts))
    ask, tell = jax.jit(algorithm.ask), jax.jit(algorithm.tell)
    state = algorithm.init(KEY)
    wanted = list(np.asarray(FIRST(KEY, EVERYONE)))
    for generation in range(1, 5):
        np.testing.assert_allclose(ask(state, EVERYONE), wanted, rtol=1e-5)
        scores = scores_of(generation)
        state = tell(state, scores)
        key = key_words(jax.random.fold_in(KEY, generation))
        best = wanted[reference.best_first(scores.tolist())[0]]
        wanted = reference.next_generation(
            wanted, scores.tolist(), key, keep=5, elites=2, mutation=("multiplicative", 0.2), cuts=cuts
        )
        np.testing.assert_allclose(algorithm.champion(state), best, rtol=1e-5)
    np.testing.assert_allclose(ask(state, EVERYONE), wanted, rtol=1e-5)


def test_candidates_are_the_same_in_any_block_and_of_any_device():
    algorithm = make(crossover=Segments())
    ask = jax.jit(algorithm.ask)
    state = algorithm.tell(algorithm.init(KEY), scores_of(0))
    everyone = np.asarray(ask(state, EVERYONE))
    for numbers in ([11, 3, 3, 0], [7]):
        np.testing.assert_allclose(ask(state, jnp.array(numbers, jnp.int32)), everyone[numbers], rtol=1e-6)
    mesh = jax.make_mesh((2,), ("population",), devices=jax.devices()[:2])
    spread = jax.jit(algorithm.ask, out_shardings=jax.NamedSharding(mesh, jax.P("population")))
    replicated = jax.device_put(state, jax.NamedSharding(mesh, jax.P()))
    np.testing.assert_allclose(spread(replicated, EVERYONE), everyone, rtol=1e-6)


@pytest.mark.parametrize("selection", [Tournament(3), FitnessWeighted(), Truncation(400)])
def test_children_come_from_the_better_with_any_selection(selection):
    """Without mutation every child is a candidate of before, and the best half has at least two thirds of them."""
    population = 400
    numbers = jnp.arange(population, dtype=jnp.int32)
    algorithm = Neuroevolution(population, 2, reference.uniform(2), selection, Gaussian(0.0), elites=0)
    ask = jax.jit(algorithm.ask)
    state = algorithm.init(KEY)
    before = np.asarray(ask(state, numbers))
    scores = np.random.default_rng(1).permutation(population).astype(np.float32) - 200
    after = np.asarray(ask(jax.jit(algorithm.tell)(state, scores), numbers))
    same = np.all(after[:, None] == before[None], axis=2)
    assert np.all(same.sum(axis=1) == 1)
    assert (scores[np.argmax(same, axis=1)] >= 0).mean() > 2 / 3


def test_wrong_settings():
    with pytest.raises(ValueError, match="elites=6 of a population of 12 that keeps 5: expected 0 to 5"):
        make(elites=6)
    with pytest.raises(ValueError, match="dimension -2: expected a whole number from 1 on"):
        Neuroevolution(6, -2, lambda key, numbers: jnp.zeros((len(numbers), 1)))
    with pytest.raises(ValueError, match="expected 0 to 11"):
        make(selection=Tournament(), elites=12)
    with pytest.raises(ValueError, match="expected at most 12"):
        make(selection=Truncation(13))
    with pytest.raises(ValueError, match=r"scores float32\[11\]: expected .* float32\[12\]"):
        jax.eval_shape(make().tell, jax.eval_shape(make().init, KEY), jnp.zeros(11, jnp.float32))
