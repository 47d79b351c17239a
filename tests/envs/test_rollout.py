import collections
import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs import random_action, rollout

rollout_module = importlib.import_module("jaxgames.envs.rollout")  # the package has a function of this name


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
    last, (before, actions, after, _) = play(states, jax.random.key(1))
    assert actions.shape == (7, 3) and before.rewards.shape == (7, 3, 2)
    assert (last._step_count == 7).all() and (before._step_count == np.arange(7)[:, None]).all()
    assert jax.vmap(jax.vmap(lambda mask, action: mask[action]))(before.legal_action_mask, actions).all()
    assert all((x[:-1] == y[1:]).all() for x, y in zip(jax.tree.leaves(after), jax.tree.leaves(before), strict=True))
    chosen = jax.jit(random_action)(jax.random.key(2), last)
    assert jax.vmap(lambda mask, action: mask[action])(last.legal_action_mask, chosen).all()
    again, _ = play(states, jax.random.key(1))
    assert all((x == y).all() for x, y in zip(jax.tree.leaves(last), jax.tree.leaves(again), strict=True))


def test_games_stay_on_their_devices():
    game, number = jaxgames.make("tic_tac_toe"), jax.device_count()
    mesh = jax.make_mesh((number,), ("games",), axis_types=(jax.sharding.AxisType.Auto,))
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 4 * number))
    spread = jax.device_put(states, jax.NamedSharding(mesh, jax.P("games")))
    play = jax.jit(lambda states: rollout(game, states, jax.random.key(1), 9, auto_reset=True)[0])
    alone, played = play(states), play(spread)
    assert number > 1 and played.legal_action_mask.sharding == spread.legal_action_mask.sharding
    assert all((x == y).all() for x, y in zip(jax.tree.leaves(alone), jax.tree.leaves(played), strict=True))


def test_rollout_with_a_player_of_ones_own():
    game = jaxgames.make("backgammon")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 3))

    def lowest(key, states):
        return jnp.argmax(states.legal_action_mask, axis=-1).astype(jnp.int32)

    _, (before, actions, *_) = jax.jit(lambda states: rollout(game, states, jax.random.key(1), 4, lowest))(states)
    assert (actions == np.argmax(before.legal_action_mask, axis=-1)).all()


def test_extras_of_a_policy_are_kept():
    """Log-probabilities and values, say, in the shapes of the other arrays; with resets and in parts, too."""
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 6))

    def policy(key, states):
        actions = jaxgames.random_action(key, states)
        return actions, {"log_prob": jnp.log(actions.astype(jnp.float32) + 1), "mask": states.legal_action_mask}

    for options in ({}, {"auto_reset": True}, {"auto_reset": True, "games_at_once": 3}):
        _, kept = jaxgames.rollout(game, states, jax.random.key(1), 4, policy, **options)
        assert kept.extras["mask"].shape == (4, 6, 9)
        np.testing.assert_array_equal(kept.extras["log_prob"], jnp.log(kept.actions.astype(jnp.float32) + 1))
        np.testing.assert_array_equal(kept.extras["mask"], kept.states.legal_action_mask)
    assert jaxgames.rollout(game, states, jax.random.key(1), 4)[1].extras is None
    with pytest.raises(TypeError, match="the policy's actions"):
        jaxgames.rollout(game, states, jax.random.key(1), 4, lambda key, states: (policy(key, states), 1, 2))


def test_outside_of_jit_only_what_may_have_changed_is_traced_again():
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 6))
    traces, weight = [], jnp.int32(0)

    def act(weight, key, states):
        traces.append(1)
        return jnp.full(len(states.terminated), weight)

    def play(policy):
        return jaxgames.rollout(game, states, jax.random.key(1), 2, policy)[1].actions[0]

    jitted = jax.jit(act)
    for weight in (jnp.int32(3), jnp.int32(4)):
        np.testing.assert_array_equal(play(jax.tree_util.Partial(jitted, weight)), jnp.full(6, weight))
    assert len(traces) == 1
    policy = lambda key, states: act(weight, key, states)  # noqa: E731
    for weight in (jnp.int32(5), jnp.int32(6)):  # noqa: B007
        np.testing.assert_array_equal(play(policy), jnp.full(6, weight))
    assert len(traces) > 2


def test_a_policy_with_bounds_is_not_taken_for_a_jitted_one():
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 6))

    class Clipped:
        lower, trace, action = 0.0, 1.0, 3

        def __call__(self, key, states):
            return jnp.full(len(states.terminated), self.action, jnp.int32)

    policy = Clipped()
    for policy.action in (3, 4):
        played = jaxgames.rollout(game, states, jax.random.key(1), 1, policy)[1].actions[0]
        np.testing.assert_array_equal(played, jnp.full(6, policy.action))


def test_extras_that_are_no_arrays_are_one_line():
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 4))

    def policy(key, states):
        return jaxgames.random_action(key, states), {"name": "mine"}

    with pytest.raises(TypeError, match="the policy's extras hold 'mine': expected arrays"):
        jaxgames.rollout(game, states, jax.random.key(1), 3, policy)


@pytest.mark.parametrize("auto_reset", [True, False])
def test_the_form_for_a_gpu_gives_the_same_bits(auto_reset):
    """Steps that carry words and keep nothing else, and steps that carry arrays and keep what is asked for."""
    game, batch, steps = jaxgames.make("tic_tac_toe"), 16, 13

    def policy(key, states):
        return jaxgames.random_action(key, states), states.observation.sum((1, 2, 3), dtype=jnp.float32)

    @jax.jit
    def both(key):
        loop = rollout_module._Loop.of(game, policy, auto_reset, lambda transition: transition)
        states = jax.vmap(game.init)(jax.random.split(key, batch))
        first = rollout_module._Carry.of(states) if auto_reset else states
        keys = jax.random.split(key, (steps, 4))
        return loop.in_arrays(first, keys), loop.in_words(first, keys)

    arrays, words = both(jax.random.key(0))
    assert arrays[1].rewards.any() and len(arrays[1].extras) == steps
    jax.tree.map(np.testing.assert_array_equal, words, arrays)


def test_each_function_is_traced_once():
    """Though the loop has two forms, of which the device takes one."""
    counts = collections.Counter()

    def policy(key, states):
        counts["policy"] += 1
        return jaxgames.random_action(key, states)

    def keep(transition):
        counts["keep"] += 1
        return transition.rewards

    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 4))
    jax.make_jaxpr(lambda key: jaxgames.rollout(game, states, key, 3, policy, keep=keep))(jax.random.key(1))
    assert counts == {"policy": 1, "keep": 1}


class CutOff(type(jaxgames.make("tic_tac_toe"))):
    """Tic-tac-toe that is truncated after seven actions."""

    step_limit = 7


def test_a_game_ends_once():
    game = CutOff()
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 64))
    ended = np.asarray(jax.jit(lambda key: rollout(game, states, key, 9)[1].ended)(jax.random.key(1)))
    assert (ended.sum(axis=0) == 1).all() and ended[4:7].any(axis=1).all()
