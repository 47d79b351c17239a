"""Learning from final results equals the reference; games that take too long are cut off and counted."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgames.algos.td import ResultTD, TDConfig, self_play
from tests.algos import reference_td as reference
from tests.algos.recording import assert_close, begin, layers_of, play, see_backgammon, see_track, update, written

DASH = TDConfig(
    game="dash", encoding="track", hidden=(7,), method="result", batch=4, plies=40,
    optimizer="sgd", schedule="constant", step_size=0.2,
)  # fmt: skip
BACKGAMMON = dataclasses.replace(DASH, game="short_backgammon", encoding="tesauro", hidden=(5,), symmetric=False)
CASES = {
    "symmetric": (DASH, see_track(True)),
    "cut off, six outputs": (dataclasses.replace(DASH, plies=6, outputs=6), see_track(True)),
    "backgammon": (BACKGAMMON, see_backgammon(False)),
}


@pytest.mark.parametrize("case", CASES)
def test_equals_the_reference(case):
    config, see = CASES[case]
    learner = ResultTD(config)
    state = start = begin(learner)
    layers, cut_off = layers_of(start.params), 0
    for number in range(2):
        key = jax.random.key(30 + number)
        start_key, play_key = jax.random.split(key)
        games = self_play.start(learner.network.game, start_key, config.batch)
        plies, over = [], np.zeros(config.batch, bool)
        while not over.all() and len(plies) < config.plies:
            games, ply = play(learner.network, state.params, games, jax.random.fold_in(play_key, len(plies)))
            plies.append(jax.device_get(ply))
            over |= ply.over
        played = [game for game in written(plies, see) if game.start == 0]
        assert len(played) == config.batch
        layers, squared_error = reference.monte_carlo(layers, played, config.step_size)
        state, metrics = update(learner, state, key)
        assert_close(state.params, layers, start.params)
        finished = [game for game in played if game.result is not None]
        assert (metrics.games, metrics.cut_off) == (len(finished), config.batch - len(finished))
        assert metrics.positions == sum(len(game.positions) for game in finished)
        assert metrics.plies == sum(len(game.positions) + (game.result is not None) for game in played)
        assert metrics.points == sum(abs(game.result) for game in finished)
        np.testing.assert_allclose(metrics.squared_error, squared_error, rtol=1e-4)
        cut_off += int(metrics.cut_off)
    assert len({len(game.positions) for game in played}) > 1
    assert (cut_off > 0) == ("cut off" in case)
    assert state.updates == 2
