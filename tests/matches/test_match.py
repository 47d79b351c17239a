"""Matches: against a plain replay of every game, against published strengths, and what their results say."""

import itertools
import json

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.matches import match
from jaxgames.matches.match import interval
from jaxgames.players import Player, generic
from tests.players.dash import GAME, Lead

RANDOM = generic.random(GAME)
FAST = players.greedy(GAME, "fast", np.float32(0.1), Lead().value)
SLOW = players.greedy(GAME, "slow", np.float32(-0.1), Lead().value)


def choose_random(own, other, roll, word):
    return word * (3 if roll == 3 else 2) >> 32


def choose_fast(own, other, roll, word):
    """The win or the largest lead after the action; the first among equals."""

    def worth(steps):
        return (2.0 if other >= 4 else 1.0) if own <= steps else 0.1 * (other - own + steps)

    worths = [worth(roll), worth(1), worth(1)][: 3 if roll == 3 else 2]
    return worths.index(max(worths))


def replay(pair, a_begins, choosers, seed):
    """(points of a, plies) of one game, by the rules of the game in plain Python."""
    key = jax.random.fold_in(jax.random.key(seed), pair)
    start = GAME.init_position(jax.random.fold_in(key, 0))
    togo, roll, mover = [int(start.own)] * 2, int(start.roll), 0 if a_begins else 1
    for ply in range(1, 1000):
        word, dice = (int(x) for x in jax.random.bits(jax.random.fold_in(key, ply), (2,)))
        action = choosers[mover](togo[mover], togo[1 - mover], roll, word)
        togo[mover] -= 1 if action else roll
        if togo[mover] <= 0:
            points = 2 if togo[1 - mover] >= 4 else 1
            return points if mover == 0 else -points, ply
        roll = 1 + (dice >= 2**31) + (dice >= 3 * 2**30)
        mover = mover if action == 2 else 1 - mover
    raise AssertionError("endless game")


