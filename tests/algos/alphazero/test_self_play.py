"""The replay buffer against plain references."""

import jax
import numpy as np
import pytest

from jaxgames.algos.alphazero.self_play import Plies, add, draw, init_buffer, results_backwards, sample

begin, into = jax.jit(init_buffer, static_argnums=1), jax.jit(add, static_argnums=2)
backwards = jax.jit(results_backwards, static_argnums=2)


def plies_of(known, result, player=0, rows=None) -> Plies:
    shape = np.shape(known)
    ones = np.ones(shape, np.float32)
    return Plies(
        np.arange(ones.size, dtype=np.int32).reshape(shape) if rows is None else rows,
        np.ones((*shape, 3), np.float16) / 3,
        0.5 * ones,
        np.full(shape, player, np.int32),
        np.ones(shape, bool),
        np.asarray(result, np.float32),
        np.asarray(known, bool),
    )


@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_results_flow_back_to_the_plies_of_their_game(discount):
    rng = np.random.default_rng(0)
    ended = rng.random((9, 40)) < 0.2
    reward = np.where(ended, rng.integers(-3, 4, ended.shape), 0).astype(np.float32)
    result, known = map(np.asarray, backwards(reward, ended, discount))
    for game in range(40):
        for ply in range(9):
            ends = [later for later in range(ply, 9) if ended[later, game]]
            assert bool(known[ply, game]) == bool(ends)
            if ends:
                assert float(result[ply, game]) == reward[ends[0], game] * discount ** (ends[0] - ply)


@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_the_buffer_settles_older_plies_and_no_others(discount):
    rng = np.random.default_rng(1)
    ended = rng.random((24, 30)) < 0.15
    reward = np.where(ended, rng.integers(-2, 3, ended.shape), 0).astype(np.float32)
    buffer = begin(plies_of(ended[:4], reward[:4]), 12)
    rows = np.arange(24 * 30, dtype=np.int32).reshape(24, 30)
    for start in range(0, 24, 4):
        part = slice(start, start + 4)
        result, known = backwards(reward[part], ended[part], discount)
        buffer = into(buffer, plies_of(known, result, rows=rows[part]), discount)
        assert int(buffer.filled) == min(start + 4, 12)
    result, known = backwards(reward, ended, discount)
    kept = np.asarray(buffer.plies.position)
    assert sorted(kept.ravel()) == list(range(12 * 30, 24 * 30)), "the newest 12 plies"
    np.testing.assert_array_equal(buffer.plies.known, np.asarray(known).ravel()[kept])
    where = np.asarray(buffer.plies.known)
    np.testing.assert_array_equal(np.asarray(buffer.plies.result)[where], np.asarray(result).ravel()[kept][where])


def test_samples_come_from_all_filled_rows_alike():
    plies = plies_of(np.ones((2, 5)), np.zeros((2, 5)))
    buffer = into(begin(plies, 8), plies, 1.0)
    drawn = np.asarray(jax.jit(sample, static_argnums=2)(buffer, jax.random.key(0), 10_000).position)
    counts = np.bincount(drawn, minlength=10)
    assert len(counts) == 10 and abs(counts - 1000).max() < 150


def test_equal_actions_are_drawn_alike_at_any_temperature():
    """Also where the logarithms are so large that noise beside them would be rounded."""
    weights = np.where(np.arange(12) < 10, np.float32(0.1), np.float32(0))
    drawn = jax.jit(draw, static_argnums=1)(np.tile(weights, (40_000, 1)), 1e-6, jax.random.key(0))
    counts = np.bincount(drawn, minlength=12)
    assert counts[10:].sum() == 0 and abs(counts[:10] - 4_000).max() < 240  # four standard deviations
