"""Groups against the plain reference: the exact schedules, candidate by candidate."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution.operators import Multiplicative, Segments, candidate_bits
from jaxgames.algos.evolution.strategies.group_ga import GroupGA
from tests.algos.evolution import reference_evolution as reference

GROUPS, MEMBERS, DIMENSION = 4, 6, 5
SETTINGS = dict(groups=GROUPS, members=MEMBERS, keep=3, best=2, iterations=4)
KEY = jax.random.key(2)


def key_words(key) -> list[int]:
    return [int(word) for word in jax.random.key_data(key)]


def play_matrix(genomes, opponents, numbers, key):
    """Points of few different values, so that there are ties, of luck by candidate and key, and of who begins."""
    luck = (candidate_bits(key, numbers) >> 30).astype(jnp.float32)
    begins = 2 - jnp.arange(len(opponents), dtype=jnp.int32) % 2
    products = jnp.sum(genomes[:, None] * opponents[None], axis=2)
    return jnp.floor(products * begins.astype(jnp.float32)[None]) + luck[:, None]


def play(genome, opponent, place, number, key):
    product = float(np.sum(genome.astype(np.float32) * opponent.astype(np.float32), dtype=np.float32))
    return float(np.floor(product * (2 - place % 2))) + (reference.candidate_word(key, number) >> 30)


@pytest.mark.parametrize(("schedule", "cuts"), [("sequential", None), ("sequential", 2), ("parallel", None)])
def test_rounds_equal_the_reference(schedule, cuts):
    crossover = None if cuts is None else Segments(cuts=cuts)
    evolution = GroupGA(DIMENSION, reference.uniform(DIMENSION), **SETTINGS, crossover=crossover, schedule=schedule)
    state = jax.jit(evolution.init)(KEY)
    kept = {name: SETTINGS[name] for name in ("keep", "best", "iterations")}
    wanted = reference.Groups(np.asarray(state.genomes), play, **kept, mutation=("multiplicative", 0.2), cuts=cuts)
    asked = []

    def counted(genomes, opponents, numbers, key):
        asked.append((len(genomes), len(opponents)))
        return play_matrix(genomes, opponents, numbers, key)

    update = jax.jit(lambda state: evolution.update(state, counted))
    for number in range(2):
        key = jax.random.fold_in(KEY, number)
        before = wanted.games
        getattr(wanted, f"{schedule}_round")(lambda *numbers, key=key: key_words(folded(key, numbers)))
        state, metrics = update(state)
        np.testing.assert_allclose(state.genomes, np.array(wanted.genomes), rtol=1e-5)
        np.testing.assert_array_equal(state.scores, np.array(wanted.scores, np.float32))
        np.testing.assert_array_equal(metrics.scores, state.scores)
        assert metrics.games == evolution.games == wanted.games - before
    # Games are compiled once, for as many as are new in an iteration.
    assert asked == [(3, (GROUPS - 1) * 2) if schedule == "sequential" else (GROUPS * 3, GROUPS * 2)]
    np.testing.assert_array_equal(evolution.champions(state), state.genomes[:, 0])
    best = int(np.argmax(np.asarray(state.scores[:, 0])))
    np.testing.assert_array_equal(evolution.champion(state), state.genomes[best, 0])


def folded(key, numbers):
    for number in numbers:
        key = jax.random.fold_in(key, number)
    return key


def test_the_thesis_plays_so_many_games():
    """20 groups of 10, of which 5 are kept: 38 opponents; 100 iterations, in the first all 10 play, then 5 new ones."""
    thesis = GroupGA(693, reference.uniform(693))
    assert thesis.opponents == 38 and thesis.games == 20 * (10 + 99 * 5) * 38
    assert round(900 * thesis.games, -6) == 345_000_000


def test_parts_that_do_not_fit():
    """Of 7 members 3 are new: 3 parts, of which the last two share 2 members."""
    evolution = GroupGA(DIMENSION, reference.uniform(DIMENSION), **SETTINGS | dict(members=7, keep=4, iterations=1))
    assert evolution.games == GROUPS * 3 * 3 * 6
    first = jax.jit(evolution.init)(KEY)
    state, metrics = jax.jit(lambda state: evolution.update(state, play_matrix))(first)
    opponents = np.asarray(state.genomes)[:-1, :2].reshape(-1, DIMENSION)  # of the last group, after all others
    key = jax.random.fold_in(jax.random.fold_in(KEY, 0), GROUPS - 1)
    shuffled = sorted(range(6), key=lambda i: reference.candidate_word(key_words(folded(key, [2**32 - 1])), i))
    numbers = jnp.arange(21, 28, dtype=jnp.int32)
    group, key = np.asarray(first.genomes)[-1], jax.random.fold_in(key, 0)
    points = np.asarray(jax.jit(play_matrix)(group, opponents[shuffled], numbers, key))
    np.testing.assert_array_equal(metrics.scores[-1], [*np.sort(points.sum(axis=1))[:2:-1], *[np.nan] * 3])


def test_games_that_are_no_numbers_are_the_worst():
    """A candidate whose play breaks down is not kept, and in the parallel schedule what it plays within its own group
    is left out.
    """
    evolution = GroupGA(DIMENSION, reference.uniform(DIMENSION), **SETTINGS, schedule="parallel")
    state = jax.jit(evolution.init)(KEY)

    def broken(genomes, opponents, numbers, key):
        of_group = jnp.any(jnp.all(opponents[:, None, None] == state.genomes[None, :, :2], axis=3), axis=2)
        own = of_group.T[numbers // MEMBERS]  # the opponents are shuffled
        first = (numbers % MEMBERS == 0)[:, None]
        return jnp.where(own | first, jnp.nan, numbers[:, None].astype(jnp.float32))

    after, _ = jax.jit(lambda state: evolution.update(state, broken))(state)
    scores = np.asarray(after.scores)
    assert np.all(np.isfinite(scores[:, :3])) and np.all(np.isnan(scores[:, 3:]))
    kept = np.asarray(after.genomes)[:, :3].reshape(-1, DIMENSION)
    assert not any(np.any(np.all(kept == np.asarray(state.genomes)[group, 0], axis=1)) for group in range(GROUPS))


@pytest.mark.parametrize("schedule", ["sequential", "parallel"])
def test_points_of_another_dtype(schedule):
    evolution = GroupGA(DIMENSION, reference.uniform(DIMENSION), **SETTINGS, schedule=schedule)

    def halves(genomes, opponents, numbers, key):
        return jnp.ones((len(genomes), len(opponents)), jnp.bfloat16)

    after, _ = jax.eval_shape(lambda: evolution.update(evolution.init(KEY), halves))
    assert after.scores.dtype == jnp.float32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(groups=1), "groups=1"),
        (dict(keep=6), "keep=6 of 6 members: expected 1 to 5"),
        (dict(best=7), "best=7 of 6 members: expected 1 to 6"),
        (dict(iterations=0), "iterations=0: expected a number from 1"),
        (dict(schedule="random"), "unknown schedule 'random'; expected one of sequential, parallel"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        GroupGA(DIMENSION, reference.uniform(DIMENSION), **SETTINGS | settings)


def test_mutation_is_the_default_of_the_thesis():
    assert GroupGA(DIMENSION, reference.uniform(DIMENSION)).mutation == Multiplicative(0.2)