@pytest.mark.parametrize("batch", [6, 512])
def test_every_game_is_played_by_the_rules_to_its_end(batch):
    games, seed = 60, 7
    played = [
        [replay(pair, first, (choose_random, choose_fast), seed) for first in (True, False)]
        for pair in range(games // 2)
    ]
    points, plies = np.array(played)[..., 0], np.array(played)[..., 1]
    done = []
    result = match(RANDOM, FAST, games, seed=seed, batch=batch, progress=done.append)
    margin = 1.959964 * points.mean(axis=1).std(ddof=1) / np.sqrt(games // 2)
    np.testing.assert_allclose(
        [result.ppg, result.ppg_low, result.ppg_high],
        [points.mean(), points.mean() - margin, points.mean() + margin],
        rtol=1e-9,
    )
    rates = [result.win_rate, result.gammon_rate, result.backgammon_rate]
    losses = [result.loss_rate, result.gammon_loss_rate, result.backgammon_loss_rate]
    np.testing.assert_allclose(rates, [(points > n).mean() for n in range(3)])
    np.testing.assert_allclose(losses, [(points < -n).mean() for n in range(3)])
    assert result.gammon_rate > 0
    assert result.win_rate + result.loss_rate == 1 and result.draw_rate == 0
    assert result.ppg == pytest.approx(sum(rates) - sum(losses))
    assert result.plies_per_game == pytest.approx(plies.mean())
    assert (result.games, result.stopped, done[-1]) == (games, 0, games)


class Alternate:
    """Takes actions 0 and 1 in turn in each game; the first one is the number of the game modulo 2."""

    def begin(self, params, games):
        return games % 2

    def __call__(self, params, positions, words, memory):
        return jax.vmap(GAME.play)(positions, memory % 2), memory + 1


def alternating(pair):
    turns = itertools.count(pair)
    return lambda *_: next(turns) % 2


def test_a_player_may_remember_its_turns_of_a_game():
    player, games = Player("alternate", GAME, Alternate()), 60
    played = [
        [replay(pair, first, (alternating(pair), choose_random), 3)[0] for first in (True, False)]
        for pair in range(games // 2)
    ]
    assert len(np.unique(played)) > 1
    for batch in (6, 512):
        assert match(player, RANDOM, games, seed=3, batch=batch).ppg == pytest.approx(np.mean(played))


def test_swapped_players_get_the_negated_result():
    one, other = match(RANDOM, FAST, 64, seed=3), match(FAST, RANDOM, 64, seed=3)
    assert one.ppg < 0
    assert (other.ppg, other.ppg_low, other.ppg_high) == (-one.ppg, -one.ppg_high, -one.ppg_low)
    assert (other.win_rate, other.gammon_loss_rate) == (one.loss_rate, one.gammon_rate)


def test_a_player_against_itself_is_exactly_even():
    """Even a random one: in both games of a pair the player who begins gets the same dice and the same random words."""
    result = match(RANDOM, RANDOM, 64)
    assert (result.ppg, result.ppg_low + result.ppg_high, result.win_rate) == (0, 0, 0.5)
    assert result.ppg_high == pytest.approx(2 * (1 - 0.05 ** (1 / 32))), "of pairs that all end alike"


def test_other_parameters_do_not_compile_again():
    traces = []

    class Turn:
        """FAST's, noting when it is traced."""

        def __call__(self, params, positions, words):
            traces.append(params)
            return FAST.turn(params, positions, words)

    turn = Turn()
    fast, slow = (Player(p.name, GAME, turn, p.params) for p in (FAST, SLOW))
    forward, backward, even = match(fast, slow, 64), match(slow, fast, 60), match(fast, fast, 64)
    assert len(traces) == 2  # one for each side of the table
    assert forward.ppg > 0.5 and backward.ppg < -0.5 and even.ppg == 0
    assert (forward.a, backward.a) == ("fast", "slow")
    assert players.greedy(GAME, "x", 0, Lead().value).turn == FAST.turn  # methods of equal objects are equal


def test_numbers_of_games():
    for games in (0, -2):
        with pytest.raises(ValueError, match=f"cannot play {games} games; expected 1 or more"):
            match(RANDOM, RANDOM, games)
    result = match(RANDOM, FAST, 1)
    assert result.games == 2  # one pair
    assert (result.ppg_low, result.ppg_high) == (-2, 2)  # which says nothing about the spread


def test_pairs_that_end_alike_may_end_otherwise_the_next_time():
    """0.05 is the probability that `n` pairs end alike of which a share of 1 - 0.05^(1/n) would not."""
    assert interval(np.ones(20), 1) == (pytest.approx(1 - 2 * (1 - 0.05 ** (1 / 20))), 1)
    low, high = interval(np.zeros(4), 3)
    assert -low == high == pytest.approx(3 * (1 - 0.05**0.25))
    assert interval(np.array([1.0, 0.0]), 1) == pytest.approx((0.5 - 1.959964 / 2, 0.5 + 1.959964 / 2))


def test_numbers_of_numpy_and_those_that_are_none():
    result, same = match(RANDOM, FAST, 10, seed=3), match(RANDOM, FAST, np.int64(10), np.int64(3), np.int32(512))
    assert same.ppg == result.ppg and json.loads(json.dumps(same.to_dict()))["seed"] == 3
    for wrong, message in (
        ({"seed": 1.5}, "seed 1.5: expected a whole number"),
        ({"seed": 2**32}, "seed 4294967296: expected a whole number from 0 to 4294967295"),
        ({"batch": 0}, "batch 0: expected a whole number from 1 on"),
        ({"most_plies": 2**31}, "most_plies 2147483648: expected a whole number from 1 to 2147483647"),
    ):
        with pytest.raises(ValueError, match=message):
            match(RANDOM, FAST, 10, **wrong)


def test_a_game_that_is_too_long_is_stopped_and_reported():
    whole, cut = match(RANDOM, FAST, 64), match(RANDOM, FAST, 64, most_plies=5)
    assert 0 < cut.stopped < 64 and cut.plies_per_game < whole.plies_per_game
    assert cut.win_rate + cut.loss_rate == pytest.approx(1 - cut.stopped / 64)
    assert cut.draw_rate == 0


def test_players_of_different_games():
    random = players.make("random", jaxgames.make("backgammon"))
    with pytest.raises(
        ValueError, match="random plays dash, random plays backgammon; expected two players of one game"
    ):
        match(RANDOM, random, 2)


def test_result_as_json():
    result = match(RANDOM, FAST, 10)
    data = json.loads(json.dumps(result.to_dict()))
    assert {"game": "dash", "a": "random", "b": "fast", "games": 10, "seed": 0}.items() <= data.items()
    assert data["ppg_low"] <= data["ppg"] <= data["ppg_high"]
    assert data["games_per_second"] == pytest.approx(10 / data["seconds"])


@pytest.mark.slow  # 13 seconds of games; pubeval's scores and choices are compared in the quick tier
def test_pubeval_is_as_strong_as_measured_by_others():
    """Against random 2.485 points per game and 99.6 % won, in 1,500 games of the original program."""
    game = jaxgames.make("backgammon")
    result = match(players.make("pubeval", game), players.make("random", game), 2000)
    assert result.ppg == pytest.approx(2.485, abs=0.08)  # three standard errors of the difference
    assert result.win_rate == pytest.approx(0.996, abs=0.006)
    assert result.stopped == 0
