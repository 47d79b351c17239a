"""What holds in every game at every moment: pieces, ends, illegal actions, notation, batches; and that nothing is
traced twice.
"""

from functools import cache

import hypothesis.strategies as some
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings

import jaxgames
from jaxgames.ops.random_bits import random_bits

LENGTHS = {"tic_tac_toe": 12, "connect_four": 45, "checkers": 200, "backgammon": 300}
UNOPTIMIZED = {"xla_backend_optimization_level": "0"}  # compiled quickly


class Counted:
    """A function, jitted, that counts how often it is traced."""

    def __init__(self, function):
        self.traces = 0

        def traced(*arguments):
            self.traces += 1
            return function(*arguments)

        self.call = jax.jit(traced, compiler_options=UNOPTIMIZED)

    def __call__(self, *arguments):
        return jax.device_get(self.call(*arguments))


def whole(game, steps):
    """One random game: every state, what is seen of it, and the actions."""

    def play(key):
        def step(state, word_and_key):
            action = game.draw_action(state._position, word_and_key[0])
            after = game.step(state, action, word_and_key[1])
            return after, (state, state.legal_action_mask, state.observation, action)

        keys = jax.random.split(key, steps)
        return jax.lax.scan(step, game.init(key), (random_bits(key, (steps,)), keys))[1]

    return play


@cache
def programs(name):
    """A random game, three of them at once, one step."""
    game = jaxgames.make(name)
    play = whole(game, LENGTHS[name])
    return game, Counted(play), Counted(jax.vmap(play)), Counted(game.step)


def pick(tree, index):
    return jax.tree.map(lambda x: x[index], tree)


def same(one, other):
    return all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))


def stones(observations, players):
    """Each move adds one."""
    assert (observations.sum(axis=(1, 2, 3)) == np.arange(len(observations))).all()


def draughts(observations, players):
    """Pieces are only captured, one by a jump, by the other side; nothing but a capture takes away a king."""
    sides = observations[..., :4].reshape(len(observations), 64, 2, 2).sum(axis=1)  # [time, own or other, men or kings]
    sides = np.where((players == 0)[:, None, None], sides, sides[:, ::-1]).astype(int)
    lost = -np.diff(sides.sum(axis=2), axis=0)
    assert ((lost == 0) | (lost == 1)).all() and not lost[np.arange(len(lost)), players[:-1]].any()
    fewer_kings = -np.diff(sides[..., 1], axis=0)
    assert (fewer_kings <= lost).all() and (sides.sum(axis=2) <= 12).all()


def checkers_of_backgammon(observations, players):
    """Fifteen a side, on the board, on the bar or borne off."""
    for sign, bar, off in ((1, 24, 26), (-1, 25, 27)):
        board = np.clip(sign * observations[:, :24], 0, None).sum(axis=1)
        assert (board + sign * (observations[:, bar] + observations[:, off]) == 15).all()


CONSERVED = {
    "tic_tac_toe": stones,
    "connect_four": stones,
    "checkers": draughts,
    "backgammon": checkers_of_backgammon,
}


def check_end(states, masks, actions, running):
    """An ended game stays as it is, and only its last action is rewarded."""
    count = running.sum()
    assert masks[running, actions[running]].all() and masks[~running].all()
    assert not states.rewards[:count].any() and not states.rewards[count + 1 :].any()
    if count < len(running):
        last = pick(states, count)
        fixed = (states.current_player, states.terminated, states.truncated, states._position)
        for leaf in jax.tree.leaves(fixed):
            assert (leaf[count:] == leaf[count]).all()
        assert last.rewards.sum() == 0


def check_texts(game, state, mask, view):
    text = game.to_string(state)
    again = game.from_string(text, int(state.current_player))
    assert same(again._position, state._position) and game.to_string(again) == text
    assert not again.terminated and again.current_player == state.current_player
    for action in np.flatnonzero(mask).tolist():
        assert game.string_to_action(again, game.action_to_string(again, action)) == action


def check_wrong(game, step, state, mask, action, key):
    """An action that is not legal ends the game at once."""
    if 0 <= action < game.num_actions and mask[action]:
        return
    after = step(state, np.int32(action), key)
    player = int(state.current_player)
    assert after.terminated and after.rewards[player] == -1 and after.rewards[1 - player] == 1
    assert same(after._position, state._position) and after.current_player == player


seeds = some.integers(0, 2**32 - 1)
actions_of_any_kind = some.one_of(some.integers(-3, 160), some.integers(-(2**31), 2**31 - 1))


@pytest.mark.parametrize("name", jaxgames.available_games())
@settings(max_examples=12)
@given(seed=seeds, where=some.floats(0, 1), wrong=actions_of_any_kind)
@example(seed=0, where=0.0, wrong=-(2**31))
@example(seed=1, where=1.0, wrong=2**31 - 1)
def test_a_game(name, seed, where, wrong):
    game, play, play_three, step = programs(name)
    key = jax.random.key(np.uint32(seed))
    states, masks, views, actions = play(key)
    running = ~(states.terminated | states.truncated)
    check_end(states, masks, actions, running)
    CONSERVED[name](views[running], states.current_player[running])
    index = int(where * (running.sum() - 1))
    state = pick(states, index)
    check_texts(game, state, masks[index], views[index])
    check_wrong(game, step, state, masks[index], wrong, key)
    check_wrong(game, step, state, masks[index], int(np.argmin(masks[index])), key)
    if running.sum() < len(running):
        ended = step(pick(states, -1), np.int32(wrong), key)
        assert ended.terminated and not ended.rewards.any() and same(ended._position, pick(states, -1)._position)
    three = play_three(jnp.stack([key, jax.random.key(0), key]))
    assert same(pick(three, 0), (states, masks, views, actions)) and same(pick(three, 0), pick(three, 2))
    assert not same(pick(three, 0), pick(three, 1)) or seed == 0
    assert play.traces == play_three.traces == 1 and step.traces <= 1


@pytest.mark.parametrize("name", jaxgames.available_games())
def test_most_games_end(name):
    """Within the steps that `test_a_game` plays."""
    states = programs(name)[2](jax.random.split(jax.random.key(5), 3))[0]
    assert (states.terminated[:, -1]).sum() >= 2


@pytest.mark.parametrize("name", jaxgames.available_games())
def test_nothing_is_traced_twice(name):
    """Other values, states from `init`, `step`, `from_string` and `rollout`, and games made anew."""
    game = jaxgames.make(name)
    init = Counted(lambda key: game.init(key))
    step = Counted(lambda state, action, key: state._game.step(state, action, key))
    roll = Counted(lambda states, key: jaxgames.rollout(states._game, states, key, 5, auto_reset=True)[0])
    for seed in range(3):
        key = jax.random.key(seed)
        state = init(key)
        for action in (0, 1):
            state = step(state, np.int32(action), key)
        states = jax.tree.map(lambda x: np.stack([x, x]), state)
        roll(roll(states, key), key)
        again = jaxgames.make(name).from_string(game.to_string(init(key)), seed % 2)
        step(again, jnp.int32(seed), key)
    assert init.traces == step.traces == roll.traces == 1
    other = {"connect_four": {"rows": 5}, "checkers": {"draw_after": 40}}.get(name)
    if other:
        anew = jaxgames.make(name, **other)
        step(anew.init(key), np.int32(0), key)
        assert step.traces == 2
