"""Positions from observations: the same is seen there, and the same is legal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.baselines.network import POSITION_OF, positions_of
from tests.players.dash import GAME as DASH

UNOPTIMIZED = {"xla_backend_optimization_level": "0"}  # compiled quickly
GAMES = {name: jaxgames.make(name) for name in jaxgames.available_games()}
GAMES["connect_four, two words and more"] = jaxgames.make("connect_four", rows=10, cols=10)


@pytest.mark.parametrize("name", GAMES)
def test_what_is_seen_says_which_position_it_is(name):
    game = GAMES[name]

    def play(key):
        start = jax.vmap(game.init)(jax.random.split(key, 16))
        _, moves = jaxgames.rollout(game, start, key, num_steps=40)
        states = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), moves.states)
        found = game.state(positions_of(game, states.observation), states.current_player)
        return [(state.observation, state.legal_action_mask) for state in (states, found)], ~states.terminated

    (wanted, found), live = jax.jit(play, compiler_options=UNOPTIMIZED)(jax.random.key(0))
    live, seen = np.asarray(live), np.asarray(found[0])
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(np.asarray(one)[live], np.asarray(other)[live])
    assert live.sum() > 50
    if name == "checkers":
        assert seen[live][..., 4].any(), "no piece had to jump on"


def test_games_of_others_are_not_known():
    with pytest.raises(ValueError, match="positions of dash are not known from observations; those of tic_tac_toe"):
        positions_of(DASH, jnp.zeros((1, 3)))
    assert POSITION_OF.keys() == set(jaxgames.available_games()) - {"dash"}
