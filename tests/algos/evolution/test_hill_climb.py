"""Hill climbing against its two lines in plain NumPy."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution.operators import Gaussian
from jaxgames.algos.evolution.strategies.hill_climb import HillClimb, HillClimbConfig
from jaxgames.algos.td.config import STEP_SIZES
from tests.algos.evolution import reference_evolution as reference

DIMENSION = 6
KEY = jax.random.key(5)
GOAL = np.linspace(-1.5, 1.5, DIMENSION).astype(np.float32)


def match(champion, mutant, key):
    """The mutant wins each of four games in which what is asked for, by luck, is closer to it."""
    asked = jnp.argsort(jax.random.bits(key, (DIMENSION,)))[:4]
    better = jnp.abs(mutant - GOAL)[asked] < jnp.abs(champion - GOAL)[asked]
    return jnp.where(better, 1.0, -1.0).astype(jnp.float32)


def test_updates_equal_the_reference():
    climb = HillClimb(DIMENSION, Gaussian(0.3), factor=0.5, margin=-1.0)
    state = climb.init(KEY)
    assert not np.any(climb.champion(state))
    update, points_of = jax.jit(lambda state: climb.update(state, match)), jax.jit(match)
    champion, wins = np.zeros(DIMENSION, np.float32), 0
    for number in range(40):
        key = jax.random.fold_in(KEY, number)
        words = [int(word) for word in jax.random.key_data(key)]
        mutant = reference.mutated(champion, reference.candidate_word(words, 0), "gaussian", 0.3)
        mutant = np.clip(mutant, -1, 1)
        points = np.asarray(points_of(champion, mutant, jax.random.fold_in(key, 1)))
        if points.sum() > -1:
            champion, wins = np.clip(champion + np.float32(0.5) * (mutant - champion), -1, 1), wins + 1
        state, metrics = update(state)
        np.testing.assert_allclose(state.champion, champion, atol=1e-6)
        assert metrics.points == points.sum() and metrics.won == (points.sum() > -1)
    assert state.wins == wins > 5 and state.mutants == 40


def test_it_climbs_as_far_as_weights_may():
    climb = HillClimb(DIMENSION, Gaussian(0.2), factor=0.5, margin=1.0)
    state, metrics = jax.jit(
        lambda state: jax.lax.scan(lambda state, _: climb.update(state, match), state, length=1500)
    )(climb.init(KEY))
    np.testing.assert_allclose(state.champion, np.clip(GOAL, -1, 1), atol=0.15)
    assert np.all(np.abs(state.champion) <= 1)
    np.testing.assert_array_equal(metrics.won, metrics.points >= 2)


@pytest.mark.parametrize(
    ("margin", "points", "won"),
    [
        (0.0, [1.0, -1.0], False),
        (0.0, [2.0, -1.0], True),
        (0.0, 0.5, True),
        (3.0, [2.0, 1.0], False),
        (0.0, [np.nan, 9.0], False),
    ],
)
def test_who_wins(margin, points, won):
    climb = HillClimb(DIMENSION, margin=margin)
    after, metrics = climb.update(climb.init(KEY), lambda champion, mutant, key: jnp.asarray(points, jnp.float32))
    assert bool(metrics.won) == won == bool(after.champion.any())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"factor": 0}, "factor=0"),
        ({"limit": 0.0}, "limit=0"),
        ({"games": 3}, "games=3: expected an even number, since they come in pairs"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        HillClimb(DIMENSION, **settings)


def test_scale_divides_all_weights_of_the_champion_when_one_is_outside():
    """Ebert (2007): the champion is normalised, mutants are not; the step size may change on the way."""
    climb = HillClimb(DIMENSION, Gaussian(400.0), bound="scale", tested=True)
    state = climb.init(KEY)._replace(champion=jnp.linspace(-1.0, 0.5, DIMENSION))

    def always(state, place):
        state = state._replace(tests=state.tests._replace(place=jnp.int32(place)))
        return climb.update(state, lambda *_: jnp.float32(1))[0]

    mutant = np.asarray(climb.mutant(state))
    assert np.abs(mutant).max() > 1
    for place in (0, 3):
        factor = STEP_SIZES[place]
        moved = np.asarray(state.champion) + np.float32(factor) * (mutant - np.asarray(state.champion))
        assert np.abs(moved).max() > 1
        expected = moved / np.abs(moved).max()
        np.testing.assert_allclose(jax.jit(always)(state, place).champion, expected, atol=1e-6)
    small = state._replace(champion=jnp.full(DIMENSION, 0.01))
    assert np.abs(always(small, len(STEP_SIZES) - 1).champion).max() < 0.9  # nothing is scaled up
    with pytest.raises(ValueError, match="expected one of clip, scale"):
        HillClimb(DIMENSION, bound="wrap")


def test_games_of_some_generations():
    assert HillClimbConfig.games(SimpleNamespace(duel=8), 3) == 24
