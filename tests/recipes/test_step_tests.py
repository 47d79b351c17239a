"""The tests of setting `tested`: who meets whom, and what follows from the points."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

from jaxgames.algos.td import TDConfig, make_learner, step_sizes
from jaxgames.algos.td.saved import first_checkpoint
from jaxgames.players.generic import greedy
from jaxgames.recipes.td import step_tests


@pytest.mark.parametrize(("ppg", "step_size"), [(-0.1, 0.1), (0.1, 0.25)])
def test_a_player_that_loses_to_its_younger_self_gets_smaller_steps(monkeypatch, ppg, step_size):
    config = TDConfig(game="tic_tac_toe", encoding="observation", hidden=(2,), outputs=2, batch=4, schedule="tested")
    learner = make_learner(config)
    state = learner.init(jax.random.key(0))
    checkpoint, met = first_checkpoint(config, state), []
    assert checkpoint.state.factor == 0.25 / config.batch

    def match(player, other, games, seed, batch):
        met.append((player.name, other.name, games, seed, np.ravel(jax.tree.leaves(other.params)[0])[0]))
        return SimpleNamespace(ppg=ppg)  # points of the first of the two players

    monkeypatch.setattr(step_tests, "match", match)
    for number in range(50):
        player = greedy(learner.network.game, "now", jax.tree.map(lambda x, n=number: x * 0 + n, state.params), None)
        checkpoint = step_tests.after_block(checkpoint, player, config)
        if number < 49:
            assert checkpoint.state.factor == 0.25 / config.batch  # fewer than 25 tests
    assert checkpoint.state.factor == np.float32(step_size / config.batch)
    # The first test comes after 25 blocks. Each is against the weights of 25 blocks before.
    assert met == [("now", "younger", step_sizes.GAMES_PER_TEST, number, number - 25) for number in range(25, 50)]


def test_a_test_comes_every_thousand_games():
    """Also where an update is a batch of whole games."""
    n_step = TDConfig(game="tic_tac_toe", encoding="observation", batch=4, plies=5)
    monte_carlo = TDConfig(game="tic_tac_toe", encoding="observation", batch=4, plies=1024, method="monte_carlo")
    assert step_tests.updates_per_test(n_step, plies_per_game=10) == 1000 * 10 // 20
    assert step_tests.updates_per_test(monte_carlo, plies_per_game=10) == 1000 // 4
