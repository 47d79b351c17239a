"""Gumbel MuZero's rule where numbers are large: of visits, and of the actions considered."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos import mcts
from jaxgames.algos.mcts.rules import gumbel
from tests.algos.small_games import Heap, Nim

GAME, HEAPS, SIMULATIONS = Nim(), (1, 2, 5), 1200


def optimist(params, observation):
    """The same policy everywhere, and a value that nothing is worth."""
    return jnp.zeros((len(observation), 3), jnp.float32), jnp.full(len(observation), 5, jnp.float32)


def searched(simulations, **settings):
    states = GAME.state(Heap(jnp.array(HEAPS, jnp.int32)), np.zeros(len(HEAPS), np.int32))
    evaluate, rule = mcts.network(optimist, ()), mcts.gumbel(**settings)
    return mcts.search(GAME, states, jax.random.key(1), simulations, select=rule, evaluate=evaluate)


def test_illegal_actions_have_no_share_after_any_number_of_visits():
    # What the rule expects of an edge without visits is more here than any legal action brings.
    found = searched(SIMULATIONS)
    np.testing.assert_allclose(found.weights, np.eye(3)[[0, 1, 0]], atol=1e-6)
    assert found.actions.tolist() == [0, 1, 0] and np.isfinite(found.values).all()
    tree, layout = found.tree, found.tree.layout
    visits, child = (np.asarray(layout.read(tree.edges[: int(tree.used) * 3], name)) for name in ("visits", "child"))
    assert not visits[child == -2].any()


def test_no_more_actions_are_considered_than_there_are(monkeypatch):
    asked, halving = [], gumbel._halving
    monkeypatch.setattr(gumbel, "_halving", lambda number, *more: asked.append(number) or halving(number, *more))
    few, many = (searched(9, considered=considered) for considered in (3, 1000))
    np.testing.assert_array_equal(few.visits, many.visits)
    assert max(asked) == GAME.num_actions
