"""The memory of a search is what the page of Monte-Carlo tree search says."""

import jax
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.mcts.tree import LEVEL_BYTES, TABLE_BYTES

BATCH, SIMULATIONS = 64, 1000


@pytest.mark.parametrize(("rule", "names"), [(mcts.uct(), 0), (mcts.uct2(), 24)])
def test_bytes_of_a_search(rule, names):
    """The trees, 4 bytes for each level of paths, and up to 24 for names; nothing is there twice."""
    assert (TABLE_BYTES, LEVEL_BYTES) == (24, 4)  # what a search is refused by is what is measured here
    game = jaxgames.make("tic_tac_toe")

    def search(states, key):
        return mcts.search(game, states, key, SIMULATIONS, select=rule).visits

    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), BATCH))
    analysis = jax.jit(search).lower(states, jax.random.key(1)).compile().memory_analysis()
    if analysis is None:
        pytest.skip("this backend does not tell")
    slots = SIMULATIONS + 2
    trees = BATCH * slots * mcts.Layout(game, rule).bytes_per_node
    paths = BATCH * 4 * (SIMULATIONS + 1)
    assert trees < analysis.temp_size_in_bytes < 1.02 * (trees + BATCH * slots * names + paths) + 64 * 1024
