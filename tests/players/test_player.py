"""A player acts as its turns say, and jit sees only of what kind it is."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import players
from jaxgames.players import generic
from tests.players.dash import GAME, Lead


@pytest.mark.parametrize(
    "player", [players.make("random", GAME), players.greedy(GAME, "slow", np.float32(-0.1), Lead().value)]
)
def test_single_actions_are_those_of_the_turn(player):
    states = jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(1), 64))
    key = jax.random.key(2)

    @jax.jit
    def both(player, states):
        turn = player.turn(player.params, states._position, jax.random.bits(key, (64,)))
        actions, _ = player.act(states, key, player.init_memory(64))
        return turn, actions, jax.vmap(GAME.play)(states._position, actions)

    turn, actions, after = both(player, states)
    for one, other in zip(jax.tree.leaves(turn), jax.tree.leaves(after), strict=True):
        np.testing.assert_array_equal(one, other)
    assert states.legal_action_mask[np.arange(64), actions].all() and (actions != 0).any()


@pytest.mark.parametrize(
    ("spec", "game", "can"),
    [
        ("random", "tic_tac_toe", {}),
        ("champion@1", "tic_tac_toe", {"value", "plies", "has_values"}),
        ("champion@1", "connect_four", {"value", "policy"}),
        ("champion@2", "tic_tac_toe", {"value", "plies", "has_values"}),
        ("alphabeta:2", "tic_tac_toe", {"plies", "has_values"}),
        ("alphabeta:champion:2", "tic_tac_toe", {"value", "plies", "has_values"}),
        ("uct:4", "tic_tac_toe", {"rule"}),
        ("lgr:4,keep=1", "tic_tac_toe", {"rule", "learns"}),
        ("puct:champion:4", "tic_tac_toe", {"rule"}),
        ("weak:0.1:champion@1", "tic_tac_toe", {}),
    ],
)
def test_what_a_player_can(spec, game, can):
    player = players.make(spec, game)
    parts = ("value", "policy", "rule", "plies", "on_host", "learns", "has_values")
    assert {part for part in parts if getattr(player, part)} == set(can)


def test_jit_sees_only_the_kind_of_player():
    seen = []

    @jax.jit
    def points(player):
        seen.append(player.name)
        return player.params * 2

    fast = players.greedy(GAME, "fast", jnp.float32(1), Lead().value)
    other = dataclasses.replace(fast, name="other", params=jnp.float32(3))
    assert (float(points(fast)), float(points(other))) == (2, 6)
    assert seen == ["fast"]
    assert jax.tree.map(lambda x: x + 1, other).name == "other"
    assert jax.tree.structure(fast) != jax.tree.structure(generic.random(GAME))


class Counting:
    """Runs in every turn, and counts the turns of each game."""

    def begin(self, params, games):
        return games

    def __call__(self, params, positions, bits, memory):
        return jax.vmap(GAME.play)(positions, jnp.zeros(len(bits), jnp.int32)), memory + 1


def test_what_a_player_learned_is_kept_until_its_next_turn():
    player = players.Player("counting", GAME, Counting())

    @jax.jit
    def act(keys):
        states, memory = jax.vmap(GAME.init)(keys), player.init_memory(3)
        # The second game is in the midst of a turn: the first of its two actions has been played.
        aim = jax.vmap(GAME.play)(states._position, jnp.zeros(3, jnp.int32)).position
        begun = memory._replace(target=aim, pending=jnp.array([False, True, False]))
        return memory, *player.act(states, keys[0], begun)

    before, actions, after = act(jax.random.split(jax.random.key(1), 3))
    assert before.learned.tolist() == [0, 1, 2]  # the numbers of the games
    assert actions.tolist() == [0, 0, 0] and after.learned.tolist() == [1, 1, 3]
