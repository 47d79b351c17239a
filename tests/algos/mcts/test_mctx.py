"""Searches of Connect Four beside mctx, with its constants and the same network: the same visits at the root."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.ops.pytrees import select

GAME = jaxgames.make("connect_four")
BATCH, HIDDEN = 256, 32


def network(params, observation):
    """A small network: logits and a value."""
    squares = observation.reshape(len(observation), -1).astype(jnp.float32)
    inside = jnp.tanh(squares @ params["in"] + params["bias"][None])
    return 3 * (inside @ params["policy"]), jnp.tanh(inside @ params["value"])


@pytest.fixture(scope="module")
def params():
    shapes = {"in": (84, HIDDEN), "bias": (HIDDEN,), "policy": (HIDDEN, 7), "value": (HIDDEN,)}
    rng = np.random.default_rng(0)
    return {name: jnp.asarray(rng.normal(0, 0.4, shape), jnp.float32) for name, shape in shapes.items()}


@pytest.fixture(scope="module")
def states():
    """Positions of random games after 0 to 24 moves, none of them over, some with full columns."""
    key = jax.random.key(7)

    @jax.jit
    def play(states, key, ply):
        words = jax.random.bits(key, (BATCH,))
        after = jax.vmap(GAME.step)(states, jax.vmap(GAME.draw_action)(states._position, words))
        return select((ply < jnp.arange(BATCH) % 25) & ~after.terminated, after, states)

    states = jax.jit(jax.vmap(GAME.init))(jax.random.split(key, BATCH))
    for ply in range(24):
        states = play(states, jax.random.fold_in(key, ply), jnp.int32(ply))
    assert not states.terminated.any() and not states.legal_action_mask.all(axis=1).all()
    return states


def by_mctx(policy, params, states, **options):
    """What mctx finds, with the game as its model."""
    import mctx

    def asked(params, states):
        logits, value = network(params, states.observation)
        return jnp.where(states.legal_action_mask, logits, jnp.finfo(jnp.float32).min), value

    def recurrent(params, key, actions, states):
        mover = states.current_player
        states = jax.vmap(GAME.step)(states, actions)
        logits, value = asked(params, states)
        reward = jnp.take_along_axis(states.rewards, mover[:, None], axis=1)[:, 0]
        over = states.terminated
        discount = jnp.where(over, 0.0, -1.0)
        return (
            mctx.RecurrentFnOutput(
                reward=reward, discount=discount, prior_logits=logits, value=jnp.where(over, 0, value)
            ),
            states,
        )

    @jax.jit
    def search(params, states):
        logits, value = asked(params, states)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=states)
        return getattr(mctx, policy)(
            params, jax.random.key(0), root, recurrent, invalid_actions=~states.legal_action_mask, **options
        )

    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        found = search(params, states)
        return np.asarray(found.search_tree.summary().visit_counts), np.asarray(found.action_weights)


@pytest.mark.filterwarnings("ignore")  # of mctx
def test_puct_visits_what_mctx_visits(params, states):
    theirs, _ = by_mctx("muzero_policy", params, states, num_simulations=48, dirichlet_fraction=0.0)
    evaluate = mcts.network(network, params)
    ours = mcts.search(
        GAME, states, jax.random.key(1), 48, select=mcts.puct(qtransform="parent_and_siblings"), evaluate=evaluate
    )
    np.testing.assert_array_equal(ours.visits, theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("considered", "simulations"),
    [(4, 24), pytest.param(16, 32, marks=pytest.mark.slow), pytest.param(4, 50, marks=pytest.mark.slow)],
)
def test_gumbel_visits_what_mctx_visits(params, states, considered, simulations):
    options = {"max_num_considered_actions": considered, "gumbel_scale": 0.0}
    theirs, weights = by_mctx("gumbel_muzero_policy", params, states, num_simulations=simulations, **options)
    ours = mcts.search(
        GAME,
        states,
        jax.random.key(1),
        simulations,
        select=mcts.gumbel(considered, scale=0.0),
        evaluate=mcts.network(network, params),
    )
    np.testing.assert_array_equal(ours.visits, theirs)
    np.testing.assert_allclose(ours.weights, weights, rtol=1e-3, atol=1e-5)
