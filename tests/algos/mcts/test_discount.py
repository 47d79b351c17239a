"""Discounted values: every edge of a tree holds what the values below it are worth one action earlier."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.mcts.tree import ENDED
from tests.algos.small_games import Relay

GAME, RELAY = jaxgames.make("tic_tac_toe"), Relay()


def guess(params, observation):
    found = observation.reshape(len(observation), -1).astype(jnp.float32) @ params
    return found[:, 1:], jnp.tanh(found[:, 0])


# In the quick tier values without a discount meet a plain search in `test_simulate.py`.
@pytest.mark.parametrize("discount", [pytest.param(1.0, marks=pytest.mark.slow), 0.5])
@pytest.mark.parametrize(
    ("game", "rule", "batch"),
    [(GAME, mcts.gumbel(), 3), (GAME, mcts.puct(), 300), (RELAY, mcts.puct(), 300)],
    ids=["gumbel", "puct", "chance"],
)
def test_edges_hold_the_discounted_values_below_them(game, rule, batch, discount):
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), batch))
    if game is GAME:
        states = jax.jit(jax.vmap(game.step))(states, jnp.arange(batch, dtype=jnp.int32) % 9)
    size = int(np.prod(game.observation_shape))
    weights = np.random.default_rng(0).normal(size=(size, 1 + game.num_actions)).astype(np.float32)
    evaluate = mcts.network(guess, weights)
    found = mcts.search(game, states, jax.random.key(1), 60, select=rule, evaluate=evaluate, discount=discount)
    tree, layout, ended, rolled = found.tree, found.tree.layout, 0, 0
    rows = np.asarray(tree.edges)[: tree.capacity * batch]
    names = ("visits", "value_sums", "child", "raw_value", "opponent_to_move", "is_chance")
    fields = {name: np.asarray(layout.read(rows, name)) for name in names}
    for lane in range(min(batch, 10)):
        for slot in range(int(tree.used)):
            row = slot * batch + lane
            visits, sums, children, _, player, is_chance = (fields[name][row] for name in names)
            for edge in np.flatnonzero(visits):
                child = int(children[edge])
                if child == ENDED:
                    assert abs(sums[edge]) in range(0, 1 + game.max_reward * int(visits[edge]), int(visits[edge]))
                    ended += 1
                elif child >= 0:
                    below = child * batch + lane
                    worth = fields["raw_value"][below] + fields["value_sums"][below].sum()
                    worth *= 1 if fields["opponent_to_move"][below] == player else -1
                    worth *= 1 if is_chance else discount  # a roll is no action
                    np.testing.assert_allclose(sums[edge], worth, atol=1e-4)
                    rolled += int(is_chance)
    assert ended and bool(rolled) == (game is RELAY)


def test_a_discount_that_makes_no_sense():
    states = jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(0), 1))
    with pytest.raises(ValueError, match="discount 1.5: expected a number above 0, at most 1"):
        mcts.search(GAME, states, jax.random.key(0), 8, discount=1.5)
    with pytest.raises(ValueError, match="keeps values of its own, without a discount"):
        mcts.search(GAME, states, jax.random.key(0), 8, select=mcts.rave(), discount=0.9)
