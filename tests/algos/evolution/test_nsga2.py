"""NSGA-II: fronts, crowding distances and a generation against plain Python, and the known front of ZDT1."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution import NSGA2, evaluate, operators
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.nsga2 import NSGA2Config, crowding, dominates, fronts


def beats(one, other):
    """One is as good in all, and better in one."""
    return all(a >= b for a, b in zip(one, other, strict=True)) and any(a > b for a, b in zip(one, other, strict=True))


def plain_fronts(scores):
    """The front of each, taken off one after the other."""
    found, left = {}, [*range(len(scores))]
    while left:
        front = [i for i in left if not any(beats(scores[j], scores[i]) for j in left)]
        found |= dict.fromkeys(front, max(found.values(), default=-1) + 1)
        left = [i for i in left if i not in front]
    return [found[i] for i in range(len(scores))]


def plain_crowding(scores, ranks):
    """Deb's crowding distance, front by front and score by score."""
    found = np.zeros(len(scores))
    for objective in range(scores.shape[1]):
        span = np.ptp(scores[:, objective])
        for rank in {*ranks}:
            front = sorted((i for i in range(len(scores)) if ranks[i] == rank), key=lambda i: scores[i, objective])
            found[[front[0], front[-1]]] = np.inf
            for before, place, after in zip(front, front[1:], front[2:], strict=False):
                found[place] += (scores[after, objective] - scores[before, objective]) / (span or 1)
    return found


@pytest.mark.parametrize("objectives", [1, 2, 3])
def test_fronts_and_crowding(objectives):
    """With scores that occur several times, and with a score that is the same for all."""
    scores = np.random.default_rng(objectives).integers(0, 9, (40, objectives)).astype(np.float32)
    scores[:, -1] *= objectives != 3
    ranks = plain_fronts(scores)
    found = jax.jit(fronts)(jnp.asarray(scores))
    assert found.tolist() == ranks and found.dtype == jnp.int32
    distances = jax.jit(crowding)(jnp.asarray(scores), found)
    np.testing.assert_allclose(distances, plain_crowding(scores, ranks), rtol=1e-5)
    enough = fronts(jnp.asarray(scores), 12).tolist()  # whole fronts, until 12 candidates have one
    last = max(rank for rank in enough if rank < 40)
    assert enough == [rank if rank <= last else 40 for rank in ranks]
    assert sum(rank < last for rank in ranks) < 12 <= sum(rank <= last for rank in ranks)


def test_nan_is_the_worst():
    scores = jnp.asarray([[jnp.nan, 1.0], [0.0, 0.0], [-jnp.inf, 2.0], [1.0, 1.0]])
    assert fronts(scores).tolist() == [1, 1, 0, 0]
    assert dominates(scores)[3].tolist() == [True, True, False, False]
    assert not np.isnan(crowding(scores, fronts(scores))).any()


def test_bad_input():
    with pytest.raises(ValueError, match=r"scores float32\[3\]: expected float32\[n, n\]"):
        fronts(jnp.zeros(3))
    with pytest.raises(ValueError, match="enough 4: expected a whole number from 0 to 3"):
        fronts(jnp.zeros((3, 2)), 4)


def first(key, numbers):
    """Genomes between 0 and 1."""
    return jax.vmap(lambda n: jax.random.uniform(jax.random.fold_in(key, n), (8,), jnp.float32))(numbers)


