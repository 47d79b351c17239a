"""Examples and their loss against plain references."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames.algos.alphazero.buffer import Plies
from jaxgames.algos.alphazero.loss import Examples, examples_of, loss, turn

GAME = jaxgames.make("tic_tac_toe")


def test_values_are_those_of_the_player_to_act():
    states = jax.vmap(GAME.init)(jax.random.split(jax.random.key(0), 4))
    plies = Plies(
        states._position,
        policy=np.ones((4, 9), np.float16) / 9,
        root_value=np.full(4, 0.5, np.float32),
        player=np.array([0, 1, 0, 0], np.int32),
        is_target=np.array([1, 0, 1, 1], bool),
        result=np.array([1, -1, 0, 1], np.float32),
        known=np.array([1, 1, 1, 0], bool),
    )
    found = examples_of(GAME, jax.tree.map(jnp.asarray, plies), 0.75)
    np.testing.assert_allclose(found.value[:3], [0.75 + 0.125, 0.75 + 0.125, 0.125])
    np.testing.assert_array_equal(found.value_weight, [1, 1, 1, 0])
    np.testing.assert_array_equal(found.policy_weight, [1, 0, 1, 0])


def test_turned_examples_are_the_same_positions_seen_otherwise():
    game = jaxgames.make("connect_four")
    state = functools.reduce(game.step, [0, 0, 1], game.init(jax.random.key(0)))
    batch = jax.tree.map(lambda x: jnp.stack([x] * 64), state)
    policy = jnp.arange(7, dtype=jnp.float32) / 21
    one = Examples(
        batch.observation, batch.legal_action_mask, jnp.tile(policy, (64, 1)), *(jnp.ones(64) for _ in range(3))
    )
    found = turn(game, one, jax.random.key(1))
    mirrored = np.asarray(found.policy[:, 0]) > 0
    assert 16 < mirrored.sum() < 48
    np.testing.assert_array_equal(found.observation[mirrored], one.observation[mirrored][:, :, ::-1])
    np.testing.assert_array_equal(found.observation[~mirrored], one.observation[~mirrored])
    np.testing.assert_allclose(found.policy[mirrored], one.policy[mirrored][:, ::-1])


def test_the_loss_is_cross_entropy_and_squared_error():
    rng = np.random.default_rng(2)
    logits, value = rng.normal(size=(6, 4)).astype(np.float32), rng.normal(size=6).astype(np.float32)
    legal = rng.random((6, 4)) < 0.7
    legal[:, 0] = True
    policy = np.where(legal, rng.random((6, 4)), 0).astype(np.float32)
    policy /= policy.sum(1, keepdims=True)
    weights = np.array([[1, 1, 0, 1, 1, 0], [1, 1, 1, 1, 1, 0]], np.float32)
    target = rng.normal(size=6).astype(np.float32)
    examples = Examples(jnp.zeros((6, 1)), jnp.asarray(legal), jnp.asarray(policy), jnp.asarray(target), *weights)
    total, metrics = loss(lambda params, x: (jnp.asarray(logits), jnp.asarray(value)), (), examples, 3.0, 0.5)
    log_policy = np.where(legal, logits, -np.inf)
    log_policy = log_policy - np.log(np.exp(log_policy).sum(1, keepdims=True))
    entropy = -(policy * np.where(legal, log_policy, 0)).sum(1)
    expected = (entropy * weights[0]).sum() / 4, (((value - target) / 3) ** 2 * weights[1]).sum() / 5
    np.testing.assert_allclose((metrics["policy_loss"], metrics["value_loss"]), expected, rtol=1e-5)
    np.testing.assert_allclose(total, expected[0] + 0.5 * expected[1], rtol=1e-5)
