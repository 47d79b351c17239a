"""Fronts and crowding distances against plain Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution.pareto import crowding, dominates, fronts


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