def test_survivors_against_plain_python():
    """The best by front and then by room, of survivors and children; children of nobody else."""
    algorithm = NSGA2(12, 8, first, mutation=operators.Gaussian(0.0), crossover=None)
    state, random = algorithm.init(jax.random.key(0)), np.random.default_rng(0)
    tell, numbers = jax.jit(algorithm.tell), jnp.arange(12, dtype=jnp.int32)
    for _ in range(3):
        children = np.asarray(algorithm.ask(state, numbers))
        scores = random.integers(0, 9, (12, 2)).astype(np.float32)
        after = tell(state, scores)
        pool = np.concatenate([state.pool, children]) if state.generation else children
        told = np.concatenate([state.scores, scores]) if state.generation else scores
        ranks = plain_fronts(told)
        room = plain_crowding(told, ranks)
        order = sorted(range(len(told)), key=lambda i: (ranks[i], -np.float32(room[i]), i))[:12]
        np.testing.assert_array_equal(after.pool, pool[order])
        np.testing.assert_array_equal(after.scores, told[order])
        assert after.ranks.tolist() == [ranks[i] for i in order]
        best = max((i for i in range(12) if after.ranks[i] == 0), key=lambda i: (after.scores[i, 0], -i))
        np.testing.assert_array_equal(algorithm.champion(after), after.pool[best])
        assert algorithm.metrics(after)["first_front"] == ranks.count(0) if ranks.count(0) < 12 else 12
        state = after
    pool, children = np.asarray(state.pool), np.asarray(algorithm.ask(state, numbers))
    rows = [int(np.flatnonzero((pool == child).all(axis=1))[0]) for child in children]
    assert np.mean(rows) < 5.0  # of two places that are drawn the better one: 3.5 on the average, else 5.5


@pytest.mark.parametrize("score", [np.nan, -np.inf])
def test_candidates_without_scores_are_in_the_pool(score):
    """And not the rows that stand there before the first generation; those with a score come first."""
    algorithm = NSGA2(4, 8, first)
    state = algorithm.init(jax.random.key(0))
    drawn = algorithm.ask(state, jnp.arange(4, dtype=jnp.int32))
    after = algorithm.tell(state, jnp.full((4, 2), score, jnp.float32).at[2, 0].set(1.0))
    np.testing.assert_array_equal(after.pool[0], drawn[2])
    np.testing.assert_array_equal(np.sort(after.pool, axis=0), np.sort(drawn, axis=0))
    assert after.ranks.tolist() == [0, 1, 1, 1]
    np.testing.assert_array_equal(algorithm.champion(after), drawn[2])


def test_the_front_of_zdt1():
    """Zitzler, Deb and Thiele (2000): f1 = x1, f2 = g (1 - sqrt(x1 / g)), whose front is f2 = 1 - sqrt(f1)."""

    def zdt1(genomes, numbers, key):
        x = jnp.clip(genomes, 0.0, 1.0)
        g = 1.0 + 9.0 * jnp.mean(x[:, 1:], axis=1)
        return -jnp.stack([x[:, 0], g * (1.0 - jnp.sqrt(x[:, 0] / g))], axis=1)

    algorithm = NSGA2(40, 8, first, mutation=operators.Gaussian(0.05))

    def step(state, key):
        return algorithm.tell(state, evaluate(zdt1, algorithm, state, key)), None

    keys = jax.random.split(jax.random.key(1), 200)
    state, _ = jax.jit(lambda state: jax.lax.scan(step, state, keys))(algorithm.init(jax.random.key(0)))
    f1, f2 = -np.asarray(state.scores).T
    assert np.all(np.asarray(state.ranks) == 0)
    assert np.max(f2 - (1 - np.sqrt(f1))) < 0.05 and np.min(f2 - (1 - np.sqrt(f1))) > -1e-5
    assert np.max(np.diff(np.sort(f1))) < 0.1 and f1.min() < 0.01 and f1.max() > 0.95  # all along the front


def test_a_picture_shows_the_survivors():
    config = NSGA2Config(NetworkConfig("tic_tac_toe"), population=4, objectives="draws-length", score="points")
    state = config.algorithm(None).init(jax.random.key(0))
    scores = np.arange(12, dtype=np.float32).reshape(4, 3)
    found = config.archive(state._replace(scores=jnp.asarray(scores), ranks=jnp.asarray([0, 0, 1, 2])))
    assert found.objectives == ("points", "draws", "-length") and found.ranks.tolist() == [0, 0, 1, 2]
    np.testing.assert_array_equal(found.scores, scores)
