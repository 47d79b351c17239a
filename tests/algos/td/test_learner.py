"""TD self-play in three ways equals the textbook's: over the ends of games, with random turns, and for either view."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import ExactTD, MonteCarlo, NStepTD, make_config, make_learner, self_play
from tests.algos.td import reference
from tests.algos.td.recording import (
    assert_close,
    assert_same_games,
    begin,
    counts,
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


def dash(method, **changes):
    """The settings of a race with a die."""
    common = {"encoding": "track", "hidden": (7,), "batch": 4, "optimizer": "sgd", "step_size": 0.2}
    if method != "monte_carlo":
        common |= {"lambda_": 0.7, "plies": PLIES}
    else:
        common |= {"plies": 40}
    return make_config(method, **{"game": "dash", "schedule": "constant"} | common | changes)


FIRST_PLAYER = {"symmetric": False, "outputs": 6, "hidden": (5, 4), "step_size": 2.0}
BACKGAMMON = {"game": "short_backgammon", "encoding": "tesauro", "hidden": (5,), "symmetric": False}
RELAY = {"game": "relay", "epsilon": 0.4}
CASES = {
    (method, case): (dash(method, **changes), see)
    for method in ("n_step", "exact", "monte_carlo")
    for case, changes, see in (
        ("symmetric", {}, see_track(True)),
        ("backgammon", BACKGAMMON, see_backgammon(False)),
        ("random turns, and turns in a row", RELAY, see_track(True)),
    )
}
CASES |= {
    ("n_step", "first player"): (dash("n_step", **FIRST_PLAYER, lambda_=0.3), see_track(False)),
    ("exact", "first player"): (dash("exact", **FIRST_PLAYER, lambda_=0.9), see_track(False)),
    ("monte_carlo", "cut off, six outputs"): (dash("monte_carlo", plies=6, outputs=6), see_track(True)),
}
# Backgammon compiles for 16 seconds. The other games compile in a fraction of the time and miss no edit; in the quick
# tier backgammon is learned in `recipes/test_training.py`, and its inputs are those of Tesauro in `test_value.py`.
SLOW = {("n_step", "backgammon"), ("exact", "backgammon"), ("monte_carlo", "backgammon")}
SLOW |= {("exact", "first player"), ("monte_carlo", "symmetric")}  # n_step has the one, other cases have the other
QUICK = [pytest.param(case, marks=pytest.mark.slow if case in SLOW else (), id="-".join(case)) for case in CASES]


@pytest.mark.parametrize("case", QUICK)
def test_equals_the_reference(case):
    EQUAL[case[0]](*CASES[case], case[1])


def equals_n_step(config, see, case):
    """Weights are frozen for a window of plies."""
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


def equals_exact(config, see, case):
    """A step after each ply, along the traces."""
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


def equals_monte_carlo(config, see, case):
    """Learns from final results; games that take too long are truncated and counted."""
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


EQUAL = {"n_step": equals_n_step, "exact": equals_exact, "monte_carlo": equals_monte_carlo}


def test_choices_are_the_best_by_the_reference():
    """The turn is the one after which the next player expects least, or that ends the game better than that."""
    config, see = CASES["n_step", "first player"]
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
    window, exact = NStepTD(dash("n_step")), ExactTD(dash("exact"))
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


@pytest.mark.parametrize(
    ("case", "updates"), [("symmetric", 20), pytest.param("backgammon", 6, marks=pytest.mark.slow)]
)
def test_weights_that_are_nan_do_not_stop_the_games(case, updates):
    """What they choose is worth nothing, but it is a legal play, so that a broken training ends and can be reported.

    In the quick tier that plays of backgammon stay legal is tested in `test_value.py`.
    """
    learner = NStepTD(CASES["n_step", case][0])
    state = begin(learner)
    state = state._replace(params=jax.tree.map(lambda x: np.full_like(x, np.nan), state.params))
    finished = 0
    for number in range(updates):
        state, metrics = update(learner, state, jax.random.key(number))
        finished += int(metrics.games)
        assert np.isnan(metrics.squared_error)
        positions = state.games.positions
        for side in (positions.own, positions.opponent) if case == "backgammon" else ():
            assert all(0 < sum(counts(side, game)) <= 15 for game in range(learner.config.batch))
    assert finished > 10


def test_windows_of_one_ply_are_td_0():
    exact = make_learner(dash("exact", lambda_=0.0, plies=1))
    window = make_learner(dash("n_step").replace(plies=1))
    start = begin(exact)
    states = [start, begin(window)]
    for number in range(40):
        states = [
            update(learner, state, jax.random.key(number))[0]
            for learner, state in zip((exact, window), states, strict=True)
        ]
    assert_close(states[0].params, layers_of(states[1].params), start.params, atol=1e-6)
    assert_same_games(states[0].games, states[1].games)
