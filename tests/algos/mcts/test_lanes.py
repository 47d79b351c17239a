"""Positions of a batch have nothing to do with each other, whatever the network says of one of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.envs.tic_tac_toe.game import Position

GAME = jaxgames.make("tic_tac_toe")
BATCH = 24
CELLS = [0, 0b1, 0b10000, 0b1 << 16 | 0b10, 0b11 << 16 | 0b1100, 0b100010001 << 16 | 0b1010]


def network(params, observation):
    """A table of values and logits, and something added in each lane."""
    numbers = observation.reshape(len(observation), -1).astype(jnp.int32) @ params["table"] % 1009
    numbers = numbers.astype(jnp.float32)
    return numbers[:, 1:] / 200 + params["logits"][:, None], numbers[:, 0] / 505 - 1 + params["value"]


def searched(cells, value=None, logits=None):
    """By PUCT, in which nothing is random."""
    rng = np.random.default_rng(0)
    params = {"table": jnp.asarray(rng.integers(0, 1009, (18, 10)), jnp.int32)}
    for name, faults in (("value", value), ("logits", logits)):
        added = np.zeros(BATCH, np.float32)
        for lane, fault in (faults or {}).items():
            added[lane] = fault
        params[name] = jnp.asarray(added)
    ended = np.array(cells) < 0
    positions = Position(jnp.asarray(np.where(ended, 0, cells).astype(np.uint32)))
    states = GAME.state(positions, np.arange(BATCH) % 2)
    rewards = np.where(ended[:, None], np.array([[-1.0, 1.0]]), 0).astype(np.float32)
    states = states.replace(terminated=jnp.asarray(ended), rewards=jnp.asarray(rewards))
    found = mcts.search(GAME, states, jax.random.key(0), 40, select=mcts.puct(), evaluate=mcts.network(network, params))
    return {name: np.asarray(getattr(found, name)) for name in ("actions", "visits", "values", "weights")}


@pytest.fixture(scope="module")
def cells():
    """Positions with different masks, one of them over (-1)."""
    return [*np.resize(CELLS, BATCH - 1).tolist(), -1]


@pytest.fixture(scope="module")
def plain(cells):
    return searched(cells)


def assert_same(found, expected, lanes):
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name][lanes], values[lanes], err_msg=name)


def test_a_finished_root_keeps_its_value_and_has_no_visits(plain):
    assert plain["values"][-1] == 1.0  # its current player is 1
    assert not plain["visits"][-1].any() and not plain["weights"][-1].any()
    assert (plain["visits"][:-1].sum(axis=1) == 40).all()


def test_positions_do_not_depend_on_their_place(cells, plain):
    order = np.random.default_rng(1).permutation(BATCH)
    found = searched(np.array(cells)[order].tolist())
    for name in ("actions", "visits", "weights"):
        np.testing.assert_array_equal(found[name][:], plain[name][order])
    np.testing.assert_array_equal(found["values"][order < BATCH - 1], plain["values"][order][order < BATCH - 1])


def test_positions_do_not_depend_on_their_neighbours(cells, plain):
    kept = np.arange(BATCH) % 3 == 1
    found = searched(np.where(kept, cells, 0b10 << 16 | 0b10000).tolist())
    assert_same(found, plain, kept)


def test_faults_of_the_network_stay_in_their_lane(cells, plain):
    found = searched(cells, value={3: np.nan, 5: np.inf, 9: -np.inf, BATCH - 1: np.nan}, logits={7: np.nan})
    wrong = np.isin(np.arange(BATCH), (3, 5, 7, 9))
    assert_same(found, plain, ~wrong)
    assert np.isnan(found["values"][wrong]).all()
    assert (found["visits"][wrong].sum(axis=1) == 40).all()
    np.testing.assert_allclose(found["weights"][wrong].sum(axis=1), 1, rtol=1e-5)
    taken = np.array([cells[lane] | cells[lane] >> 16 for lane in np.flatnonzero(wrong)])
    assert not found["visits"][wrong][taken[:, None] >> np.arange(9) & 1 == 1].any()
