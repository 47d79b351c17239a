"""Chance nodes: searches of bear-offs beside their exact values, from GNU Backgammon's chances of numbers of rolls."""

import gzip
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.expectimax import Expectimax
from jaxgames.envs.backgammon import Position, board
from tests.algos.small_games import Dash, Track

GAME = jaxgames.make("backgammon")
FORCED = [(2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0)]
SIDES = [(3, 0, 0), (2, 0, 0), (1, 1, 0), (0, 2, 0), (4, 0, 0), (0, 0, 2), (2, 1, 0), (5, 0, 0), (1, 0, 2), (6, 0, 0)]
PAIRS = [*itertools.product(FORCED, FORCED), *[*itertools.product(SIDES, SIDES)][::5]]
IS_FORCED = np.arange(len(PAIRS)) < len(FORCED) ** 2
SIMULATIONS = 3000


@pytest.fixture(scope="module")
def exact(data_dir):
    """What each pair is worth before the first one rolls: its chance to be the first to bear off, as points."""
    chances = {}
    with gzip.open(data_dir / "backgammon" / "gnubg_bearoff_onesided_7.csv.gz", "rt") as file:
        for row in (line.split(",") for line in itertools.islice(file, 2, None)):
            found = np.zeros(30)
            some = np.array(row[8].split(), float) / 65535
            found[int(row[7]) : int(row[7]) + len(some)] = some
            chances[tuple(map(int, row[:6]))] = found
    worth = []
    for own, other in PAIRS:
        mine, theirs = (chances[(*side, 0, 0, 0)] for side in (own, other))
        worth.append(2 * sum(chance * theirs[number:].sum() for number, chance in enumerate(mine)) - 1)
    return np.array(worth)


@pytest.fixture(scope="module")
def positions():
    """The pairs, waiting for a roll."""
    sides = np.pad(np.array(PAIRS), ((0, 0), (0, 0), (0, 22))).astype(np.int32)
    own, other = (board.from_counts(jnp.asarray(sides[:, player])) for player in (0, 1))
    return Position(own, other, jnp.zeros(len(PAIRS), jnp.uint32))


@pytest.mark.slow
def test_bear_offs_are_worth_what_they_are(exact, positions):
    states = GAME.state(positions, np.zeros(len(PAIRS), np.int32))
    result = mcts.search(GAME, states, jax.random.key(2), SIMULATIONS, select=mcts.uct(0.4))
    error = np.asarray(result.values) - exact
    assert np.abs(error[IS_FORCED]).max() < 4 / np.sqrt(SIMULATIONS)  # all that is left is the luck of the rolls
    assert np.abs(error).max() < 0.2 and np.sqrt(np.mean(error**2)) < 0.06  # others try bad plays, too
    ahead = Expectimax(GAME, 3).expected(positions, lambda after: jnp.zeros(len(after.dice), jnp.float32))
    short = np.array([sum(own) <= 4 and other in ((2, 0, 0), (1, 1, 0)) for own, other in PAIRS])  # three rolls
    assert np.abs(np.asarray(ahead) - exact)[short].max() < 1e-3
    assert np.abs(np.asarray(result.values) - np.asarray(ahead))[short & IS_FORCED].max() < 4 / np.sqrt(SIMULATIONS)


@pytest.mark.slow
def test_bounds_of_chance_nodes_are_sound(exact, positions):
    states = GAME.state(positions, np.zeros(len(PAIRS), np.int32))
    result = mcts.search(GAME, states, jax.random.key(3), SIMULATIONS, select=mcts.bounded(mcts.uct(0.4)))
    assert np.abs(np.asarray(result.values) - exact)[IS_FORCED].max() < 4 / np.sqrt(SIMULATIONS)
    tree, chances = result.tree, np.array(GAME.outcome_probabilities)
    low, high = (np.asarray(tree.root(name))[:, : len(chances)] @ chances for name in ("lower", "upper"))
    assert (low <= exact + 1e-3).all() and (exact <= high + 1e-3).all()
    assert (high - low < 1e-3).sum() > 3


@pytest.mark.parametrize("select", ["puct", "one_round", "recursive"])
def test_where_chance_decides_there_is_a_value_and_no_action(select):
    """Dash has more outcomes than actions. Whoever has one step to go wins by any roll."""
    game = Dash()
    die = jnp.array([0] * 7 + [1], jnp.int32)  # the last one is rolled
    track, evaluate = Track(jnp.ones_like(die), jnp.full_like(die, 4), die), mcts.network(sure, ())
    found = mcts.search_positions(game, track, jnp.arange(8, dtype=jnp.uint32), 3, select, evaluate)
    assert not found.actions[:7].any() and not found.visits[:7].any() and not found.weights[:7].any()
    assert float(found.visits[7].sum()) in (2, 3) and found.weights[7].sum() > 0.99  # the root itself may be one of 3
    np.testing.assert_allclose(found.values[:7], 1, atol=1e-6)


def sure(params, observation):
    """One point everywhere, to the player to act."""
    return jnp.zeros((len(observation), 2), jnp.float32), jnp.ones(len(observation), jnp.float32)
