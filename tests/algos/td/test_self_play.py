"""One ply of self-play: whose random numbers decide what."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames.algos.td import self_play
from tests.algos.small_games import Dash


def test_no_key_is_used_twice(monkeypatch):
    """Random turns, chance and new games have keys of their own, and the key of the ply serves only to make them."""
    game, used = Dash(), []

    def noting(function):
        def noted(key, *arguments, **settings):
            if not isinstance(key, jax.core.Tracer):  # inside a vmap keys are those of a split that was noted
                used.append(tuple(jax.random.key_data(key).tolist()))
            return function(key, *arguments, **settings)

        return noted

    for module, name in (
        (jax.random, "split"),
        (jax.random, "fold_in"),
        (jax.random, "bits"),
        (self_play, "random_bits"),
    ):
        monkeypatch.setattr(module, name, noting(getattr(module, name)))
    games = self_play.init_games(game, jax.random.key(0), 3)
    used.clear()
    monkeypatch.setattr(type(game), "best_turn", lambda self, positions, value: self_random(game, positions))

    def self_random(game, positions):
        return game.random_turn(positions, jnp.zeros(3, jnp.uint32)), jnp.zeros(3, jnp.float32)

    self_play.play_ply(game, games, lambda after: after, jax.random.key(1), epsilon=0.5)
    assert len(used) == len(set(used)) >= 4


def test_the_same_games_are_played_without_random_turns():
    """An epsilon that never strikes changes nothing."""
    game = jaxgames.make("tic_tac_toe")
    games = self_play.init_games(game, jax.random.key(0), 8)

    def value(positions):
        return positions.cells.astype(jnp.float32)

    plain, _, none = self_play.play_ply(game, games, value, jax.random.key(1))
    same, _, explored = self_play.play_ply(game, games, value, jax.random.key(1), epsilon=1e-30)
    assert none is None and not explored.any()
    jax.tree.map(np.testing.assert_array_equal, plain, same)


def test_results_are_those_of_player_0():
    """The same winning move counts 1 if player 0 makes it, -1 if player 1 does."""
    game = jaxgames.make("tic_tac_toe")
    winning = game.from_string("XX./OO./...")._position
    games = self_play.Games(jax.tree.map(lambda x: np.stack([x, x]), winning), np.array([0, 1], np.int32))
    play = jax.jit(lambda games, key: self_play.play_ply(game, games, lambda after: jnp.zeros(len(after.cells)), key))
    _, ply, _ = play(games, jax.random.key(0))
    assert ply.over.all()
    assert ply.result.tolist() == [1, -1]
