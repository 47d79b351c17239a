"""TD(lambda) with weights frozen for a window equals the reference, and exact TD(lambda) where theory says so."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import ExactTD, NStepTD, TDConfig
from tests.algos import reference_td as reference
from tests.algos.recording import (
    assert_close,
    assert_same_games,
    begin,
    counts,
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

PLIES = 8
DASH = TDConfig(
    game="dash", encoding="track", hidden=(7,), method="n_step", lambda_=0.7, batch=4, plies=PLIES,
    optimizer="sgd", schedule="constant", step_size=0.2,
)  # fmt: skip
BACKGAMMON = dataclasses.replace(DASH, game="short_backgammon", encoding="tesauro", hidden=(5,), symmetric=False)
CASES = {
    "symmetric": (DASH, see_track(True)),
    "first player": (
        dataclasses.replace(DASH, symmetric=False, outputs=6, hidden=(5, 4), lambda_=0.3, step_size=2.0),
        see_track(False),
    ),
    "backgammon": (BACKGAMMON, see_backgammon(False)),
    "random turns, and turns in a row": (dataclasses.replace(DASH, game="relay", epsilon=0.4), see_track(True)),
}


@pytest.mark.parametrize("case", CASES)
def test_equals_the_reference(case):
    config, see = CASES[case]
    learner = NStepTD(config)
    state = start = begin(learner)
    games, layers, plies = start.games, layers_of(start.params), []
    for number in range(3):  # games go on from one window to the next
        key = jax.random.key(20 + number)
        for ply_key in jax.random.split(key, PLIES):
            games, ply = play(learner.network, state.params, games, ply_key, config.epsilon)
            plies.append(jax.device_get(ply))
        played = written(plies, see)
        first = len(plies) - PLIES
        layers, squared_error = reference.n_step(layers, played, first, len(plies), config.lambda_, config.step_size)
        state, metrics = update(learner, state, key)
        assert_close(state.params, layers, start.params)
        np.testing.assert_allclose(metrics.squared_error, squared_error, rtol=1e-4)
        over, random = over_in(plies)[first:], random_in(plies)[first:]
        before = np.array([plies[first - 1].ply.over if first else np.ones(config.batch, bool), *over[:-1]])
        assert metrics.positions == (~before & ~random).sum() and metrics.games == over.sum()
        assert (random & ~before).any() == (config.epsilon > 0)
        points = [abs(ply.result[ply.over]).sum() for ply, _ in plies[first:]]
        assert metrics.points == sum(points) and metrics.plies == over.size and metrics.truncated == 0
    assert_same_games(state.games, games)
    assert_same_games(state.last, plies[-1].ply)
    assert over_in(plies).sum() >= 4
    assert goes_on_in(plies) == (config.game == "relay")


def test_choices_are_the_best_by_the_reference():
    """The turn is the one after which the next player expects least, or that ends the game better than that."""
    config, see = CASES["first player"]
    learner = NStepTD(config)
    state = begin(learner)
    state = state._replace(params=jax.tree.map(lambda x: 4 * x, state.params))
    game, layers, games = learner.network.game, layers_of(state.params), state.games
    choices = set()
    for number in range(20):
        before = jax.device_get(games)
        games, (ply, _) = play(learner.network, state.params, games, jax.random.key(number))
        for slot in range(config.batch):
            position = jax.tree.map(lambda x, slot=slot: x[slot], before.positions)
            player, worths = int(before.player[slot]), []
            outcomes = [jax.device_get(game.play(position, np.int32(action))) for action in range(2)]
            for outcome in outcomes:
                after, other = jax.tree.map(lambda x: x[None], (outcome.position, np.int32(1 - player)))
                seen = see(ply._replace(positions=after, player=other), 0)
                first = reference.expected(reference.predict(layers, seen))
                worths.append(float(outcome.reward) if outcome.over else first if player == 0 else -first)
            if abs(worths[0] - worths[1]) > 1e-5:
                best = outcomes[int(np.argmax(worths))].position
                assert_same_games(jax.tree.map(lambda x, slot=slot: x[slot], ply.positions), best)
                choices.add((player, int(np.argmax(worths))))
    assert choices == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_small_steps_of_both_kinds_agree():
    """From empty traces, and with weights that hardly move, errors times traces sum to the gradient of the window."""
    window, exact = NStepTD(DASH), ExactTD(dataclasses.replace(DASH, method="exact"))
    steps = []
    for learner in (window, exact):
        start = begin(learner)
        start = start._replace(factor=jnp.full_like(start.factor, 1e-3))
        state, metrics = update(learner, start, jax.random.key(4))
        assert metrics.games >= 3
        moved = jax.tree.map(lambda a, b: (np.asarray(a, np.float64) - b) * 1e3, state.params, start.params)
        steps.append(jax.tree.leaves(moved))
    scale = max(abs(x).max() for x in steps[0])
    assert scale > 0.05
    for one, other in zip(*steps, strict=True):
        np.testing.assert_allclose(one, other, atol=3e-3 * scale)


def test_weights_that_are_nan_do_not_stop_the_games():
    """What they choose is worth nothing, but it is a legal play, so that a broken training ends and can be reported."""
    learner = NStepTD(CASES["backgammon"][0])
    state = begin(learner)
    state = state._replace(params=jax.tree.map(lambda x: np.full_like(x, np.nan), state.params))
    finished = 0
    for number in range(6):
        state, metrics = update(learner, state, jax.random.key(number))
        finished += int(metrics.games)
        assert np.isnan(metrics.squared_error)
        for side in (state.games.positions.own, state.games.positions.opponent):
            assert all(0 < sum(counts(side, game)) <= 15 for game in range(learner.config.batch))
    assert finished > 10
