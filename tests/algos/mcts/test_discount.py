"""Discounted values: every edge of a tree holds what the values below it are worth one action earlier."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.mcts.tree import ENDED

GAME = jaxgames.make("tic_tac_toe")
WEIGHTS = np.random.default_rng(0).normal(size=(18, 10)).astype(np.float32)


def guess(params, observation):
    found = observation.reshape(len(observation), -1).astype(jnp.float32) @ params
    return found[:, 1:], jnp.tanh(found[:, 0])


# In the quick tier values without a discount meet a plain search in `test_simulate.py`.
@pytest.mark.parametrize("discount", [pytest.param(1.0, marks=pytest.mark.slow), 0.5])
@pytest.mark.parametrize(("rule", "batch"), [(mcts.gumbel(), 3), (mcts.puct(), 300)])
def test_edges_hold_the_discounted_values_below_them(rule, batch, discount):
    states = jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(0), batch))
    states = jax.jit(jax.vmap(GAME.step))(states, jnp.arange(batch, dtype=jnp.int32) % 9)
    evaluate = mcts.network(guess, WEIGHTS)
    found = mcts.search(GAME, states, jax.random.key(1), 60, select=rule, evaluate=evaluate, discount=discount)
    tree, layout, ended = found.tree, found.tree.layout, 0
    rows = np.asarray(tree.edges)[: tree.capacity * batch]
    fields = {name: np.asarray(layout.read(rows, name)) for name in ("visits", "value_sums", "child", "raw_value")}
    for lane in range(min(batch, 10)):
        for slot in range(int(tree.used)):
            visits, sums, children, _ = (fields[name][slot * batch + lane] for name in fields)
            for edge in np.flatnonzero(visits):
                child = int(children[edge])
                if child == ENDED:
                    assert abs(sums[edge]) in (0, visits[edge])
                    ended += 1
                elif child >= 0:  # tic-tac-toe: the other one acts there
                    below = child * batch + lane
                    worth = fields["raw_value"][below] + fields["value_sums"][below].sum()
                    np.testing.assert_allclose(sums[edge], -discount * worth, atol=1e-4)
    assert ended


def test_a_discount_that_makes_no_sense():
    states = jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(0), 1))
    with pytest.raises(ValueError, match="discount 1.5: expected a number above 0, at most 1"):
        mcts.search(GAME, states, jax.random.key(0), 8, discount=1.5)
    with pytest.raises(ValueError, match="keeps values of its own, without a discount"):
        mcts.search(GAME, states, jax.random.key(0), 8, select=mcts.rave(), discount=0.9)
