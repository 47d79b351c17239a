"""What the games are made of: words, values computed once, rollouts with resets, limits of steps."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.rollout import Transition, random_action, rollout
from jaxgames.ops import bits
from jaxgames.ops.materialize import materialize
from jaxgames.ops.random_bits import random_bits


@pytest.mark.parametrize("key", [jax.random.key(3), jax.random.PRNGKey(3)], ids=["typed", "legacy"])
def test_random_words_are_uniform_and_independent(key):
    words = np.asarray(random_bits(key, (64, 1024)))
    assert words.dtype == np.uint32 and len(np.unique(words)) == words.size
    flags = (words.ravel()[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    assert np.abs(flags.mean(axis=0) - 0.5).max() < 5 * 0.5 / words.size**0.5
    correlations = np.corrcoef(flags.T) - np.eye(32)
    assert np.abs(correlations).max() < 6 / words.size**0.5
    neighbours = np.corrcoef(words.ravel()[:-1].astype(float), words.ravel()[1:].astype(float))[0, 1]
    assert abs(neighbours) < 5 / words.size**0.5


def test_random_words_of_split_keys_differ():
    one, other = (np.asarray(random_bits(key, (20_000,))) for key in jax.random.split(jax.random.key(0)))
    equal = np.unpackbits((one ^ other).view(np.uint8)).mean()
    assert abs(equal - 0.5) < 5 * 0.5 / (32 * one.size) ** 0.5
    assert (one == random_bits(jax.random.split(jax.random.key(0))[0], (20_000,))).all()


def test_scaled_words_hit_every_number_alike():
    words = random_bits(jax.random.key(1), (70_000,))
    for number in (1, 2, 7, 48, 65_535):
        scaled = np.asarray(bits.bounded(words, jnp.uint32(number)))
        exact = (np.asarray(words).astype(np.uint64) * number) >> 32
        assert (scaled == exact).all()


def test_ranks_select_every_set_bit():
    sets = jnp.asarray(np.array([0b1, 0b1010, 0x80000001, 0xFFFFFFFF, 0x00F00000], np.uint32))
    ranks = bits.bounded(random_bits(jax.random.key(2), (5, 4000)), jax.lax.population_count(sets)[:, None])
    drawn = np.asarray(bits.nth_set(jnp.broadcast_to(sets[:, None], ranks.shape), ranks))
    for word, row in zip(np.asarray(sets).tolist(), drawn, strict=True):
        members = [place for place in range(32) if word >> place & 1]
        counts = np.bincount(row, minlength=32)
        assert set(np.flatnonzero(counts)) == set(members)
        assert np.abs(counts[members] - 4000 / len(members)).max() < 5 * (4000 / len(members)) ** 0.5 + 1


def test_spread_shows_bits_in_the_order_asked_for():
    words = [jnp.asarray(np.array([word], np.uint32)) for word in (0b0110, 1 << 31)]
    shown = bits.unpack(words, np.array([31, 1, 32, 0, 2]))
    assert shown.shape == (10,)
    assert shown.reshape(5, 2).tolist() == [[False, True], [True, False], [False, False], [False, False], [True, False]]


def test_what_is_computed_once_keeps_its_value():
    extremes = np.array([0, 1, 2**16, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)
    for like in (extremes, extremes.view(np.int32)):
        assert (materialize(extremes, like) == extremes).all()
        assert (materialize(extremes.view(np.int32), like) == extremes.view(np.int32)).all()
        assert (materialize(extremes > 5, like) == (extremes > 5)).all()
        numbers = np.array([0, -1, 0.1, 1e30, np.inf, -np.inf, 3], np.float32)
        assert (materialize(numbers, like) == numbers).all()
    assert np.isnan(materialize(np.array([np.nan], np.float32), np.array([0], np.int32))).all()


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="it is about XLA:CPU")
def test_xla_computes_once_what_it_is_asked_to():
    def multiplications(keep):
        def outputs(x):
            shared = x
            for factor in (3, 5, 7, 11):
                shared = (shared ^ (shared >> 7)) * np.uint32(factor)
            shared = keep(shared, x)
            return [shared ^ np.uint32(k) for k in range(8)], (shared[:, None] & np.ones(64, np.uint32)[None]) != 0

        text = jax.jit(outputs).lower(jnp.zeros(128, jnp.uint32)).compile().as_text()
        return len(re.findall(r"= u32\[[\d,]*\]\S* multiply\(", text))

    assert multiplications(materialize) == 4
    assert multiplications(lambda value, like: value) > 4  # else XLA has learnt it, and `once` may go


GAMES = ["tic_tac_toe", "backgammon"]


@pytest.fixture(scope="module", params=GAMES)
def played(request):
    """Batches of games stepped together with auto_reset, and what came before each reset."""
    game = jaxgames.make(request.param)
    step = jax.vmap(jaxgames.auto_reset(game.step, game.init, with_final=True))

    def play(states, key):
        action_key, step_key = jax.random.split(key)
        actions = random_action(action_key, states.legal_action_mask)
        after, final = step(states, actions, jax.random.split(step_key, 16))
        return after, (states, after, final, states.legal_action_mask, after.legal_action_mask, final.observation)

    @jax.jit
    def run(states):
        return jax.lax.scan(play, states, jax.random.split(jax.random.key(1), 400))[1]

    return game, jax.device_get(run(jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 16))))


def test_auto_reset_begins_a_new_game_and_keeps_the_end(played):
    game, (_, after, final, _, mask, observation) = played
    ended = final.terminated
    assert ended.any() and not ended.all()
    assert (after.terminated == ended).all() and (after.rewards == final.rewards).all()
    assert (np.abs(final.rewards[ended]).sum(axis=-1) > 0).any()
    assert (after._step_count[ended] == 0).all() and (final._step_count[ended] > 0).all()
    for new, old in zip(jax.tree.leaves(after._position), jax.tree.leaves(final._position), strict=True):
        assert (new[~ended] == old[~ended]).all()
    # The new game's mask, not that of an ended state: in backgammon hardly any of 156 actions is legal.
    assert mask[ended].all() == (game.id == "tic_tac_toe")
    # The final observation is that of the position that ended the game.
    assert (observation[ended] != after.observation[ended]).any()


def test_auto_reset_never_loses_a_game_to_its_own_reset(played):
    game, (before, _, final, mask, _, _) = played
    # All actions were legal, so nobody lost by an illegal one: in tic-tac-toe games have 5 to 9 actions.
    if game.id == "tic_tac_toe":
        lengths = final._step_count[final.terminated]
        assert lengths.min() >= 5 and lengths.max() == 9
    else:
        assert final._step_count[final.terminated].min() > 16
    assert mask.any(axis=-1).all() and (before._step_count >= 0).all()


def test_auto_reset_needs_a_key():
    game = jaxgames.make("tic_tac_toe")
    with pytest.raises(ValueError, match="state, action, key"):
        jaxgames.auto_reset(game.step, game.init)(game.init(jax.random.key(0)), jnp.int32(0))


def test_time_limit_truncates_games_of_any_batch():
    game = jaxgames.make("tic_tac_toe")
    step = jax.jit(jaxgames.time_limit(jax.vmap(game.step), 6))
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 2))
    for actions in ([0, 0], [3, 1], [1, 2], [4, 4], [2, 3]):
        states = step(states, jnp.asarray(actions, jnp.int32))
    assert states.terminated.tolist() == [True, False] and not states.truncated.any()
    after = step(states, jnp.asarray([8, 5], jnp.int32))
    assert after.terminated.tolist() == [True, False] and after.truncated.tolist() == [False, True]
    assert not after.rewards.any() and after.legal_action_mask.all()
    with pytest.raises(ValueError, match="at least 1"):
        jaxgames.time_limit(game.step, 0)


def test_rollout_with_new_games_keeps_what_it_is_told_to():
    game = jaxgames.make("tic_tac_toe")
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 256))

    def keep(transition: Transition):
        return transition.states.observation, transition.states.legal_action_mask, transition, transition.ended

    run = jax.jit(lambda states, key: rollout(game, states, key, 40, auto_reset=True, keep=keep))
    last, (observation, mask, transitions, ended) = run(states, jax.random.key(1))
    assert observation.shape == (40, 256, 3, 3, 2) and mask.shape == (40, 256, 9)
    assert (observation == transitions.states.observation).all()
    assert (mask == transitions.states.legal_action_mask).all()
    assert (ended == transitions.after.terminated).all() and (transitions.rewards == transitions.after.rewards).all()
    following = jax.tree.map(lambda x, y: jnp.concatenate([x[1:], y[None]]), transitions.states, last)
    assert not following.terminated.any() and (following._step_count[ended] == 0).all()
    assert (following._position.cells[~ended] == transitions.after._position.cells[~ended]).all()
    new = following.current_player[ended]
    assert 0.4 < new.mean() < 0.6  # both players begin
    won, lost = (transitions.rewards[ended].max(axis=-1) == 1), transitions.rewards[ended].sum(axis=-1)
    assert not lost.any() and 0.8 < won.mean() < 0.95  # by random play 87.3 % of games are won


def test_rollout_in_parts_is_the_rollouts_of_the_parts():
    game = jaxgames.make("tic_tac_toe")
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 12))
    run = jax.jit(lambda states, key: rollout(game, states, key, 9, auto_reset=True, games_at_once=4))
    last, moves = run(states, jax.random.key(1))
    assert moves.actions.shape == (9, 12) and moves.states.observation.shape == (9, 12, 3, 3, 2)
    alone = jax.jit(lambda states, key: rollout(game, states, key, 9, auto_reset=True))
    for part, key in enumerate(jax.random.split(jax.random.key(1), 3)):
        own = slice(4 * part, 4 * part + 4)
        wanted_last, wanted = alone(jax.tree.map(lambda x, own=own: x[own], states), key)
        found = jax.tree.map(lambda x, own=own: x[own], last), jax.tree.map(lambda x, own=own: x[:, own], moves)
        jax.tree.map(np.testing.assert_array_equal, found, (wanted_last, wanted))
    with pytest.raises(ValueError, match="games_at_once 5 must divide the batch of 12"):
        rollout(game, states, jax.random.key(1), 9, games_at_once=5)


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (jaxgames.make("tic_tac_toe"), "XOX/OOX/XXO"),
        (jaxgames.make("connect_four", rows=2, cols=2, connect=3), "1122"),
        (jaxgames.make("checkers"), "B:W5:B"),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
def test_random_actions_of_ended_games_are_actions(game, text):
    """Nothing is legal by the rules, but the mask of an ended game is all true, and what is drawn is in range."""
    state = game.from_string(text)
    assert state.terminated and state.legal_action_mask.all() and not game.legal(state._position).any()
    states = jax.tree.map(lambda x: jnp.broadcast_to(x, (64, *x.shape)), state)
    actions = random_action(jax.random.key(0), states)
    assert (actions >= 0).all() and (actions < game.num_actions).all()
