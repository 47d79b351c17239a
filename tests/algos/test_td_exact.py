"""Exact TD(lambda) equals the textbook's, ply by ply and over the ends of games."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgames.algos.td import ExactTD, NStepTD, TDConfig
from tests.algos import reference_td as reference
from tests.algos.recording import (
    assert_close,
    assert_same_games,
    begin,
    goes_on_in,
    layers_of,
    over_in,
    params_of,
    play,
    random_in,
    see_backgammon,
    see_track,
    update,
    written,
)

PLIES = 8
DASH = TDConfig(
    game="dash", encoding="track", hidden=(7,), method="exact", lambda_=0.7, batch=4, plies=PLIES,
    optimizer="sgd", schedule="constant", step_size=0.2,
)  # fmt: skip
BACKGAMMON = dataclasses.replace(DASH, game="short_backgammon", encoding="tesauro", hidden=(5,), symmetric=False)

CASES = {
    "symmetric": (dataclasses.replace(DASH, symmetric=True), see_track(True)),
    "first player": (
        dataclasses.replace(DASH, symmetric=False, outputs=6, hidden=(5, 4), lambda_=0.9, step_size=2.0),
        see_track(False),
    ),
    "backgammon": (BACKGAMMON, see_backgammon(False)),
    "random turns, and turns in a row": (dataclasses.replace(DASH, game="relay", epsilon=0.4), see_track(True)),
}


# Backgammon compiles for 16 seconds; n-step learning meets its reference in it in the quick tier.
QUICK = [pytest.param(case, marks=pytest.mark.slow) if case == "backgammon" else case for case in CASES]


@pytest.mark.parametrize("case", QUICK)
def test_equals_the_reference(case):
    config, see = CASES[case]
    learner = ExactTD(config)
    state = start = begin(learner)
    games, layers, plies = start.games, layers_of(start.params), []
    totals = np.zeros(3)
    for number in range(3):
        key = jax.random.key(10 + number)
        state, metrics = update(learner, state, key)
        totals += metrics.squared_error, metrics.positions, metrics.games
        for ply_key in jax.random.split(key, PLIES):
            games, ply = play(learner.network, params_of(layers), games, ply_key, config.epsilon)
            plies.append(jax.device_get(ply))
            played = written(plies, see)
            layers, squared_error = reference.td_lambda(
                layers_of(start.params), played, len(plies), config.lambda_, config.step_size
            )
    assert_same_games(state.games, games)
    assert_same_games(state.last, plies[-1].ply)
    assert_close(state.params, layers, start.params)
    finished = over_in(plies).sum()
    assert finished >= 4 and any(game.start > 0 and game.result is not None for game in played)
    assert (random_in(plies).sum() > 10) == (config.epsilon > 0)
    assert goes_on_in(plies) == (config.game == "relay")
    learned = sum(len(game.positions) - (game.result is None and game.positions != []) for game in played)
    np.testing.assert_allclose(totals, [squared_error, learned, finished], rtol=1e-4)
    assert metrics.plies == PLIES * config.batch and state.updates == 3


def test_windows_of_one_ply_are_td_0():
    config = dataclasses.replace(DASH, lambda_=0.0, plies=1)
    exact, window = ExactTD(config), NStepTD(dataclasses.replace(config, method="n_step"))
    start = begin(exact)
    states = [start, begin(window)]
    for number in range(40):
        states = [
            update(learner, state, jax.random.key(number))[0]
            for learner, state in zip((exact, window), states, strict=True)
        ]
    assert_close(states[0].params, layers_of(states[1].params), start.params, atol=1e-6)
    assert_same_games(states[0].games, states[1].games)
