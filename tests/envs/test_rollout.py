import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames.envs import random_action, rollout


def test_random_actions_are_allowed_and_equally_likely():
    masks = jnp.array([[False, True, False, True, True], [True] * 5, [False, False, True, False, False]])
    many = jnp.broadcast_to(masks, (20_000, 3, 5))
    actions = np.asarray(random_action(jax.random.key(0), many))
    assert actions.dtype == np.int32
    for row, mask in enumerate(masks):
        counts = np.bincount(actions[:, row], minlength=5)
        expected = np.where(mask, 20_000 / mask.sum(), 0)
        assert not counts[~mask].any()
        assert np.abs(counts - expected).max() < 4 * 20_000**0.5


def test_rollout_is_a_chain_of_steps():
    game = jaxgames.make("backgammon")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 3))
    play = jax.jit(lambda states, key: rollout(game, states, key, 7))
    last, (before, actions, after) = play(states, jax.random.key(1))
    assert actions.shape == (7, 3) and before.rewards.shape == (7, 3, 2)
    assert (last._step_count == 7).all() and (before._step_count == np.arange(7)[:, None]).all()
    assert jax.vmap(jax.vmap(lambda mask, action: mask[action]))(before.legal_action_mask, actions).all()
    assert all((x[:-1] == y[1:]).all() for x, y in zip(jax.tree.leaves(after), jax.tree.leaves(before), strict=True))
    chosen = jax.jit(random_action)(jax.random.key(2), last)
    assert jax.vmap(lambda mask, action: mask[action])(last.legal_action_mask, chosen).all()
    again, _ = play(states, jax.random.key(1))
    assert all((x == y).all() for x, y in zip(jax.tree.leaves(last), jax.tree.leaves(again), strict=True))


def test_rollout_with_a_player_of_ones_own():
    game = jaxgames.make("backgammon")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 3))

    def lowest(key, states):
        return jnp.argmax(states.legal_action_mask, axis=-1).astype(jnp.int32)

    _, (before, actions, _) = jax.jit(lambda states: rollout(game, states, jax.random.key(1), 4, lowest))(states)
    assert (actions == np.argmax(before.legal_action_mask, axis=-1)).all()
