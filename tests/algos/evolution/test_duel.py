"""Games between two sets of parameters, against games played one at a time."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution.duel import duel
from tests.algos.evolution import reference_evolution as reference
from tests.algos.small_games import Dash, Nim, Relay, ShortBackgammon, ShortRelay

KEY = jax.random.key(4)
PAIRS = 6
GAMES = [Nim(), Dash(), Relay(), pytest.param(ShortBackgammon(), marks=pytest.mark.slow)]


def value_of_in(game):
    """A linear value of what is observed."""

    def value_of(weights):
        def value(positions):
            seen = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions).astype(
                jnp.float32
            )
            return jnp.tanh(seen.reshape(len(seen), -1) @ weights)

        return value

    return value_of


def weights_for(game, seed):
    size = int(np.prod(game.observation_shape))
    return jnp.asarray(np.random.default_rng(seed).normal(size=size).astype(np.float32) / 3)


def played(game, key, params, most_plies):
    """One game after the other: (points of a, plies, stopped), in the order of `duel`."""
    value_of = value_of_in(game)
    turn = jax.jit(
        lambda weights, position: game.best_turn(jax.tree.map(lambda x: x[None], position), value_of(weights))
    )
    rolled = jax.jit(lambda position, word: game.chance(position, game.draw_outcome(word)))
    opened = jax.jit(lambda number: game.init_position(jax.random.fold_in(key, number)))
    words = [int(word) for word in jax.random.key_data(key)]
    found = []
    for begins in (0, 1):
        for pair in range(PAIRS):
            position, mover, points, over, plies = opened(pair), begins, 0.0, False, 0
            while plies < most_plies and not over:
                outcome = jax.tree.map(lambda x: np.asarray(x)[0], turn(params[mover], position)[0])
                plies, over = plies + 1, bool(outcome.over)
                if over:
                    points = float(outcome.reward) * (1 if mover == 0 else -1)
                position = outcome.position
                if game.outcome_probabilities:
                    word = reference.fold_in(reference.candidate_word(words, pair), plies)
                    position = rolled(position, np.uint32(word))
                mover = 1 - mover if outcome.turn_passes else mover
            found.append((points, plies, not over))
    return np.array(found).T


@pytest.fixture(scope="module", params=GAMES, ids=lambda game: game.id)
def game(request):
    return request.param


@pytest.fixture(scope="module")
def play(game):
    return jax.jit(lambda a, b, most_plies: duel(game, value_of_in(game), a, b, KEY, PAIRS, most_plies))


@pytest.fixture(scope="module")
def params(game):
    return weights_for(game, 1), weights_for(game, 2)


def test_games_equal_those_played_one_at_a_time(game, play, params):
    result = play(*params, 1000)
    points, plies, stopped = played(game, KEY, params, 1000)
    np.testing.assert_array_equal(result.points, points)
    np.testing.assert_array_equal(result.plies, plies)
    assert not stopped.any() and not np.any(result.stopped)
    assert len(set(points)) > 1


def test_exchanged_players_play_the_same_games(play, params):
    result, other = play(*params, 1000), play(*params[::-1], 1000)
    np.testing.assert_array_equal(result.points, -np.roll(other.points, PAIRS))
    itself = play(params[0], params[0], 1000)
    np.testing.assert_array_equal(itself.points[:PAIRS], -itself.points[PAIRS:])


def test_games_stop_at_the_limit(play, params):
    whole, cut = play(*params, 1000), play(*params, 2)
    ended = np.asarray(whole.plies) <= 2
    assert np.all(np.asarray(cut.plies) <= 2) and not ended.all()
    np.testing.assert_array_equal(cut.points, np.where(ended & ~cut.stopped, whole.points, 0))
    assert np.all(cut.stopped[~ended])


def test_games_stop_at_the_limit_of_their_own():
    game = ShortRelay()
    params, value_of = (weights_for(game, 1), weights_for(game, 2)), value_of_in(game)
    result = jax.jit(lambda a, b: duel(game, value_of, a, b, KEY, PAIRS))(*params)
    points, plies, stopped = played(game, KEY, params, game.step_limit)
    np.testing.assert_array_equal(result.points, points)
    np.testing.assert_array_equal(result.plies, plies)
    np.testing.assert_array_equal(result.stopped, stopped)
    assert stopped.any() and not stopped.all()


def test_wrong_number_of_pairs():
    with pytest.raises(ValueError, match="pairs=0"):
        duel(Nim(), value_of_in(Nim()), weights_for(Nim(), 0), weights_for(Nim(), 0), KEY, 0)
