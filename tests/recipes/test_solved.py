"""Solved positions as a measure: halves that do not mix, and the choice of the best network."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.players.generic import by_policy
from jaxgames.recipes import solved, strength

GAME = jaxgames.make("connect_four")


def rightmost(params, observation):
    """Prefers the rightmost column that is free."""
    return jnp.tile(jnp.arange(7.0), (len(observation), 1)), jnp.zeros(len(observation))


def test_each_half_is_measured_by_itself():
    positions = solved.positions_of(GAME)
    assert len(positions) == 500
    found = solved.measure(by_policy("right", GAME, rightmost, ()), positions)
    for half, begin in (("choosing", 0), ("reporting", 1)):
        perfect, good = [], []
        for one in positions[begin::2]:
            score = one.moves[max(column for column in range(7) if one.moves[column] != -99)]
            perfect.append(score == one.score)
            good.append(np.sign(score) == np.sign(one.score))
        assert found[f"{half}_perfect"] == pytest.approx(100 * np.mean(perfect))
        assert found[f"{half}_good"] == pytest.approx(100 * np.mean(good))
    assert found["choosing_good"] != found["reporting_good"]


def test_only_one_half_chooses():
    best = {"choosing_perfect": 60.0, "choosing_good": 80.0}
    better = {"choosing_perfect": 61.0, "choosing_good": 80.0, "reporting_good": 0.0}
    worse = {"choosing_perfect": 61.0, "choosing_good": 78.0, "reporting_good": 100.0}
    assert strength.is_kept("random", best, None)
    assert strength.is_kept("random", better, best) and not strength.is_kept("random", worse, best)
    measured = {**best, "reporting_good": 90.0, "score_random": 70.0}
    assert strength.remembered("random", measured) == {**best, "opponent": "random", "score": 70.0}


def test_other_boards_have_no_solved_positions():
    assert solved.positions_of(jaxgames.make("connect_four", rows=5, cols=6)) == []
    assert solved.positions_of(jaxgames.make("tic_tac_toe")) == []
    assert solved.measure(by_policy("right", GAME, rightmost, ()), []) == {}


def test_the_half_that_did_not_choose_reports(monkeypatch):
    scored = []

    def score(player, positions, file):
        scored.append(positions)
        return SimpleNamespace(to_dict=lambda: player.name)

    monkeypatch.setattr(solved.solved, "score", score)
    player = by_policy("right", GAME, rightmost, ())
    names = solved.final(player, mcts.network(rightmost, ()), 1.0, list(range(6)))
    assert names == ["right", "puct:right:800", "gumbel:right:800,scale=0"] and scored == [[1, 3, 5]] * 3
