"""Learning from final results equals the reference; games that take too long are cut off and counted."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgames.algos.td import MonteCarlo, TDConfig, self_play
from tests.algos import reference_td as reference
from tests.algos.recording import (
    assert_close,
    begin,
    goes_on_in,
    layers_of,
    over_in,
    play,
    random_in,
    see_backgammon,
    see_track,
    update,
    written,
)

DASH = TDConfig(
    game="dash", encoding="track", hidden=(7,), method="monte_carlo", batch=4, plies=40,
    optimizer="sgd", schedule="constant", step_size=0.2,
)  # fmt: skip
BACKGAMMON = dataclasses.replace(DASH, game="short_backgammon", encoding="tesauro", hidden=(5,), symmetric=False)
CASES = {
    "symmetric": (DASH, see_track(True)),
    "cut off, six outputs": (dataclasses.replace(DASH, plies=6, outputs=6), see_track(True)),
    "backgammon": (BACKGAMMON, see_backgammon(False)),
    "random turns, and turns in a row": (dataclasses.replace(DASH, game="relay", epsilon=0.4), see_track(True)),
}


# Backgammon is among the slow ones, as the other games compile in a fraction of the time and miss no edit.
QUICK = [pytest.param(case, marks=pytest.mark.slow) if case == "backgammon" else case for case in CASES]


@pytest.mark.parametrize("case", QUICK)
def test_equals_the_reference(case):
    config, see = CASES[case]
    learner = MonteCarlo(config)
    state = start = begin(learner)
    layers, truncated = layers_of(start.params), 0
    for number in range(2):
        key = jax.random.key(30 + number)
        start_key, play_key = jax.random.split(key)
        games = self_play.init_games(learner.network.game, start_key, config.batch)
        plies, over = [], np.zeros(config.batch, bool)
        while not over.all() and len(plies) < config.plies:
            ply_key = jax.random.fold_in(play_key, len(plies))
            games, ply = play(learner.network, state.params, games, ply_key, config.epsilon)
            plies.append(jax.device_get(ply))
            over |= ply.ply.over
        # A slot's first game only, all of its records: what is played after its end is no part of it.
        ends = [int(np.argmax(ended)) if ended.any() else len(plies) - 1 for ended in over_in(plies).T]
        slots = [[jax.tree.map(lambda x, s=slot: x[s : s + 1], ply) for ply in plies] for slot in range(config.batch)]
        played = [game for slot, end in zip(slots, ends, strict=True) for game in written(slot[: end + 1], see)]
        layers, squared_error = reference.monte_carlo(layers, played, config.step_size)
        state, metrics = update(learner, state, key)
        assert_close(state.params, layers, start.params)
        assert (metrics.games, metrics.truncated) == (over.sum(), config.batch - over.sum())
        assert metrics.positions == sum(len(game.positions) for game in played if game.result is not None)
        assert metrics.plies == sum(ends) + config.batch
        points = [plies[end].ply.result[slot] for slot, end in enumerate(ends) if over[slot]]
        assert metrics.points == sum(map(abs, points))
        np.testing.assert_allclose(metrics.squared_error, squared_error, rtol=1e-4)
        truncated += int(metrics.truncated)
    assert len(set(ends)) > 1
    assert random_in(plies).any() == (config.epsilon > 0)
    assert goes_on_in(plies) == (config.game == "relay")
    assert (truncated > 0) == ("cut off" in case)
    assert state.updates == 2
