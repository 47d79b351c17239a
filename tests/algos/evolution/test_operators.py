"""Operators against the plain reference, and what must hold whatever they draw."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution.operators import (
    Cubic,
    FitnessWeighted,
    Gaussian,
    Multiplicative,
    Segments,
    Tournament,
    Truncation,
    WholeLayers,
    below,
    best_first,
    candidate_bits,
    offspring,
    whole_layers,
)
from tests.algos.evolution import reference_evolution as reference

N, DIMENSION = 7, 23
KEY = jax.random.key(3)
WORDS = np.random.default_rng(0).integers(0, 2**32, N, dtype=np.uint32)
MANY = 2**17


def genomes(seed: int, n: int = N) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, DIMENSION)).astype(np.float32)


@pytest.fixture(scope="module")
def many_words():
    return candidate_bits(KEY, jnp.arange(MANY, dtype=jnp.int32))


def key_words(key) -> list[int]:
    return [int(word) for word in jax.random.key_data(key)]


def test_words_depend_on_key_and_number(many_words):
    wanted = [reference.candidate_word(key_words(KEY), number) for number in (0, 1, MANY - 1)]
    np.testing.assert_array_equal(many_words[np.array([0, 1, MANY - 1])], np.array(wanted, np.uint32))
    old_style = candidate_bits(jax.random.key_data(KEY), jnp.arange(2, dtype=jnp.int32))
    np.testing.assert_array_equal(old_style, many_words[:2])


@pytest.mark.parametrize("number", [1, 10, 65_536, 1_000_003, 2**32 - 1])
def test_below_is_the_high_word_of_the_product(number):
    words = np.append(WORDS, np.array([0, 1, 2**32 - 1], np.uint32))
    wanted = [reference.below(int(word), number) for word in words]
    np.testing.assert_array_equal(below(jnp.asarray(words), number), np.array(wanted, np.uint32))


# Mutation.

MUTATIONS = [
    (Multiplicative(0.2), "multiplicative", 0.2),
    (Cubic(0.7), "cubic", 0.7),
    (Gaussian(0.05), "gaussian", 0.05),
]


@pytest.mark.parametrize(("mutation", "kind", "size"), MUTATIONS)
def test_mutation_equals_the_reference(mutation, kind, size):
    before = genomes(1)
    wanted = [reference.mutated(genome, int(word), kind, size) for genome, word in zip(before, WORDS, strict=True)]
    np.testing.assert_allclose(jax.jit(mutation)(before, WORDS), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("mutation", "variance", "furthest"),
    [(Multiplicative(0.2), 0.2**2 / 3, 0.2), (Cubic(0.2), 0.2**2 / 7, 0.2), (Gaussian(0.2), 0.2**2, 6 * 0.2)],
)
def test_changes_have_the_moments_they_should(mutation, variance, furthest, many_words):
    ones = jnp.ones((2**14, 8), jnp.float32)
    change = np.asarray(jax.jit(mutation)(ones, many_words[: 2**14]), np.float64) - 1
    assert abs(change.mean()) < 5 * (variance / change.size) ** 0.5
    assert abs(change.var() / variance - 1) < 0.03
    assert furthest * 0.6 < abs(change).max() < furthest + 1e-6
    assert abs(np.corrcoef(change.T) - np.eye(8)).max() < 5 / 2**7


@pytest.mark.parametrize("mutation", [Multiplicative(3.0), Cubic(3.0), Gaussian(3e38)])
def test_what_would_overflow_keeps_its_value(mutation):
    largest = np.finfo(np.float32).max
    before = np.full((N, DIMENSION), largest)
    before[0, :3] = np.nan, np.inf, -np.inf
    after = np.asarray(jax.jit(mutation)(before, WORDS))
    np.testing.assert_array_equal(after[0, :3], before[0, :3])
    rest = after.ravel()[3:]
    assert np.all(np.isfinite(rest)) and np.any(rest == largest) and np.any(rest != largest)


@pytest.mark.parametrize("rate", [-0.1, float("nan"), float("inf"), 1e39])
@pytest.mark.parametrize("mutation", [Multiplicative, Cubic, Gaussian])
def test_wrong_rates(mutation, rate):
    with pytest.raises(ValueError, match="expected a finite number from 0"):
        mutation(rate)


# Crossover.

LAYERS = (10, 1, 12)


@pytest.mark.parametrize(("parents", "cuts"), [(2, 1), (2, 2), (3, 4)])
def test_segments_equal_the_reference(parents, cuts):
    rows = [genomes(i) for i in range(parents)]
    wanted = [reference.segments([row[i] for row in rows], int(word), cuts) for i, word in enumerate(WORDS)]
    np.testing.assert_array_equal(jax.jit(Segments(parents, cuts))(rows, WORDS), wanted)


@pytest.mark.parametrize("parents", [2, 3])
def test_whole_layers_equal_the_reference(parents):
    rows = [genomes(i) for i in range(parents)]
    wanted = [reference.whole_layers([row[i] for row in rows], int(word), LAYERS) for i, word in enumerate(WORDS)]
    crossover = whole_layers((slice(0, 10), slice(10, 11), slice(11, 23)), parents)
    assert crossover == WholeLayers(LAYERS, parents)
    np.testing.assert_array_equal(jax.jit(crossover)(rows, WORDS), wanted)


def test_every_cut_and_every_choice_of_layers_is_drawn_alike(many_words):
    rows = [jnp.zeros((MANY, 5), jnp.float32), jnp.ones((MANY, 5), jnp.float32)]
    once = np.asarray(jax.jit(Segments(cuts=1))(rows, many_words))
    places, counts = np.unique(once.sum(axis=1), return_counts=True)
    np.testing.assert_array_equal(places, [1, 2, 3, 4])  # genes from the second parent: there is always a cut
    assert abs(counts / MANY - 1 / 4).max() < 0.006
    layers = np.asarray(jax.jit(WholeLayers((1, 1, 3)))(rows, many_words))
    assert np.all(layers[:, 2:] == layers[:, 2:3])
    _, counts = np.unique(layers[:, :3] @ np.array([1, 2, 4]), return_counts=True)
    assert len(counts) == 8 and abs(counts / MANY - 1 / 8).max() < 0.005


def test_wrong_crossovers():
    with pytest.raises(ValueError, match="parents=1"):
        Segments(parents=1)
    with pytest.raises(ValueError, match="cuts=1 are too few for 3 parents: expected 2"):
        Segments(parents=3, cuts=1)
    with pytest.raises(ValueError, match="positive"):
        WholeLayers((3, 0))
    with pytest.raises(ValueError, match="layers of 22 genes do not make up genomes of 23"):
        WholeLayers((10, 12))([genomes(0), genomes(1)], jnp.asarray(WORDS))


def test_offspring_is_crossed_then_mutated_and_the_elite_unchanged():
    pool = genomes(5)
    parents = np.random.default_rng(1).integers(0, N, (N, 2))
    elite = np.arange(N) < 2
    made = jax.jit(lambda *of: offspring(*of, Multiplicative(0.2), Segments()))(
        pool, jnp.asarray(parents, jnp.int32), elite, WORDS
    )
    wanted = [
        reference.bred([pool[i] for i in pair], int(word), ("multiplicative", 0.2), 2)
        for pair, word in zip(parents, WORDS, strict=True)
    ]
    np.testing.assert_array_equal(made[:2], pool[parents[:2, 0]])
    np.testing.assert_allclose(made[2:], wanted[2:], rtol=1e-6)


# Selection.


@pytest.mark.parametrize("n", [1, 2, 1000, 65_537])
def test_the_best_come_first(n):
    """Ties, zeros of both signs, infinities and NaN; more candidates than 16 bits can number."""
    scores = np.random.default_rng(n).integers(-9, 9, n).astype(np.float32) / 4
    scores[n // 7 :: 97] = np.nan
    scores[n // 5 :: 89] = -0.0
    scores[n // 3 :: 83] = np.inf
    scores[n // 2 :: 79] = -np.inf
    np.testing.assert_array_equal(jax.jit(best_first)(scores), reference.best_first(scores.tolist()))


@pytest.mark.parametrize("keep", [1, 5, 40])
def test_truncation(keep, many_words):
    ranks = np.asarray(jax.jit(Truncation(keep))(jnp.zeros(keep, jnp.float32), many_words))
    wanted = [reference.truncation(int(word), keep) for word in np.asarray(many_words[:100])]
    np.testing.assert_array_equal(ranks[:100], wanted)
    share = np.arange(1, keep + 1) / keep
    chances = np.diff(share * (1 - np.log(share)), prepend=0)  # of a product of two uniform numbers
    np.testing.assert_allclose(np.bincount(ranks, minlength=keep) / MANY, chances, atol=0.006)


@pytest.mark.parametrize("size", [1, 3])
def test_tournament(size, many_words):
    ranks = np.asarray(jax.jit(Tournament(size))(jnp.zeros(10, jnp.float32), many_words.reshape(-1, 2)))
    assert ranks.shape == (MANY // 2, 2)
    wanted = [reference.tournament(int(word), size, 10) for word in np.asarray(many_words[:100])]
    np.testing.assert_array_equal(ranks.ravel()[:100], wanted)
    chances = -np.diff((1 - np.arange(11) / 10) ** size)
    np.testing.assert_allclose(np.bincount(ranks.ravel(), minlength=10) / MANY, chances, atol=0.006)


@pytest.mark.parametrize(
    ("zero", "scores", "weights"),
    [
        (None, [3, 1, 0, -1, -1], [4, 2, 1, 0, 0]),
        (0.0, [3, 1, 0, -1, -1], [3, 1, 0, 0, 0]),
        (None, [2, 1, 0, -np.inf, np.nan], [2, 1, 0, 0, 0]),
        (None, [np.inf, 5, np.nan], [1, 0, 0]),
        (None, [7, 7, 7], [1, 1, 1]),
        (0.0, [-1, -2], [1, 1]),
        (None, [np.nan, np.nan], [1, 1]),
    ],
)
def test_fitness_weighted(zero, scores, weights, many_words):
    ranks = np.asarray(jax.jit(FitnessWeighted(zero))(jnp.asarray(scores, jnp.float32), many_words))
    counts = np.bincount(ranks, minlength=len(scores))
    wanted = np.array(weights) / np.sum(weights)
    np.testing.assert_allclose(counts / MANY, wanted, atol=0.006)
    assert np.all(counts[wanted == 0] == 0)


def test_fitness_weighted_is_as_exact_for_many(many_words):
    """A hundred thousand candidates of like weights: nobody's share is rounded away or doubled."""
    scores = np.sort(np.random.default_rng(0).uniform(1, 2, 100_000).astype(np.float32))[::-1].copy()
    ranks = np.asarray(jax.jit(FitnessWeighted(0.0))(scores, many_words))
    expected = np.add.reduceat(scores, np.arange(0, 100_000, 1000)) / scores.sum() * MANY
    counts = np.bincount(ranks // 1000, minlength=100)
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert 99 - 4 * 198**0.5 < chi_squared < 99 + 4 * 198**0.5


def test_wrong_selections():
    with pytest.raises(ValueError, match="keep=0"):
        Truncation(0)
    with pytest.raises(ValueError, match="keep=5 of a population of 4: expected at most 4"):
        Truncation(5).pool(4)
    for zero in (float("nan"), float("-inf"), 1e31):
        with pytest.raises(ValueError, match="expected a number from -1e30 to 1e30, or None"):
            FitnessWeighted(zero)
    with pytest.raises(ValueError, match="size=0"):
        Tournament(0)
